// The oracle's readers of numbers in 8 bits and in blocks (stored_formats.h): elements [first, first + n) of
// the tensor whose bytes begin at `stored`, each written from the definition of its format.
#pragma once
#include <cstddef>
#include <cstdint>

namespace stormcell::reference {

/// Whole numbers that recipes make others of.
void read_u8(const std::byte* stored, int64_t first, int64_t n, float* to);
void read_f8_e4m3(const std::byte* stored, int64_t first, int64_t n, float* to);
void read_f8_e5m2(const std::byte* stored, int64_t first, int64_t n, float* to);
void read_q8_0(const std::byte* stored, int64_t first, int64_t n, float* to);
void read_q4_0(const std::byte* stored, int64_t first, int64_t n, float* to);
void read_q4_k(const std::byte* stored, int64_t first, int64_t n, float* to);
void read_q5_k(const std::byte* stored, int64_t first, int64_t n, float* to);
void read_q6_k(const std::byte* stored, int64_t first, int64_t n, float* to);
void read_mxfp4(const std::byte* stored, int64_t first, int64_t n, float* to);

}  // namespace stormcell::reference

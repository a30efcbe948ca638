// The instruction sets the CPU kernels are compiled for, and which of them runs here.
#pragma once
#include <optional>
#include <span>
#include <string_view>

namespace stormcell::cpu {

/// One of the compiled variants of the hot loops, from the most general to the most special.
enum class Isa { generic, avx2, avx512, avx512_bf16 };

/// "generic", "avx2", "avx512", "avx512_bf16".
std::string_view to_text(Isa isa);

/// The variants that this build contains and this processor can run, best first. Never empty: the last is generic.
std::span<const Isa> available_isas();

/// The variant in use: the best available one, or the best at most as special as the environment variable STORMCELL_ISA
/// (generic, avx2, avx512, avx512_bf16) says. Decided at the first call, by CPUID feature bits and never by vendor or
/// family: libraries that ask for the family run at half speed on processors they do not know yet. avx512_bf16 must
/// also measure faster than avx512, which it does not everywhere.
Isa active_isa();

/// Tests run every variant in one process. Empty goes back to the choice above. Not while a kernel runs.
void set_isa_for_test(std::optional<Isa> isa);

}  // namespace stormcell::cpu

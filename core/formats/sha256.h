// SHA-256 (FIPS 180-4), for fingerprints.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace stormcell {

class Sha256 {
 public:
  Sha256();
  void update(std::span<const std::byte> bytes);
  void update(std::string_view text) { update(std::as_bytes(std::span(text))); }
  /// The digest of all updates; call once.
  std::array<uint8_t, 32> digest();
  /// The digest as 64 hexadecimal digits; call once.
  std::string hex();

 private:
  void block(const uint8_t* data);

  std::array<uint32_t, 8> state_;
  std::array<uint8_t, 64> pending_{};
  size_t pending_size_ = 0;
  uint64_t total_ = 0;
};

std::string sha256_hex(std::string_view text);

}  // namespace stormcell

// Bytes of BLOBs: integers as wide as they need, arrays, all little-endian. Of the implementation of blob.h.
#pragma once
#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/error.h"
#include "core/session/advice.h"
#include "core/session/blob.h"

namespace stormcell::blob {

static_assert(std::endian::native == std::endian::little, "sessions are written by copying memory");

inline constexpr uint8_t kVersion = 1;  // of each record

/// Replaces what `out` holds.
class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) { out_.clear(); }
  void byte(uint8_t v) { out_.push_back(v); }
  void raw(const void* data, size_t bytes) {
    const auto* from = static_cast<const uint8_t*>(data);
    out_.insert(out_.end(), from, from + bytes);
  }
  void u32(uint32_t v) { raw(&v, 4); }
  template <class T>
  void array(std::span<const T> values) {
    raw(values.data(), values.size_bytes());
  }
  void align4() { out_.resize((out_.size() + 3) / 4 * 4); }
  void varint(uint64_t v) {
    for (; v >= 128; v >>= 7) byte(static_cast<uint8_t>(v | 128));
    byte(static_cast<uint8_t>(v));
  }
  void signed_varint(int64_t v) { varint(static_cast<uint64_t>(v) << 1 ^ static_cast<uint64_t>(v >> 63)); }
  /// n integers of `width` bytes, value(i) each.
  template <class Value>
  void integers(size_t n, int width, Value value) {
    const size_t at = out_.size();
    out_.resize(at + n * static_cast<size_t>(width));
    const auto store = [&](auto type) {
      using T = decltype(type);
      // a byte that is written might be anything's: else it is asked for again for each
      uint8_t* const to = out_.data() + at;
      for (size_t i = 0; i < n; ++i) {
        const T v = static_cast<T>(value(i));
        std::memcpy(to + i * sizeof(T), &v, sizeof(T));
      }
    };
    switch (width) {
      case 1:
        store(uint8_t{});
        break;
      case 2:
        store(uint16_t{});
        break;
      case 4:
        store(uint32_t{});
        break;
      default:
        store(uint64_t{});
    }
  }

 private:
  Bytes& out_;
};

/// Whatever does not fit is an Error(bad_input) that names `where`.
class Reader {
 public:
  Reader(std::span<const uint8_t> data, std::string_view where) : data_(data), where_(where) {}
  [[noreturn]] void damaged() const {
    bad_input(where_, "the file is damaged: a record has the wrong length", kCopyAgain);
  }
  std::span<const uint8_t> raw(size_t bytes) {
    if (bytes > data_.size() - at_) damaged();
    const auto part = data_.subspan(at_, bytes);
    at_ += bytes;
    return part;
  }
  uint8_t byte() { return raw(1)[0]; }
  template <class T>
  T value() {
    T v;
    std::memcpy(&v, raw(sizeof(T)).data(), sizeof(T));
    return v;
  }
  void version() {
    if (byte() != kVersion) bad_input(where_, "a record of a newer version of Stormcell", "use that version");
  }
  template <class T>
  std::vector<T> array(uint64_t n) {
    if (n > (data_.size() - at_) / sizeof(T)) damaged();
    std::vector<T> out(n);
    if (n) std::memcpy(out.data(), raw(n * sizeof(T)).data(), n * sizeof(T));
    return out;
  }
  void align4() { raw(std::min((4 - at_ % 4) % 4, data_.size() - at_)); }
  uint64_t varint() {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const uint8_t b = byte();
      v |= static_cast<uint64_t>(b & 127) << shift;
      if (b < 128) return v;
    }
    damaged();
  }
  int64_t signed_varint() {
    const uint64_t v = varint();
    return static_cast<int64_t>(v >> 1 ^ (0 - (v & 1)));
  }
  template <class T>
  std::vector<T> integers(uint64_t n, int width) {
    if (width != 1 && width != 2 && width != 4 && width != 8) damaged();
    if (n > left() / static_cast<size_t>(width)) damaged();
    const uint8_t* from = raw(n * static_cast<size_t>(width)).data();
    std::vector<T> out(n);
    const auto load = [&](auto type) {
      using S = decltype(type);
      for (size_t i = 0; i < n; ++i) {
        S v;
        std::memcpy(&v, from + i * sizeof(S), sizeof(S));
        out[i] = static_cast<T>(v);
      }
    };
    switch (width) {
      case 1:
        load(uint8_t{});
        break;
      case 2:
        load(uint16_t{});
        break;
      case 4:
        load(uint32_t{});
        break;
      default:
        load(uint64_t{});
    }
    return out;
  }
  /// Sums of counts must not overflow, whatever the file says.
  std::vector<int64_t> counts(uint64_t n, int width) {
    auto out = integers<int64_t>(n, width);
    for (const int64_t v : out)
      if (v < 0 || v > kMostCount) damaged();
    return out;
  }
  size_t left() const { return data_.size() - at_; }
  void end() const {
    if (left()) damaged();
  }

 private:
  std::span<const uint8_t> data_;
  std::string_view where_;
  size_t at_ = 0;
};

/// Bytes that an element needs.
inline int width_of(uint64_t most) { return most <= 0xff ? 1 : most <= 0xffff ? 2 : most <= 0xffffffff ? 4 : 8; }

}  // namespace stormcell::blob

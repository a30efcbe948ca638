// docs/gguf.md of ggml: magic, version, counts, key-value pairs, descriptions of tensors, padding to the alignment,
// data.
#include "core/formats/gguf.h"

#include <cstring>

#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

enum Type : uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, text, list, u64, i64, f64, kTypes };
constexpr uint64_t kSize[] = {1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr uint64_t kMostDims = 4, kAlignment = 32, kMostAlignment = 1 << 20;

}  // namespace

class GgufReader {
 public:
  GgufReader(std::span<const std::byte> bytes, const std::string& path, GgufFile& to)
      : bytes_(bytes), path_(path), to_(to) {}

  void read() {
    if (!GgufFile::is_one({reinterpret_cast<const char*>(bytes_.data()), bytes_.size()}))
      wrong("does not begin as GGUF does");
    at_ = 4;
    if (const auto version = take<uint32_t>(); version != 2 && version != 3)
      wrong("is of version " + std::to_string(version) + ", 2 and 3 are known");
    const auto tensors = take<uint64_t>(), pairs = take<uint64_t>();
    for (uint64_t i = 0; i < pairs; ++i) read_pair();
    std::vector<std::pair<GgufTensor*, uint64_t>> places;
    for (uint64_t i = 0; i < tensors; ++i) places.push_back(read_tensor());
    const auto found = to_.numbers_.find("general.alignment");
    const uint64_t alignment = found == to_.numbers_.end() ? kAlignment : static_cast<uint64_t>(found->second);
    if (alignment == 0 || alignment > kMostAlignment) wrong("its alignment is " + std::to_string(alignment));
    const uint64_t data = (at_ + alignment - 1) / alignment * alignment;
    for (const auto& [tensor, offset] : places) place(*tensor, data, offset);
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = "write it again") const {
    bad_input(path_, what, advice);
  }

  template <class T>
  T take() {
    if (bytes_.size() - at_ < sizeof(T))
      wrong("ends in the middle of its header", "it may be truncated; copy it again");
    T value;
    std::memcpy(&value, bytes_.data() + at_, sizeof value);
    at_ += sizeof value;
    return value;
  }
  std::string take_text() {
    const auto size = take<uint64_t>();
    if (bytes_.size() - at_ < size) wrong("ends in the middle of its header", "it may be truncated; copy it again");
    std::string value(reinterpret_cast<const char*>(bytes_.data()) + at_, size);
    at_ += size;
    return value;
  }

  int64_t take_whole(uint32_t type) {
    switch (type) {
      case u8:
      case boolean:
        return take<uint8_t>();
      case i8:
        return take<int8_t>();
      case u16:
        return take<uint16_t>();
      case i16:
        return take<int16_t>();
      case u32:
        return take<uint32_t>();
      case i32:
        return take<int32_t>();
      default:
        return static_cast<int64_t>(take<uint64_t>());
    }
  }
  void skip(uint64_t size) {
    if (bytes_.size() - at_ < size) wrong("ends in the middle of its header", "it may be truncated; copy it again");
    at_ += size;
  }

  void read_pair() {
    const std::string key = take_text();
    const auto type = take<uint32_t>();
    if (type == text) {
      to_.texts_[key] = take_text();
    } else if (type == list) {
      const auto of = take<uint32_t>();
      const auto count = take<uint64_t>();
      if (of >= kTypes || of == list) wrong(in_quotes(key) + " is a list of what is not known");
      if (of == text) {
        for (uint64_t i = 0; i < count; ++i) {
          const std::string element = take_text();
          if (i == 0) to_.texts_[key] = element;
        }
      } else if (count > bytes_.size() / kSize[of]) {
        wrong(in_quotes(key) + " is longer than the file");
      } else {
        skip(count * kSize[of]);
      }
    } else if (type == f32 || type == f64) {
      skip(kSize[type]);
    } else if (type < kTypes) {
      to_.numbers_[key] = take_whole(type);
    } else {
      wrong(in_quotes(key) + " is of a type that is not known");
    }
  }

  std::pair<GgufTensor*, uint64_t> read_tensor() {
    const std::string name = take_text();
    GgufTensor tensor;
    const auto dims = take<uint32_t>();
    if (dims == 0 || dims > kMostDims) wrong(in_quotes(name) + " has " + std::to_string(dims) + " dimensions");
    for (uint32_t d = 0; d < dims; ++d) {
      const auto n = take<uint64_t>();
      if (n == 0 || n > bytes_.size()) wrong(in_quotes(name) + " is larger than the file");
      tensor.dims.push_back(static_cast<int64_t>(n));
    }
    tensor.type = take<uint32_t>();
    const auto offset = take<uint64_t>();
    const auto [at, is_new] = to_.tensors_.emplace(name, std::move(tensor));
    if (!is_new) wrong(in_quotes(name) + " occurs twice");
    return {&at->second, offset};
  }

  void place(GgufTensor& tensor, uint64_t data, uint64_t offset) const {
    if (tensor.type != GgufFile::kF32) return;  // how long others are is the business of who computes with them
    uint64_t size = sizeof(float);
    for (const int64_t n : tensor.dims) {
      if (static_cast<uint64_t>(n) > bytes_.size() / size)
        wrong("a tensor is larger than the file", "it may be truncated; copy it again");
      size *= static_cast<uint64_t>(n);
    }
    if (data > bytes_.size() || offset > bytes_.size() - data || size > bytes_.size() - data - offset)
      wrong("a tensor lies beyond the file", "it may be truncated; copy it again");
    tensor.bytes = bytes_.subspan(data + offset, size);
  }

  std::span<const std::byte> bytes_;
  const std::string& path_;
  GgufFile& to_;
  uint64_t at_ = 0;
};

GgufFile::GgufFile(std::span<const std::byte> bytes, const std::string& path) { GgufReader(bytes, path, *this).read(); }

}  // namespace stormcell

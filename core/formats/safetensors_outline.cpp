#include "core/formats/safetensors_outline.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/header_bytes.h"
#include "core/formats/json_walk.h"
#include "core/formats/safetensors_header.h"

namespace stormcell {
namespace {

constexpr int64_t kMostOutlined = 1'000'000;
constexpr size_t kMostExtents = 32, kMostMetadata = 64, kMostMetadataText = 256;

class OutlineVisitor : public JsonVisitor {
 public:
  OutlineVisitor(const std::string& where, int64_t data_bytes, const SeeTensor& see)
      : where_(where), data_bytes_(data_bytes), see_(see) {}

  void open(const JsonPath& path, bool is_list) override {
    if (path.size() == 0 && is_list) wrong("its header is a list");
    if (path.size() != 1) return;
    if (is_list) wrong(in_quotes(path.key(0)) + " is a list, expected an object with dtype, shape and data_offsets");
    tensor_ = {.name = std::string(path.key(0))};
    begin_ = end_ = -1;
  }
  void text(const JsonPath& path, const std::string& value) override {
    if (path.size() != 2) return;
    if (path.key(0) == "__metadata__") {
      if (found_.metadata.size() < kMostMetadata && value.size() <= kMostMetadataText)
        found_.metadata[std::string(path.key(1))] = value;
    } else if (path.key(1) == "dtype") {
      tensor_.format = value.substr(0, kMostMetadataText);
    }
  }
  void whole(const JsonPath& path, int64_t value) override {
    if (path.size() != 3) return;
    if (value < 0) wrong("tensor " + in_quotes(path.key(0)) + " has a negative number");
    if (path.key(1) == "shape") {
      if (tensor_.shape.size() == kMostExtents) wrong("tensor " + in_quotes(path.key(0)) + " has too many extents");
      tensor_.shape.push_back(value);
    } else if (path.key(1) == "data_offsets") {
      (begin_ < 0 ? begin_ : end_) = value;
    }
  }
  void close(const JsonPath& path) override {
    if (path.size() != 1 || path.key(0) == "__metadata__") return;
    if (begin_ < 0 || end_ < begin_) wrong("tensor " + in_quotes(tensor_.name) + " has no data_offsets");
    if (end_ > data_bytes_)
      bad_input(where_,
                "is shorter than its header says: " + in_quotes(tensor_.name) + " ends at byte " + with_commas(end_) +
                    " of its data, and there are " + with_commas(data_bytes_),
                "it may still be downloading, or is truncated");
    if (++found_.tensors > kMostOutlined) wrong("has more than " + with_commas(kMostOutlined) + " tensors");
    tensor_.bytes = end_ - begin_;
    see_(tensor_);
  }
  SafetensorsOutline& found() { return found_; }

 private:
  [[noreturn]] void wrong(const std::string& what) const { bad_input(where_, what, "get the file again"); }

  const std::string& where_;
  int64_t data_bytes_;
  const SeeTensor& see_;
  DescribedTensor tensor_;
  int64_t begin_ = -1, end_ = -1;
  SafetensorsOutline found_;
};

}  // namespace

SafetensorsOutline outline_safetensors(HeaderBytes& bytes, const SeeTensor& see) {
  std::array<std::byte, sizeof(uint64_t)> first{};
  const size_t there = std::min<uint64_t>(first.size(), bytes.size());
  for (size_t i = 0; i < there; ++i) first[i] = bytes.take<std::byte>();
  const size_t size = safetensors_header_size(std::span(first).first(there), bytes.size(), bytes.where());
  const auto data = static_cast<int64_t>(bytes.rest() - size);
  OutlineVisitor visitor(bytes.where(), data, see);
  walk_json(bytes, size, visitor, bytes.where() + ": header");
  return std::move(visitor.found());
}

}  // namespace stormcell

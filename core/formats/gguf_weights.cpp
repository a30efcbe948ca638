#include "core/formats/gguf_weights.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/gguf_parts.h"
#include "core/formats/header_bytes.h"
#include "core/formats/open_file.h"
#include "core/formats/part_names.h"
#include "core/formats/sha256.h"

namespace stormcell {
namespace {

/// The format of the engine that a type of GGML is; null: products have no kernels for it.
const NumberFormat* format_of_ggml(const GgmlType& type) {
  std::string name(type.name);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  const std::optional<DType> dtype = parse_dtype(name);
  const NumberFormat* format = dtype ? &format_of(*dtype) : nullptr;
  const bool is_same = format && format->multiplies && format->block_elements == type.block_elements &&
                       format->block_bytes == type.block_bytes;
  return is_same ? format : nullptr;
}

/// Reads the header of one part.
class GgufPart {
 public:
  GgufPart(const std::string& path, GgufWeights& weights, std::set<std::string, std::less<>>& names)
      : file_(std::make_shared<const OpenFile>(OpenFile::open_regular(path))), weights_(weights), names_(names) {}

  /// Part i of `parts`.
  void read(size_t i, size_t parts) {
    HeaderBytes bytes(*file_);
    const GgufHeader header = read_gguf_header(bytes, [&](GgufPlace&& place) { add(std::move(place)); });
    check_gguf_end(header, last_, end_, file_->size(), file_->path());
    check_gguf_part(header.keys, weights_.keys, i, parts, file_->path());
    check_overlaps();
    for (TensorPlace& place : places_) place.begin += static_cast<int64_t>(header.data_begin);
    std::sort(places_.begin(), places_.end(),
              [](const TensorPlace& a, const TensorPlace& b) { return a.name < b.name; });
    std::string digest = digest_of(header.data_begin);
    if (i == 0) weights_.keys = header.keys;
    weights_.files.push_back(std::make_unique<const TensorFile>(file_, std::move(digest), std::move(places_)));
  }

 private:
  [[noreturn]] void wrong(const std::string& name, const std::string& what) const {
    bad_input(file_->path(), "tensor " + in_quotes(name) + ": " + what, "get the file again");
  }

  void add(GgufPlace&& place) {
    if (!names_.insert(place.name).second) wrong(place.name, "occurs twice");
    const GgmlType* type = ggml_type(place.type);
    const std::optional<uint64_t> bytes = place.bytes();
    if (type && !bytes)
      wrong(place.name, "has rows of " + std::to_string(place.dims[0]) + " elements, which are no whole blocks of " +
                            std::to_string(type->block_elements) + " in " + std::string(type->name));
    if (bytes) {
      const uint64_t end = std::min(place.offset, UINT64_MAX / 2) + *bytes;
      if (end > end_) end_ = end, last_ = place.name;
      ranges_.push_back({place.offset, end, place.name});
    }
    const NumberFormat* format = type ? format_of_ggml(*type) : nullptr;
    if (!format) {
      std::string name = type ? std::string(type->name) : "type " + std::to_string(place.type);
      weights_.others.push_back({std::move(place.name), std::move(name)});
      return;
    }
    places_.push_back({std::move(place.name),
                       format->type,
                       {place.dims.rbegin(), place.dims.rend()},
                       static_cast<int64_t>(std::min<uint64_t>(place.offset, INT64_MAX / 2)),
                       static_cast<int64_t>(*bytes),
                       0});
  }

  void check_overlaps() {
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) { return a.begin < b.begin; });
    for (size_t i = 1; i < ranges_.size(); ++i)
      if (ranges_[i].begin < ranges_[i - 1].end)
        wrong(ranges_[i].name, "its data overlap those of " + in_quotes(ranges_[i - 1].name));
  }

  /// The vocabulary in a header takes megabytes: its digest tells it from others as well.
  std::string digest_of(uint64_t data_begin) const {
    Sha256 sha;
    std::array<std::byte, 1 << 16> some;
    const uint64_t all = std::min<uint64_t>(data_begin, file_->size());
    for (uint64_t at = 0; at < all; at += some.size()) {
      const std::span<std::byte> piece(some.data(), std::min<uint64_t>(some.size(), all - at));
      file_->read(at, piece);
      sha.update(piece);
    }
    return sha.hex();
  }

  struct Range {
    uint64_t begin = 0, end = 0;
    std::string name;
  };
  std::shared_ptr<const OpenFile> file_;
  GgufWeights& weights_;
  std::set<std::string, std::less<>>& names_;  ///< of all parts
  std::vector<TensorPlace> places_;
  std::vector<Range> ranges_;
  uint64_t end_ = 0;
  std::string last_;  ///< the tensor that ends there
};

}  // namespace

GgufWeights open_gguf_weights(const std::string& path) {
  const std::vector<std::string> parts = all_parts(path);
  check_parts_are_there(path, parts);
  GgufWeights weights;
  std::set<std::string, std::less<>> names;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (const std::string download = download_beside(parts[i]); !download.empty())
      bad_input(parts[i], "is a download that did not end: " + in_quotes(download) + " is beside it",
                "start the download again");
    GgufPart(parts[i], weights, names).read(i, parts.size());
  }
  check_gguf_tensors(weights.keys, parts.size(), std::ssize(names), parts.front());
  std::sort(weights.others.begin(), weights.others.end(),
            [](const OtherTensor& a, const OtherTensor& b) { return a.name < b.name; });
  return weights;
}

}  // namespace stormcell

#include "core/formats/safetensors.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/mapped_file.h"
#include "core/formats/safetensors_header.h"

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and used in place");

namespace stormcell {
namespace {
const StoredTensor* find_by_name(const std::vector<StoredTensor>& tensors, std::string_view name) {
  const auto it =
      std::lower_bound(tensors.begin(), tensors.end(), name, [](const StoredTensor& t, std::string_view n) { return t.name < n; });
  return it != tensors.end() && it->name == name ? &*it : nullptr;
}
}  // namespace

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == 16) return text + ", ...]";
    text += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

std::shared_ptr<const SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  auto mapped = MappedFile::open(path);
  const std::span<const std::byte> bytes = mapped->bytes();
  if (bytes.empty()) bad_input(path, "is empty", "get the file again");
  if (bytes.size() < sizeof(uint64_t))
    bad_input(path, "is truncated: " + counted(static_cast<int64_t>(bytes.size()), "byte"), "get the file again");
  uint64_t header_size = 0;
  std::memcpy(&header_size, bytes.data(), sizeof header_size);
  if (header_size > kMaxSafetensorsHeader)
    bad_input(path,
              "its header would have " + std::to_string(header_size) + " bytes, at most " + std::to_string(kMaxSafetensorsHeader) +
                  " are allowed",
              "check that it is a safetensors file");
  if (header_size > bytes.size() - sizeof header_size)
    bad_input(path,
              "is truncated: the header needs " + std::to_string(header_size) + " bytes, " +
                  std::to_string(bytes.size() - sizeof header_size) + " are there",
              "get the file again");

  std::shared_ptr<SafetensorsFile> file(new SafetensorsFile);
  file->file_ = mapped;
  file->header_ = {reinterpret_cast<const char*>(bytes.data()) + sizeof header_size, static_cast<size_t>(header_size)};
  const std::span<const std::byte> data = bytes.subspan(sizeof header_size + header_size);
  SafetensorsHeader header = parse_safetensors_header(file->header_, static_cast<int64_t>(data.size()), path);
  file->metadata_ = std::move(header.metadata);
  file->total_bytes_ = static_cast<int64_t>(data.size());
  file->tensors_.reserve(header.entries.size());
  for (SafetensorsEntry& entry : header.entries) {
    const auto range = data.subspan(static_cast<size_t>(entry.begin), static_cast<size_t>(entry.end - entry.begin));
    file->tensors_.push_back({std::move(entry.name), entry.dtype, std::move(entry.shape), range, 0});
  }
  return file;
}

const std::string& SafetensorsFile::path() const { return file_->path(); }
const StoredTensor* SafetensorsFile::find(std::string_view name) const { return find_by_name(tensors_, name); }
void SafetensorsFile::drop_pages(const StoredTensor& tensor) const {
  file_->drop_pages(static_cast<size_t>(tensor.bytes.data() - file_->bytes().data()), tensor.bytes.size());
}
void SafetensorsFile::advise_sequential(const StoredTensor& tensor) const {
  file_->advise_sequential(static_cast<size_t>(tensor.bytes.data() - file_->bytes().data()), tensor.bytes.size());
}

void SafetensorsFile::read(const StoredTensor& tensor, std::byte* to) const {
  file_->read(static_cast<size_t>(tensor.bytes.data() - file_->bytes().data()), {to, tensor.bytes.size()});
}

const StoredTensor* WeightFiles::find(std::string_view name) const { return find_by_name(tensors_, name); }
void WeightFiles::drop_pages(const StoredTensor& tensor) const { files_[static_cast<size_t>(tensor.file)]->drop_pages(tensor); }
void WeightFiles::read(const StoredTensor& tensor, std::byte* to) const { files_[static_cast<size_t>(tensor.file)]->read(tensor, to); }
void WeightFiles::advise_sequential(const StoredTensor& tensor) const {
  files_[static_cast<size_t>(tensor.file)]->advise_sequential(tensor);
}

}  // namespace stormcell

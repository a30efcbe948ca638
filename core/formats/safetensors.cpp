#include "core/formats/safetensors.h"

#include <algorithm>
#include <bit>

#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/formats/mapped_file.h"
#include "core/formats/safetensors_header.h"

static_assert(std::endian::native == std::endian::little, "safetensors data is little-endian and used in place");

namespace stormcell {

std::string shape_text(std::span<const int64_t> shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i == 16) return text + ", ...]";
    text += (i ? ", " : "") + std::to_string(shape[i]);
  }
  return text + "]";
}

std::shared_ptr<const SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  return in(MappedFile::open(path));
}

std::shared_ptr<const SafetensorsFile> SafetensorsFile::in(const std::shared_ptr<const MappedFile>& mapped) {
  const std::string& path = mapped->path();
  const std::span<const std::byte> bytes = mapped->bytes();
  std::shared_ptr<SafetensorsFile> file(new SafetensorsFile);
  file->file_ = mapped;
  std::span<const std::byte> data;
  SafetensorsHeader header;
  try {
    const size_t header_size =
        safetensors_header_size(bytes.first(std::min(bytes.size(), sizeof(uint64_t))), bytes.size(), path);
    file->header_ = {reinterpret_cast<const char*>(bytes.data()) + sizeof(uint64_t), header_size};
    data = bytes.subspan(sizeof(uint64_t) + header_size);
    header = parse_safetensors_header(file->header_, std::ssize(data), path);
  } catch (const Error& error) {
    const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (error.kind() == ErrorKind::bad_input) refuse_other_kind(path, content, FileUse::tensors);
    throw;
  }
  file->metadata_ = std::move(header.metadata);
  file->total_bytes_ = std::ssize(data);
  file->tensors_.reserve(header.entries.size());
  for (SafetensorsEntry& entry : header.entries) {
    const auto range = data.subspan(entry.begin, entry.end - entry.begin);
    file->tensors_.push_back({std::move(entry.name), entry.dtype, std::move(entry.shape), range});
  }
  return file;
}

const std::string& SafetensorsFile::path() const { return file_->path(); }
const StoredTensor* SafetensorsFile::find(std::string_view name) const {
  const auto at = std::lower_bound(tensors_.begin(), tensors_.end(), name,
                                   [](const StoredTensor& t, std::string_view n) { return t.name < n; });
  return at != tensors_.end() && at->name == name ? &*at : nullptr;
}

}  // namespace stormcell

#include "core/formats/tensor_file.h"

#include <algorithm>
#include <span>
#include <utility>

#include "core/base/error.h"
#include "core/formats/file_kind.h"
#include "core/formats/open_file.h"
#include "core/formats/safetensors_header.h"

namespace stormcell {

TensorFile::TensorFile(const std::string& path) : TensorFile(OpenFile::open_regular(path)) {}

TensorFile::TensorFile(OpenFile file) : file_(std::make_shared<const OpenFile>(std::move(file))) {
  const std::string& path = file_->path();
  std::byte first[sizeof(uint64_t)];
  SafetensorsHeader header;
  try {
    const std::span<std::byte> size(first, std::min(sizeof first, file_->size()));
    file_->read(0, size);
    header_.resize(safetensors_header_size(size, file_->size(), path));
    file_->read(sizeof first, std::as_writable_bytes(std::span(header_)));
    total_bytes_ = std::ssize(*file_) - static_cast<int64_t>(sizeof first + header_.size());
    header = parse_safetensors_header(header_, total_bytes_, path);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::bad_input) refuse_other_kind(*file_, FileUse::tensors);
    throw;
  }
  const int64_t data_begin = sizeof first + header_.size();
  tensors_.reserve(header.entries.size());
  for (SafetensorsEntry& entry : header.entries)
    tensors_.push_back({std::move(entry.name), entry.dtype, std::move(entry.shape), data_begin + entry.begin,
                        entry.end - entry.begin, 0});
}

TensorFile::TensorFile(std::shared_ptr<const OpenFile> file, std::string header, std::vector<TensorPlace> tensors)
    : file_(std::move(file)), header_(std::move(header)), tensors_(std::move(tensors)) {
  for (const TensorPlace& tensor : tensors_) total_bytes_ += tensor.bytes;
}

const std::string& TensorFile::path() const { return file_->path(); }
std::string TensorFile::change() const { return file_->change(); }

const TensorPlace* TensorFile::find(std::string_view name) const { return find_tensor(tensors_, name); }

void TensorFile::read(const TensorPlace& tensor, int64_t first, std::span<std::byte> to) const {
  file_->read(static_cast<size_t>(tensor.begin + first), to);
}

FileRange TensorFile::range(const TensorPlace& tensor) const {
  return {file_, static_cast<size_t>(tensor.begin), static_cast<size_t>(tensor.bytes)};
}

const TensorPlace* find_tensor(const std::vector<TensorPlace>& tensors, std::string_view name) {
  const auto at = std::lower_bound(tensors.begin(), tensors.end(), name,
                                   [](const TensorPlace& t, std::string_view n) { return t.name < n; });
  return at != tensors.end() && at->name == name ? &*at : nullptr;
}

}  // namespace stormcell

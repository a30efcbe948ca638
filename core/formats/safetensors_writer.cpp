#include "core/formats/safetensors_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/safetensors_header.h"

namespace stormcell {
namespace {
int64_t bytes_of(const TensorDeclaration& tensor) {
  int64_t bytes = element_size(tensor.dtype);
  for (const int64_t size : tensor.shape)
    if (size < 0 || __builtin_mul_overflow(bytes, size, &bytes))
      throw std::logic_error("tensor " + tensor.name + ": impossible shape");
  return bytes;
}

// Larger elements first, then by name, as the reference implementation does: every tensor is aligned to its element.
void order_for_file(std::vector<TensorDeclaration>& tensors) {
  std::sort(tensors.begin(), tensors.end(), [](const TensorDeclaration& a, const TensorDeclaration& b) {
    const size_t size_a = element_size(a.dtype), size_b = element_size(b.dtype);
    return size_a != size_b ? size_a > size_b : a.name < b.name;
  });
}
}  // namespace

SafetensorsWriter::SafetensorsWriter(std::string path, std::vector<TensorDeclaration> tensors,
                                     const SafetensorsMetadata& metadata)
    : path_(std::move(path)), partial_(path_ + ".partial") {
  order_for_file(tensors);
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  int64_t at = 0;
  for (const TensorDeclaration& tensor : tensors) {
    const int64_t size = bytes_of(tensor);
    if (tensor.name == "__metadata__" || !slots_.emplace(tensor.name, Slot{at, size, 0}).second)
      throw std::logic_error("tensor " + tensor.name + " is declared twice, or reserved");
    header[tensor.name] = {
        {"dtype", safetensors_dtype_name(tensor.dtype)}, {"shape", tensor.shape}, {"data_offsets", {at, at + size}}};
    at += size;
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  text.resize((text.size() + 7) / 8 * 8, ' ');
  if (text.size() > kMaxSafetensorsHeader) throw std::logic_error("the header is too large for a safetensors file");

  descriptor_ = ::open(partial_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor_ < 0) give_up(errno, "created");
  try {
    const uint64_t header_size = text.size();
    const int64_t data_begin = sizeof header_size + text.size();
    reserve(data_begin + at);
    write_at(0, &header_size, sizeof header_size);
    write_at(sizeof header_size, text.data(), text.size());
    for (auto& [name, slot] : slots_) slot.begin += data_begin;
  } catch (...) {
    discard();
    throw;
  }
}

SafetensorsWriter::~SafetensorsWriter() { discard(); }

void SafetensorsWriter::discard() {
  if (descriptor_ < 0) return;
  ::close(descriptor_);
  ::unlink(partial_.c_str());
  descriptor_ = -1;
}

void SafetensorsWriter::give_up(int error, std::string_view doing) {
  discard();
  const std::string what = "cannot be " + std::string(doing) + ": " + std::strerror(error);
  switch (error) {
    case ENOSPC:
    case EDQUOT:
      failed(path_, what, "free some space or write to another disk");
    case EIO:
      failed(path_, what, "check the disk");
    case EFBIG:
      failed(path_, what, "raise the limit on file size: ulimit -f");
    case ENOENT:
    case ENOTDIR:
      bad_input(path_, what, "create its folder first");
    default:
      bad_input(path_, what, "check the permissions of the file and its folder");
  }
}

// Takes the space now, so that a full disk is reported before hours of work; if the file system cannot, it gets only
// the size.
void SafetensorsWriter::reserve(int64_t bytes) {
  int error = ::posix_fallocate(descriptor_, 0, bytes);
  if (error == EOPNOTSUPP || error == EINVAL) error = ::ftruncate(descriptor_, bytes) == 0 ? 0 : errno;
  if (error != 0) give_up(error, "written");
}

void SafetensorsWriter::write_at(int64_t offset, const void* data, size_t bytes) {
  const char* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t written = ::pwrite(descriptor_, from, std::min(bytes, size_t{1} << 30), offset);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) give_up(errno, "written");
    from += written;
    offset += written;
    bytes -= static_cast<size_t>(written);
  }
}

void SafetensorsWriter::append(std::string_view name, const void* data, size_t bytes) {
  const auto it = slots_.find(name);
  if (it == slots_.end() || descriptor_ < 0)
    throw std::logic_error("tensor " + std::string(name) + " was not declared, or the file is finished");
  Slot& slot = it->second;
  if (static_cast<int64_t>(bytes) > slot.size - slot.filled)
    throw std::logic_error("tensor " + std::string(name) + " gets more bytes than its shape takes");
  write_at(slot.begin + slot.filled, data, bytes);
  slot.filled += static_cast<int64_t>(bytes);
}

void SafetensorsWriter::finish() {
  for (const auto& [name, slot] : slots_)
    if (slot.filled != slot.size) throw std::logic_error("tensor " + name + " is not complete");
  if (::fsync(descriptor_) != 0) give_up(errno, "written");
  if (::rename(partial_.c_str(), path_.c_str()) != 0) give_up(errno, "put in place");
  ::close(descriptor_);
  descriptor_ = -1;
  // The new name is durable only when its folder is flushed; a folder that cannot be is no reason to fail.
  const std::filesystem::path folder = std::filesystem::path(path_).parent_path();
  const int handle = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (handle >= 0) {
    (void)::fsync(handle);
    ::close(handle);
  }
}

void write_safetensors(const std::string& path, std::span<const TensorToWrite> tensors,
                       const SafetensorsMetadata& metadata) {
  std::vector<TensorDeclaration> declarations;
  declarations.reserve(tensors.size());
  for (const TensorToWrite& tensor : tensors) declarations.push_back({tensor.name, tensor.dtype, tensor.shape});
  SafetensorsWriter writer(path, declarations, metadata);
  for (size_t i = 0; i < tensors.size(); ++i)
    writer.append(tensors[i].name, tensors[i].data, static_cast<size_t>(bytes_of(declarations[i])));
  writer.finish();
}

}  // namespace stormcell

#include "core/formats/gguf.h"

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/header_bytes.h"

namespace stormcell {
namespace {

[[noreturn]] void refuse_gguf(const std::string& path, const std::string& what,
                              const std::string& advice = "write it again") {
  bad_input(path, what, advice);
}

/// The bytes of a tensor of f32; nothing of others: how long they are is the business of who computes with them.
std::span<const std::byte> f32_bytes_of(const GgufPlace& place, uint64_t data, std::span<const std::byte> file,
                                        const std::string& path) {
  if (place.type != GgufFile::kF32) return {};
  const uint64_t size = *place.bytes();
  if (data > file.size() || place.offset > file.size() - data || size > file.size() - data - place.offset)
    refuse_gguf(path, "a tensor is beyond the end of the file", "it may be truncated; copy it again");
  return file.subspan(data + place.offset, size);
}

}  // namespace

GgufFile::GgufFile(std::span<const std::byte> bytes, const std::string& path) {
  HeaderBytes header_bytes(bytes, path);
  std::map<std::string, GgufPlace, std::less<>> places;
  GgufHeader header = read_gguf_header(header_bytes, [&](GgufPlace&& place) {
    for (const int64_t n : place.dims)
      if (static_cast<uint64_t>(n) > bytes.size())
        refuse_gguf(path, in_quotes(place.name) + " is larger than the file");
    const std::string name = place.name;
    if (!places.emplace(name, std::move(place)).second) refuse_gguf(path, in_quotes(name) + " occurs twice");
  });
  for (auto& [name, place] : places) {
    const std::span<const std::byte> data = f32_bytes_of(place, header.data_begin, bytes, path);
    tensors_[name] = {std::move(place.dims), place.type, data};
  }
  texts_ = std::move(header.keys.texts), numbers_ = std::move(header.keys.numbers);
  for (auto& [key, list] : header.keys.lists)
    if (!list.first.empty()) texts_[key] = std::move(list.first);
}

}  // namespace stormcell

#include "core/models/fingerprint.h"

#include <algorithm>

#include "core/formats/safetensors.h"
#include "core/formats/sha256.h"

namespace stormcell {

std::string fingerprint_of(std::string_view config, const WeightFiles& files) {
  constexpr size_t kEdge = 4096;
  Sha256 sha;
  sha.update(config);
  for (size_t i = 0; i < files.file_count(); ++i) sha.update(files.header_bytes(i));
  for (const StoredTensor& tensor : files.tensors()) {
    const size_t edge = std::min(kEdge, tensor.bytes.size());
    sha.update(tensor.bytes.first(edge));
    sha.update(tensor.bytes.last(edge));
    // What was touched is few pages of many tensors; they would count as resident.
    files.drop_pages(tensor);
  }
  return sha.hex();
}

std::string fingerprint_of(std::string_view config, std::string_view seeded) {
  Sha256 sha;
  sha.update(config);
  sha.update(seeded);
  return sha.hex();
}

}  // namespace stormcell

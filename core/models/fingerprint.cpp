#include "core/models/fingerprint.h"

#include <algorithm>

#include "core/formats/safetensors.h"
#include "core/formats/sha256.h"

namespace stormcell {

namespace {

std::string fingerprint_of_some(std::string_view config, const WeightFiles& files, size_t most) {
  constexpr size_t kEdge = 4096;
  Sha256 sha;
  sha.update(config);
  for (size_t i = 0; i < files.file_count(); ++i) sha.update(files.header_bytes(i));
  const std::vector<StoredTensor>& tensors = files.tensors();
  const size_t sampled = std::min(most, tensors.size());
  for (size_t i = 0; i < sampled; ++i) {
    const StoredTensor& tensor = tensors[i * tensors.size() / sampled];
    const size_t edge = std::min(kEdge, tensor.bytes.size());
    sha.update(tensor.bytes.first(edge));
    sha.update(tensor.bytes.last(edge));
    // What was touched is few pages of many tensors; they would count as resident.
    files.drop_pages(tensor);
  }
  return sha.hex();
}

}  // namespace

std::string fingerprint_of(std::string_view config, const WeightFiles& files) {
  return fingerprint_of_some(config, files, kSampledTensors);
}

std::string fingerprint_of_all(std::string_view config, const WeightFiles& files) {
  return fingerprint_of_some(config, files, files.tensors().size());
}

std::string fingerprint_of(std::string_view config, std::string_view seeded) {
  Sha256 sha;
  sha.update(config);
  sha.update(seeded);
  return sha.hex();
}

}  // namespace stormcell

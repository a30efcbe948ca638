#include "core/models/fingerprint.h"

#include <algorithm>
#include <span>

#include "core/formats/sha256.h"
#include "core/formats/weight_files.h"

namespace stormcell {

namespace {

std::string fingerprint_of_some(std::string_view config, const WeightFiles& files, size_t most) {
  constexpr int64_t kEdge = 4096;
  std::byte edge[kEdge];
  Sha256 sha;
  sha.update(config);
  for (size_t i = 0; i < files.file_count(); ++i) sha.update(files.header_bytes(i));
  const std::vector<TensorPlace>& tensors = files.tensors();
  const size_t sampled = std::min(most, tensors.size());
  for (size_t i = 0; i < sampled; ++i) {
    const TensorPlace& tensor = tensors[i * tensors.size() / sampled];
    const int64_t size = std::min<int64_t>(kEdge, tensor.bytes);
    const std::span<std::byte> bytes(edge, static_cast<size_t>(size));
    for (const int64_t first : {int64_t{0}, tensor.bytes - size}) {
      files.read(tensor, first, bytes);
      sha.update(bytes);
    }
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

// Fingerprints: a session recognises a model by them.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace stormcell {

class WeightFiles;

/// Tensors whose edges a fingerprint reads.
inline constexpr size_t kSampledTensors = 256;

/// SHA-256 over the canonical configuration, the headers of the weight files, and the first and last 4 KiB of at most
/// kSampledTensors tensors: number floor(i n / 256) of the n tensors in the order of their names, for i below 256.
/// Whole weights would cost seconds, and so would the edges of tens of thousands of tensors.
std::string fingerprint_of(std::string_view config, const WeightFiles& files);
/// The same over the edges of all tensors, as earlier versions wrote it into sessions and configurations. Equal to the
/// above for at most kSampledTensors tensors.
std::string fingerprint_of_all(std::string_view config, const WeightFiles& files);
/// The same for seeded weights: configuration, seed and format.
std::string fingerprint_of(std::string_view config, std::string_view seeded);

}  // namespace stormcell

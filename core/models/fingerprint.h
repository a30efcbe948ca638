// What a session knows a model by.
#pragma once
#include <string>
#include <string_view>

namespace stormcell {

class WeightFiles;

/// SHA-256 over the canonical configuration, the headers of the weight files, and the first and last 4 KiB of each tensor: whole
/// weights would cost seconds.
std::string fingerprint_of(std::string_view config, const WeightFiles& files);
/// The same for seeded weights: configuration, seed and format.
std::string fingerprint_of(std::string_view config, std::string_view seeded);

}  // namespace stormcell

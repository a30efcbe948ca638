// The tensors that the header of a safetensors file describes, one after the other: also those in formats that this
// program does not read. Unlike parse_safetensors_header() it keeps nothing, and does not look for holes.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/formats/described_tensor.h"

namespace stormcell {

class HeaderBytes;

struct SafetensorsOutline {
  int64_t tensors = 0;
  std::map<std::string, std::string> metadata;  ///< its first 64 texts of at most 256 bytes
};
/// Error(bad_input): damaged, more than 10^6 tensors, or a tensor that ends beyond the file.
SafetensorsOutline outline_safetensors(HeaderBytes& bytes, const SeeTensor& see);

}  // namespace stormcell

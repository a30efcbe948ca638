// The weights of a model in GGUF: the places of its tensors, whatever the number of its files. Headers alone are read.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/formats/gguf_header.h"
#include "core/formats/tensor_file.h"

namespace stormcell {

/// A tensor in a format that products do not have kernels for.
struct OtherTensor {
  std::string name;
  std::string format;  ///< "IQ4_XS", "type 99"
};

struct GgufWeights {
  std::vector<std::unique_ptr<const TensorFile>> files;  ///< in the order of the parts
  GgufEntries keys;                                      ///< of the first part
  std::vector<OtherTensor> others;                       ///< ordered by name
};

/// `path`: the file, or any part of a split model, whose names say how many there are. The extents of a tensor are
/// those of the file, with that of neighbours last. Error(bad_input): a part is missing, damaged or of another model;
/// rows that are no whole blocks; data that overlap or end beyond the file; a name that occurs twice.
GgufWeights open_gguf_weights(const std::string& path);

}  // namespace stormcell

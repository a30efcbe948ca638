// The tensors that a file of torch.save() describes, in the form since 1.6 (a ZIP archive) or the one before. Only its
// pickle is read, and none of its code runs.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/formats/described_tensor.h"

namespace stormcell {

class OpenFile;

struct TorchOutline {
  int64_t tensors = 0;
  std::string part;                  ///< keys that lead to the tensors, "model.state_dict"; empty: the root itself
  std::vector<std::string> others;   ///< the other keys of the root, at most 16
  std::vector<std::string> classes;  ///< unknown classes that the pickle names, at most 16
  bool whole_module = false;         ///< it holds objects of classes, not tensors by their names
};
/// Hands over the tensors of the file's state dict: of its root, or of the part with the most tensors. Error
/// (bad_input): damaged, no file of torch.save(), or a pickle of more than 64 MiB.
TorchOutline outline_torch(const OpenFile& file, const SeeTensor& see);
/// The same of a pickle alone.
TorchOutline outline_pickle(std::string_view pickle, const std::string& where, const SeeTensor& see);

}  // namespace stormcell

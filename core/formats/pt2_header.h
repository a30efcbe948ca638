// A program of torch.export: which operators its graph calls, and which tensors its archive describes. The JSON of the
// program is read value by value, the weights are not.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "core/formats/described_tensor.h"

namespace stormcell {

class HeaderBytes;

struct Pt2Header {
  std::string program;                       ///< name of the entry with the graph
  int64_t nodes = 0;                         ///< of all graphs in it
  std::map<std::string, int64_t> operators;  ///< calls by target, at most 4,096 targets
  std::string torch_version;                 ///< empty: it does not say
  int64_t schema = 0;                        ///< the major version; 0: it does not say
  int64_t tensors = 0;
  int64_t weight_bytes = 0;  ///< of the archive's entries of weights
};
/// Error(bad_input): no archive, damaged, no program in it, JSON of more than 512 MiB.
Pt2Header read_pt2_header(HeaderBytes& bytes, const SeeTensor& see);

}  // namespace stormcell

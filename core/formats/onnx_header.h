// An ONNX model: its producer, which operators its graphs have, and which tensors it describes. The numbers of tensors
// are passed over, in whatever file they are.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "core/formats/described_tensor.h"

namespace stormcell {

class HeaderBytes;

struct OnnxHeader {
  int64_t ir_version = 0;
  int64_t opset = 0;  ///< of the standard operators; 0: it does not say
  std::string producer, producer_version, graph;
  int64_t nodes = 0;                         ///< of all graphs and functions
  int64_t graphs = 0;                        ///< also those within nodes: of If, Loop and Scan
  std::map<std::string, int64_t> operators;  ///< nodes by "DOMAIN.NAME", or NAME of the standard ones; at most 4,096
  int64_t tensors = 0;                       ///< weights; constants of nodes do not count
  std::set<std::string> files;               ///< others that numbers of tensors are in, as it names them; at most 256
};
/// Error(bad_input): damaged, no model, nested deeper than 16 graphs, more than 10^7 nodes.
OnnxHeader read_onnx_header(HeaderBytes& bytes, const SeeTensor& see);

}  // namespace stormcell

// Nodes, GPUs and the links between them, as figures for a closed form.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace stormcell {

/// One kind of GPU in equal nodes. Rates are of one GPU and one direction.
struct Cluster {
  std::string name;
  int32_t nodes = 1, gpus_per_node = 1;
  std::string gpu;
  double memory_bytes = 0, memory_bytes_per_s = 0, flops_per_s = 0;
  std::string fabric;  ///< between the GPUs of a node
  double fabric_bytes_per_s = 0;
  std::string network;  ///< between nodes; empty: there is one node
  double network_bytes_per_s = 0;
  /// [from * ranks + to] seconds a byte, in place of fabric and network; empty: those rates count
  std::vector<double> rank_cost;
  std::vector<std::string> sources;  ///< sources of the figures
  int32_t ranks() const { return nodes * gpus_per_node; }
};

/// Doubts about unlikely figures, a sentence each: a link faster than the one behind it often means bits taken for
/// bytes.
std::vector<std::string> doubts_about(const Cluster& cluster);

}  // namespace stormcell

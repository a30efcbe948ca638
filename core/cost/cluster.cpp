#include "core/cost/cluster.h"

#include <cstdio>

namespace stormcell {
namespace {

/// "3350 GB/s".
std::string rate_text(double bytes_per_s) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g GB/s", bytes_per_s / 1e9);
  return text;
}

}  // namespace

std::vector<std::string> doubts_about(const Cluster& c) {
  std::vector<std::string> out;
  if (!c.rank_cost.empty()) return out;  // rates are then means that nobody said
  if (c.nodes > 1 && c.network_bytes_per_s > c.fabric_bytes_per_s)
    out.push_back(c.name + ": the network is said to carry " + rate_text(c.network_bytes_per_s) +
                  " of a GPU to other nodes, more than the " + rate_text(c.fabric_bytes_per_s) +
                  " of its link within the node: a network card is no faster than the link by which the GPU reaches it "
                  "(bits for bytes?)");
  // A node with one GPU does not use its fabric.
  if (c.gpus_per_node > 1 && c.fabric_bytes_per_s > c.memory_bytes_per_s)
    out.push_back(c.name + ": a GPU's link within the node is said to carry " + rate_text(c.fabric_bytes_per_s) +
                  ", more than the " + rate_text(c.memory_bytes_per_s) +
                  " of the memory that it reads from (bits for bytes?)");
  return out;
}

}  // namespace stormcell

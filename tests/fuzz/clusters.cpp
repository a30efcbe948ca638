#include "core/planning/cluster_file.h"

#include <cmath>

#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(clusters) {
  static const fuzz::MemoryFile file;
  fuzz::refused_or_done([&] {
    const Cluster cluster = read_cluster(file.holding(data, size));
    fuzz::require(cluster.nodes >= 1 && cluster.gpus_per_node >= 1 && !cluster.name.empty(),
                  "a cluster has GPUs and a name");
    for (const double rate :
         {cluster.memory_bytes, cluster.memory_bytes_per_s, cluster.flops_per_s, cluster.fabric_bytes_per_s})
      fuzz::require(rate > 0 && std::isfinite(rate), "rates are numbers above 0");
    fuzz::require(cluster.nodes == 1 || (cluster.network_bytes_per_s > 0 && std::isfinite(cluster.network_bytes_per_s)),
                  "several nodes have a network");
    const auto ranks = static_cast<size_t>(cluster.ranks());
    fuzz::require(cluster.rank_cost.empty() || cluster.rank_cost.size() == ranks * ranks,
                  "a cost between each two GPUs");
    const Cluster again = read_cluster(to_json(cluster));
    fuzz::require(again.name == cluster.name && again.ranks() == cluster.ranks() &&
                      again.rank_cost.size() == cluster.rank_cost.size(),
                  "what was read can be written and read again");
  });
  return 0;
}

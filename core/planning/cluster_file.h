// Clusters by name and from files.
#pragma once
#include <string>
#include <vector>

#include "core/cost/cluster.h"

namespace stormcell {

/// "preset:NAME" of resources/clusters, a file of schema stormcell.cluster/1, or such a text, which begins with a
/// brace. With `rank_ns_per_byte`, a row of costs for each GPU, fabric and network may be left out. Error(bad_input)
/// with the key that is wrong.
Cluster read_cluster(const std::string& spec);
/// stormcell.cluster/1
std::string to_json(const Cluster& cluster);
/// Names of the presets, sorted.
std::vector<std::string> cluster_presets();

}  // namespace stormcell

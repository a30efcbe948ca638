// Clusters by name and from files.
#pragma once
#include <string>
#include <vector>

#include "core/cost/cluster.h"

namespace stormcell {

/// "preset:NAME" of resources/clusters, or a file of schema stormcell.cluster/1. Error(bad_input) with the key that is wrong.
Cluster read_cluster(const std::string& spec);
/// Names of the presets, sorted.
std::vector<std::string> cluster_presets();

}  // namespace stormcell

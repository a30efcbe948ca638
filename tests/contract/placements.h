// Helpers for tests of place: counts of a published example, a cluster of two nodes, and the verb's answers.
#pragma once
#include <string>

#include "tests/contract/imports.h"

namespace stormcell::testing {

class Placements : protected Imports {
 protected:
  /// The published example of the EPLB rule, below a layer without experts.
  static constexpr const char* kCounts =
      R"({"logical_count": [[0,0,0,0,0,0,0,0,0,0,0,0],
 [90,132,40,61,104,165,39,4,73,56,183,86], [20,107,104,64,19,197,187,157,172,86,16,27]]})";
  static constexpr const char* kTwoNodes = R"({"schema": "stormcell.cluster/1", "nodes": 2, "gpus_per_node": 4,
 "gpu": {"name": "g", "memory_bytes": 8e10, "memory_bytes_per_s": 3e12, "flops_per_s": 9e14},
 "fabric": {"name": "f", "bytes_per_s": 4e11}, "network": {"name": "n", "bytes_per_s": 5e10}})";

  std::string counted_session(const std::string& name, const std::string& counts = kCounts) {
    const std::string session = scratch_.path(name + ".storm");
    imported(scratch_.write(name + ".json", counts), session);
    return session;
  }
  Json placed(const std::string& session, const Arguments& more = {}) {
    Arguments arguments = {"place", session, "--json", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return json_of(arguments);
  }
};

}  // namespace stormcell::testing

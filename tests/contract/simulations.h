// Helpers for tests of simulate: a recorded routing, a cluster of two nodes, and the verb's answers.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>

#include "tests/contract/imports.h"

namespace stormcell::testing {

class Simulations : protected Imports {
 protected:
  static constexpr const char* kTwoNodes =
      R"({"schema": "stormcell.cluster/1", "name": "two nodes", "nodes": 2, "gpus_per_node": 2,
 "gpu": {"memory_bytes": 1e9, "memory_bytes_per_s": 1e12, "flops_per_s": 1e14}, "fabric": {"bytes_per_s": 1e11},
 "network": {"name": "n", "bytes_per_s": 1e10}})";
  const std::string cluster_ = scratch_.write("two.json", kTwoNodes);
  const Arguments sizes_ = {"--hidden", "64", "--ffn", "32"};

  static bool near(double a, double b) { return std::abs(a - b) <= 1e-9 * std::max(std::abs(a), std::abs(b)); }
  static double sum_of(const Json& list, const char* key) {
    double sum = 0;
    for (const Json& one : list) sum += one[key].get<double>();
    return sum;
  }
  std::string traced(const std::string& name) {
    const std::string session = scratch_.path(name + ".storm");
    imported(scratch_.write(name + ".csv", route_trace()), session);
    return session;
  }
  Json simulated(const std::string& session, Arguments more = {}) {
    const Arguments common = {"simulate", session, "--cluster", cluster_, "--json", "-"};
    more.insert(more.begin(), sizes_.begin(), sizes_.end());
    more.insert(more.begin(), common.begin(), common.end());
    return json_of(more);
  }
  /// Two steps of counts, and nothing else.
  std::string scratch_counts() {
    const std::string session = scratch_.path("logical.storm");
    imported(scratch_.write("logical.json", R"({"logical_count": [[[90, 60, 30, 20]], [[90, 60, 30, 20]]]})"), session);
    return session;
  }
};

}  // namespace stormcell::testing

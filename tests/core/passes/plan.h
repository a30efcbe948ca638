// Graphs as plans: run on a device, compared bit for bit, profiled.
#pragma once
#include <memory>
#include <set>
#include <string>

#include "core/passes/pass.h"
#include "core/runtime/executor.h"
#include "tests/testing/graph_case.h"

namespace stormcell::testing {

using CaseInputs = std::map<std::string, CaseInput>;

/// One graph on one device, with a weight store of its own.
class Plan {
 public:
  /// `budget`: bytes for weights of branches; 0: none.
  Plan(Device& device, const Graph& graph, const RandomCase& from, int64_t budget = 0);
  /// Outputs and decisions.
  const ExecutionResult& run(const CaseInputs& inputs);
  /// Neither outputs nor decisions are read back.
  const ExecutionResult& run_silently(const CaseInputs& inputs);
  const ExecutionResult& run(const CaseInputs& inputs, const ExecuteOptions& options);
  Executor& executor() { return executor_; }
  WeightStore& store() { return store_; }
  /// Bytes of weights that it has needed so far, and of those that only fallbacks which never ran would need.
  int64_t needed_bytes() const { return bytes_of(executor_.needed_weights()); }
  int64_t spared_bytes() const { return bytes_of(executor_.spared_weights()); }

 private:
  int64_t bytes_of(const std::set<WeightHandle>& handles) const;

  Bindings bindings_;
  WeightStore store_;
  Executor executor_;
  ExecutionResult result_;
};

/// Empty where both have the same outputs to the last bit; else the first difference.
std::string difference(const std::vector<OutputValue>& a, const std::vector<OutputValue>& b);

/// Adds the decisions of one batch to the loads.
void add_to_profile(const Executor& executor, const ExecutionResult& result, LoadProfile& profile);
/// Loads of one run of the case on the inputs given.
LoadProfile profile_of(const RandomCase& from, const std::vector<CaseInputs>& batches);

/// Other inputs for the same graph: ids and numbers drawn anew, masks as they are.
CaseInputs drawn_anew(const RandomCase& from, uint64_t seed);

PassInput pass_input(const Graph& graph, const LoadProfile& profile);
size_t count_nodes(const Graph& graph, std::string_view op);

}  // namespace stormcell::testing

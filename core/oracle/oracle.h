// The oracle: a model computed the plain way, by which every device and every optimised plan is judged.
//
// It walks the graph node by node in fresh memory with the reference kernels (core/oracle/reference) and shares nothing
// with the runtime: no lowering, no memory plan, no packed weights, no conversion. Scatters copy rows, gathers follow
// each row up its chain of decisions, a guard runs the body that its predicate asks for, a repeat loops. Weights come
// as they are stored and are converted to the scalar block by block as they are used; recipes are read by the oracle
// itself on the way, and nothing is folded.
//
// It takes any number type that has what core/oracle/scalar.h says: here floats, and Residue in residue_oracle.h.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/base/progress.h"
#include "core/cell/decision.h"
#include "core/cell/intervention.h"
#include "core/graph/graph.h"
#include "core/oracle/oracle_tensor.h"
#include "core/weights/weight_source.h"

namespace stormcell {

/// One decision; a router that runs several times has one entry for each execution.
struct OracleDecision {
  std::string router;  ///< name of the route node
  NodeId node = kNone;
  int64_t execution = 0;             ///< earlier decisions of a router of this name (in a repeat region: the turn)
  DecisionShape shape;               ///< cells: those that came
  std::vector<int32_t> choice;       ///< [cells, fan_out] as DecisionView::choice
  std::vector<int32_t> free_choice;  ///< [cells, fan_out] of a replayed decision: its own choices; else empty
  std::vector<float> weight;         ///< [cells, fan_out]
  std::vector<float> margin;         ///< [cells]
  std::vector<float> scores;         ///< [cells, columns], with keep_scores
  /// [branches] correction of the scores of sigmoid groups, with keep_scores; empty if there is none
  std::vector<float> bias;
  int32_t score_columns = 0;
  SpaceId dense_space = kNone;  ///< the nearest space above that is not routed
  int64_t dense_cells = 0;
  /// [cells] row in the dense space; empty if the router decides over that space itself
  std::vector<int32_t> ancestor;
};

template <class Scalar>
using OracleInputs = std::map<std::string, OracleTensor<Scalar>, std::less<>>;

/// For each router, the choices [cells, fan_out] of each of its executions, in order.
using OracleReplay = std::map<std::string, std::vector<std::vector<int32_t>>, std::less<>>;

struct OracleOptions {
  OracleReplay replay;  ///< routers that are not named decide freely
  /// Forced choices by router: [dense cells, fan_out] for every cell of the dense space above it, whichever of them
  /// come; the same in each execution. They precede `replay`, and depend neither on decisions of the routers above nor
  /// on padding that a plan leaves out.
  std::map<std::string, std::vector<int32_t>, std::less<>> forced = {};
  /// Makes the choices of a router that decides about so many cells of its dense space, in the form of `forced`, each
  /// time that it decides. It precedes `forced`. An empty list forces nothing; an empty function never does.
  std::function<std::vector<int32_t>(const OracleDecision& made)> force = {};
  /// The same for single executions, in order, of routers that `forced` does not name; an empty one, and each behind
  /// the last, is not forced.
  OracleReplay forced_executions = {};
  /// Branches by router that may not be chosen. The graph does not contain this: the oracle itself chooses among the
  /// others.
  std::map<std::string, std::vector<int32_t>, std::less<>> off = {};
  /// Capacities by router, in the place of what the graph says: the oracle itself counts the places.
  std::map<std::string, Capacity, std::less<>> capacities = {};
  int threads = 1;
  bool keep_values = false;  ///< keeps every value of the run (for tests); the last one if it is computed several times
  bool keep_scores = false;
  /// inputs of products with bf16 weights are rounded to bf16, but of those that ask to be precise
  bool round_inputs = false;
  CancellationToken cancel;
};

template <class Scalar>
struct OracleResult {
  std::vector<std::pair<std::string, OracleTensor<Scalar>>> outputs;  ///< in the graph's order
  std::vector<OracleDecision> decisions;                              ///< in the order they were made
  std::map<ValueId, OracleTensor<Scalar>> values;                     ///< with keep_values
  int64_t guards_taken = 0, guard_fallbacks = 0;

  /// Throws Error when there is no such output.
  const OracleTensor<Scalar>& output(std::string_view name) const;
};

/// Graph and weights must outlive the oracle. run() may be called by several threads at once.
template <class Scalar>
class Oracle {
 public:
  Oracle(const Graph& graph, const WeightSource& weights) : graph_(graph), weights_(weights) {}
  /// Throws Error(bad_input) if an input is missing or does not have the size of the bindings, and as its cancellation
  /// says.
  OracleResult<Scalar> run(const OracleInputs<Scalar>& inputs, const Bindings& bindings,
                           const OracleOptions& options = {}) const;

 private:
  const Graph& graph_;
  const WeightSource& weights_;
};

extern template class Oracle<float>;
extern template class Oracle<double>;

}  // namespace stormcell

// A case on the host device and on the oracle, and how they differ.
#pragma once
#include <cmath>
#include <memory>
#include <string>

#include "core/oracle/oracle.h"
#include "core/passes/pipeline.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/gpu/host_device.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/graph_case.h"

namespace stormcell::testing {

/// One comparison at the run's end, and one after the results were read.
inline constexpr int64_t kSynchronizationsOfARun = 2;

/// A compiled case that runs as often as a test wants: each run in an order of its own.
class HostRun {
 public:
  /// `budget`: bytes for weights of branches; 0: all of them stay.
  HostRun(Device& device, const RandomCase& of, int64_t budget = 0)
      : device_(device),
        case_(of),
        store_(device, of.weights, budget),
        program_(std::make_shared<Program>(lower(std::make_shared<Graph>(of.graph)))),
        executor_(device, store_, program_, larger(of.bindings)) {}

  const Program& program() const { return *program_; }
  /// `replayed`: null: routers decide freely.
  ExecutionResult run(const ReplayedDecisions* replayed = nullptr) {
    ExecuteOptions options;
    options.outputs = options.record = true;
    options.replayed = replayed;
    ExecutionResult result;
    const int64_t before = device_.synchronizations();
    executor_.run(input_values(case_), case_.bindings, options, result);
    synchronizations_ = device_.synchronizations() - before;
    return result;
  }
  int64_t synchronizations() const { return synchronizations_; }

 private:
  // Bounds are larger than the case, as they are with batches of several sizes.
  static Bindings larger(Bindings b) {
    for (int64_t& x : b) x += 1;
    return b;
  }
  Device& device_;
  const RandomCase& case_;
  WeightStore store_;
  std::shared_ptr<const Program> program_;
  Executor executor_;
  int64_t synchronizations_ = 0;
};

/// The graph as the standard passes make it for a device that has these kernels, with nothing profiled.
inline Graph optimised_for(const Device& device, const Graph& graph) {
  const DeviceInfo info = device.info();
  const LoadProfile none;
  PassInput input{graph, none};
  input.operators = info.operators;
  input.bf16_rows = &info.bf16_rows;
  return run_passes(input, select_passes({}), OnTheirOwn::no).graph;
}

/// The decisions as the oracle made them, but for choices that its margins leave open; empty, or what differs.
inline std::string difference_of_decisions(const Program& program, const ExecutionResult& came,
                                           const OracleResult<float>& expected, double tolerance) {
  if (came.decisions.size() != expected.decisions.size())
    return "expected " + std::to_string(expected.decisions.size()) + " decisions, got " +
           std::to_string(came.decisions.size());
  for (const ExecutedDecision& d : came.decisions) {
    const ProgramRouter& router = program.routers[d.router];
    for (const OracleDecision& o : expected.decisions) {
      if (o.node != router.node || o.execution != d.turn) continue;
      if (d.shape.cells != o.shape.cells)
        return router.name + ": expected " + std::to_string(o.shape.cells) + " cells, got " +
               std::to_string(d.shape.cells);
      if (!o.ancestor.empty() && d.ancestor != o.ancestor) return router.name + ": other ancestors";
      double scale = 0;
      for (const float s : o.scores) scale = std::max(scale, std::fabs(double(s)));
      for (size_t i = 0; i < o.choice.size(); ++i) {
        if (d.choice[i] != o.choice[i] && double(o.margin[i / o.shape.fan_out]) > 8 * tolerance * scale)
          return router.name + ": choice " + std::to_string(i) + " is " + std::to_string(d.choice[i]) + ", expected " +
                 std::to_string(o.choice[i]);
        if (d.choice[i] == o.choice[i] && !(std::fabs(d.weight[i] - o.weight[i]) <= 8 * tolerance))
          return router.name + ": another weight of choice " + std::to_string(i);
      }
    }
  }
  return {};
}

inline std::string difference_of_outputs(const ExecutionResult& came, const OracleResult<float>& expected,
                                         double tolerance) {
  for (const OutputValue& out : came.outputs) {
    const OracleTensor<float>& right = expected.output(out.name);
    if (out.integers != right.integers) return out.name + ": other integers";
    double most = 0, scale = 1e-30;
    for (size_t i = 0; i < right.reals.size(); ++i) {
      if (std::isfinite(out.reals[i]) != std::isfinite(right.reals[i]))
        return out.name + ": number " + std::to_string(i) + " is " + std::to_string(out.reals[i]) + ", expected " +
               std::to_string(right.reals[i]);
      most = std::max(most, std::fabs(double(out.reals[i]) - double(right.reals[i])));
      scale = std::max(scale, std::fabs(double(right.reals[i])));
    }
    if (most > tolerance * scale)
      return out.name + ": differs by " + std::to_string(most) + " of " + std::to_string(scale);
  }
  return {};
}

/// The first difference between a run and the oracle, which makes the choices of the run: what the margins leave open
/// may have gone the other way. Empty: there is none.
inline std::string difference(const RandomCase& c, const Program& program, const ExecutionResult& came) {
  const double tolerance = c.weight_dtype == DType::f32 ? 1e-4 : 2e-2;
  OracleOptions options;
  options.round_inputs = true;
  options.keep_scores = true;
  const Oracle<float> oracle(c.graph, *c.weights);
  const std::string wrong =
      difference_of_decisions(program, came, oracle.run(oracle_inputs(c), c.bindings, options), tolerance);
  if (!wrong.empty()) return wrong;
  for (const ExecutedDecision& d : came.decisions) options.replay[program.routers[d.router].name].push_back(d.choice);
  return difference_of_outputs(came, oracle.run(oracle_inputs(c), c.bindings, options), tolerance);
}

}  // namespace stormcell::testing

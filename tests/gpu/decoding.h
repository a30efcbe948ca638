// Fixtures that decode, on any device, beside the CPU: tokens, records and replayed choices.
#pragma once
#include <cstring>

#include "core/cpu/cpu_device.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"

namespace stormcell::testing {

inline constexpr int64_t kDecodedTokens = 5;

struct DecodedFixture {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Program> program;
  ModelInputs in;
  ExecutionResult expected;

  explicit DecodedFixture(const std::string& name)
      : model(open_model(reference_path(name))),
        graph(model->generate()),
        program(std::make_shared<Program>(lower(graph))),
        in(read_inputs(reference_path(name) + "/input.safetensors")) {
    cpu::CpuDevice cpu(1);
    expected = run(cpu);
  }
  /// The bound leaves room for more turns than there are.
  ExecutionResult run(Device& device, const ReplayedDecisions* replayed = nullptr, int times = 1) const {
    WeightStore store(device, model->weights);
    Executor executor(device, store, program, bindings_for(*graph, in, kDecodedTokens + 2));
    InputValues values;
    for (const Value& v : graph->values)
      if (v.kind == ValueKind::input) values.integers[v.name] = in.values.at(v.name);
    ExecuteOptions options;
    options.outputs = options.record = true;
    options.replayed = replayed;
    ExecutionResult result;
    for (int i = 0; i < times; ++i) executor.run(values, bindings_for(*graph, in, kDecodedTokens), options, result);
    return result;
  }
  /// How a run differs from the CPU's; empty: it does not.
  std::string difference(const ExecutionResult& came) const { return difference(came, expected); }
  static std::string difference(const ExecutionResult& came, const ExecutionResult& expected) {
    if (came.outputs.at(0).integers != expected.outputs.at(0).integers) return "other tokens";
    if (came.decisions.size() != expected.decisions.size()) return "other executions";
    for (size_t i = 0; i < came.decisions.size(); ++i) {
      const ExecutedDecision &a = came.decisions[i], &b = expected.decisions[i];
      const std::string of = "decision " + std::to_string(i);
      if (a.router != b.router || a.turn != b.turn) return of + ": another router or turn";
      if (a.choice != b.choice || a.ancestor != b.ancestor || a.padded != b.padded) return of + ": other choices";
      if (a.free_choice != b.free_choice) return of + ": other free choices";
    }
    return {};
  }
  /// Each turn goes elsewhere than it went.
  ReplayedDecisions other_choices() const {
    ReplayedDecisions replayed(program->routers.size());
    for (const ExecutedDecision& d : expected.decisions) {
      std::vector<int32_t> choice = d.choice;
      for (int32_t& branch : choice) branch = (branch_of(branch) + 1 + d.turn) % d.shape.branches;
      replayed[d.router].push_back({choice, d.ancestor});
    }
    return replayed;
  }
  std::string difference_on(Device& device) const {
    try {
      return difference(run(device));
    } catch (const std::exception& e) {
      return e.what();
    }
  }
};

/// A model whose decoder routes, in f32.
inline const DecodedFixture& sparse_decoder() {
  static const DecodedFixture made = [] {
    for (const std::string& name : reference_cases("generated")) {
      if (!name.starts_with("switch/")) continue;
      DecodedFixture d(name);
      bool routes = false;
      for (const ProgramRouter& r : d.program->routers) routes = routes || r.repeat != kNone;
      if (routes && d.model->dtype == DType::f32) return d;
    }
    failed("test", "no fixture decodes with routers");
  }();
  return made;
}

}  // namespace stormcell::testing

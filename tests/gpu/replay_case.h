// Choices that are drawn, and not those that routers would make, with what the CPU makes of them.
#pragma once
#include "core/cpu/cpu_device.h"
#include "tests/gpu/host_run.h"

namespace stormcell::testing {

/// Branches of a cell, some of them dropped, behind the last one sometimes none.
inline std::vector<int32_t> drawn_choices(Random& random, int32_t branches, int32_t fan_out) {
  std::vector<int32_t> of_cell;
  const int32_t first = static_cast<int32_t>(random.below(branches));
  for (int32_t j = 0; j < fan_out; ++j) {
    const int32_t branch = (first + j) % branches;
    const bool is_none = j > 0 && (of_cell.back() == kNoBranch || random.chance(0.2));
    of_cell.push_back(is_none ? kNoBranch : random.chance(0.2) ? dropped_from(branch) : branch);
  }
  return of_cell;
}

/// Choices for most rows of each router, the others decide freely.
inline ReplayedDecisions drawn_decisions(const Program& program, const Bindings& bindings, uint64_t seed) {
  Random random(seed);
  ReplayedDecisions replayed(program.routers.size());
  for (const RouterId r : replayed.ids()) {
    const ProgramRouter& router = program.routers[r];
    const Operand& d = program.decision_of(router);
    const int64_t rows = program.dims[program.replayed_rows(router)].evaluate(bindings);
    ReplayedDecision& of = replayed[r].emplace_back();
    for (int64_t row = 0; row < rows; ++row) {
      if (router.by_row && random.chance(0.3)) continue;
      const std::vector<int32_t> choices = drawn_choices(random, d.branches, d.fan_out);
      of.choice.insert(of.choice.end(), choices.begin(), choices.end());
      if (router.by_row) of.ancestor.push_back(static_cast<int32_t>(row));
    }
  }
  return replayed;
}

/// How a decision of a replay differs from the CPU's; empty: it does not. Choices that a cell makes freely may differ
/// where its margin leaves them open.
inline std::string difference_of_replays(const ExecutedDecision& came, const ExecutedDecision& expected,
                                         double tolerance) {
  if (came.shape.cells != expected.shape.cells)
    return "expected " + std::to_string(expected.shape.cells) + " cells, got " + std::to_string(came.shape.cells);
  if (came.choice != expected.choice) return "other choices";
  if (came.ancestor != expected.ancestor) return "other ancestors";
  if (came.padded != expected.padded) return "other loads";
  if (came.free_choice.size() != expected.free_choice.size()) return "other free choices";
  for (size_t i = 0; i < came.free_choice.size(); ++i)
    if (came.free_choice[i] != expected.free_choice[i] && expected.margin[i / size_t(came.shape.fan_out)] > tolerance)
      return "another free choice " + std::to_string(i) + ": " + std::to_string(came.free_choice[i]) + ", expected " +
             std::to_string(expected.free_choice[i]);
  for (size_t i = 0; i < came.weight.size(); ++i)
    if (!(std::fabs(came.weight[i] - expected.weight[i]) <= tolerance)) return "another weight " + std::to_string(i);
  return {};
}

/// The same of a whole run.
inline std::string difference_of_replays(const Program& program, const ExecutionResult& came,
                                         const ExecutionResult& expected, double tolerance) {
  if (came.not_replayed != expected.not_replayed) return "other numbers of cells without a choice";
  if (came.decisions.size() != expected.decisions.size()) return "other decisions";
  for (size_t i = 0; i < came.decisions.size(); ++i) {
    const std::string wrong = difference_of_replays(came.decisions[i], expected.decisions[i], tolerance);
    if (!wrong.empty()) return program.routers[came.decisions[i].router].name + ": " + wrong;
  }
  for (size_t i = 0; i < came.outputs.size(); ++i) {
    const OutputValue &a = came.outputs[i], &b = expected.outputs[i];
    if (a.integers != b.integers) return a.name + ": other integers";
    double most = 0, scale = 1e-30;
    for (size_t k = 0; k < b.reals.size(); ++k) {
      most = std::max(most, std::fabs(double(a.reals[k]) - double(b.reals[k])));
      scale = std::max(scale, std::fabs(double(b.reals[k])));
    }
    if (!(most <= tolerance * scale)) return a.name + ": differs by " + std::to_string(most / scale);
  }
  return {};
}

/// A case with choices to replay, and what the CPU makes of them.
struct ReplayCase {
  RandomCase of;
  std::shared_ptr<const Program> program;
  ReplayedDecisions replayed;
  ExecutionResult expected;

  ReplayCase(RandomCase c, uint64_t seed)
      : of(std::move(c)), program(std::make_shared<Program>(lower(std::make_shared<Graph>(of.graph)))) {
    replayed = drawn_decisions(*program, of.bindings, seed);
    cpu::CpuDevice cpu(1);
    HostRun run(cpu, of);
    expected = run.run(&replayed);
  }
  double tolerance() const { return of.weight_dtype == DType::f32 ? 1e-4 : 2e-2; }
  /// The first of so many runs of the device that differs; empty: none does.
  std::string first_difference(Device& device, int orders) const {
    HostRun run(device, of);
    for (int i = 0; i < orders; ++i)
      if (const std::string wrong = difference_of_replays(*program, run.run(&replayed), expected, tolerance());
          !wrong.empty())
        return wrong;
    return {};
  }
};

}  // namespace stormcell::testing

#include "core/proof/field_difference.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "core/base/counted.h"

namespace stormcell {
namespace {

/// The number of elements that differ in cells that are real. `real` has a number for each run of elements.
template <class T>
int64_t count_differing(const std::vector<T>& a, const std::vector<T>& b, const std::vector<int32_t>& real) {
  int64_t count = 0;
  for (size_t i = 0; i < a.size(); ++i) count += real[i * real.size() / a.size()] != 0 && !(a[i] == b[i]);
  return count;
}

std::string difference_of_output(const Graph& model, const OracleInputs<Residue>& inputs, const NamedValue& output,
                                 const OracleTensor<Residue>& expected, const OracleTensor<Residue>& came) {
  if (came.reals.size() != expected.reals.size() || came.integers.size() != expected.integers.size())
    return "output " + output.name + " has another size";
  std::vector<int32_t> real{1};
  if (output.real != kNone)
    if (const auto mask = inputs.find(model.value(output.real).name);
        mask != inputs.end() && !mask->second.integers.empty())
      real = mask->second.integers;
  const int64_t count =
      count_differing(expected.reals, came.reals, real) + count_differing(expected.integers, came.integers, real);
  if (count == 0) return {};
  return counted(count, "element of output " + output.name + " differs",
                 "elements of output " + output.name + " differ");
}

/// The row of each cell of the dense space that a router decided about.
std::map<int64_t, int64_t> rows_by_cell(const OracleDecision& decision) {
  std::map<int64_t, int64_t> rows;
  for (int64_t row = 0; row < decision.shape.cells; ++row)
    rows[decision.ancestor.empty() ? row : decision.ancestor[row]] = row;
  return rows;
}

/// Compares the cells that both decided about. A plan may leave out padding, and decides about more cells behind a
/// router that it takes for constant.
std::string difference_of_scores(const OracleDecision& expected, const OracleDecision& came) {
  if (expected.shape.cells == 0 || came.shape.cells == 0) return {};
  const std::string router = "router " + came.router;
  if (expected.score_columns != came.score_columns) return router + " has another number of scores";
  const std::map<int64_t, int64_t> rows = rows_by_cell(expected);
  const int64_t columns = came.score_columns;
  bool compared = false;
  for (const auto& [cell, row] : rows_by_cell(came)) {
    const auto at = rows.find(cell);
    if (at == rows.end()) continue;
    compared = true;
    for (int64_t i = 0; i < columns; ++i)
      if (expected.scores[at->second * columns + i] != came.scores[row * columns + i])
        return "scores of " + router + " differ";
  }
  return compared ? std::string() : router + " decided about no cell that the model decided about";
}

/// Compares what both would have chosen freely about the same cells: a forced decision hides its protocol too.
std::string difference_of_choices(const OracleDecision& expected, const OracleDecision& came) {
  if (expected.shape != came.shape || expected.ancestor != came.ancestor) return {};
  const auto free = [](const OracleDecision& d) { return d.free_choice.empty() ? d.choice : d.free_choice; };
  return free(expected) == free(came) ? std::string() : "choices of router " + came.router + " differ";
}

std::map<std::string, int64_t> executions(const OracleResult<Residue>& result) {
  std::map<std::string, int64_t> count;
  for (const OracleDecision& d : result.decisions) ++count[d.router];
  return count;
}

}  // namespace

std::string field_difference(const Graph& model, const OracleInputs<Residue>& inputs,
                             const OracleResult<Residue>& expected, const OracleResult<Residue>& came) {
  for (const NamedValue& output : model.outputs) {
    const auto ours = std::find_if(came.outputs.begin(), came.outputs.end(),
                                   [&](const auto& named) { return named.first == output.name; });
    if (ours == came.outputs.end()) return "output " + output.name + " is missing";
    std::string why = difference_of_output(model, inputs, output, expected.output(output.name), ours->second);
    if (!why.empty()) return why;
  }
  // A plan may leave a router out in some turns of a repeat: then its executions are not the model's of these numbers.
  const std::map<std::string, int64_t> of_model = executions(expected), of_plan = executions(came);
  for (const OracleDecision& d : came.decisions) {
    const auto count = of_model.find(d.router);
    if (count == of_model.end()) return "the model has no router " + d.router;
    if (count->second != of_plan.at(d.router)) continue;
    const auto its = std::find_if(expected.decisions.begin(), expected.decisions.end(), [&](const OracleDecision& e) {
      return e.router == d.router && e.execution == d.execution;
    });
    if (its == expected.decisions.end()) continue;
    if (std::string why = difference_of_scores(*its, d); !why.empty()) return why;
    if (std::string why = difference_of_choices(*its, d); !why.empty()) return why;
  }
  return {};
}

}  // namespace stormcell

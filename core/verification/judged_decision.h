// Routing decisions of the oracle and of a device in one form, every cell with its identity.
#pragma once
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/cell/protocol.h"
#include "core/graph/cell_flow.h"
#include "core/oracle/oracle.h"
#include "core/runtime/executor.h"
#include "core/runtime/named_routers.h"

namespace stormcell {

/// One decision of one execution, in the form in which the oracle's and a device's are compared.
struct JudgedDecision {
  std::string router;     ///< its name
  int64_t execution = 0;  ///< how often a router of this name decided before
  int64_t turn = -1;      ///< turn of the repeat that it is in; -1: it is in none
  Protocol protocol;
  DecisionShape shape;               ///< cells: those that came
  std::vector<int32_t> choice;       ///< [cells, fan_out] as DecisionView::choice
  std::vector<int32_t> free_choice;  ///< [cells, fan_out] of a replayed decision: what it would have chosen; else empty
  std::vector<float> weight;         ///< [cells, fan_out] of `choice`
  std::vector<float> margin;         ///< [cells] of the free choice
  /// of a reference: [cells, score_columns] and [branches]; empty where they are not known
  std::vector<float> scores, bias;
  int32_t score_columns = 0;
  int64_t per_item = 0;  ///< rows of the dense space that belong to one item of the batch; 0: not as many of each
  /// rows of the dense space that have one parent, which capacity is counted over; 0: all cells have one
  int64_t per_parent = 0;
  /// The cells' identity within the batch: the routers between the dense space and these cells, outermost first, and
  /// [cells, 1 + above.size()] the row in the dense space and the branch at each of them. A router that a pass made
  /// straight is one of them, wherever its cells are.
  std::vector<std::string> above;
  std::vector<int32_t> place;

  SpaceId dense_space = kNone;
  std::string dense_name;
  /// Rows of the dense space that a reference's inputs may depend on together (those of one sequence, say). 1: a cell's
  /// decision depends on that cell alone; 0: on any of the batch.
  int64_t together = 0;

  size_t depth() const { return 1 + above.size(); }
  int32_t row(int64_t cell) const { return place[cell * depth()]; }
  /// [fan_out] of `choices` [cells, fan_out].
  const int32_t* of_cell(const std::vector<int32_t>& choices, int64_t cell) const {
    return choices.data() + cell * shape.fan_out;
  }
};

/// How cells of one item reach others, running freely (core/graph/cell_flow.h).
struct CellReach {
  std::map<std::string, CellRelation> routers;  ///< by router: the relation within which its cells depend on each other
  std::set<std::string> by_item;  ///< outputs, item after item, whose cells depend on cells of their own item alone
};
CellReach cell_reach(const Graph& graph, RepeatStop stop = RepeatStop::counts);

/// Decisions of an oracle's run with their scores, and the valid ones of a device's execution. Throws Error(failed) if
/// records contradict each other: a nested decision without the one above it, or over other cells than that sent.
std::vector<JudgedDecision> decisions_of(const Graph& graph, const Bindings& bindings, OracleResult<float>&& result,
                                         const CellReach& reach = {});
/// `as_reference`: with what is said of references alone, as far as the device recorded it: scores, but those that a
/// bias corrects, which no record has; how far inputs may reach each other. Null: without.
std::vector<JudgedDecision> decisions_of(const Program& program, const NamedRouters& named, const Bindings& bindings,
                                         const ExecutionResult& result, const CellReach* as_reference = nullptr);

/// The choices that make a device replay decisions: by router of the program, then execution.
ReplayedDecisions choices_to_replay(const Program& program, const std::vector<JudgedDecision>& decisions);

/// The decisions of each sequence's first `tokens` [sequences], in decoding: execution t of a router decides on the way
/// to token t.
std::vector<JudgedDecision> decisions_of_tokens(const std::vector<JudgedDecision>& decisions,
                                                const std::vector<int64_t>& tokens);

/// The decisions without the cells of padding that a plan does not compute. `computed`: by the name of a dense space, 1
/// for each row that it computes.
std::vector<JudgedDecision> only_computed(const std::vector<JudgedDecision>& decisions,
                                          const std::map<std::string, std::vector<int32_t>>& computed);

}  // namespace stormcell

// An operator has a shape rule, a rule how its outputs' cells depend on its inputs' cells, and a cost. Each operator is
// one const Operator in ops/NAME.cpp, listed in operators.cpp.
#pragma once
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/graph/attribute_rules.h"
#include "core/graph/graph.h"

namespace stormcell {

/// One output that a shape rule announces.
struct Result {
  TensorType type;
  ValueKind kind = ValueKind::result;
  int32_t branches = 0, fan_out = 0;
};

/// How an output's cells depend on the cells of one input.
enum class Mix : uint8_t {
  none,    ///< not at all (weights, scalars)
  cell,    ///< the same cell, followed through scatters and gathers
  within,  ///< all cells of the same cell of `space`
  before,  ///< cells of the same cell of `space` at the same or an earlier place
  batch,   ///< all cells of the batch
};
struct Flow {
  Mix mix = Mix::cell;
  SpaceId space = kNone;       ///< within, before
  bool decision_only = false;  ///< the dependence is only in who was chosen: it vanishes when decisions are replayed
  bool weights = false;        ///< the weights of a decision's choices are read, not only who was chosen
};

/// The cost of running a node once, with the rows that really came.
struct Cost {
  double flops = 0;
  double weight_bytes = 0;      ///< weights read
  double activation_bytes = 0;  ///< activations read and written
  double bytes() const { return weight_bytes + activation_bytes; }
};
/// Rows of a space in the case that is costed, and the extents' values.
struct CostContext {
  const Graph& graph;
  std::function<double(SpaceId)> rows;
  Bindings bindings;
  std::function<double(ValueId decision, int32_t branch)> load =
      {};  ///< cells that a branch gets; may be a mean below 1
};

/// The role of an operator in the graph around it (roles.h asks).
enum class Role : uint8_t {
  compute,    ///< outputs from inputs, as its flow says
  pointwise,  ///< each output cell from the same cell of its inputs and from weights: the same over a branch's cells as
              ///< over all slots
  attend,     ///< input 0 asks, the cells of inputs 1 and 2 answer; those that the extra `mask` hides do not
  route,      ///< makes a decision about the cells of input 0
  open,       ///< takes rows of input 0 to where input 1, a decision or ragged cells, sends them: an output for each of
              ///< `spaces`
  close,      ///< joins rows of branches in the space that its attribute `space` names
  grouped,    ///< works on all slots of the decision input 1, or on the members of all. Inputs from 2 up to the extras
              ///< serve one branch each of those that `branches` lists: the first weight for all of them, then the
              ///< second, and so on
  unfold,     ///< cuts the content of input 0 into cells of a grid
  exchange,   ///< moves rows between ranks
  state,      ///< changes the state that is its first input, and gives nothing
  guard,      ///< runs its first body, or its second, which computes the same
  repeat,     ///< runs its body until it gives a stop
};

struct Operator {
  std::string_view name;
  /// Types of the outputs; throws Error(bad_input) saying what was expected and what came.
  std::vector<Result> (*infer)(const Graph&, const Node&) = nullptr;
  /// The flow from input `index` to the outputs.
  Flow (*flow)(const Graph&, const Node&, size_t index) = nullptr;
  Cost (*cost)(const CostContext&, const Node&) = nullptr;
  Role role = Role::compute;
  /// The optional inputs it knows, with blanks between.
  std::string_view extras = {};
  /// Attributes that it knows besides `extras`.
  std::span<const AttributeRule> attributes = {};
  /// The operator that does this one's work for all slots of a decision at once, with its inputs from 1 up to the
  /// extras, and a bias where it has one, for each branch; empty: there is none.
  std::string_view grouped_as = {};
  /// The word under which a neighbour may do this one's work too; empty: none may.
  std::string_view folds_as = {};
  /// Words of neighbours whose work it may do, blanks between. A word that is an attribute of its own takes the
  /// neighbour's only attribute; one that is an extra takes the neighbour's other input. `gain` brings `eps` with it;
  /// an activation behind a residual sets `residual_first`; `factors` takes the numbers by which a neighbour before it
  /// multiplies whole rows.
  std::string_view absorbs = {};
  /// Rows that a state's operator does not write stay as they are.
  bool keeps_rows = false;
  /// Output 0 may lie where input 0 lies: the operator reads each row before it writes over it.
  bool in_place = false;
  /// The operator that does a chain of residual blocks, of two of this one each, as one step; empty: there is none.
  std::string_view chains_as = {};
  /// The operator that does two of this one as one step: a depthwise one, and the pointwise one behind it; empty: there
  /// is none.
  std::string_view separable_as = {};
  /// The columns of the grid in which it lays out its output's cells, row by row; null: it makes no grid.
  int64_t (*columns)(const Graph&, const Node&) = nullptr;
};

/// Types of a node's outputs. Attributes and extras are held against what the operator declares, then its shape rule is
/// asked.
std::vector<Result> infer_outputs(const Graph& graph, const Node& node);

/// All operators, in the order of operators.cpp.
std::span<const Operator* const> operators();
/// nullptr when there is none of that name.
const Operator* find_operator(std::string_view name);

/// The name of a node in messages: its operator and "its name".
std::string node_text(const Node& node);

// Helpers for shape rules; each error names the node, what was expected and what came.
[[noreturn]] void operator_error(const Node& node, std::string_view expected, std::string_view came);
std::string type_text(const Graph& graph, const TensorType& type);
/// Type of an input, which must exist.
const TensorType& input_type(const Graph& graph, const Node& node, size_t index);
void expect_inputs(const Node& node, size_t least, size_t most);
/// Input `index` is computed, given or kept: neither a weight nor a decision. Activations are f32 or i32.
void expect_activation(const Graph& graph, const Node& node, size_t index);
/// Input `index` is an activation in f32: what is computed with is never rounded to less.
void expect_real(const Graph& graph, const Node& node, size_t index);
/// Input `index` is an f32 activation over cells, and its content has `rank` extents.
void expect_cells(const Graph& graph, const Node& node, size_t index, size_t rank);
void expect_content(const Graph& graph, const Node& node, size_t index, const std::vector<Dim>& content);
void expect_space(const Graph& graph, const Node& node, size_t index, SpaceId space);
/// Input `index` is a weight in f32, f16 or bf16.
void expect_weight(const Graph& graph, const Node& node, size_t index);
/// The same for a weight that may also lie in blocks (NumberFormat::multiplies).
void expect_product_weight(const Graph& graph, const Node& node, size_t index);
/// Input `index` is a weight, the same for all cells, and has this content.
void expect_shared(const Graph& graph, const Node& node, size_t index, const std::vector<Dim>& content);
/// Input `index` is an activation in i32.
void expect_integer(const Graph& graph, const Node& node, size_t index);
/// Input `index` is one i32 for each cell, or one for the batch.
void expect_one_integer(const Graph& graph, const Node& node, size_t index);
void expect_decision(const Graph& graph, const Node& node, size_t index);
void expect_ragged(const Graph& graph, const Node& node, size_t index);
/// `space` groups cells by parents: a dense or a ragged one.
bool is_grouped(const Graph& graph, SpaceId space);

/// Optional inputs are named in the attribute `extras`, in order, after the fixed ones ("bias+residual").
/// Index of the input that carries `extra`, where the node has it.
std::optional<size_t> extra_input(const Node& node, std::string_view extra);
/// The extra `name`, where the node has it, is an activation like the result `y`: its cells, content and format.
void expect_extra_like(const Graph& graph, const Node& node, std::string_view name, const TensorType& y);
/// Takes a name out of the list; the input is the caller's to remove.
void remove_extra(Node& node, std::string_view extra);
/// Number of extras.
size_t extra_count(const Node& node);
/// The word of the extra that is input plain + `index`.
std::string extra_name(const Node& node, size_t index);
/// Each extra is one that the operator knows, and named once.
void expect_extras(const Node& node);
/// The flag `residual_first` says whether the residual is added before the activation: both are there, and no factor
/// between them.
void expect_residual_first(const Node& node);

// Common flow and cost rules.
Flow flow_cell(const Graph& graph, const Node& node, size_t index);
/// All cells of the batch.
Flow flow_batch(const Graph& graph, const Node& node, size_t index);
/// All cells of the same cell of input 0's space.
Flow flow_within(const Graph& graph, const Node& node, size_t index);
/// All cells of the same cell of the space above it.
Flow flow_within_parent(const Graph& graph, const Node& node, size_t index);
/// Nothing that is worth counting.
Cost cost_none(const CostContext& context, const Node& node);
Cost cost_elementwise(const CostContext& context, const Node& node);
/// Bytes of a value's content over the rows that came; weights: all of it.
double value_bytes(const CostContext& context, ValueId value);
/// Sum of value_bytes over inputs and outputs, weights apart.
Cost cost_of_traffic(const CostContext& context, const Node& node);

}  // namespace stormcell

#include "core/graph/operator.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/number_format.h"

namespace stormcell {

std::string node_text(const Node& node) { return std::string(node.op->name) + " \"" + node.name + "\""; }

void operator_error(const Node& node, std::string_view expected, std::string_view came) {
  bad_input(node_text(node), "expected " + std::string(expected) + ", got " + std::string(came));
}

std::vector<Result> infer_outputs(const Graph& graph, const Node& node) {
  expect_attributes(graph, node);
  return node.op->infer(graph, node);
}

std::string type_text(const Graph& graph, const TensorType& type) {
  std::string text(to_text(type.dtype));
  if (type.space != kNone) text += " " + graph.space(type.space).name;
  if (!type.content.empty() || type.space == kNone) {
    text += " [";
    for (size_t i = 0; i < type.content.size(); ++i) text += (i ? "," : "") + type.content[i].to_text(graph.symbols);
    text += "]";
  }
  return text;
}

const TensorType& input_type(const Graph& graph, const Node& node, size_t index) {
  if (index >= node.inputs.size())
    operator_error(node, "at least " + counted(index + 1, "input"), std::to_string(node.inputs.size()));
  return graph.value(node.inputs[index]).type;
}

void expect_inputs(const Node& node, size_t least, size_t most) {
  if (node.inputs.size() < least || node.inputs.size() > most)
    operator_error(node,
                   (most == least ? counted(least, "input") : std::to_string(least) + " to " + counted(most, "input")),
                   std::to_string(node.inputs.size()));
}

namespace {
/// The type of a value, and its kind if that is the fault.
std::string value_text(const Graph& graph, const Value& v) {
  const std::string type = type_text(graph, v.type);
  return v.kind == ValueKind::weight ? "weight " + type : v.kind == ValueKind::decision ? "decision " + type : type;
}

void expect_dtype(const Graph& graph, const Node& node, size_t index, DType dtype) {
  const TensorType& type = input_type(graph, node, index);
  if (type.dtype != dtype)
    operator_error(node, "input " + std::to_string(index) + " as " + std::string(to_text(dtype)),
                   type_text(graph, type));
}
}  // namespace

void expect_activation(const Graph& graph, const Node& node, size_t index) {
  input_type(graph, node, index);
  const Value& v = graph.value(node.inputs[index]);
  if (v.kind == ValueKind::weight || v.kind == ValueKind::decision)
    operator_error(node, "an activation as input " + std::to_string(index), value_text(graph, v));
}

void expect_real(const Graph& graph, const Node& node, size_t index) {
  expect_activation(graph, node, index);
  expect_dtype(graph, node, index, DType::f32);
}

void expect_cells(const Graph& graph, const Node& node, size_t index, size_t rank) {
  expect_activation(graph, node, index);
  const TensorType& type = input_type(graph, node, index);
  if (type.space == kNone || type.content.size() != rank)
    operator_error(node,
                   "input " + std::to_string(index) + " over cells with " + std::to_string(rank) + " content extents",
                   type_text(graph, type));
  expect_real(graph, node, index);
}

void expect_content(const Graph& graph, const Node& node, size_t index, const std::vector<Dim>& content) {
  const TensorType& type = input_type(graph, node, index);
  if (type.content != content) {
    TensorType wanted = type;
    wanted.content = content;
    operator_error(node, "input " + std::to_string(index) + " as " + type_text(graph, wanted), type_text(graph, type));
  }
}

void expect_space(const Graph& graph, const Node& node, size_t index, SpaceId space) {
  const TensorType& type = input_type(graph, node, index);
  if (type.space != space)
    operator_error(
        node,
        "input " + std::to_string(index) + " over cells of " + (space == kNone ? "no space" : graph.space(space).name),
        type_text(graph, type));
}

namespace {
void expect_weight_where(bool fits, const std::string& formats, const Graph& graph, const Node& node, size_t index) {
  const Value& v = graph.value(node.inputs[index]);
  if (v.kind != ValueKind::weight || !fits)
    operator_error(node, "a weight in " + formats + " as input " + std::to_string(index), value_text(graph, v));
}
}  // namespace

void expect_weight(const Graph& graph, const Node& node, size_t index) {
  expect_weight_where(is_engine_float(input_type(graph, node, index).dtype), engine_float_names(), graph, node, index);
}

void expect_product_weight(const Graph& graph, const Node& node, size_t index) {
  expect_weight_where(format_of(input_type(graph, node, index).dtype).multiplies, product_format_names(), graph, node,
                      index);
}

void expect_shared(const Graph& graph, const Node& node, size_t index, const std::vector<Dim>& content) {
  expect_space(graph, node, index, kNone);
  expect_content(graph, node, index, content);
  expect_weight(graph, node, index);
}

void expect_integer(const Graph& graph, const Node& node, size_t index) {
  expect_activation(graph, node, index);
  expect_dtype(graph, node, index, DType::i32);
}

void expect_one_integer(const Graph& graph, const Node& node, size_t index) {
  expect_integer(graph, node, index);
  const TensorType& type = input_type(graph, node, index);
  if (!type.content.empty())
    operator_error(node, "input " + std::to_string(index) + " with one number a cell", type_text(graph, type));
}

void expect_decision(const Graph& graph, const Node& node, size_t index) {
  input_type(graph, node, index);
  if (graph.value(node.inputs[index]).kind != ValueKind::decision)
    operator_error(node, "a decision as input " + std::to_string(index),
                   type_text(graph, input_type(graph, node, index)));
}

void expect_ragged(const Graph& graph, const Node& node, size_t index) {
  input_type(graph, node, index);
  if (graph.value(node.inputs[index]).kind != ValueKind::ragged)
    operator_error(node, "ragged cells as input " + std::to_string(index),
                   type_text(graph, input_type(graph, node, index)));
}

bool is_grouped(const Graph& graph, SpaceId space) {
  return space != kNone &&
         (graph.space(space).kind == SpaceKind::dense || graph.space(space).kind == SpaceKind::ragged);
}

namespace {
std::vector<std::string> extras(const Node& node) {
  std::vector<std::string> list;
  std::string text = node.attributes.word("extras", "");
  for (size_t at = 0; at < text.size();) {
    const size_t plus = std::min(text.find('+', at), text.size());
    list.push_back(text.substr(at, plus - at));
    at = plus + 1;
  }
  return list;
}
}  // namespace

std::optional<size_t> extra_input(const Node& node, std::string_view extra) {
  const auto list = extras(node);
  for (size_t i = 0; i < list.size(); ++i)
    if (list[i] == extra) return node.inputs.size() - list.size() + i;
  return {};
}
void expect_extra_like(const Graph& graph, const Node& node, std::string_view name, const TensorType& y) {
  const auto i = extra_input(node, name);
  if (!i) return;
  expect_activation(graph, node, *i);
  expect_space(graph, node, *i, y.space);
  expect_content(graph, node, *i, y.content);
  expect_dtype(graph, node, *i, y.dtype);
}
void remove_extra(Node& node, std::string_view extra) {
  std::string rest;
  for (const std::string& name : extras(node))
    if (name != extra) rest += (rest.empty() ? "" : "+") + name;
  node.attributes.erase("extras");
  if (!rest.empty()) node.attributes.set("extras", rest);
}
size_t extra_count(const Node& node) { return extras(node).size(); }
std::string extra_name(const Node& node, size_t index) { return extras(node).at(index); }

void expect_extras(const Node& node) {
  const std::vector<std::string> list = extras(node);
  const std::string known(node.op->extras);
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].empty() || (" " + known + " ").find(" " + list[i] + " ") == std::string::npos)
      operator_error(node, known.empty() ? "no extras" : "extras among " + known, "\"" + list[i] + "\"");
    if (std::find(list.begin(), list.begin() + i, list[i]) != list.begin() + i)
      operator_error(node, "each extra once", "\"" + list[i] + "\" twice");
  }
}

void expect_residual_first(const Node& node) {
  const std::string words = node.attributes.word("extras", ""), activation = word_of(node, "activation");
  const bool fits = extra_input(node, "residual") && !extra_input(node, "multiply") && activation != "none";
  if (flag_of(node, "residual_first") && !fits)
    operator_error(node, "residual_first with a residual, an activation and no factor",
                   (words.empty() ? "no extras" : words) + " and activation " + activation);
}

Flow flow_cell(const Graph& graph, const Node& node, size_t index) {
  const Value& v = graph.value(node.inputs[index]);
  return {v.kind == ValueKind::weight || v.type.space == kNone ? Mix::none : Mix::cell};
}

Flow flow_batch(const Graph&, const Node&, size_t) { return {Mix::batch}; }
Flow flow_within(const Graph& graph, const Node& node, size_t) {
  return {Mix::within, input_type(graph, node, 0).space};
}
Flow flow_within_parent(const Graph& graph, const Node& node, size_t) {
  return {Mix::within, graph.space(input_type(graph, node, 0).space).parent};
}

double value_bytes(const CostContext& context, ValueId id) {
  const Value& v = context.graph.value(id);
  const NumberFormat& format = format_of(v.type.dtype);
  double bytes = static_cast<double>(format.block_bytes) / format.block_elements;
  for (const Dim& d : v.type.content) bytes *= static_cast<double>(d.evaluate(context.bindings));
  if (v.kind == ValueKind::decision || v.kind == ValueKind::ragged) return context.rows(v.type.space) * v.fan_out * 8.0;
  return v.type.space == kNone ? bytes : bytes * context.rows(v.type.space);
}

Cost cost_of_traffic(const CostContext& context, const Node& node) {
  Cost cost;
  const ValueId over = !node.outputs.empty() ? node.outputs[0] : !node.inputs.empty() ? node.inputs[0] : kNone;
  const SpaceId space = over == kNone ? kNone : context.graph.value(over).type.space;
  // A mean below one cell: in the other batches the branch is absent and its weights are not read.
  const double present = space == kNone ? 1 : std::min(1.0, context.rows(space));
  for (const ValueId v : node.inputs)
    (context.graph.value(v).kind == ValueKind::weight ? cost.weight_bytes : cost.activation_bytes) +=
        value_bytes(context, v) * (context.graph.value(v).kind == ValueKind::weight ? present : 1);
  for (const ValueId v : node.outputs) cost.activation_bytes += value_bytes(context, v);
  return cost;
}

Cost cost_none(const CostContext&, const Node&) { return {}; }

Cost cost_elementwise(const CostContext& context, const Node& node) {
  Cost cost = cost_of_traffic(context, node);
  for (const ValueId v : node.outputs) cost.flops += value_bytes(context, v) / 4;
  return cost;
}

}  // namespace stormcell

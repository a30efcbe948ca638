#include "core/graph/builder.h"

#include "core/base/error.h"
#include "core/graph/operator.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/spaces.h"
#include "core/graph/verify.h"

namespace stormcell {

GraphBuilder::GraphBuilder(Graph graph) : graph_(std::move(graph)) {
  for (const ValueId id : graph_.values.ids()) {
    const Value& v = graph_.value(id);
    names_.add(v.name);
    if (v.kind == ValueKind::weight) weights_.emplace(v.name, id);
  }
  for (const SpaceId id : graph_.spaces.ids())
    if (const CellSpace& s = graph_.space(id); s.kind == SpaceKind::routed)
      routed_.emplace(std::pair(s.decision, s.branch), id);
}

SpaceId GraphBuilder::root_space(std::string_view name, Dim count) {
  CellSpace s;
  s.name = std::string(name);
  s.count = std::move(count);
  return graph_.spaces.add(std::move(s));
}
SpaceId GraphBuilder::routed_space(ValueId decision, int32_t branch) {
  const auto known = routed_.find(std::pair(decision, branch));
  return known != routed_.end() ? known->second
                                : routed_[{decision, branch}] = add_routed_space(graph_, decision, branch);
}
SpaceId GraphBuilder::ragged_space(ValueId ragged, SpaceId parent) {
  return stormcell::ragged_space(graph_, ragged, parent);
}
SpaceId GraphBuilder::dense_space(std::string_view name, SpaceId parent, Dim per_parent) {
  CellSpace s;
  s.name = std::string(name);
  s.kind = SpaceKind::dense;
  s.parent = parent;
  s.count = graph_.space(parent).count * per_parent;
  s.per_parent = std::move(per_parent);
  return graph_.spaces.add(std::move(s));
}
std::string GraphBuilder::unique(std::string_view name) {
  std::string base = name.empty() ? "v" : std::string(name);
  for (char& c : base)
    if (c == ' ' || c == '%' || c == '"' || c == ',' || c == '(' || c == ')') c = '_';
  return name.empty() ? names_.take_numbered(base) : names_.take(base);
}

ValueId GraphBuilder::add_value(std::string_view name, ValueKind kind, TensorType type) {
  Value v;
  v.name = unique(name);
  v.kind = kind;
  v.type = std::move(type);
  return graph_.values.add(std::move(v));
}

ValueId GraphBuilder::input(std::string_view name, DType dtype, SpaceId space, std::vector<Dim> content,
                            InputRole role) {
  const ValueId v = add_value(name, ValueKind::input, {dtype, space, std::move(content)});
  graph_.value(v).role = role;
  return v;
}
ValueId GraphBuilder::weight(std::string_view name, DType dtype, std::vector<int64_t> shape) {
  return weight(name, tensor_recipe(std::string(name)), dtype, std::move(shape));
}
ValueId GraphBuilder::weight(std::string_view name, const Recipe& recipe, DType dtype, std::vector<int64_t> shape) {
  // A model asks for tens of thousands of weights: a look through the values for each would be quadratic.
  if (const auto known = weights_.find(name); known != weights_.end()) return known->second;
  const ValueId made = add_value(name, ValueKind::weight, {dtype, kNone, {shape.begin(), shape.end()}});
  set_recipe(graph_.value(made), recipe);
  weights_.emplace(name, made);
  return made;
}
ValueId GraphBuilder::state(std::string_view name, DType dtype, SpaceId space, std::vector<Dim> content) {
  return add_value(name, ValueKind::state, {dtype, space, std::move(content)});
}

NodeId GraphBuilder::add(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
                         std::string_view name) {
  const Operator* known = find_operator(op);
  if (!known) failed("graph", "no operator \"" + std::string(op) + "\"");
  Node node;
  node.op = known;
  node.name = std::string(name);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  const NodeId id = graph_.nodes.next_id();
  std::vector<Result> results = infer_outputs(graph_, node);
  for (Result& r : results) {
    const ValueId v = add_value(name.empty() ? op : name, r.kind, std::move(r.type));
    graph_.value(v).producer = id;
    graph_.value(v).branches = r.branches;
    graph_.value(v).fan_out = r.fan_out;
    node.outputs.push_back(v);
  }
  graph_.nodes.push_back(std::move(node));
  block().nodes.push_back(id);
  return id;
}

ValueId GraphBuilder::value(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
                            std::string_view name) {
  return graph_.node(add(op, std::move(inputs), std::move(attributes), name)).outputs.at(0);
}

ValueId GraphBuilder::route(ValueId scores, const Protocol& protocol, std::string_view name, int64_t branches) {
  Attributes attributes = to_attributes(protocol);
  if (branches > 0) attributes.set("branches", branches);
  return value("route", {scores}, std::move(attributes), name);
}

std::vector<ValueId> GraphBuilder::scatter(ValueId x, ValueId decision, const std::vector<int32_t>& branches) {
  std::vector<int64_t> spaces;
  for (const int32_t b : branches) spaces.push_back(int64_t{routed_space(decision, b)});
  return graph_
      .node(add("scatter", {x, decision}, {{"spaces", std::move(spaces)}}, graph_.value(decision).name + ".scatter"))
      .outputs;
}

ValueId GraphBuilder::gather(std::vector<ValueId> values, SpaceId space, std::string_view mode, ValueId otherwise,
                             std::string_view name) {
  Attributes attributes{{"space", int64_t{space}}, {"mode", std::string(mode)}};
  if (otherwise != kNone) {
    values.push_back(otherwise);
    attributes.set("extras", std::string("otherwise"));
  }
  return value("gather", std::move(values), std::move(attributes), name);
}

ValueId GraphBuilder::pack(ValueId x, ValueId ragged, SpaceId parent) {
  const SpaceId space = ragged_space(ragged, parent);
  return value("pack", {x, ragged}, {{"spaces", std::vector{int64_t{space}}}},
               graph_.value(x).name + "." + graph_.value(ragged).name);
}

std::vector<ValueId> GraphBuilder::pack_branches(ValueId x, ValueId ragged, ValueId decision,
                                                 const std::vector<int32_t>& branches) {
  std::vector<int64_t> spaces;
  for (const int32_t b : branches) spaces.push_back(int64_t{ragged_space(ragged, routed_space(decision, b))});
  return graph_.node(add("pack", {x, ragged}, {{"spaces", std::move(spaces)}}, graph_.value(ragged).name + ".pack"))
      .outputs;
}

void GraphBuilder::begin_body() { open_.emplace_back(); }
void GraphBuilder::end_body(std::vector<ValueId> yields) {
  closed_.push_back(std::move(open_.back()));
  open_.pop_back();
  yields_.push_back(std::move(yields));
}
NodeId GraphBuilder::add_region(std::string_view op, std::vector<ValueId> inputs, Attributes attributes,
                                std::string_view name) {
  const Operator* known = find_operator(op);
  const size_t bodies = op == "guard" ? 2 : 1;
  Node node;
  node.op = known;
  node.name = std::string(name);
  node.inputs = std::move(inputs);
  node.attributes = std::move(attributes);
  node.bodies.assign(closed_.end() - bodies, closed_.end());
  node.yields.assign(yields_.end() - bodies, yields_.end());
  closed_.resize(closed_.size() - bodies);
  yields_.resize(yields_.size() - bodies);
  const NodeId id = graph_.nodes.next_id();
  for (Result& r : infer_outputs(graph_, node)) {
    const ValueId v = add_value(name, r.kind, std::move(r.type));
    graph_.value(v).producer = id;
    node.outputs.push_back(v);
  }
  graph_.nodes.push_back(std::move(node));
  block().nodes.push_back(id);
  return id;
}

void GraphBuilder::output(std::string_view name, ValueId value, ValueId real) {
  graph_.outputs.push_back({std::string(name), value, real});
}

Graph GraphBuilder::finish() {
  verify(graph_);
  return std::move(graph_);
}

}  // namespace stormcell

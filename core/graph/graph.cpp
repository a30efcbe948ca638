#include "core/graph/graph.h"

#include <algorithm>

namespace stormcell {

void set_recipe(Value& weight, const Recipe& recipe) {
  weight.recipe = weight_text(recipe);
  if (weight.recipe == weight.name) weight.recipe.clear();
}

Recipe recipe_of(const Value& weight) {
  const std::string& text = weight_text(weight);
  return looks_like_recipe(text) ? parse_recipe(text, weight.name) : tensor_recipe(text);
}

std::vector<std::string> tensors_read(const std::vector<Value>& values) {
  std::vector<std::string> names;
  for (const Value& v : values) {
    if (v.kind != ValueKind::weight) continue;
    const std::vector<std::string> more = tensors_of(recipe_of(v));
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

SymbolId Graph::find_symbol(std::string_view name) const {
  const auto at = std::find(symbols.begin(), symbols.end(), name);
  return at == symbols.end() ? kNone : static_cast<SymbolId>(at - symbols.begin());
}
SymbolId Graph::symbol(std::string_view name) {
  if (const SymbolId found = find_symbol(name); found != kNone) return found;
  symbols.emplace_back(name);
  return static_cast<SymbolId>(symbols.size()) - 1;
}
ValueId Graph::find_value(std::string_view name) const {
  const auto at = std::find_if(values.begin(), values.end(), [&](const Value& v) { return v.name == name; });
  return at == values.end() ? kNone : ValueId(at - values.begin());
}

std::vector<Dim> Graph::shape(ValueId id) const {
  const TensorType& type = value(id).type;
  std::vector<Dim> shape;
  if (type.space != kNone) shape.push_back(space(type.space).count);
  shape.insert(shape.end(), type.content.begin(), type.content.end());
  return shape;
}

int64_t Graph::row_bytes(ValueId id) const {
  const TensorType& type = value(id).type;
  int64_t bytes = element_size(type.dtype);
  for (const Dim& d : type.content) bytes *= d.constant();
  return bytes;
}

bool Graph::is_within(SpaceId space, SpaceId ancestor) const {
  if (ancestor == kNone) return true;
  for (; space != kNone; space = this->space(space).parent) {
    if (space == ancestor) return true;
    if (const CellSpace& s = this->space(space); s.kind == SpaceKind::ragged && is_within(s.base, ancestor))
      return true;
  }
  return false;
}

SpaceId Graph::origin(SpaceId id) const {
  const CellSpace& s = space(id);
  return s.kind == SpaceKind::routed ? s.parent : s.kind == SpaceKind::ragged ? s.base : kNone;
}

SpaceId Graph::dense_ancestor(SpaceId id) const {
  while (id != kNone && origin(id) != kNone) id = origin(id);
  return id;
}

bool Graph::is_dynamic(SpaceId id) const {
  for (; id != kNone; id = space(id).parent)
    if (origin(id) != kNone) return true;
  return false;
}

bool Graph::holds_members(SpaceId id) const {
  const CellSpace& s = space(id);
  return s.kind == SpaceKind::ragged && s.parent != space(s.base).parent;
}

IdVector<ValueId, std::vector<NodeId>> Graph::users() const {
  IdVector<ValueId, std::vector<NodeId>> users(values.size());
  const auto add = [&](ValueId v, NodeId n) {
    auto& list = users[v];
    if (list.empty() || list.back() != n) list.push_back(n);
  };
  for_each_node([&](NodeId id, int) {
    for (const ValueId v : node(id).inputs) add(v, id);
    for (const auto& yield : node(id).yields)
      for (const ValueId v : yield) add(v, id);
  });
  return users;
}

}  // namespace stormcell

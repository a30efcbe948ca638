#include "core/figures/figure_tree.h"

#include <algorithm>

namespace stormcell {
namespace {

/// A node on the way down, and how many of its levels of names the path has passed.
struct TreePlace {
  const FigureNode* node;
  const TreePlace* above = nullptr;
  int levels = 0;
};

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

const FigureNode* members_of(const TreePlace& place) {
  if (!place.node->again) return place.node;
  for (const TreePlace* p = place.above; p; p = p->above)
    if (p->node->type == place.node->type && !p->node->again) return p->node;
  return nullptr;
}

const FigureNode* find_below(const TreePlace& place, std::string_view rest);

/// Names of elements may have dots: each beginning of the path that ends at one is tried, the shortest first.
const FigureNode* find_element(const TreePlace& place, std::string_view rest) {
  const bool named = place.node->names > 0 || place.node->kind == KeyKind::object;
  const TreePlace element{place.node, place.above, place.levels + 1};
  for (size_t end = rest.find('.');; end = rest.find('.', end + 1)) {
    const std::string_view name = rest.substr(0, end);
    const std::string_view more = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (named || is_number(name))
      if (const FigureNode* found = find_below(element, more)) return found;
    if (end == std::string_view::npos) return nullptr;
  }
}

const FigureNode* find_below(const TreePlace& place, std::string_view rest) {
  if (rest.empty()) return place.node;
  if (place.levels < place.node->lists + place.node->names) return find_element(place, rest);
  const FigureNode* holder = members_of(place);
  if (!holder) return nullptr;
  const size_t dot = rest.find('.');
  const FigureNode* member = holder->member(rest.substr(0, dot));
  if (!member) return nullptr;
  return find_below({member, &place}, dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1));
}

}  // namespace

const FigureNode* FigureNode::member(std::string_view name) const {
  const auto at = std::find_if(members.begin(), members.end(), [&](const FigureNode& m) { return m.key == name; });
  return at == members.end() ? nullptr : &*at;
}

const FigureNode* find_node(const FigureNode& root, std::string_view path) {
  return path.empty() || path.ends_with('.') ? nullptr : find_below({&root}, path);
}

}  // namespace stormcell

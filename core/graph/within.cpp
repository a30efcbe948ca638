#include "core/graph/within.h"

#include <algorithm>
#include <charconv>

#include "core/graph/operator.h"

namespace stormcell {

std::vector<FormerBranch> former_branches(const Node& route) {
  std::vector<FormerBranch> former;
  if (!route.attributes.has("within")) return former;
  const std::string& text = route.attributes.word("within");
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size()), equals = text.rfind('=', end);
    FormerBranch& branch = former.emplace_back();
    const bool named = equals != std::string::npos && equals > at && equals < end;
    const auto [stop, error] =
        std::from_chars(text.data() + (named ? equals + 1 : end), text.data() + end, branch.branch);
    if (!named || error != std::errc() || stop != text.data() + end || branch.branch < 0)
      operator_error(route, "within as ROUTER=BRANCH, one after the other", text);
    branch.router = text.substr(at, equals - at);
    at = end + 1;
  }
  return former;
}

void add_within(const Graph& graph, SpaceId space, Node& route) {
  const CellSpace& branch = graph.space(space);
  const Node& above = graph.node(graph.value(branch.decision).producer);
  std::string text;
  const auto add = [&](const std::string& more) { text += (text.empty() ? "" : " ") + more; };
  if (above.attributes.has("within")) add(above.attributes.word("within"));
  add(above.name + "=" + std::to_string(branch.branch));
  if (route.attributes.has("within")) add(route.attributes.word("within"));
  route.attributes.set("within", text);
}

}  // namespace stormcell

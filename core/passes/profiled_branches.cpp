#include "core/passes/profiled_branches.h"

#include <charconv>

#include "core/base/error.h"
#include "core/graph/roles.h"

namespace stormcell {
namespace {

constexpr const char* kMakeAgain = "make the configuration again: optimize --config-out FILE";

std::vector<int32_t> parse_list(std::string_view text, const std::string& where) {
  std::vector<int32_t> list;
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    int32_t branch = -1;
    const auto [stop, error] = std::from_chars(at, end, branch);
    if (error != std::errc() || branch < 0 || (stop < end && *stop != ','))
      bad_input(where, "expected branches as \"1,4,5\", got \"" + std::string(text) + "\"", kMakeAgain);
    list.push_back(branch);
    at = stop < end ? stop + 1 : end;
  }
  return list;
}

/// The decision of the router of this name; null: the graph has none.
const Value* find_decision(const Graph& graph, const std::string& router) {
  const Value* decision = nullptr;
  graph.for_each_node([&](NodeId id, int) {
    const Node& n = graph.node(id);
    if (is_route(n) && n.name == router) decision = &graph.value(n.outputs[0]);
  });
  return decision;
}

}  // namespace

std::string branch_list(const std::vector<int32_t>& branches) {
  std::string text;
  for (const int32_t b : branches) text += (text.empty() ? "" : ",") + std::to_string(b);
  return text;
}

std::vector<int32_t> branches_named(const Graph& graph, std::string_view pass, const std::string& router,
                                    const std::string& text) {
  const std::string where = "pass " + std::string(pass) + ", router " + router;
  const std::vector<int32_t> list = parse_list(text, where);
  if (const Value* decision = find_decision(graph, router))
    for (const int32_t b : list)
      if (b >= decision->branches)
        bad_input(where,
                  "there is no branch " + std::to_string(b) + ", its branches are 0 to " +
                      std::to_string(decision->branches - 1),
                  kMakeAgain);
  return list;
}

int32_t fan_out_of(const Graph& graph, const std::string& router) {
  const Value* decision = find_decision(graph, router);
  return decision ? decision->fan_out : 1;
}

bool decides_about_real_cells(const Graph& graph, const std::string& router) {
  const Value* decision = find_decision(graph, router);
  return decision && graph.space(decision->type.space).kind == SpaceKind::ragged;
}

LoadInUse load_in_use(const RouterLoad& load, bool real) {
  return real && !load.load_real.empty() ? LoadInUse{load.load_real, load.cells_real}
                                         : LoadInUse{load.load, load.cells};
}

}  // namespace stormcell

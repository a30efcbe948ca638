// The program with one pass more, which is wrong: STORMCELL_FAULT names it. It stands before all others, so that they
// work upon what it did. Linked with the objects of the command line, so that options, exit code, files and what is
// printed are those of the program.
#include <array>
#include <cstdlib>
#include <set>
#include <vector>

#include "core/graph/builder.h"
#include "core/graph/rewrite.h"
#include "core/graph/roles.h"
#include "core/passes/pass.h"

namespace stormcell {
namespace {

bool is(const Node& node, std::string_view op) { return node.op->name == op; }

PassResult changed(Graph graph, bool applied, const char* reason) {
  PassResult result;
  result.graph = std::move(graph);
  result.applied = applied;
  result.reason = reason;
  return result;
}

/// Two branches of one router get each other's weights.
PassResult swap_experts(const PassInput& input) {
  Graph graph = input.graph;
  std::vector<NodeId> products;
  for (const NodeId n : graph.nodes.ids()) {
    const Node& node = graph.node(n);
    if (!is(node, "linear")) continue;
    const CellSpace* to = graph.value(node.outputs[0]).type.space == kNone
                              ? nullptr
                              : &graph.space(graph.value(node.outputs[0]).type.space);
    if (!to || to->kind != SpaceKind::routed) continue;
    for (const NodeId other : products) {
      const Node& o = graph.node(other);
      const CellSpace& from = graph.space(graph.value(o.outputs[0]).type.space);
      if (from.decision != to->decision || from.branch == to->branch ||
          graph.value(o.inputs[1]).type != graph.value(node.inputs[1]).type)
        continue;
      std::swap(graph.node(n).inputs[1], graph.node(other).inputs[1]);
      return changed(std::move(graph), true, "two experts hold each other's weights");
    }
    products.push_back(n);
  }
  return changed(std::move(graph), false, "no two experts alike");
}

/// Behind one sum only its second term goes on.
PassResult drop_residual(const PassInput& input) {
  Rewriter rewriter(input.graph);
  for (const Node& node : input.graph.nodes)
    if (is(node, "add") && node.inputs.size() == 2 && input.graph.value(node.outputs[0]).type.space != kNone) {
      rewriter.substitute({{node.outputs[0], node.inputs[1]}});
      return changed(rewriter.finish(), true, "a residual is not added");
    }
  return changed(input.graph, false, "no residual");
}

/// Each router has room for one cell a branch. Computes less, so it is faster.
PassResult less_room(const PassInput& input) {
  Graph graph = input.graph;
  bool applied = false;
  for (Node& node : graph.nodes)
    if (node.attributes.has("capacity")) node.attributes.set("capacity", int64_t{1}), applied = true;
  return changed(std::move(graph), applied, "every branch takes one cell");
}

/// Parts that no profiled cell needed are gone, without a guard: right on the batches that were profiled.
PassResult unguarded(const PassInput& input) {
  Rewriter rewriter(input.graph);
  bool applied = false;
  for (Node& node : rewriter.graph().nodes) {
    if (!has_role(node, Role::close) || node.attributes.has("branches") || node.attributes.has("factors")) continue;
    std::erase_if(node.inputs, [&](ValueId v) {
      const SpaceId space = rewriter.graph().value(v).type.space;
      const CellSpace& s = rewriter.graph().space(space);
      if (s.kind != SpaceKind::routed || node.inputs.size() < 2) return false;
      const auto router =
          input.profile.routers.find(rewriter.graph().node(rewriter.graph().value(s.decision).producer).name);
      const bool dead =
          router != input.profile.routers.end() && router->second.load[static_cast<size_t>(s.branch)] == 0;
      applied |= dead;
      return dead;
    });
  }
  return changed(applied ? rewriter.finish() : input.graph, applied, "branches that the profile did not need are gone");
}

/// Much work for nothing: the first output is doubled and halved again, then times `factor`.
PassResult detour(const PassInput& input, double factor) {
  GraphBuilder builder(input.graph);
  ValueId y = input.graph.outputs[0].value;
  for (int i = 0; i < 600; ++i)
    y = builder.value("scale", {builder.value("add", {y, y}, {}, "twice")}, {{"factor", 0.5}}, "half");
  builder.graph().outputs[0].value = builder.value("scale", {y}, {{"factor", factor}}, "end");
  return changed(builder.finish(), true, "the first output takes a detour");
}
/// The first output times a number that is 1 to seven digits: every tolerance allows it.
PassResult within_tolerance(const PassInput& input) {
  GraphBuilder builder(input.graph);
  const ValueId y = input.graph.outputs[0].value;
  builder.graph().outputs[0].value = builder.value("scale", {y}, {{"factor", 1 + 0x1p-23}}, "end");
  return changed(builder.finish(), true, "the first output is scaled by a little");
}
PassResult slow(const PassInput& input) { return detour(input, 1); }
PassResult slow_and_wrong(const PassInput& input) { return detour(input, 1.01); }

constexpr std::array kFaults = {
    Pass{"swap-experts", "two experts exchanged", false, swap_experts, {}},
    Pass{"drop-residual", "a sum without its first term", false, drop_residual, {}},
    Pass{"less-room", "a capacity of one", false, less_room, {}},
    Pass{"unguarded", "dead branches without a guard", false, unguarded, {}},
    Pass{"within-tolerance", "a small error", false, within_tolerance, {}},
    Pass{"slow", "a detour", false, slow, {}},
    Pass{"slow-and-wrong", "a detour that changes the output", false, slow_and_wrong, {}},
};

std::vector<Pass> one_more() {
  std::vector<Pass> list;
  const char* wanted = std::getenv("STORMCELL_FAULT");
  for (const Pass& fault : kFaults)
    if (wanted && fault.id == wanted) list.push_back(fault);
  list.insert(list.end(), standard_passes().begin(), standard_passes().end());
  return list;
}

}  // namespace

/// Instead of that of used_passes.cpp: the passes of this program are those of Stormcell and one more.
std::span<const Pass> passes() {
  static const std::vector<Pass> list = one_more();
  return list;
}

}  // namespace stormcell

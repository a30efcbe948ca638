// Branches to which no cell went in the profiled batches: their region becomes
//   guard(branches_empty(decision; branches = dead)) { the live branches only } { the region as it was }
// The route node stays before the guard. Weights that only fallbacks read are never loaded unless a miss needs them. The taken body
// computes what the region computes without rows in the dead branches: bit for bit the same.
#include "core/passes/dead_path.h"

#include <algorithm>
#include <tuple>

#include "core/base/numbers.h"
#include "core/graph/rewrite.h"
#include "core/graph/roles.h"
#include "core/passes/dead_branches.h"
#include "core/passes/prose.h"
#include "core/passes/region.h"

namespace stormcell {
namespace {

constexpr const char* kNoWeight = "no weight is read by its dead branches alone";

class DeadPath {
 public:
  explicit DeadPath(const PassInput& input)
      : input_(input), rewriter_(input.graph), dead_(dead_branches(input)), dead_weights_(weights_of_dead_branches(input.graph, dead_)) {}

  PassResult run() {
    while (step()) {
    }
    for (const auto& [router, branches] : dead_)
      if (input_.parameters && !seen_.contains(router)) refusals_.emplace_back(router, "the model has no such router");
    PassResult result;
    result.graph = guarded_.empty() ? input_.graph : rewriter_.finish();
    const int64_t bytes = bytes_of_fallbacks_only(result.graph) - bytes_of_fallbacks_only(input_.graph);
    if (bytes == 0 && !guarded_.empty()) {
      for (const auto& [router, branches] : guarded_) refusals_.emplace_back(router, kNoWeight);
      guarded_.clear();
      result.graph = input_.graph;
    }
    result.applied = !guarded_.empty();
    result.reason = reason(bytes);
    for (const auto& [router, branches] : guarded_) result.parameters[router] = branch_list({branches.begin(), branches.end()});
    return result;
  }

 private:
  const Graph& graph() const { return rewriter_.graph(); }

  // One region a step: blocks are looked at anew then, fallbacks left out, so that what is nested in live branches comes later.
  bool step() {
    for (const BlockPlace place : blocks_of(graph(), Fallbacks::left_out))
      for (const ValueId decision : decisions_of(graph(), place)) {
        const std::string& router = router_name(graph(), decision);
        seen_.insert(router);
        if (!dead_.contains(router) || done_.contains({decision, place.owner, place.body})) continue;
        for (const Region& region : find_regions(graph(), place, decision))
          if (looked_at_.insert(region.nodes[0]).second && guard(region, router)) return true;
        done_.insert({decision, place.owner, place.body});
      }
    return false;
  }

  /// Puts the region behind a guard; false where that is not possible, or of no use.
  bool guard(const Region& region, const std::string& router) {
    const std::set<int32_t> dead = dead_of(region, router);
    if (dead.empty()) return false;
    std::string why = region.obstacle;
    if (why.empty() && saved_bytes(region, dead) == 0) why = kNoWeight;
    if (why.empty()) why = split_node(region, dead);
    std::optional<size_t> first;
    if (why.empty() && !(first = rewriter_.bring_together(region.block, region.nodes)))
      why = "nodes between its scatters and gathers depend on it";
    if (!why.empty()) {
      refusals_.emplace_back(router, why);
      return false;
    }
    guarded_[router].insert(dead.begin(), dead.end());
    rewrite(region, dead, *first);
    return true;
  }

  std::set<int32_t> dead_of(const Region& region, const std::string& router) const {
    std::set<int32_t> dead;
    if (const auto at = dead_.find(router); at != dead_.end())
      for (const int32_t b : at->second)
        if (std::binary_search(region.branches.begin(), region.branches.end(), b)) dead.insert(b);
    // A gather needs a branch to join: where all of its branches are dead, the one with the fewest bytes stays.
    for (const NodeId id : region.gathers) {
      const Node& node = graph().node(id);
      std::set<int32_t> joined;
      for (size_t i = 0; i < plain_inputs(node); ++i)
        if (const auto b = branch_within(graph(), graph().value(node.inputs[i]).type.space, region.decision)) {
          if (*b == kAllBranches) {
            joined.insert(region.branches.begin(), region.branches.end());
          } else {
            joined.insert(*b);
          }
        }
      if (joined.empty() || !std::all_of(joined.begin(), joined.end(), [&](int32_t b) { return dead.contains(b); })) continue;
      dead.erase(*std::min_element(joined.begin(), joined.end(),
                                   [&](int32_t a, int32_t b) { return saved_bytes(region, {a}) < saved_bytes(region, {b}); }));
    }
    return dead;
  }

  /// A node belongs to dead branches when it works for no other.
  bool is_dead(const Region& region, NodeId id, const std::set<int32_t>& dead) const {
    const std::vector<int32_t> branches = branches_of_node(graph(), region, id);
    return !branches.empty() && std::all_of(branches.begin(), branches.end(), [&](int32_t b) { return dead.contains(b); });
  }
  bool is_cut(const Region& region, NodeId id) const { return sends_by(graph(), graph().node(id)) == region.decision; }

  /// Bytes of the weights that `branches` of the region read and that only dead branches read.
  int64_t saved_bytes(const Region& region, const std::set<int32_t>& branches) const {
    std::set<ValueId> weights;
    for (const NodeId id : region.nodes) {
      const Node& node = graph().node(id);
      if (is_cut(region, id)) {
        for (size_t i = 0; i < node.inputs.size(); ++i)
          if (const auto own = branch_of_input(node, i); own && branches.contains(*own)) weights.insert(node.inputs[i]);
      } else if (is_dead(region, id, branches)) {
        for (const ValueId v : reads_of(graph(), id)) weights.insert(v);
      }
    }
    int64_t bytes = 0;
    for (const ValueId v : weights)
      if (dead_weights_.contains(v)) bytes += stored_bytes(graph(), v);
    return bytes;
  }

  /// A node that dead and live branches share can neither stay nor go.
  std::string split_node(const Region& region, const std::set<int32_t>& dead) const {
    for (const NodeId id : region.nodes) {
      const bool gather = std::find(region.gathers.begin(), region.gathers.end(), id) != region.gathers.end();
      if (gather || is_cut(region, id) || is_dead(region, id, dead)) continue;
      for (const int32_t b : branches_of_node(graph(), region, id))
        if (dead.contains(b))
          return std::string(graph().node(id).op->name) + " \"" + graph().node(id).name + "\" belongs to several branches";
    }
    return {};
  }

  void rewrite(const Region& region, const std::set<int32_t>& dead, size_t first) {
    const std::string router = router_name(graph(), region.decision);
    Rewriter::Body taken, fallback;
    ValueMap copies;
    for (const NodeId id : region.nodes) {
      if (is_cut(region, id)) {
        if (const auto cut = cut_node(id, dead, copies)) taken.nodes.push_back(*cut);
      } else if (std::find(region.gathers.begin(), region.gathers.end(), id) != region.gathers.end()) {
        taken.nodes.push_back(cut_gather(region, id, dead, copies));
      } else if (!is_dead(region, id, dead)) {
        taken.nodes.push_back(rewriter_.clone(id, copies));
      }
    }
    fallback.nodes = region.nodes;
    for (const NodeId id : region.gathers) {
      const ValueId joined = graph().node(id).outputs[0];
      fallback.yields.push_back(joined);
      taken.yields.push_back(copies.at(joined));
    }
    const std::vector<ValueId> joined = fallback.yields;
    std::set<NodeId> inside(region.nodes.begin(), region.nodes.end());
    const NodeId predicate = rewriter_.make_node("branches_empty", {region.decision},
                                                 {{"branches", std::vector<int64_t>(dead.begin(), dead.end())}}, router + ".dead.empty");
    const NodeId guard =
        rewriter_.make_guard(graph().node(predicate).outputs[0], std::move(taken), std::move(fallback), router + ".live", "dead-path");
    ValueMap now;
    for (size_t i = 0; i < joined.size(); ++i) now[joined[i]] = graph().node(guard).outputs[i];
    rewriter_.substitute(now, inside);
    rewriter_.replace_run(region.block, first, region.nodes.size(), {predicate, guard});
  }

  /// What sends rows to branches, without the dead ones; nothing when no branch is left.
  std::optional<NodeId> cut_node(NodeId id, const std::set<int32_t>& dead, ValueMap& copies) {
    const Node node = graph().node(id);
    const bool open = has_role(node, Role::open);
    const char* list_name = open ? "spaces" : "branches";
    const std::vector<int32_t> branches = branches_sent(graph(), node);
    std::vector<int64_t> live;
    std::vector<size_t> kept;
    for (size_t i = 0; i < branches.size(); ++i) {
      if (dead.contains(branches[i])) continue;
      live.push_back(node.attributes.list(list_name)[i]);
      kept.push_back(i);
    }
    if (live.empty()) return {};
    if (live.size() == branches.size()) return rewriter_.clone(id, copies);
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const auto own = branch_of_input(node, i);
      if (own && dead.contains(*own)) continue;
      const auto at = copies.find(node.inputs[i]);
      inputs.push_back(at == copies.end() ? node.inputs[i] : at->second);
    }
    Attributes attributes = node.attributes;
    attributes.set(list_name, live);
    const NodeId made = rewriter_.make_node(node.op->name, std::move(inputs), std::move(attributes), node.name);
    for (size_t i = 0; i < (open ? kept.size() : 1); ++i) copies[node.outputs[open ? kept[i] : 0]] = graph().node(made).outputs[i];
    return made;
  }

  NodeId cut_gather(const Region& region, NodeId id, const std::set<int32_t>& dead, ValueMap& copies) {
    const Node node = graph().node(id);
    const size_t values = plain_inputs(node);
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const std::optional<int32_t> b =
          i < values ? branch_within(graph(), graph().value(node.inputs[i]).type.space, region.decision) : std::nullopt;
      if (b && dead.contains(*b)) continue;
      const auto at = copies.find(node.inputs[i]);
      inputs.push_back(at == copies.end() ? node.inputs[i] : at->second);
    }
    Attributes attributes = node.attributes;
    if (attributes.has("branches")) {
      std::vector<int64_t> live;
      for (const int64_t b : attributes.list("branches"))
        if (!dead.contains(static_cast<int32_t>(b))) live.push_back(b);
      attributes.set("branches", live);
    }
    const NodeId made = rewriter_.make_node("gather", std::move(inputs), std::move(attributes), node.name);
    copies[node.outputs[0]] = graph().node(made).outputs[0];
    return made;
  }

  std::string reason(int64_t bytes) const {
    std::string text;
    if (!guarded_.empty()) {
      size_t branches = 0;
      for (const auto& [router, dead] : guarded_) branches += dead.size();
      text = count_text(branches, "branch", "branches") + " of " + count_text(guarded_.size(), "router", "routers") +
             (input_.option(kDeadShare) > 0 && !input_.parameters ? " with little or no load, " : " without load, ") +
             to_text(Bytes(bytes)) + " never loaded unless a guard misses";
    } else if (refusals_.empty()) {
      return dead_.empty() && !input_.parameters && input_.profile.routers.empty() ? "no router was profiled"
             : input_.option(kDeadShare) > 0 ? "every branch got more than this share of the cells in the profiled batches"
                                             : "every branch got cells in the profiled batches";
    }
    return with_refusals(std::move(text), refusals_);
  }

  const PassInput& input_;
  Rewriter rewriter_;
  DeadBranches dead_;
  std::set<ValueId> dead_weights_;
  std::map<std::string, std::set<int32_t>> guarded_;
  std::set<std::string> seen_;
  std::set<std::tuple<ValueId, NodeId, size_t>> done_;
  std::set<NodeId> looked_at_;  // first nodes of regions
  Refusals refusals_;
};

}  // namespace

PassResult dead_path(const PassInput& input) { return DeadPath(input).run(); }

}  // namespace stormcell

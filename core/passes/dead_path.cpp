// Branches to which no cell went in the profiled batches: their region becomes
//   guard(branches_empty(decision; branches = dead)) { the live branches only } { the region as it was }
// One guard serves all routers of a region that decide before it: it holds while none of their dead branches gets a
// cell. Route nodes stay before the guard. Weights that only fallbacks read are never loaded unless a miss needs them.
// The taken body computes what the region computes without rows in the dead branches: bit for bit the same.
#include "core/passes/dead_path.h"

#include <algorithm>
#include <tuple>

#include "core/base/counted.h"
#include "core/base/numbers.h"
#include "core/graph/rewrite.h"
#include "core/graph/roles.h"
#include "core/passes/dead_branches.h"
#include "core/passes/profiled_branches.h"
#include "core/passes/reasons.h"
#include "core/passes/region.h"

namespace stormcell {
namespace {

constexpr const char* kNoWeight = "no weight is read only by its unused branches";

class DeadPath {
 public:
  explicit DeadPath(const PassInput& input)
      : input_(input),
        rewriter_(input.graph),
        dead_(dead_branches(input)),
        dead_weights_(weights_of_dead_branches(input.graph, dead_)) {}

  PassResult run() {
    while (step()) {
    }
    for (const auto& [router, branches] : dead_)
      if (input_.parameters && !seen_.contains(router)) refusals_.emplace_back(router, kNoSuchRouter);
    PassResult result;
    result.graph = guarded_.empty() ? input_.graph : rewriter_.finish();
    const FallbackBytes before = bytes_of_fallbacks_only(input_.graph, input_.parts);
    FallbackBytes bytes = bytes_of_fallbacks_only(result.graph, input_.parts);
    bytes.loaded -= before.loaded, bytes.parts -= before.parts;
    if (bytes.loaded + bytes.parts == 0 && !guarded_.empty()) {
      for (const auto& [router, branches] : guarded_) refusals_.emplace_back(router, kNoWeight);
      guarded_.clear();
      result.graph = input_.graph;
    }
    result.applied = !guarded_.empty();
    for (const auto& [router, why] : input_.parameters ? Refusals() : dead_in_one_part(input_))
      if (!guarded_.contains(router)) refusals_.emplace_back(router, why);
    result.reason = reason(bytes);
    for (const auto& [router, branches] : guarded_)
      result.parameters[router] = branch_list({branches.begin(), branches.end()});
    return result;
  }

 private:
  const Graph& graph() const { return rewriter_.graph(); }

  /// Branches to leave out, by decision.
  using Dead = std::map<ValueId, std::set<int32_t>>;

  // One guard a step: blocks are looked at anew then, fallbacks left out, so that what is nested in live branches comes
  // later.
  bool step() {
    for (const BlockPlace place : blocks_of(graph(), Fallbacks::left_out))
      for (const ValueId decision : decisions_of(graph(), place)) {
        const std::string& router = router_name(graph(), decision);
        seen_.insert(router);
        if (!dead_.contains(router) || done_.contains({decision, place.owner, place.body})) continue;
        for (const Region& region : find_regions(graph(), place, decision))
          if (looked_at_.insert(region.nodes[0]).second && guard_some(region)) return true;
        done_.insert({decision, place.owner, place.body});
      }
    return false;
  }

  /// Adds one guard for all routers of the region that decide before it; if that cannot be, one for a router with a
  /// known decision there. A router that decides within the guarded part gets its guard there: a miss computes again
  /// only what lies behind its decision.
  bool guard_some(const Region& region) {
    std::vector<ValueId> with_dead, early;
    for (const ValueId d : region.decisions) {
      if (!dead_.contains(router_name(graph(), d))) continue;
      with_dead.push_back(d);
      const bool known =
          std::find(region.nodes.begin(), region.nodes.end(), graph().value(d).producer) == region.nodes.end();
      const Region own = part_behind(graph(), region, std::span(&d, 1));
      if (known && saved_bytes(own, dead_of(own)) > 0) early.push_back(d);
    }
    std::string why;
    if (early.size() > 1 && guard(part_behind(graph(), region, early), why)) return true;
    for (const ValueId d : with_dead) {
      why.clear();
      if (guard(part_behind(graph(), region, std::span(&d, 1)), why)) return true;
      if (!why.empty()) refusals_.emplace_back(router_name(graph(), d), why);
    }
    return false;
  }

  /// Puts the region behind a guard; false if that is of no use, or not possible for the reason in `why`.
  bool guard(const Region& region, std::string& why) {
    const Dead dead = dead_of(region);
    if (dead.empty()) return false;
    why = region.obstacle;
    if (why.empty() && saved_bytes(region, dead) == 0) why = kNoWeight;
    if (why.empty()) why = split_node(region, dead);
    if (why.empty()) why = missing_kernels(dead);
    std::optional<size_t> first;
    if (why.empty() && !(first = rewriter_.bring_together(region.block, region.nodes))) why = kDependOnIt;
    if (!why.empty()) return false;
    for (const auto& [decision, branches] : dead)
      guarded_[router_name(graph(), decision)].insert(branches.begin(), branches.end());
    rewrite(region, dead, *first);
    return true;
  }

  bool is_dead_space(SpaceId space, const Dead& dead) const {
    return std::any_of(dead.begin(), dead.end(), [&](const auto& d) {
      const auto b = branch_within(graph(), space, d.first);
      return b && d.second.contains(*b);
    });
  }

  Dead dead_of(const Region& region) const {
    Dead dead;
    for (const ValueId d : region.decisions)
      if (const auto at = dead_.find(router_name(graph(), d)); at != dead_.end())
        for (const int32_t b : at->second)
          if (std::binary_search(region.branches.at(d).begin(), region.branches.at(d).end(), b)) dead[d].insert(b);
    for (const NodeId id : region.gathers)
      for (const ValueId d : region.decisions) keep_one(region, graph().node(id), d, dead);
    std::erase_if(dead, [](const auto& d) { return d.second.empty(); });
    return dead;
  }

  /// A gather needs a branch of each of its routers to join: where all of one are dead, the one with the fewest bytes
  /// stays. So it remains the same kind of gather, and sums in the same order.
  void keep_one(const Region& region, const Node& gather, ValueId decision, Dead& dead) const {
    std::set<int32_t> joined;
    for (size_t i = 0; i < joined_inputs(gather); ++i)
      if (const auto b = branch_within(graph(), graph().value(gather.inputs[i]).type.space, decision)) {
        if (*b == kAllBranches) {
          joined.insert(region.branches.at(decision).begin(), region.branches.at(decision).end());
        } else {
          joined.insert(*b);
        }
      }
    if (joined.empty() ||
        !std::all_of(joined.begin(), joined.end(), [&](int32_t b) { return dead[decision].contains(b); }))
      return;
    const auto bytes = [&](int32_t b) { return saved_bytes(region, {{decision, {b}}}); };
    dead[decision].erase(
        *std::min_element(joined.begin(), joined.end(), [&](int32_t a, int32_t b) { return bytes(a) < bytes(b); }));
  }

  /// A node belongs to dead branches when it works for no other branch of the same decision.
  bool is_dead(NodeId id, const Dead& dead) const {
    return std::any_of(dead.begin(), dead.end(), [&](const auto& d) {
      const std::vector<int32_t> branches = branches_of_node(graph(), d.first, id);
      return !branches.empty() &&
             std::all_of(branches.begin(), branches.end(), [&](int32_t b) { return d.second.contains(b); });
    });
  }
  bool is_gather(const Region& region, NodeId id) const {
    return std::find(region.gathers.begin(), region.gathers.end(), id) != region.gathers.end();
  }
  /// Whether a node sends rows to branches of which some are dead.
  bool is_cut(NodeId id, const Dead& dead) const { return dead.contains(sends_by(graph(), graph().node(id))); }

  /// Bytes of the weights that dead branches of the region read and that only dead branches read.
  int64_t saved_bytes(const Region& region, const Dead& dead) const {
    std::set<ValueId> weights;
    for (const NodeId id : region.nodes) {
      const Node& node = graph().node(id);
      if (is_cut(id, dead)) {
        const std::set<int32_t>& branches = dead.at(sends_by(graph(), node));
        for (size_t i = 0; i < node.inputs.size(); ++i)
          if (const auto own = branch_of_input(node, i); own && branches.contains(*own)) weights.insert(node.inputs[i]);
      } else if (is_dead(id, dead)) {
        for (const ValueId v : reads_of(graph(), id)) weights.insert(v);
      }
    }
    int64_t bytes = 0;
    for (const ValueId v : weights)
      if (dead_weights_.contains(v)) bytes += stored_bytes(graph(), v);
    return bytes;
  }

  /// A node that dead and live branches share can neither stay nor go.
  std::string split_node(const Region& region, const Dead& dead) const {
    for (const NodeId id : region.nodes) {
      if (is_gather(region, id) || is_cut(id, dead) || is_dead(id, dead)) continue;
      for (const auto& [decision, branches] : dead)
        for (const int32_t b : branches_of_node(graph(), decision, id))
          if (branches.contains(b)) return node_text(graph().node(id)) + " belongs to several branches";
    }
    return {};
  }

  void rewrite(const Region& region, const Dead& dead, size_t first) {
    std::string router;
    for (const auto& [decision, branches] : dead)
      router += (router.empty() ? "" : "+") + router_name(graph(), decision);
    Rewriter::Body taken, fallback;
    ValueMap copies;
    for (const NodeId id : region.nodes) {
      if (is_gather(region, id)) {
        taken.nodes.push_back(cut_gather(id, dead, copies));
      } else if (is_dead(id, dead)) {
        continue;
      } else if (is_cut(id, dead)) {
        if (const auto cut = cut_node(id, dead, copies)) taken.nodes.push_back(*cut);
      } else {
        taken.nodes.push_back(rewriter_.clone(id, copies));
      }
    }
    fallback.nodes = region.nodes;
    for (const NodeId id : region.gathers) {
      const ValueId joined = graph().node(id).outputs[0];
      fallback.yields.push_back(joined);
      taken.yields.push_back(copies.at(joined));
    }
    std::vector<NodeId> before;
    const ValueId predicate = all_empty(dead, before);
    rewriter_.guard_run(region.block, first, std::move(before), predicate, std::move(taken), std::move(fallback),
                        router + ".live", "dead-path");
  }

  /// The kernels that the device lacks for the nodes that all_empty() makes; empty: none.
  std::string missing_kernels(const Dead& dead) const {
    AskedKernels kernels(input_);
    kernels.has("branches_empty");
    if (dead.size() > 1) kernels.has("all_set");
    return kernels.missing();
  }

  /// 1 if no dead branch of any router got a cell; adds the nodes that find out.
  ValueId all_empty(const Dead& dead, std::vector<NodeId>& nodes) {
    std::vector<ValueId> flags;
    for (const auto& [decision, branches] : dead) {
      nodes.push_back(rewriter_.make_node("branches_empty", {decision},
                                          {{"branches", std::vector<int64_t>(branches.begin(), branches.end())}},
                                          router_name(graph(), decision) + ".dead.empty"));
      flags.push_back(graph().node(nodes.back()).outputs[0]);
    }
    if (flags.size() == 1) return flags[0];
    nodes.push_back(rewriter_.make_node("all_set", std::move(flags), {}, "dead.empty"));
    return graph().node(nodes.back()).outputs[0];
  }

  /// A copy of a node that sends rows to branches, without the dead ones; nothing if no branch is left.
  std::optional<NodeId> cut_node(NodeId id, const Dead& all, ValueMap& copies) {
    const Node node = graph().node(id);
    const std::set<int32_t>& dead = all.at(sends_by(graph(), node));
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
    rewriter_.take_annotations(made, id, open ? std::span<const size_t>(kept) : std::span<const size_t>());
    for (size_t i = 0; i < (open ? kept.size() : 1); ++i)
      copies[node.outputs[open ? kept[i] : 0]] = graph().node(made).outputs[i];
    return made;
  }

  NodeId cut_gather(NodeId id, const Dead& dead, ValueMap& copies) {
    const Node node = graph().node(id);
    const size_t values = plain_inputs(node);
    std::vector<ValueId> inputs;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (i < values && is_dead_space(graph().value(node.inputs[i]).type.space, dead)) continue;
      const auto at = copies.find(node.inputs[i]);
      inputs.push_back(at == copies.end() ? node.inputs[i] : at->second);
    }
    Attributes attributes = node.attributes;
    const auto slots = dead.find(graph().space(graph().value(node.inputs[0]).type.space).decision);
    if (attributes.has("branches") && slots != dead.end()) {
      std::vector<int64_t> live;
      for (const int64_t b : attributes.list("branches"))
        if (!slots->second.contains(static_cast<int32_t>(b))) live.push_back(b);
      attributes.set("branches", live);
    }
    const NodeId made = rewriter_.make_node("gather", std::move(inputs), std::move(attributes), node.name);
    rewriter_.take_annotations(made, id);
    copies[node.outputs[0]] = graph().node(made).outputs[0];
    return made;
  }

  /// The savings by guards. Weights that come and go are not read if no cell goes there, guarded or not, and fallbacks
  /// keep them among those that the slots are planned for.
  static std::string saved_text(const FallbackBytes& bytes) {
    if (bytes.parts == 0) return to_text(Bytes(bytes.loaded)) + " of weights are loaded only if a guard misses";
    const std::string parts =
        to_text(Bytes(bytes.parts)) + " are read only when cells go there, as without this pass under --weight-budget";
    if (bytes.loaded == 0) return "none of their weights is spared: " + parts + "; the slots stay as they are";
    return to_text(Bytes(bytes.loaded)) + " of weights are loaded only if a guard misses; " + parts +
           "; the slots stay as they are";
  }

  std::string reason(const FallbackBytes& bytes) const {
    std::string text;
    if (!guarded_.empty()) {
      size_t branches = 0;
      for (const auto& [router, dead] : guarded_) branches += dead.size();
      text = counted(branches, "branch") + " of " + counted(std::ssize(guarded_), "router") +
             (input_.option(kDeadShare) > 0 && !input_.parameters ? " got few cells or none; " : " got no cells; ") +
             saved_text(bytes);
    } else if (refusals_.empty()) {
      return dead_.empty() && !input_.parameters && input_.profile.routers.empty() ? kNoRouterProfiled
             : input_.option(kDeadShare) > 0
                 ? "every branch got more than max-share of the cells in the profiled batches"
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

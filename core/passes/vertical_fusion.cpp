// Nodes that follow a product, and the norm before it, become part of it: scale, activation, gate (multiply), residual,
// the activation of the sum with a residual. A residual after a gather becomes part of the gather, and so do factors of
// whole rows before a gather that sums them. The fused node stands where the last of its parts stood, so that all its
// inputs exist. Then residual blocks of convolutions that follow one another become one step, which keeps a map in
// cache through all of them (residual_chains.h), and so do a depthwise convolution and the pointwise one behind it
// (separable_convolutions.h).
//
// Bit for bit the same: a node is folded only if the order of arithmetic stays. A scale is not folded behind a bias,
// nor a residual behind a factor (a scale, a gate, an activation that ends in a product): compilers make one rounding
// of a product and the sum after it. A gather rounds both.
#include "core/passes/vertical_fusion.h"

#include <algorithm>
#include <set>

#include "core/base/counted.h"
#include "core/base/id_vector.h"
#include "core/base/listed_words.h"
#include "core/graph/annotation_rules.h"
#include "core/graph/rewrite.h"
#include "core/graph/roles.h"
#include "core/passes/reasons.h"
#include "core/passes/residual_chains.h"
#include "core/passes/separable_convolutions.h"

namespace stormcell {
namespace {
bool has(const Node& node, std::string_view extra) { return extra_input(node, extra).has_value(); }
void add_extra(Node& node, std::string_view extra, ValueId value) {
  const std::string before = node.attributes.word("extras", "");
  node.attributes.set("extras", before.empty() ? std::string(extra) : before + "+" + std::string(extra));
  node.inputs.push_back(value);
}

/// Operations of a product on its result before it stores it, as far as they decide what may follow.
struct Tail {
  explicit Tail(const Node& node)
      : scaled(knows(*node.op, "scale") && real_of(node, "scale") != 1),
        active(knows(*node.op, "activation") ? word_of(node, "activation") : "none"),
        bias(has(node, "bias") || (knows(*node.op, "biases") && flag_of(node, "biases"))),
        multiply(has(node, "multiply")),
        residual(has(node, "residual")) {}
  bool scaled;
  std::string active;
  bool bias, multiply, residual;
};

/// "a", "a and b", "a and 2 others".
std::string listed_names(const std::set<std::string>& names) {
  if (names.size() < 2) return *names.begin();
  return *names.begin() + " and " +
         (names.size() == 2 ? *names.rbegin() : std::to_string(names.size() - 1) + " others");
}

class VerticalFusion {
 public:
  explicit VerticalFusion(const PassInput& input)
      : rewriter_(input.graph),
        uses_(count_uses(input.graph)),
        user_(input.graph.values.size(), kNone),
        fold_{input.is_on(kFoldNorms), input.is_on(kFoldScales),    input.is_on(kFoldActivations),
              input.is_on(kFoldGates), input.is_on(kFoldResiduals), input.is_on(kFoldFactors)} {}

  void run() {
    for (const BlockPlace place : blocks_of(graph(), Fallbacks::included)) fuse_block(place);
  }

  struct Counts {
    size_t norms = 0, scales = 0, activations = 0, gates = 0, residuals = 0, factors = 0, joined = 0;
    size_t all() const { return norms + scales + activations + gates + residuals + factors + joined; }
  } counts;
  std::set<std::string> kept_apart;  ///< nodes and values that would have been folded, but for their annotations

  Graph finish() { return rewriter_.finish(); }

 private:
  const Graph& graph() const { return rewriter_.graph(); }
  Node& node(NodeId id) { return rewriter_.graph().node(id); }
  SpaceId space_of(ValueId v) const { return graph().value(v).type.space; }

  void fuse_block(BlockPlace place) {
    std::vector<NodeId>& nodes = block_at(rewriter_.graph(), place).nodes;
    place_of_.clear();
    for (size_t i = 0; i < nodes.size(); ++i) {
      place_of_[nodes[i]] = i;
      // The only user counts, and only where the value is a plain input of it.
      for (const ValueId v : graph().node(nodes[i]).inputs) user_[v] = nodes[i];
    }
    nodes_ = nodes;
    for (size_t i = 0; i < nodes_.size(); ++i)
      for (NodeId at = nodes_[i]; at != kNone;) at = absorb_next(at);
    std::erase(nodes_, kNone);
    nodes = nodes_;
  }

  /// Folds the next operation into a node; returns the node as it is then, kNone if there is nothing to fold.
  NodeId absorb_next(NodeId id) {
    if (fold_.norms && stormcell::absorbs(*node(id).op, "gain") && !has(node(id), "gain") && absorb_norm(id))
      ++counts.norms;
    if (fold_.factors && stormcell::absorbs(*node(id).op, "factors")) absorb_factors(id);
    if (fold_.residuals && has_role(node(id), Role::guard)) absorb_into_bodies(id);
    if (node(id).outputs.size() != 1) return kNone;
    const ValueId out = node(id).outputs[0];
    const NodeId user = uses_[out] == 1 ? user_[out] : kNone;
    if (user == kNone || !place_of_.contains(user) || !absorbs(node(id), node(user))) return kNone;
    return says_more(user, out) || lies_otherwise(node(user).outputs[0]) ? kNone : merge(id, user);
  }

  /// A plan says of the node how it is run, or of the value how it lies: folding would lose that, so they stay apart.
  bool says_more(NodeId id, ValueId value) {
    const bool says = !node(id).annotations.empty() || !graph().value(value).annotations.empty();
    if (says) kept_apart.insert(node(id).annotations.empty() ? "%" + graph().value(value).name : node_text(node(id)));
    return says;
  }

  /// Whether a node's result lies in a format that another node in its place may have no kernel to write.
  bool lies_otherwise(ValueId value) {
    const bool does = format_in_memory(graph().value(value)) != graph().value(value).type.dtype;
    if (does) kept_apart.insert("%" + graph().value(value).name);
    return does;
  }

  bool absorb_norm(NodeId id) {
    const ValueId x = node(id).inputs[0];
    const NodeId norm = graph().value(x).producer;
    if (norm == kNone || graph().node(norm).op->folds_as != "gain" || uses_[x] != 1 || !place_of_.contains(norm))
      return false;
    if (integer_of(graph().node(norm), "heads") != 1) return false;  // a product's gain is that of whole rows
    if (!may_move(norm, id) || says_more(norm, x)) return false;
    const Node before = graph().node(norm);
    Node& product = node(id);
    product.inputs[0] = before.inputs[0];
    user_[before.inputs[0]] = id;
    user_[before.inputs[1]] = id;
    add_extra(product, "gain", before.inputs[1]);
    product.attributes.set("eps", before.attributes.real("eps"));
    remove(norm);
    return true;
  }

  /// Folds factors of whole rows into the sum of these rows, if nothing else reads the products. A sum of one row for
  /// each cell is a copy: it stays one.
  void absorb_factors(NodeId id) {
    const size_t values = joined_inputs(node(id));
    if (node(id).attributes.word("mode") != "sum") return;
    if (values == 1 && space_of(node(id).inputs[0]) == space_of(node(id).outputs[0])) return;
    for (size_t i = 0; i < values; ++i)
      if (!factor_input(node(id), i) && absorb_factor(id, i)) ++counts.factors;
  }
  bool absorb_factor(NodeId id, size_t index) {
    const ValueId product = node(id).inputs[index];
    const NodeId maker = graph().value(product).producer;
    if (maker == kNone || node(maker).op->folds_as != "multiply" || uses_[product] != 1 || !place_of_.contains(maker))
      return false;
    const ValueId rows = node(maker).inputs[0], factor = node(maker).inputs[1];
    const std::vector<Dim>& content = graph().value(factor).type.content;
    if (!content.empty() && content != std::vector<Dim>{1}) return false;
    if (!may_move(maker, id) || says_more(maker, product)) return false;
    Node& gather = node(id);
    std::vector<int64_t> factored = factored_inputs(gather);
    const auto at = std::lower_bound(factored.begin(), factored.end(), static_cast<int64_t>(index)) - factored.begin();
    const std::ptrdiff_t first = joined_inputs(gather);
    gather.inputs.insert(gather.inputs.begin() + first + at, factor);
    gather.inputs[index] = rows;
    factored.insert(factored.begin() + at, static_cast<int64_t>(index));
    gather.attributes.set("factors", std::move(factored));
    user_[rows] = user_[factor] = id;
    remove(maker);
    return true;
  }

  /// A residual behind a guard goes to the gathers that close its bodies.
  void absorb_into_bodies(NodeId guard) {
    for (size_t i = 0; i < node(guard).outputs.size(); ++i) {
      const ValueId out = node(guard).outputs[i];
      const NodeId user = uses_[out] == 1 ? user_[out] : kNone;
      if (user == kNone || !place_of_.contains(user) || node(user).op->folds_as != "residual") continue;
      const ValueId other = node(user).inputs[node(user).inputs[0] == out ? 1 : 0];
      const NodeId maker = graph().value(other).producer;
      // The bodies must see the other summand, as it is then.
      if (graph().value(other).kind == ValueKind::state ||
          (place_of_.contains(maker) && place_of_.at(maker) > place_of_.at(guard)))
        continue;
      const auto joins = [&](size_t body) {
        const ValueId yield = node(guard).yields[body][i];
        const NodeId gather = graph().value(yield).producer;
        const std::vector<NodeId>& nodes = node(guard).bodies[body].nodes;
        return uses_[yield] == 1 && std::find(nodes.begin(), nodes.end(), gather) != nodes.end() &&
               has_role(graph().node(gather), Role::close) && absorbs(graph().node(gather), node(user));
      };
      if (other == out || !joins(0) || !joins(1) || says_more(user, out) || says_more(user, node(user).outputs[0]))
        continue;
      for (const std::vector<ValueId>& yields : node(guard).yields)
        add_extra(node(graph().value(yields[i]).producer), "residual", other);
      uses_[other] += 1;
      node(guard).outputs[i] = node(user).outputs[0];
      rewriter_.graph().value(node(user).outputs[0]).producer = guard;
      remove(user);
      ++counts.joined;
    }
  }

  /// Whether `maker`, whose result only `user` reads, may do the user's work too.
  bool absorbs(const Node& maker, const Node& user) {
    const std::string_view as = user.op->folds_as;
    if (!stormcell::absorbs(*maker.op, as)) return false;
    if ((as == "scale" && !fold_.scales) || (as == "activation" && !fold_.activations) ||
        (as == "multiply" && !fold_.gates) || (as == "residual" && !fold_.residuals))
      return false;
    const Tail tail(maker);
    // Behind a sum with a residual only the activation is folded, under the same conditions as the residual.
    if (tail.residual)
      return as == "activation" && knows(*maker.op, "residual_first") && !tail.scaled && !tail.multiply &&
             tail.active == "none";
    const bool relu = as == "activation" && user.attributes.word("kind") == "relu";
    if (as == "scale") return !tail.scaled && !tail.bias && !tail.multiply && tail.active == "none";
    if (as == "activation") return tail.active == "none" && !tail.multiply && (!tail.scaled || relu);
    if (user.inputs.size() != 2 || user.inputs[0] == user.inputs[1] || tail.multiply) return false;
    // A product multiplies element by element, not a row by its number.
    if (graph().value(user.inputs[0]).type.content != graph().value(user.inputs[1]).type.content) return false;
    return as == "multiply" || (as == "residual" && !tail.scaled && (tail.active == "none" || tail.active == "relu"));
  }

  /// The user becomes the fused node: it comes after everything that either of them reads.
  NodeId merge(NodeId id, NodeId user) {
    if (!may_move(id, user)) return kNone;
    const Node maker = graph().node(id);
    Node& fused = node(user);
    const std::string_view as = fused.op->folds_as;
    const ValueId other = fused.inputs.size() == 2 ? fused.inputs[fused.inputs[0] == maker.outputs[0] ? 1 : 0] : kNone;
    const Attributes own = fused.attributes;
    fused.op = maker.op;
    fused.name = maker.name;
    fused.inputs = maker.inputs;
    fused.attributes = maker.attributes;
    fused.annotations = maker.annotations;
    if (attribute_rule(*maker.op, as)) {
      fused.attributes.set(as, own.begin()->second);
      // Only an activation may follow a residual: see absorbs().
      if (has(fused, "residual")) fused.attributes.set("residual_first", int64_t{1});
      ++(as == "scale" ? counts.scales : counts.activations);
    } else {
      add_extra(fused, as, other);
      ++(as == "multiply" ? counts.gates : has_role(maker, Role::close) ? counts.joined : counts.residuals);
    }
    for (const ValueId v : fused.inputs) user_[v] = user;
    remove(id);
    return user;
  }

  /// Whether a node may move to just before `to`: it has no effect, but states that it reads may change between.
  bool may_move(NodeId id, NodeId to) {
    const Node& moved = graph().node(id);
    if (std::none_of(moved.inputs.begin(), moved.inputs.end(),
                     [&](ValueId v) { return graph().value(v).kind == ValueKind::state; }))
      return true;
    std::vector<NodeId> between(nodes_.begin() + place_of_.at(id), nodes_.begin() + place_of_.at(to));
    std::erase(between, kNone);
    std::vector<NodeId> after(between.begin() + 1, between.end());
    after.push_back(id);
    return rewriter_.keeps_states(between, after);
  }

  void remove(NodeId id) {
    nodes_[place_of_.at(id)] = kNone;
    place_of_.erase(id);
  }

  Rewriter rewriter_;
  IdVector<ValueId, int32_t> uses_;
  IdVector<ValueId, NodeId> user_;     // the last node of the block that has the value as an input
  std::map<NodeId, size_t> place_of_;  // places in the block at hand
  std::vector<NodeId> nodes_;          // nodes of the block at hand; kNone: folded into another
  const struct { bool norms, scales, activations, gates, residuals, factors; } fold_;
};

/// The text on what was folded into what.
std::string text_of(const VerticalFusion::Counts& c, const ResidualChains& chains, size_t separable) {
  std::string parts, of_gathers;
  const auto add = [](std::string& list, size_t n, std::string_view one) {
    if (n > 0) add_to_list(list, counted(static_cast<int64_t>(n), one));
  };
  add(parts, c.norms, "norm");
  add(parts, c.scales, "scale");
  add(parts, c.activations, "activation");
  add(parts, c.gates, "gate");
  add(parts, c.residuals, "residual");
  if (!parts.empty()) parts += " folded into products";
  add(of_gathers, c.factors, "factor");
  add(of_gathers, c.joined, "residual");
  if (!of_gathers.empty()) add_to_list(parts, of_gathers + " folded into gathers", "; ");
  if (chains.blocks > 0)
    add_to_list(parts,
                counted(static_cast<int64_t>(chains.blocks), "residual block") + " in " +
                    counted(static_cast<int64_t>(chains.chains), "chain"),
                "; ");
  if (separable > 0)
    add_to_list(parts,
                counted(static_cast<int64_t>(separable), "depthwise convolution") + " in the pointwise ones after them",
                "; ");
  return parts;
}

}  // namespace

PassResult vertical_fusion(const PassInput& input) {
  VerticalFusion fusion(input);
  fusion.run();
  PassResult result;
  result.applied = fusion.counts.all() > 0;
  result.graph = result.applied ? fusion.finish() : input.graph;
  AskedKernels kernels(input);
  const ResidualChains chains =
      input.is_on(kFoldChains) ? fold_residual_chains(result.graph, kernels) : ResidualChains{};
  const size_t separable = input.is_on(kFoldSeparable) ? fold_separable_convolutions(result.graph, kernels) : 0;
  result.applied = result.applied || chains.blocks > 0 || separable > 0;
  std::string apart = fusion.kept_apart.empty()
                          ? std::string()
                          : "; not folded, because of their annotations: " + listed_names(fusion.kept_apart);
  if (const std::string missing = kernels.missing(); !missing.empty()) apart += "; convolutions stay apart: " + missing;
  if (!result.applied) {
    result.reason = input.options.empty() ? "no product directly follows a norm or is directly followed by a scale, "
                                            "activation, gate or residual of its own"
                                          : "no product has a neighbour that the options let it fold";
    result.reason += apart;
    return result;
  }
  result.reason =
      text_of(fusion.counts, chains, separable) + (has_guards(input.graph) ? " (fallbacks included)" : "") + apart;
  return result;
}

}  // namespace stormcell

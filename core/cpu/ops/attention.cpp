#include "core/cpu/kernels/attention.h"

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/format_kernels.h"

namespace stormcell::cpu {
namespace {

/// A bound on the cells that one parent has in a dense or ragged space: those it has in the base.
Dim most_of_a_parent(const Graph& g, SpaceId space) {
  while (g.space(space).kind == SpaceKind::ragged) space = g.space(space).base;
  return g.space(space).per_parent;
}
Dim most_parents(const Graph& g, SpaceId space) { return g.space(g.space(space).parent).count; }

class Attention : public Kernel {
 public:
  explicit Attention(const BuildContext& m)
      : node_(m.step.node),
        bias_(extra_input(m.node(), "bias")),
        mask_(extra_input(m.node(), "mask")),
        step_(extra_input(m.node(), "step")),
        sinks_(extra_input(m.node(), "sinks")),
        sequences_(most_parents(m.graph(), m.type(0).space)),
        q_length_(most_of_a_parent(m.graph(), m.type(0).space)),
        k_length_(most_of_a_parent(m.graph(), m.type(1).space)) {
    const Attributes& a = m.node().attributes;
    problem_.heads = static_cast<int32_t>(a.integer("heads"));
    problem_.kv_heads = static_cast<int32_t>(a.integer("kv_heads"));
    problem_.head_dim = static_cast<int32_t>(m.type(0).content[0].constant() / problem_.heads);
    problem_.value_dim = static_cast<int32_t>(m.type(2).content[0].constant() / problem_.kv_heads);
    problem_.scale = static_cast<float>(real_of(m.node(), "scale"));
    problem_.causal = flag_of(m.node(), "causal");
    problem_.window = static_cast<int32_t>(integer_of(m.node(), "window"));
    if (bias_) problem_.buckets = static_cast<int32_t>(a.integer("buckets"));
    problem_.max_distance = static_cast<int32_t>(integer_of(m.node(), "max_distance"));
    problem_.bidirectional = flag_of(m.node(), "bidirectional");
    problem_.out_bf16 = m.writes_halves(0);
    problem_.bf16 = is_halves(m.type(1).dtype);
    if (bias_) bias_handle_ = m.f32_weight(*bias_);
    if (sinks_) sinks_handle_ = m.f32_weight(*sinks_);
    AttentionProblem most = problem_;
    most.sequences = sequences_.evaluate(m.bounds);
    most.q_length = q_length_.evaluate(m.bounds);
    most.k_length = k_length_.evaluate(m.bounds);
    if (bias_) most.bias_table = reinterpret_cast<const float*>(this);  // only its presence counts for the size
    scratch_ = static_cast<int64_t>(attention_scratch_bytes(most, m.threads));
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    AttentionProblem p = problem_;
    const CellGroups &queries = c.in[0].groups, &keys = c.in[1].groups;
    p.sequences = queries.parents;
    p.q_length = q_length_.evaluate(c.bindings);
    p.k_length = k_length_.evaluate(c.bindings);
    p.q_offsets = queries.offsets, p.q_places = queries.places;
    p.k_offsets = keys.offsets, p.k_places = keys.places;
    if (p.sequences == 0 || p.q_length == 0 || p.k_length == 0) return;
    if (bias_) p.bias_table = c.floats(bias_handle_);
    if (sinks_) p.sinks = c.floats(sinks_handle_);
    if (mask_) p.key_mask = c.in[*mask_].integers();
    if (step_)
      if (const StepFailure failure = read_cache(c, p)) return c.fail(node_, failure);
    attention(c.team, c.in[0].reals(), c.in[0].width, c.in[1].reals(), c.in[1].width, c.in[2].reals(), c.in[2].width, p,
              c.out[0].data, c.out[0].width, c.scratch);
  }

 private:
  /// Reads the queries' place from the step; the keys up to there must be in the cache.
  StepFailure read_cache(const Call& c, AttentionProblem& p) const {
    p.steps = c.in[*step_].integers();
    p.q_places = nullptr;
    const CellGroups& queries = c.in[0].groups;
    for (int64_t s = 0; s < queries.parents; ++s)
      for (const Rows* keys : {&c.in[1], &c.in[2]}) {
        const int64_t rows = queries.count(s);
        if (const StepFailure failure = check_places(s, keys->groups.per_parent, rows, p.steps[s])) return failure;
        if (rows == 0) continue;
        if (const StepFailure failure = keys->state(keys->width * (p.bf16 ? 2 : 4)).check(s, 0, p.steps[s] + rows))
          return failure;
      }
    p.k_pages = c.in[1].pages, p.v_pages = c.in[2].pages;
    p.pages_of_sequence = std::max(c.in[1].pages_of_parent, c.in[2].pages_of_parent);
    p.page_rows = kPageRows;
    return {};
  }

  NodeId node_;
  std::optional<size_t> bias_, mask_, step_, sinks_;
  WeightHandle bias_handle_, sinks_handle_;
  Dim sequences_, q_length_, k_length_;
  AttentionProblem problem_;
  int64_t scratch_ = 0;
};

}  // namespace
std::unique_ptr<Kernel> make_attention(const BuildContext& m) {
  const int64_t value_dim = m.type(2).content[0].constant() / m.node().attributes.integer("kv_heads");
  if (m.writes_halves(0) && value_dim % 2 != 0) return nullptr;  // a head's rows are rounded two elements at a time
  return std::make_unique<Attention>(m);
}
}  // namespace stormcell::cpu

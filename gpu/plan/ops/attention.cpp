#include "core/runtime/relative_bucket.h"
#include "gpu/plan/step_nodes.h"

namespace stormcell::gpu {
namespace {

struct Attending {
  AttentionArgs args;
  std::optional<size_t> mask, step;
  int32_t buckets = 0, max_distance = 0;
  int64_t query_places = 0, key_places = 0;  ///< of a parent, at most
  bool bidirectional = true;
};

/// The bucket of each distance, from the farthest key before a query to the farthest behind: worked out here, because
/// a logarithm of another library may round to another bucket.
void add_buckets(StepNodes& nodes, const Attending& of, AttentionArgs& args) {
  const int64_t queries = of.query_places, keys = of.key_places;
  // With a cache, a query may be behind all keys except its own.
  args.origin = static_cast<int32_t>(std::max<int64_t>((of.step ? keys : queries) - 1, 0));
  std::vector<int32_t> buckets;
  for (int64_t i = 0; i < args.origin + 1 + keys; ++i)
    buckets.push_back(
        relative_bucket(static_cast<int>(i - args.origin), of.bidirectional, of.buckets, of.max_distance));
  args.buckets = nodes.plan().constants(buckets.data(), buckets.size());
}

/// Places that a parent's cells may have, ragged ones in the dense space whose cells they are.
int64_t most_places(const KernelBuildContext& m, size_t input) {
  SpaceId space = m.type(input).space;
  while (m.graph().space(space).kind == SpaceKind::ragged) space = m.graph().space(space).base;
  return m.graph().space(space).per_parent.evaluate(m.bounds);
}

}  // namespace

std::unique_ptr<PlanKernel> plan_attention(const KernelBuildContext& m) {
  const Node& node = m.node();
  Attending of;
  of.query_places = most_places(m, 0), of.key_places = most_places(m, 1);
  AttentionArgs& a = of.args;
  a.heads = static_cast<int32_t>(node.attributes.integer("heads"));
  a.kv_heads = static_cast<int32_t>(node.attributes.integer("kv_heads"));
  a.head_dim = static_cast<int32_t>(m.type(0).content[0].constant() / a.heads);
  a.value_dim = static_cast<int32_t>(m.type(2).content[0].constant() / a.kv_heads);
  if (a.value_dim > AttentionKernel::kMostValueDim || extra_input(node, "sinks")) return nullptr;
  a.scale = static_cast<float>(real_of(node, "scale"));
  a.causal = flag_of(node, "causal");
  a.window = static_cast<int32_t>(integer_of(node, "window"));
  of.mask = extra_input(node, "mask"), of.step = extra_input(node, "step");
  a.kept = plan_format(m.type(1).dtype);
  if (plan_format(m.type(2).dtype) != a.kept) return nullptr;
  if (const auto bias = extra_input(node, "bias")) {
    a.bias = static_cast<int32_t>(m.f32_weight(*bias));
    of.buckets = static_cast<int32_t>(node.attributes.integer("buckets"));
    of.max_distance = static_cast<int32_t>(integer_of(node, "max_distance"));
    of.bidirectional = flag_of(node, "bidirectional");
  }
  return planned("attention", [of](StepNodes& nodes) {
    AttentionArgs args = of.args;
    args.ref[AttentionArgs::kQueries] = nodes.reads(0);
    args.ref[AttentionArgs::kKeys] = nodes.reads(1);
    args.ref[AttentionArgs::kValues] = nodes.reads(2);
    args.ref[AttentionArgs::kTo] = nodes.writes(0);
    args.ref[AttentionArgs::kQueryCells] = nodes.cells_of(nodes.input(0), args.query_cells);
    args.ref[AttentionArgs::kKeyCells] = nodes.cells_of(nodes.input(1), args.key_cells);
    if (of.step) {
      args.ref[AttentionArgs::kStep] = nodes.reads(*of.step);
      args.ref[AttentionArgs::kFailure] = nodes.failure(args.failure);
      args.paged_keys = nodes.paged(1), args.paged_values = nodes.paged(2);
    }
    if (of.mask) args.ref[AttentionArgs::kMask] = nodes.reads(*of.mask);
    if (args.bias >= 0) add_buckets(nodes, of, args);
    args.to = plan_format(nodes.output(0).dtype);
    const int64_t warps = nodes.most_rows(nodes.input(0)) * args.heads;
    nodes.add<AttentionKernel>(args, nodes.blocks(warps, AttentionKernel::kWarps));
  });
}

}  // namespace stormcell::gpu

#include "tests/testing/toys.h"

namespace stormcell::testing {
namespace {

Protocol exit_rule(float threshold) {
  Protocol rule;
  rule.kind = ProtocolKind::exit_threshold;
  rule.threshold = threshold;
  rule.residual = 0;  // branch 0 leaves, branch 1 goes on
  return rule;
}

Protocol best_of(int32_t k) {
  Protocol rule;
  rule.k = k;
  rule.renormalize = k > 1;
  return rule;
}

/// Convolutional experts on maps; the second of three is a mixture again while `depth` lasts.
ValueId conv_experts(CaseBuilder& b, ValueId maps, int depth, const std::string& name) {
  const int64_t channels = b.width_of(maps);
  const ValueId pooled = b.value("pool", {maps}, {{"kind", std::string("global_average")}}, name + ".pooled");
  const ValueId scores = b.linear(pooled, 3, name + ".router", "none", true, 4);
  const ValueId decision = b.route(scores, best_of(depth > 0 ? 2 : 1), name);
  const std::vector<ValueId> parts = b.scatter(maps, decision, {0, 1, 2});
  std::vector<ValueId> results;
  for (int i = 0; i < 3; ++i) {
    const std::string expert = name + ".expert." + std::to_string(i);
    const ValueId y = b.conv(parts[static_cast<size_t>(i)], channels, i == 2 ? 1 : 3, 1, expert, "relu");
    results.push_back(i == 1 && depth > 0 ? conv_experts(b, y, depth - 1, expert + ".inner") : y);
  }
  const ValueId joined = b.gather(std::move(results), b.space_of(maps), "weighted", kNone, name + ".joined");
  return b.add(maps, joined, name + ".residual");
}

/// One block at two scales, its classifier, and behind it the rest of the chain. Adds what leaves to `exits`.
void exit_block(CaseBuilder& b, ValueId fine, ValueId coarse, int block, int blocks, std::vector<ValueId>& exits,
                std::vector<ValueId>& kept) {
  const std::string name = "block." + std::to_string(block);
  fine = b.conv(fine, 6, 3, 1, name + ".fine", "relu");
  const ValueId down = b.conv(fine, 8, 3, 2, name + ".down");
  coarse = b.add(b.conv(coarse, 8, 3, 1, name + ".coarse", "relu"), down, name + ".merged");
  if (block > 0) coarse = conv_experts(b, coarse, block == 1 ? 1 : 0, name + ".moe");
  const ValueId pooled = b.value("pool", {coarse}, {{"kind", std::string("global_average")}}, name + ".pooled");
  const ValueId logits = b.linear(pooled, 5, name + ".classifier", "none", true, 6);
  if (block + 1 == blocks) {
    exits.push_back(logits);
    kept.push_back(pooled);
    return;
  }
  const ValueId decision = b.route(logits, exit_rule(block == 0 ? 0.75f : 0.6f), name + ".exit");
  // Four flows of one decision: what leaves is not what goes on.
  const ValueId leaving = b.scatter(logits, decision, {0})[0], leaving_pooled = b.scatter(pooled, decision, {0})[0];
  const ValueId next_fine = b.scatter(fine, decision, {1})[0], next_coarse = b.scatter(coarse, decision, {1})[0];
  exits.push_back(b.value("scale", {leaving}, {{"factor", 0.5}}, name + ".leaving"));
  kept.push_back(leaving_pooled);
  exit_block(b, next_fine, next_coarse, block + 1, blocks, exits, kept);
}

}  // namespace

RandomCase exit_chain_toy(uint64_t seed) {
  CaseBuilder b(seed);
  const SpaceId images = b.root_space("images", b.bound_symbol("N", 6));
  const ValueId pixels = b.floats("pixels", images, {10, 10, 3});
  const ValueId fine = b.conv(pixels, 6, 3, 1, "stem", "relu");
  const ValueId coarse =
      b.value("pool", {b.conv(fine, 8, 3, 1, "stem.coarse", "relu")},
              {{"kind", std::string("max")}, {"size", int64_t{2}}, {"stride", int64_t{2}}}, "stem.pool");
  std::vector<ValueId> exits, kept;
  exit_block(b, fine, coarse, 0, 3, exits, kept);
  b.output("logits", b.gather(std::move(exits), images, "place", kNone, "logits"));
  b.output("features", b.gather(std::move(kept), images, "place", kNone, "features"));
  b.exact = false;  // relu and the largest of a window may hide a pixel
  return b.take("exit chain over convolutions");
}

RandomCase iterated_router_toy(uint64_t seed) {
  CaseBuilder b(seed);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 3));
  const SpaceId tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 5));
  const ValueId ids = b.integers("ids", tokens, 23);
  const ValueId start = b.value("embedding", {ids, b.drawn("table", {23, 8}, 0.5)}, {}, "start");
  const ValueId hidden = b.state("hidden", DType::f32, tokens, {8}), rounds = b.state("rounds", DType::i32, tokens);
  b.GraphBuilder::add("state_write", {hidden, start}, {}, "begin");
  b.GraphBuilder::add("state_fill", {rounds}, {{"value", 0.0}}, "begin.rounds");

  b.begin_body();
  const ValueId scores = b.linear(hidden, 3, "loop.exit.scores", "none", true, 2);
  const ValueId decision = b.route(scores, exit_rule(0.8f), "loop.exit");
  const ValueId going = b.scatter(hidden, decision, {1})[0], counted = b.scatter(rounds, decision, {1})[0];
  const ValueId choice =
      b.route(b.linear(going, 2, "loop.experts.scores", "none", true, 2), best_of(1), "loop.experts");
  const std::vector<ValueId> parts = b.scatter(going, choice, {0, 1});
  std::vector<ValueId> results;
  for (int i = 0; i < 2; ++i) {
    const std::string expert = "loop.expert." + std::to_string(i);
    results.push_back(
        b.linear(b.linear(parts[static_cast<size_t>(i)], 12, expert + ".up", "gelu"), 8, expert + ".down"));
  }
  const ValueId joined = b.gather(std::move(results), b.space_of(going), "weighted", kNone, "loop.joined");
  // Growing rows grow surer: sooner or later every cell leaves.
  const ValueId grown = b.add(b.value("scale", {going}, {{"factor", 1.5}}, "loop.grown"), joined, "loop.next");
  const ValueId once_more = b.value("add_constant", {counted}, {{"value", int64_t{1}}}, "loop.round");
  const ValueId next = b.gather({grown}, tokens, "place", hidden, "loop.placed");
  const ValueId next_rounds = b.gather({once_more}, tokens, "place", rounds, "loop.counted");
  b.GraphBuilder::add("state_write", {hidden, next}, {}, "loop.keep");
  b.GraphBuilder::add("state_write", {rounds, next_rounds}, {}, "loop.keep.rounds");
  b.end_body({b.value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{1}}}, "loop.done")});
  b.add_region("repeat", {}, {{"most", std::string("8")}}, "loop");

  b.output("logits", b.linear(b.norm(hidden, "final.norm"), 4, "head"));
  b.output("rounds", b.value("add_constant", {rounds}, {{"value", int64_t{0}}}, "rounds.taken"));
  return b.take("iterated router");
}

RandomCase sequence_router_toy(uint64_t seed) {
  CaseBuilder b(seed);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 4));
  const SpaceId tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 6));
  const ValueId start =
      b.value("embedding", {b.integers("ids", tokens, 23), b.drawn("table", {23, 8}, 1)}, {}, "start");
  const ValueId real = b.value("compact", {b.mask("mask", tokens, true)}, {}, "real");
  const ValueId x = b.pack(start, real, sequences);
  const SpaceId kept = b.space_of(x);
  const ValueId whole = b.value("reduce", {x}, {{"mode", std::string("mean")}}, "whole");
  const ValueId decision = b.route(b.linear(whole, 3, "tasks.scores", "none", true, 2), best_of(2), "tasks");
  const ValueId members = b.value("members", {decision, real}, {{"base", int64_t{kept}}}, "members");
  std::vector<ValueId> parts = b.pack_branches(x, members, decision, {0, 1, 2});
  const ValueId summary = b.scatter(whole, decision, {2})[0];
  // Task 0: attention, then an MLP; task 1: attention that looks back only, then a mixture of experts; task 2: the
  // sequence's summary.
  for (int task = 0; task < 2; ++task) {
    const std::string name = "task." + std::to_string(task);
    ValueId& y = parts[static_cast<size_t>(task)];
    const ValueId from = b.norm(y, name + ".norm");
    const ValueId mixed = b.value(
        "attention", {b.linear(from, 8, name + ".q"), b.linear(from, 8, name + ".k"), b.linear(from, 8, name + ".v")},
        {{"heads", int64_t{2}}, {"kv_heads", int64_t{2}}, {"scale", 0.5}, {"causal", int64_t{task}}},
        name + ".attention");
    y = b.add(y, b.linear(mixed, 8, name + ".o"), name + ".attended");
  }
  parts[0] = b.add(parts[0], b.linear(b.linear(parts[0], 12, "task.0.up", "gelu"), 8, "task.0.down"), "task.0.mlp");
  const ValueId choice =
      b.route(b.linear(parts[1], 3, "experts.scores", "none", true, 3), best_of(1), "task.1.experts");
  std::vector<ValueId> routed = b.scatter(parts[1], choice, {0, 1, 2});
  for (size_t i = 0; i < routed.size(); ++i)
    routed[i] = b.linear(routed[i], 8, "task.1.expert." + std::to_string(i), "relu");
  parts[1] = b.gather(std::move(routed), b.space_of(parts[1]), "weighted", kNone, "task.1.joined");
  parts[2] =
      b.add(parts[2], b.value("broadcast", {summary}, {{"space", int64_t{b.space_of(parts[2])}}}, "task.2.summary"),
            "task.2.spread");
  const ValueId joined = b.gather(std::move(parts), kept, "weighted", kNone, "joined");
  b.output("hidden", b.value("expand", {joined, real}, {}, "hidden"));
  b.exact = false;
  return b.take("sequence router over ragged tokens");
}

std::span<const Toy> toys() {
  static constexpr Toy kToys[] = {
      {"exit chain", exit_chain_toy},           {"iterated router", iterated_router_toy},
      {"path network", path_network_toy},       {"labelled patches", labelled_patches_toy},
      {"scored patches", scored_patches_toy},   {"patches of routed pictures", patches_of_routed_pictures_toy},
      {"sequence router", sequence_router_toy},
  };
  return kToys;
}

}  // namespace stormcell::testing

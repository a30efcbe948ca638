// Models to verify, and weights with one thing wrong.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "core/base/dtype.h"
#include "tests/testing/graph_case.h"

namespace stormcell::testing {

using Change = std::function<void(std::vector<float>& values, const std::vector<int64_t>& shape)>;

/// Weights as another source has them, but for what was done to some, and for those that another name stands for.
class Tampered final : public WeightSource {
 public:
  explicit Tampered(std::shared_ptr<const WeightSource> from) : from_(std::move(from)) {}
  Tampered& change(const std::string& name, Change change) {
    changes_[name] = std::move(change);
    return *this;
  }
  Tampered& exchange(const std::string& a, const std::string& b) {
    names_[a] = b, names_[b] = a;
    return *this;
  }
  const WeightInfo* find(std::string_view name) const override { return from_->find(true_name(name)); }
  std::shared_ptr<const std::byte> bytes(std::string_view name) const override {
    const auto stored = from_->bytes(true_name(name));
    const auto change = changes_.find(name);
    if (change == changes_.end()) return stored;
    const WeightInfo& info = *find(name);
    std::vector<float> values(static_cast<size_t>(info.elements()));
    to_f32(stored.get(), info.dtype, values.data(), values.size());
    change->second(values, info.shape);
    auto held = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(info.bytes()));
    from_f32(values.data(), held->data(), info.dtype, values.size());
    return {held, held->data()};
  }

 private:
  std::string_view true_name(std::string_view name) const {
    const auto at = names_.find(name);
    return at == names_.end() ? name : std::string_view(at->second);
  }
  std::shared_ptr<const WeightSource> from_;
  std::map<std::string, Change, std::less<>> changes_;
  std::map<std::string, std::string, std::less<>> names_;
};

inline void round_to_bf16(std::vector<float>& values, const std::vector<int64_t>&) {
  for (float& v : values) v = bf16_to_f32(f32_to_bf16(v));
}
inline Change times(float factor) {
  return [factor](std::vector<float>& values, const std::vector<int64_t>&) {
    for (float& v : values) v *= factor;
  };
}
inline void transpose(std::vector<float>& values, const std::vector<int64_t>& shape) {
  const auto n = static_cast<size_t>(shape[0]), k = static_cast<size_t>(shape[1]);
  const std::vector<float> from = values;
  for (size_t i = 0; i < n; ++i)
    for (size_t j = 0; j < k; ++j) values[i * k + j] = from[j * n + i];
}

/// 32 tokens through one router and four experts, a small output beside large logits.
inline RandomCase mixture(const Protocol& protocol, const std::string& mode, uint64_t seed = 7) {
  CaseBuilder b(seed);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 4)),
                tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 8));
  const ValueId x =
      b.value("embedding", {b.integers("ids", tokens, 29), b.drawn("table", {29, 16}, 1)}, {}, "embedded");
  const ValueId decision = b.route(b.linear(x, 4, "router", "none", false, 3), protocol, "moe");
  const std::vector<ValueId> parts = b.scatter(x, decision, {0, 1, 2, 3});
  std::vector<ValueId> results;
  for (size_t e = 0; e < parts.size(); ++e) {
    const std::string expert = "expert." + std::to_string(e);
    results.push_back(b.linear(b.linear(parts[e], 24, expert + ".up", "gelu"), 16, expert + ".down"));
  }
  const ValueId hidden = b.norm(b.add(x, b.gather(std::move(results), tokens, mode, kNone, "joined")), "norm");
  b.output("small", b.linear(hidden, 16, "small", "none", false));
  b.output("logits", b.linear(hidden, 40, "head", "none", false, 1000));
  return b.take("mixture");
}
/// 256 tokens through eight experts by corrected sigmoids of large scores.
inline RandomCase corrected_sigmoids() {
  CaseBuilder b(7);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 8)),
                tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 32));
  const ValueId x = b.floats("x", tokens, {16});
  Protocol p;
  p.kind = ProtocolKind::sigmoid_groups;
  p.groups = p.groups_kept = p.k = 2;
  p.renormalize = true;
  const ValueId decision = b.route(b.linear(x, 8, "router", "none", false, 6), p, "moe");
  Node& route = b.graph().node(b.graph().value(decision).producer);
  const ValueId correction = b.drawn("correction", {8}, 0.1);
  route.inputs.push_back(correction);
  route.attributes.set("extras", std::string("bias"));
  std::vector<ValueId> parts = b.scatter(x, decision, {0, 1, 2, 3, 4, 5, 6, 7});
  for (size_t i = 0; i < 8; ++i) parts[i] = b.linear(parts[i], 16, "expert." + std::to_string(i));
  b.output("y", b.gather(parts, tokens, "weighted", kNone, "joined"));
  return b.take("corrected sigmoids");
}
/// 256 images that leave by a confidence of large scores.
inline RandomCase confident_exit() {
  CaseBuilder b(7);
  const SpaceId images = b.root_space("images", b.bound_symbol("N", 256));
  const ValueId x = b.floats("x", images, {16});
  Protocol p;
  p.kind = ProtocolKind::exit_threshold;
  p.threshold = 0.9f, p.residual = 0;
  const ValueId decision = b.route(b.linear(x, 10, "classifier", "none", false, 10), p, "exit");
  std::vector<ValueId> parts = b.scatter(x, decision, {0, 1});
  for (size_t i = 0; i < 2; ++i) parts[i] = b.linear(parts[i], 16, "part." + std::to_string(i));
  b.output("y", b.gather(parts, images, "place", kNone, "joined"));
  return b.take("confident exit");
}
inline Protocol best(int32_t k) {
  Protocol p;
  p.k = k;
  p.renormalize = k > 1;
  return p;
}

/// Sequences that are sent to two of three branches each; their tokens, in whatever branch, go through one router of
/// tokens with room for two a branch and sequence. With `padding` only real tokens are members.
inline RandomCase members_of_all_branches(int64_t sequences_there, bool padding) {
  CaseBuilder b(7);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", sequences_there)),
                tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 6));
  ValueId x = b.floats("x", tokens, {8});
  ValueId real = kNone;
  std::vector<ValueId> inputs;
  if (padding) {
    real = b.value("compact", {b.flags("mask", tokens)}, {}, "real");
    x = b.pack(x, real, sequences);
    inputs = {real};
  }
  const SpaceId kept = b.space_of(x);
  Protocol two;
  two.k = 2, two.renormalize = true;
  const ValueId whole = b.value("reduce", {x}, {{"mode", std::string("mean")}}, "whole");
  const ValueId tasks = b.route(b.linear(whole, 3, "tasks.scores", "none", true, 2), two, "tasks");
  inputs.insert(inputs.begin(), tasks);
  const ValueId members = b.value("members", inputs, {{"base", int64_t{kept}}}, "members");
  const ValueId part = b.pack_branches(x, members, tasks, {kAllBranches})[0];
  Protocol places;
  places.kind = ProtocolKind::switch_top1, places.capacity = 2;
  const ValueId choice = b.route(b.linear(part, 3, "experts.scores", "none", true, 3), places, "experts");
  std::vector<ValueId> routed = b.scatter(part, choice, {0, 1, 2});
  for (size_t i = 0; i < routed.size(); ++i) routed[i] = b.linear(routed[i], 8, "expert." + std::to_string(i), "relu");
  const ValueId joined =
      b.gather({b.gather(std::move(routed), b.space_of(part), "weighted", kNone, "joined")}, kept, "weighted");
  b.output("y", padding ? b.value("expand", {joined, real}, {}, "y") : joined);
  return b.take("members of all branches");
}

}  // namespace stormcell::testing

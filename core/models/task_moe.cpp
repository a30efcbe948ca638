// Sequences of known tasks through experts by task: BERT's layers with a norm behind each sum, the feed-forward part of
// each layer one of several experts by a hash table from tasks to two experts: TaskMoE, in the form of the artifact of
// Brainstorm (OSDI'23).
//
//   x = norm(word[id] + position[place])                      places count real tokens
//   x = norm(output(softmax(q k / sqrt(d)) v) + x)             "causal": of tokens up to the query's place
//   x = sum of norm(down(gelu(up(x))) + x) of the two experts of the sequence's task
//   y = head(x)
//
// A whole sequence is routed. Keys, tensors and shapes: docs/models.md.
#include <array>
#include <cmath>
#include <numeric>

#include "core/models/family.h"
#include "core/models/layers.h"

namespace stormcell {
namespace task_moe_family {
namespace {

constexpr std::array kRead =
    keys_read("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size",
              "max_position_embeddings", "layer_norm_eps", "hidden_act", "mask", "num_experts", "hash_table",
              "hash_seed", "pad_token_id", "eos_token_id");
// Keys of BERT in transformers' layout. Word embeddings and head are two tensors here, even if the original file ties
// them.
constexpr std::array kOther = {ConfigKey{KeyUse::fixed, "position_embedding_type", "\"absolute\"",
                                         "other positions are not in this version of the family"},
                               ConfigKey{KeyUse::harmless, "is_decoder"},
                               ConfigKey{KeyUse::harmless, "tie_word_embeddings"}};
constexpr std::array kKeys = in_one(kRead, kOther);

struct Settings {
  int64_t vocabulary = 0, width = 0, layers = 0, heads = 0, ffn_width = 0, positions = 0, experts = 0, seed = 0;
  double eps = 1e-12;
  std::string activation;
  bool causal = false, table_per_layer = false;
  TokenIds tokens;
};

Settings read_settings(const Config& config, const Config& generation) {
  Settings s;
  s.vocabulary = config.integer("vocab_size", 50358, 1, 1 << 24);
  s.width = config.integer("hidden_size", 512, 1, 1 << 16);
  s.layers = config.integer("num_hidden_layers", 6, 1, 1024);
  s.heads = config.integer("num_attention_heads", 8, 1, 1 << 12);
  if (s.width % s.heads != 0)
    config.refuse("num_attention_heads", "a number that divides hidden_size (" + std::to_string(s.width) + ")");
  s.ffn_width = config.integer("intermediate_size", 4 * s.width, 1, 1 << 20);
  s.positions = config.integer("max_position_embeddings", 512, 2, 1 << 20);
  s.eps = config.real("layer_norm_eps", 1e-12, 0, 1);
  s.activation = activation_word(config, "hidden_act", "gelu");
  s.causal = config.word("mask", "none", {"none", "causal"}) == "causal";
  // The rule gives a sequence two experts.
  s.experts = config.integer("num_experts", 16, 2, kMostBranches);
  s.table_per_layer = config.word("hash_table", "one", {"one", "per_layer"}) == "per_layer";
  s.seed = config.integer("hash_seed", 0, 0, int64_t{1} << 32);
  s.tokens.pad = token_id(config, generation, "pad_token_id", 0, s.vocabulary);
  s.tokens.ends = end_ids(config, generation, 1 % static_cast<int32_t>(s.vocabulary), s.vocabulary);
  s.tokens.end = s.tokens.ends.front();
  return s;
}

class TaskMoeBuilder : public LayerBuilder {
 public:
  TaskMoeBuilder(const Settings& s, WeightCatalog& weights) : LayerBuilder(weights), s_(s) {
    sequences_ = root_space("sequence", symbol(kSequences));
    tokens_ = dense_space("token", sequences_, symbol(kLength));
  }

  Graph forward() {
    const ValueId ids = input(kInputIds, DType::i32, tokens_, {}, InputRole::ids);
    mask_ = input(kAttentionMask, DType::i32, tokens_, {}, InputRole::mask);
    task_ = input("task", DType::i32, sequences_, {}, InputRole::label);
    const ValueId words = value("embedding", {ids, stored("embeddings.word.weight", {s_.vocabulary, s_.width})}, {},
                                "embeddings.word"),
                  places = value("embedding",
                                 {value("positions", {mask_}, {}, "places"),
                                  stored("embeddings.position.weight", {s_.positions, s_.width})},
                                 {}, "embeddings.position");
    ValueId x = layer_norm(add(words, places, "embeddings"), "embeddings.norm", s_.eps);
    for (int64_t i = 0; i < s_.layers; ++i) x = experts(attended(x, i), i);
    output(kDecoderHidden, x, mask_);
    output(kLogits, linear(x, "head", s_.vocabulary, {}, true), mask_);
    return finish();
  }

 private:
  ValueId attended(ValueId x, int64_t layer) {
    const std::string name = "layers." + std::to_string(layer) + ".attention";
    const auto part = [&](const char* which) { return linear(x, name + which, s_.width, {}, true); };
    const ValueId q = part(".query"), k = part(".key"), v = part(".value");
    const Attributes attributes{{"heads", s_.heads},
                                {"kv_heads", s_.heads},
                                {"scale", 1 / std::sqrt(static_cast<double>(s_.width) / s_.heads)},
                                {"causal", int64_t{s_.causal}}};
    const ValueId mixed = attention(q, k, v, {kNone, mask_, kNone}, attributes, name);
    return layer_norm(add(linear(mixed, name + ".output", s_.width, {}, true), x, name + ".sum"), name + ".norm",
                      s_.eps);
  }

  /// All tokens of a sequence go where its task goes.
  ValueId experts(ValueId x, int64_t layer) {
    const std::string name = "layers." + std::to_string(layer) + ".moe";
    Protocol protocol;
    protocol.kind = ProtocolKind::hash;
    protocol.seed = static_cast<uint64_t>(s_.seed + (s_.table_per_layer ? layer : 0));
    const ValueId decision = route(task_, protocol, name, s_.experts);
    const ValueId members = value("members", {decision}, {{"base", int64_t{tokens_}}}, name + ".members");
    std::vector<int32_t> branches(s_.experts);
    std::iota(branches.begin(), branches.end(), 0);
    std::vector<ValueId> parts = pack_branches(x, members, decision, branches);
    for (size_t b = 0; b < parts.size(); ++b) parts[b] = expert(parts[b], name + ".experts." + std::to_string(b));
    return gather(std::move(parts), tokens_, "sum", kNone, name + ".joined");
  }

  ValueId expert(ValueId x, const std::string& name) {
    const ValueId up = activation(linear(x, name + ".up", s_.ffn_width, {}, true), s_.activation, name + ".act");
    return layer_norm(add(linear(up, name + ".down", s_.width, {}, true), x, name + ".sum"), name + ".norm", s_.eps);
  }

  const Settings& s_;
  SpaceId sequences_, tokens_;
  ValueId mask_ = kNone, task_ = kNone;
};

class TaskMoe final : public Architecture {
 public:
  TaskMoe(Settings settings) : s_(std::move(settings)) {}

  void describe(Model& model) const override {
    model.vocabulary = s_.vocabulary;
    model.max_length = s_.positions;
    model.tokens = s_.tokens;
    model.has_decoder = true;
  }
  Graph forward(WeightCatalog& weights, PictureSize) const override { return TaskMoeBuilder(s_, weights).forward(); }

  /// Second moments are 1 behind every norm; a layer's sum is half what came.
  Initialisation initialisation(std::string_view name) const override {
    if (name.ends_with("norm.weight")) return {1, 0};
    if (name.ends_with(".bias")) return {0, 0};
    if (name.starts_with("embeddings.")) return {0, 1};
    return {0, 1 / std::sqrt(static_cast<double>(name.ends_with(".down.weight") ? s_.ffn_width : s_.width))};
  }

 private:
  Settings s_;
};

}  // namespace
}  // namespace task_moe_family

std::span<const ConfigKey> keys_of_task_moe() { return task_moe_family::kKeys; }

std::unique_ptr<const Architecture> configure_task_moe(const Config& config, const Config& generation,
                                                       const WeightCatalog*) {
  return std::make_unique<task_moe_family::TaskMoe>(task_moe_family::read_settings(config, generation));
}

}  // namespace stormcell

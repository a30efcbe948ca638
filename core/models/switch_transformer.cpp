// Switch Transformers as google/switch-base-* are laid out: T5's encoder and decoder, RMS norms before each layer,
// relative positions from layer 0 of each stack, no biases, every sparse layer a softmax top-1 router whose capacity is
// counted in each sequence. Reference: transformers 4.56.2, models/switch_transformers; keys as of 5.24.0.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/formats/expert_layers.h"
#include "core/models/family.h"
#include "core/models/layers.h"

namespace stormcell {
namespace switch_transformer_family {
namespace {

constexpr std::array kRead =
    keys_read("architectures", "vocab_size", "d_model", "d_kv", "d_ff", "num_heads", "num_experts", "expert_capacity",
              "relative_attention_num_buckets", "relative_attention_max_distance", "num_layers", "num_decoder_layers",
              "encoder_sparse_step", "decoder_sparse_step", "num_sparse_encoder_layers", "num_sparse_decoder_layers",
              "layer_norm_epsilon", "dense_act_fn", "router_dtype", "router_bias", "router_ignore_padding_tokens",
              "tie_word_embeddings", "stormcell_dropped", "pad_token_id", "eos_token_id", "decoder_start_token_id");
constexpr std::string_view kGated = "gated layers are not in this version of the family",
                           kOtherRouting = "this routing is not in this version of the family";
constexpr std::array kOther = {
    ConfigKey{KeyUse::alias, "hidden_size", "d_model"},
    ConfigKey{KeyUse::alias, "num_attention_heads", "num_heads"},
    ConfigKey{KeyUse::alias, "num_hidden_layers", "num_layers"},
    ConfigKey{KeyUse::fixed, "is_encoder_decoder", "true", "a decoder alone is not in this version of the family"},
    ConfigKey{KeyUse::fixed, "is_decoder", "false", "a decoder alone is not in this version of the family"},
    ConfigKey{KeyUse::fixed, "feed_forward_proj", "\"relu\"", kGated},
    ConfigKey{KeyUse::fixed, "is_gated_act", "false", kGated},
    ConfigKey{KeyUse::fixed, "batch_prioritized_routing", "false", kOtherRouting},
    ConfigKey{KeyUse::fixed, "router_type", "\"tokens_masked\"", kOtherRouting},
    ConfigKey{KeyUse::harmless, "n_positions"},
    ConfigKey{KeyUse::harmless, "output_past"},
    ConfigKey{KeyUse::harmless, "add_router_probs"}};
constexpr std::array kKeys = in_one(kRead, kOther);

struct Settings {
  int64_t vocabulary, width, key_width, ffn_width, heads, experts, capacity, buckets, max_distance;
  int64_t layers, decoder_layers;
  std::vector<int32_t> sparse_layers, decoder_sparse_layers;
  double eps;
  std::string activation;
  bool router_bias, tied, scaled_input, decoder, head;
  TokenIds tokens;
  std::vector<std::string> unsupported;
};

bool is_sparse(int64_t layer, const std::vector<int32_t>& sparse) {
  return std::binary_search(sparse.begin(), sparse.end(), static_cast<int32_t>(layer));
}

Settings read_settings(const Config& config, const Config& generation, const WeightCatalog* stored) {
  Settings s;
  s.vocabulary = config.integer("vocab_size", 32128, 1, 1 << 24);
  s.width = config.integer("d_model", 768, 1, 1 << 16);
  s.key_width = config.integer("d_kv", 64, 1, 1 << 14);
  s.ffn_width = config.integer("d_ff", 2048, 1, 1 << 20);
  s.heads = config.integer("num_heads", 12, 1, 1 << 12);
  s.experts = config.integer("num_experts", 8, 1, 4096);
  s.capacity = config.integer("expert_capacity", 64, 1, 1 << 30);
  s.buckets = config.integer("relative_attention_num_buckets", 32, 4, 1 << 16);
  s.max_distance = config.integer("relative_attention_max_distance", 128, 2, 1 << 24);
  // The causal stack halves its buckets once: from that distance on places are logarithmic.
  if (s.max_distance <= s.buckets / 2)
    config.refuse("relative_attention_max_distance",
                  "more than half of relative_attention_num_buckets (" + std::to_string(s.buckets) + ")");
  s.layers = config.integer("num_layers", 12, 1, 1024);
  s.decoder_layers = config.integer("num_decoder_layers", config.has("num_layers") ? s.layers : 12, 1, 1024);
  ExpertLayers experts = read_expert_layers(config.object(), config.where());
  s.sparse_layers = std::move(experts.with_experts);
  s.decoder_sparse_layers = std::move(experts.decoder_with_experts);
  s.eps = config.real("layer_norm_epsilon", 1e-6, 0, 1);
  s.activation = activation_word(config, "dense_act_fn", "relu");
  config.word("router_dtype", "float32", {"float32"});
  s.router_bias = config.boolean("router_bias", false);
  // The reference reads this key and does nothing with it.
  if (config.boolean("router_ignore_padding_tokens", false))
    s.unsupported.push_back("router_ignore_padding_tokens: padding is routed like any token");
  s.tied = config.boolean("tie_word_embeddings", true);
  // Releases before spring 2025 add the scaled input of dropped tokens; the files do not say by which one a model was
  // trained.
  s.scaled_input = config.word("stormcell_dropped", "zero", {"zero", "scaled_input"}) == "scaled_input";
  s.decoder = s.head = true;
  const std::vector<std::string> architectures = config.words("architectures");
  if (!architectures.empty()) {
    s.decoder = !architectures[0].ends_with("EncoderModel");
    s.head = architectures[0].ends_with("ForConditionalGeneration");
  } else if (stored) {
    s.decoder = stored->has_prefix("decoder.");
    s.head = s.decoder;
  }
  s.tokens.pad = token_id(config, generation, "pad_token_id", 0, s.vocabulary);
  s.tokens.decoder_start = token_id(config, generation, "decoder_start_token_id", s.tokens.pad, s.vocabulary);
  s.tokens.ends = end_ids(config, generation, 1, s.vocabulary);
  s.tokens.end = s.tokens.ends.front();
  return s;
}

/// One graph under construction.
class SwitchBuilder : public LayerBuilder {
 public:
  SwitchBuilder(const Settings& s, WeightCatalog& weights) : LayerBuilder(weights), s_(s) {
    sequences_ = root_space("sequence", symbol(kSequences));
    tokens_ = dense_space("token", sequences_, symbol(kLength));
  }

  /// Keys and values that cells attend to beside themselves: those of a cache up to the step, or of the encoder's
  /// tokens.
  struct Memory {
    ValueId k = kNone, v = kNone;
  };

  void encoder() {
    const ValueId ids = input(kInputIds, DType::i32, tokens_, {}, InputRole::ids);
    encoder_mask_ = input(kAttentionMask, DType::i32, tokens_, {}, InputRole::mask);
    ValueId x = value("embedding", {ids, table("encoder")}, {}, "encoder.embed_tokens");
    for (int64_t i = 0; i < s_.layers; ++i) {
      const std::string block = "encoder.block." + std::to_string(i);
      x = self_attention(x, "encoder", block, encoder_mask_, kNone);
      x = feed_forward(x, block + ".layer.1", is_sparse(i, s_.sparse_layers), "encoder");
    }
    encoder_hidden_ = rms_norm(x, "encoder.final_layer_norm", s_.eps);
  }

  Graph forward() {
    encoder();
    output(kEncoderHidden, encoder_hidden_, encoder_mask_);
    if (!s_.decoder) return finish();
    const SpaceId targets = dense_space("decoder_token", sequences_, symbol(kDecoderLength));
    const ValueId ids = input(kDecoderInputIds, DType::i32, targets, {}, InputRole::target),
                  mask = input(kDecoderAttentionMask, DType::i32, targets, {}, InputRole::mask);
    ValueId x = value("embedding", {ids, table("decoder")}, {}, "decoder.embed_tokens");
    for (int64_t i = 0; i < s_.decoder_layers; ++i) {
      const std::string block = "decoder.block." + std::to_string(i);
      x = self_attention(x, "decoder", block, mask, kNone);
      x = cross_attention(x, block, cross_memory(block));
      x = feed_forward(x, block + ".layer.2", is_sparse(i, s_.decoder_sparse_layers), "decoder");
    }
    x = rms_norm(x, "decoder.final_layer_norm", s_.eps);
    output(kDecoderHidden, x, mask);
    if (s_.head) output(kLogits, logits(x), mask);
    return finish();
  }

  Graph generate(const DecodingForm& form) {
    encoder();
    step_space_ = dense_space("step", sequences_, 1);
    const SpaceId cache = dense_space("cache", sequences_, symbol(kDecoderLength)),
                  written = dense_space("generated", sequences_, symbol(kDecoderLength));
    std::vector<Memory> cross;
    for (int64_t i = 0; i < s_.decoder_layers; ++i) cross.push_back(cross_memory("decoder.block." + std::to_string(i)));
    const ValueId token = state("token", DType::i32, sequences_), done = state("done", DType::i32, sequences_);
    const ValueId step = state("place", DType::i32, sequences_),
                  generated = state("written_tokens", DType::i32, written);
    for (int64_t i = 0; i < s_.decoder_layers; ++i) {
      const std::string name = "decoder.block." + std::to_string(i) + ".cache.";
      const int64_t inner = s_.heads * s_.key_width;
      const DType kept =
          cache_dtype("decoder.block." + std::to_string(i) + ".layer.0.SelfAttention.k.weight", {inner, s_.width});
      caches_.push_back({state(name + "k", kept, cache, {inner}), state(name + "v", kept, cache, {inner})});
    }
    fill(token, s_.tokens.decoder_start, "start");
    fill(done, 0, "start.done");
    fill(step, 0, "start.place");
    fill(generated, -1, "start.written");
    const ValueId kept = form.with_logits ? state("kept_logits", DType::f32, written, {s_.vocabulary}) : kNone;
    if (form.with_logits) fill(kept, 0, "start.logits");

    begin_body();
    ValueId x = value("embedding", {broadcast_to(token, step_space_, "token.cell"), table("decoder")}, {},
                      "decoder.embed_tokens");
    for (int64_t i = 0; i < s_.decoder_layers; ++i) {
      const std::string block = "decoder.block." + std::to_string(i);
      x = self_attention(x, "decoder", block, kNone, step, &caches_[i]);
      x = cross_attention(x, block, cross[i]);
      x = feed_forward(x, block + ".layer.2", is_sparse(i, s_.decoder_sparse_layers), "decoder");
    }
    x = last(rms_norm(x, "decoder.final_layer_norm", s_.eps), "decoder.hidden");
    const ValueId scores = logits(x), next = next_token(scores, step, form.sampling);
    keep_logits(kept, scores, step_space_, step);
    const Ended ended = end(next, done, s_.tokens.ends, std::max(0, s_.tokens.pad));
    put(generated, broadcast_to(ended.written, step_space_, "written.cell"), step, "write");
    write(token, ended.read, "token.keep");
    write(done, ended.done, "done.keep");
    count(step, "place.keep");
    end_body({value("all_set", {ended.done}, {}, "all_done")});
    add_region("repeat", {}, {{"most", std::string(kDecoderLength)}}, "decode");
    output(kGenerated, generated);
    if (form.with_logits) output(kLogits, kept);
    return finish();
  }

 private:
  /// The embedding table of a stack: its own if embeddings are not tied and the files have it, else the shared one,
  /// under any of the names that it is saved by.
  ValueId table(const std::string& stack) {
    const std::string own = stack + ".embed_tokens.weight";
    if (!s_.tied && catalog().has(own)) return stored(own, {s_.vocabulary, s_.width});
    return stored(shared_name(), {s_.vocabulary, s_.width});
  }
  std::string shared_name() {
    std::vector<std::string> names{"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight"};
    if (s_.tied) names.push_back("lm_head.weight");
    return catalog().first_of(names);
  }
  ValueId logits(ValueId hidden) {
    const std::string name = s_.tied ? shared_name() : "lm_head.weight";
    if (s_.tied)
      hidden = value("scale", {hidden}, {{"factor", 1 / std::sqrt(static_cast<double>(s_.width))}}, "decoder.scaled");
    return value("linear", {hidden, stored(name, {s_.vocabulary, s_.width})}, {}, "lm_head");
  }

  ValueId self_attention(ValueId x, const std::string& stack, const std::string& block, ValueId mask, ValueId step,
                         const Memory* cache = nullptr) {
    const std::string layer = block + ".layer.0", name = layer + ".SelfAttention";
    const int64_t inner = s_.heads * s_.key_width;
    const bool decoder = stack == "decoder";
    const ValueId normed = rms_norm(x, layer + ".layer_norm", s_.eps);
    const ValueId q = linear(normed, name + ".q", inner);
    ValueId k = linear(normed, name + ".k", inner), v = linear(normed, name + ".v", inner);
    if (cache) {
      put(cache->k, k, step, name + ".k.keep");
      put(cache->v, v, step, name + ".v.keep");
      k = cache->k;
      v = cache->v;
    }
    const ValueId bias =
        stored(stack + ".block.0.layer.0.SelfAttention.relative_attention_bias.weight", {s_.buckets, s_.heads});
    Attributes attributes = attention_attributes();
    attributes.set("causal", int64_t{decoder});
    attributes.set("bidirectional", int64_t{!decoder});
    attributes.set("buckets", s_.buckets);
    attributes.set("max_distance", s_.max_distance);
    const ValueId mixed = attention(q, k, v, {bias, mask, step}, std::move(attributes), name);
    return add(x, linear(mixed, name + ".o", s_.width), layer);
  }

  Memory cross_memory(const std::string& block) {
    const std::string name = block + ".layer.1.EncDecAttention";
    const int64_t inner = s_.heads * s_.key_width;
    const ValueId k = linear(encoder_hidden_, name + ".k", inner);
    return {k, linear(encoder_hidden_, name + ".v", inner)};
  }
  ValueId cross_attention(ValueId x, const std::string& block, const Memory& memory) {
    const std::string layer = block + ".layer.1", name = layer + ".EncDecAttention";
    const ValueId q = linear(rms_norm(x, layer + ".layer_norm", s_.eps), name + ".q", s_.heads * s_.key_width);
    const ValueId mixed = attention(q, memory.k, memory.v, {kNone, encoder_mask_, kNone}, attention_attributes(), name);
    return add(x, linear(mixed, name + ".o", s_.width), layer);
  }
  Attributes attention_attributes() const { return {{"heads", s_.heads}, {"kv_heads", s_.heads}, {"scale", 1.0}}; }

  ValueId dense(ValueId x, const std::string& name) {
    const ValueId up = linear(x, name + ".wi", s_.ffn_width);
    return linear(activation(up, s_.activation, name + ".act"), name + ".wo", s_.width);
  }
  ValueId feed_forward(ValueId x, const std::string& layer, bool sparse, const std::string& stack) {
    const std::string name = layer + ".mlp";
    const ValueId normed = rms_norm(x, layer + ".layer_norm", s_.eps);
    if (!sparse) return add(x, dense(normed, name), layer);
    const ValueId scores =
        linear(normed, name + ".router.classifier", s_.experts, {{"precise", int64_t{1}}}, s_.router_bias);
    Protocol protocol;
    protocol.kind = ProtocolKind::switch_top1;
    protocol.capacity = static_cast<int32_t>(s_.capacity);
    protocol.dropped = s_.scaled_input ? DroppedCells::scaled_input : DroppedCells::zero;
    const ValueId decision = route(scores, protocol, name);
    graph().node(graph().value(decision).producer).attributes.set("stack", stack);
    const auto expert = [&](ValueId part, int32_t b) {
      return dense(part, name + ".experts.expert_" + std::to_string(b));
    };
    const Joined joined = s_.scaled_input ? Joined::or_scaled_input : Joined::weighted;
    return add(x, mixture(normed, decision, joined, name + ".joined", expert), layer);
  }

  const Settings& s_;
  SpaceId sequences_, tokens_, step_space_ = kNone;
  ValueId encoder_mask_ = kNone, encoder_hidden_ = kNone;
  std::vector<Memory> caches_;
};

class SwitchTransformer final : public Architecture {
 public:
  explicit SwitchTransformer(Settings settings) : s_(std::move(settings)) {}

  void describe(Model& model) const override {
    model.vocabulary = s_.vocabulary;
    model.tokens = s_.tokens;
    model.has_encoder = true;
    model.has_decoder = s_.decoder;
    model.generates = s_.decoder && s_.head;
    model.unsupported = s_.unsupported;
  }
  Graph forward(WeightCatalog& weights, PictureSize) const override { return SwitchBuilder(s_, weights).forward(); }
  Graph generate(WeightCatalog& weights, const DecodingForm& form) const override {
    return SwitchBuilder(s_, weights).generate(form);
  }

  /// As in the reference, except for the router: there the classifier is drawn with deviation 1, which gives logits of
  /// deviation sqrt(width) = 28 and every probability 0 or 1. Here logits have deviation 2.5, so that the weights of
  /// branches differ.
  Initialisation initialisation(std::string_view name) const override {
    const auto d = static_cast<double>(s_.width), inner = static_cast<double>(s_.heads * s_.key_width);
    const auto ends = [&](std::string_view suffix) { return name.ends_with(suffix); };
    if (ends("layer_norm.weight")) return {1, 0};
    if (ends("classifier.weight")) return {0, 2.5 / std::sqrt(d)};
    if (ends("classifier.bias")) return {0, 0.1};
    if (ends(".q.weight")) return {0, 1 / std::sqrt(d * static_cast<double>(s_.key_width))};
    if (ends(".o.weight")) return {0, 1 / std::sqrt(inner)};
    if (ends(".wo.weight") && name.find(".experts.") == std::string_view::npos)
      return {0, 1 / std::sqrt(static_cast<double>(s_.ffn_width))};
    if (ends("shared.weight") || ends("embed_tokens.weight") || ends("lm_head.weight")) return {0, 1};
    return {0, 1 / std::sqrt(d)};  // k, v, wi, the experts' wo, relative_attention_bias
  }
  std::vector<std::vector<std::string>> tied() const override {
    if (!s_.tied) return {};
    return {{"shared.weight", "encoder.embed_tokens.weight", "decoder.embed_tokens.weight", "lm_head.weight"}};
  }

 private:
  Settings s_;
};

}  // namespace
}  // namespace switch_transformer_family

std::span<const ConfigKey> keys_of_switch_transformer() { return switch_transformer_family::kKeys; }

std::unique_ptr<const Architecture> configure_switch_transformer(const Config& config, const Config& generation,
                                                                 const WeightCatalog* stored) {
  return std::make_unique<switch_transformer_family::SwitchTransformer>(
      switch_transformer_family::read_settings(config, generation, stored));
}

}  // namespace stormcell

// Mixtral in the Hugging Face layout: a decoder with rotary positions, grouped-query attention, and in every layer a
// softmax top-k router, renormalised, over gated experts. On token ids. Reference: transformers 4.56.2, models/mixtral;
// keys as of 5.24.0.
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/models/family.h"
#include "core/models/layers.h"

namespace stormcell {
namespace mixtral_family {
namespace {

constexpr std::array kRead = keys_read(
    "architectures", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads",
    "num_key_value_heads", "head_dim", "num_local_experts", "num_experts_per_tok", "sliding_window",
    "max_position_embeddings", "rms_norm_eps", "rope_theta", "rope_parameters.rope_theta", "rope_scaling.rope_theta",
    "initializer_range", "hidden_act", "tie_word_embeddings", "bos_token_id", "eos_token_id", "pad_token_id");
constexpr std::string_view kScaled = "scaled rotary positions are not in this version",
                           kPartial = "rotary positions of a part of each head are not in this version",
                           kByLayer = "rotary positions that differ from layer to layer are not in this version",
                           kInTwo = "rotary positions in several dimensions are not in this version";
// transformers 5 writes "rope_parameters". Earlier versions write "rope_theta", and "rope_scaling" if it is not the
// default.
constexpr std::array kOther = {
    ConfigKey{KeyUse::alias, "num_experts", "num_local_experts"},
    ConfigKey{KeyUse::group, "rope_parameters"},
    ConfigKey{KeyUse::fixed, "rope_parameters.rope_type", "\"default\"", kScaled},
    ConfigKey{KeyUse::fixed, "rope_parameters.type", "\"default\"", kScaled},
    ConfigKey{KeyUse::defaulted, "rope_parameters.factor", "1.0"},
    ConfigKey{KeyUse::fixed, "rope_parameters.partial_rotary_factor", "1.0", kPartial},
    ConfigKey{KeyUse::fixed, "rope_parameters.full_attention", "null", kByLayer},
    ConfigKey{KeyUse::fixed, "rope_parameters.sliding_attention", "null", kByLayer},
    ConfigKey{KeyUse::fixed, "rope_parameters.mrope_section", "null", kInTwo},
    ConfigKey{KeyUse::group, "rope_scaling"},
    ConfigKey{KeyUse::fixed, "rope_scaling.rope_type", "\"default\"", kScaled},
    ConfigKey{KeyUse::fixed, "rope_scaling.type", "\"default\"", kScaled},
    ConfigKey{KeyUse::defaulted, "rope_scaling.factor", "1.0"},
    ConfigKey{KeyUse::fixed, "rope_scaling.partial_rotary_factor", "1.0", kPartial},
    ConfigKey{KeyUse::fixed, "rope_scaling.mrope_section", "null", kInTwo},
    ConfigKey{KeyUse::fixed, "is_encoder_decoder", "false", "encoders are not in this version of the family"},
    ConfigKey{KeyUse::harmless, "is_decoder"}};
constexpr std::array kKeys = in_one(kRead, kOther);

/// The base of rotary positions, under the key of transformers 5 or of earlier versions. If a file has both, they must
/// agree.
double read_theta(const Config& config) {
  constexpr double kDefault = 1e6, kLeast = 1e-3, kMost = 1e12;
  std::optional<double> theta;
  std::string from = "rope_theta";
  if (config.has("rope_theta")) theta = config.real("rope_theta", kDefault, kLeast, kMost);
  for (const std::string_view key : {"rope_parameters", "rope_scaling"}) {
    const std::optional<Config> rope = config.part(key);
    if (!rope || !rope->has("rope_theta")) continue;
    const double here = rope->real("rope_theta", kDefault, kLeast, kMost);
    if (theta && *theta != here)
      rope->refuse("rope_theta",
                   shown_json(nlohmann::json(*theta)) + ", the value of " + in_quotes(from) + " in this file");
    theta = here, from = std::string(key) + ".rope_theta";
  }
  return theta.value_or(kDefault);
}

struct Settings {
  int64_t vocabulary, width, ffn_width, layers, heads, kv_heads, head_width, experts, chosen, window, max_length;
  double eps, theta, deviation;
  std::string activation;
  bool tied, head;
  TokenIds tokens;
};

Settings read_settings(const Config& config, const Config& generation, const WeightCatalog* stored) {
  Settings s;
  s.vocabulary = config.integer("vocab_size", 32000, 1, 1 << 24);
  s.width = config.integer("hidden_size", 4096, 1, 1 << 16);
  s.ffn_width = config.integer("intermediate_size", 14336, 1, 1 << 20);
  s.layers = config.integer("num_hidden_layers", 32, 1, 1024);
  s.heads = config.integer("num_attention_heads", 32, 1, 1 << 12);
  s.kv_heads = config.integer("num_key_value_heads", config.has("num_attention_heads") ? s.heads : 8, 1, s.heads);
  if (s.heads % s.kv_heads != 0)
    config.refuse("num_key_value_heads", "a divisor of num_attention_heads (" + std::to_string(s.heads) + ")");
  s.head_width = config.integer("head_dim", s.width / s.heads, 2, 1 << 14);
  if (s.head_width % 2 != 0) config.refuse("head_dim", "an even number");
  s.experts = config.integer("num_local_experts", 8, 1, 4096);
  s.chosen = config.integer("num_experts_per_tok", 2, 1, std::min<int64_t>(64, s.experts));
  s.window = config.integer("sliding_window", 0, 1, 1 << 30);
  s.max_length = config.integer("max_position_embeddings", 4096 * 32, 1, 1 << 30);
  s.eps = config.real("rms_norm_eps", 1e-5, 0, 1);
  s.theta = read_theta(config);
  s.deviation = config.real("initializer_range", 0.02, 0, 1);
  s.activation = activation_word(config, "hidden_act", "silu");
  s.tied = config.boolean("tie_word_embeddings", false);
  s.head = true;
  const std::vector<std::string> architectures = config.words("architectures");
  if (!architectures.empty()) {
    s.head = architectures[0].ends_with("ForCausalLM");
  } else if (stored) {
    s.head = s.tied || stored->has("lm_head.weight");
  }
  s.tokens.ends = end_ids(config, generation, 2, s.vocabulary);
  s.tokens.end = s.tokens.ends.front();
  // As in `generate` for a model without a pad token: finished sequences read their end token.
  s.tokens.pad = token_id(config, generation, "pad_token_id", std::max(0, s.tokens.end), s.vocabulary);
  s.tokens.decoder_start = token_id(config, generation, "bos_token_id", 1, s.vocabulary);
  return s;
}

class MixtralBuilder : public LayerBuilder {
 public:
  MixtralBuilder(const Settings& s, WeightCatalog& weights) : LayerBuilder(weights), s_(s) {
    sequences_ = root_space("sequence", symbol(kSequences));
    tokens_ = dense_space("token", sequences_, symbol(kLength));
    ids_ = input(kInputIds, DType::i32, tokens_, {}, InputRole::ids);
    mask_ = input(kAttentionMask, DType::i32, tokens_, {}, InputRole::mask);
  }

  /// Positions count every cell, padding too, as the reference's forward pass without a cache does.
  Graph forward() {
    const ValueId every = state("every_place", DType::i32, tokens_);
    fill(every, 1, "every_place.fill");
    places_ = value("positions", {every}, {}, "positions");
    ValueId x = embedded(ids_);
    for (int64_t i = 0; i < s_.layers; ++i) x = layer(x, i, {kNone, mask_, kNone}, nullptr);
    x = rms_norm(x, "model.norm", s_.eps);
    output(kDecoderHidden, x, mask_);
    if (s_.head) output(kLogits, logits(x), mask_);
    return finish();
  }

  /// Computes the prompt in one pass, which gives the first token, then one token a turn. A sequence's caches hold only
  /// its real cells: masked cells are not computed, and each sequence decodes at its own place, behind the cells that
  /// it has already (at most P).
  Graph generate(const DecodingForm& form) {
    sampling_ = form.sampling;
    const Dim most = symbol(kDecoderLength);
    const SpaceId step = dense_space("step", sequences_, 1),
                  cache = dense_space("cache", sequences_, symbol(kPastLength) + symbol(kLength) + most),
                  written = dense_space("generated", sequences_, most);
    const ValueId token = state("token", DType::i32, sequences_), done = state("done", DType::i32, sequences_);
    // Begins at the sequence's length; the turn counts from 0.
    const ValueId place = state("place", DType::i32, sequences_), turn = state("turn", DType::i32, sequences_);
    const ValueId generated = state("written_tokens", DType::i32, written);
    for (int64_t i = 0; i < s_.layers; ++i) {
      const std::string name = "model.layers." + std::to_string(i) + ".cache.";
      const int64_t width = s_.kv_heads * s_.head_width;
      const DType kept =
          cache_dtype("model.layers." + std::to_string(i) + ".self_attn.k_proj.weight", {width, s_.width});
      caches_.push_back({state(name + "k", kept, cache, {width}), state(name + "v", kept, cache, {width})});
    }
    fill(done, 0, "done.start");
    fill(turn, 0, "turn.start");
    fill(generated, -1, "written.start");
    if (form.with_logits)
      fill(kept_logits_ = state("kept_logits", DType::f32, written, {s_.vocabulary}), 0, "logits.start");

    const ValueId real = value("compact", {mask_}, {}, "prompt");
    const ValueId ids = pack(ids_, real, sequences_), ones = pack(mask_, real, sequences_);
    places_ = value("positions", {ones, place}, {{"extras", std::string("from")}}, "positions");
    ValueId x = embedded(ids);
    for (int64_t i = 0; i < s_.layers; ++i) x = layer(x, i, {kNone, kNone, place}, &caches_[i]);
    const ValueId length = value("reduce", {ones}, {{"mode", std::string("sum")}}, "prompt_length");
    write(place, add(place, length, "place.next"), "place.prompt");
    ValueId finished = emit(last(x, "prompt.hidden"), token, done, turn, generated, step);

    begin_body();
    places_ = broadcast_to(place, step, "place.cell");
    x = embedded(broadcast_to(token, step, "token.cell"));
    for (int64_t i = 0; i < s_.layers; ++i) x = layer(x, i, {kNone, kNone, place}, &caches_[i]);
    finished = emit(last(x, "step.hidden"), token, done, turn, generated, step);
    count(place, "place.keep");
    end_body({finished});
    add_region("repeat", {}, {{"most", std::string(kDecoderLength) + "+-1"}}, "decode");
    output(kGenerated, generated);
    if (form.with_logits) output(kLogits, kept_logits_);
    return finish();
  }

 private:
  struct Memory {
    ValueId k, v;
  };

  ValueId table() { return stored("model.embed_tokens.weight", {s_.vocabulary, s_.width}); }
  ValueId embedded(ValueId ids) { return value("embedding", {ids, table()}, {}, "model.embed_tokens"); }
  ValueId logits(ValueId hidden) {
    const ValueId head = s_.tied ? table() : stored("lm_head.weight", {s_.vocabulary, s_.width});
    return value("linear", {hidden, head}, {}, "lm_head");
  }

  /// The next token of each sequence: written, kept to be read, and whether all have ended.
  ValueId emit(ValueId hidden, ValueId token, ValueId done, ValueId turn, ValueId generated, SpaceId step) {
    const ValueId scores = logits(rms_norm(hidden, "model.norm", s_.eps)), next = next_token(scores, turn, sampling_);
    keep_logits(kept_logits_, scores, step, turn);
    const Ended ended = end(next, done, s_.tokens.ends, std::max(0, s_.tokens.pad));
    put(generated, broadcast_to(ended.written, step, "written.cell"), turn, "write");
    write(token, ended.read, "token.keep");
    write(done, ended.done, "done.keep");
    count(turn, "turn.keep");
    return value("all_set", {ended.done}, {}, "all_done");
  }

  /// With a cache, keys and values go into it from the sequence's place (extras.step) on, and queries attend to its
  /// content.
  ValueId layer(ValueId x, int64_t index, const Extras& extras, const Memory* cache) {
    const std::string prefix = "model.layers." + std::to_string(index), name = prefix + ".self_attn";
    const ValueId normed = rms_norm(x, prefix + ".input_layernorm", s_.eps);
    const ValueId q = rotated(linear(normed, name + ".q_proj", s_.heads * s_.head_width), s_.heads, name + ".q");
    ValueId k = rotated(linear(normed, name + ".k_proj", s_.kv_heads * s_.head_width), s_.kv_heads, name + ".k");
    ValueId v = linear(normed, name + ".v_proj", s_.kv_heads * s_.head_width);
    if (cache) {
      put(cache->k, k, extras.step, name + ".k.keep");
      put(cache->v, v, extras.step, name + ".v.keep");
      k = cache->k, v = cache->v;
    }
    Attributes attributes{{"heads", s_.heads},
                          {"kv_heads", s_.kv_heads},
                          {"scale", 1 / std::sqrt(static_cast<double>(s_.head_width))},
                          {"causal", int64_t{1}}};
    if (s_.window > 0) attributes.set("window", s_.window);
    const ValueId mixed = attention(q, k, v, extras, std::move(attributes), name);
    x = add(x, linear(mixed, name + ".o_proj", s_.width), prefix + ".attended");
    const std::string mixture = prefix + (catalog().has(prefix + ".mlp.gate.weight") ? ".mlp" : ".block_sparse_moe");
    return add(x, experts(rms_norm(x, prefix + ".post_attention_layernorm", s_.eps), mixture), prefix);
  }
  ValueId rotated(ValueId x, int64_t heads, const std::string& name) {
    return value("rotary", {x, places_}, {{"heads", heads}, {"theta", s_.theta}}, name + ".rotated");
  }

  ValueId experts(ValueId x, const std::string& name) {
    const ValueId scores = linear(x, name + ".gate", s_.experts, {{"precise", int64_t{1}}});
    Protocol protocol;
    protocol.k = static_cast<int32_t>(s_.chosen);
    protocol.softmax = SoftmaxPlace::before;
    protocol.renormalize = true;
    const ValueId decision = route(scores, protocol, name);
    graph().node(graph().value(decision).producer).attributes.set("stack", std::string("decoder"));
    const std::string all = name + ".experts";
    const bool in_one = catalog().has(all + ".gate_up_proj");
    return mixture(x, decision, Joined::weighted, name + ".joined", [&](ValueId part, int32_t b) {
      const std::string expert = all + "." + std::to_string(b);
      const auto product = [&](ValueId in, const std::string& which, int64_t outputs) {
        const std::string called = expert + "." + which;
        if (!in_one) return linear(in, called, outputs);
        return value("linear", {in, made(called + ".weight", part_of(all, which, b), {outputs, width(in)})}, {},
                     called);
      };
      const ValueId gate = activation(product(part, "w1", s_.ffn_width), s_.activation, expert + ".act");
      return product(value("multiply", {gate, product(part, "w3", s_.ffn_width)}, {}, expert + ".gated"), "w2",
                     s_.width);
    });
  }
  /// One expert's weight in files with all experts of a layer in one tensor, w1 and w3 in one: gate_up_proj [experts, 2
  /// x ffn, width], w1 first, and down_proj [experts, width, ffn].
  Recipe part_of(const std::string& all, const std::string& which, int32_t expert) {
    const std::string both = all + ".gate_up_proj", down = all + ".down_proj";
    if (which == "w2") {
      catalog().need(down, {s_.experts, s_.width, s_.ffn_width});
      return index_recipe(tensor_recipe(down), expert);
    }
    catalog().need(both, {s_.experts, 2 * s_.ffn_width, s_.width});
    const int64_t first = which == "w1" ? 0 : s_.ffn_width;
    return slice_recipe(index_recipe(tensor_recipe(both), expert), first, first + s_.ffn_width);
  }

  const Settings& s_;
  std::optional<SamplingRule> sampling_;
  SpaceId sequences_, tokens_;
  ValueId ids_, mask_, places_ = kNone, kept_logits_ = kNone;
  std::vector<Memory> caches_;
};

class Mixtral final : public Architecture {
 public:
  explicit Mixtral(Settings settings) : s_(std::move(settings)) {}

  void describe(Model& model) const override {
    model.vocabulary = s_.vocabulary;
    model.max_length = s_.max_length;
    model.tokens = s_.tokens;
    model.has_decoder = true;
    model.generates = s_.head;
    if (s_.head) model.answer = {Task::language, std::string(kLogits), 0};
  }
  Graph forward(WeightCatalog& weights, PictureSize) const override { return MixtralBuilder(s_, weights).forward(); }
  Graph generate(WeightCatalog& weights, const DecodingForm& form) const override {
    return MixtralBuilder(s_, weights).generate(form);
  }
  Initialisation initialisation(std::string_view name) const override {
    return name.ends_with("norm.weight") ? Initialisation{1, 0} : Initialisation{0, s_.deviation};
  }
  FrameRule frame_rule() const override { return {.begin = true, .end = false}; }
  std::vector<std::vector<std::string>> tied() const override {
    if (!s_.tied) return {};
    return {{"model.embed_tokens.weight", "lm_head.weight"}};
  }

 private:
  Settings s_;
};

}  // namespace
}  // namespace mixtral_family

std::span<const ConfigKey> keys_of_mixtral() { return mixtral_family::kKeys; }

std::unique_ptr<const Architecture> configure_mixtral(const Config& config, const Config& generation,
                                                      const WeightCatalog* stored) {
  return std::make_unique<mixtral_family::Mixtral>(mixtral_family::read_settings(config, generation, stored));
}

}  // namespace stormcell

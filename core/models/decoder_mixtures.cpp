// Decoders with experts in the Hugging Face layout, on token ids: rotary positions, grouped-query attention, and a
// softmax top-k router over gated experts. A family is a row of kRows. References: transformers 4.56.2,
// models/mixtral, qwen2_moe and qwen3_moe; keys as of 5.24.0 (decoder_mixture_keys.cpp).
#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/models/family.h"
#include "core/models/layers.h"

namespace stormcell {
namespace decoder_mixtures {
namespace {

/// Whether queries and keys are normed: each head by itself, by one gain of its width.
enum class HeadNorm : uint8_t { none, head };
enum class WeightSum : uint8_t {
  one,     ///< the weights of the chosen experts are divided by their sum
  by_key,  ///< "norm_topk_prob", default false: they stay shares of all experts
};
/// Biases of attention.
enum class Biases : uint8_t {
  none,
  by_key,      ///< "attention_bias", default false: of all four products
  of_queries,  ///< "qkv_bias", default true: of queries, keys and values
};

/// A family, with the defaults of its configuration class.
struct Row {
  std::string_view experts_key, expert_width_key;
  int64_t vocabulary, width, dense_width, expert_width, layers, heads, kv_heads, experts, chosen, max_length;
  double eps, theta;
  int32_t begin, end;
  HeadNorm norm = HeadNorm::none;
  WeightSum sum = WeightSum::one;
  Biases biases = Biases::none;
  bool begins = false;        ///< a text begins with `begin` where the tokenizer does not say it
  bool kv_as_heads = false;   ///< without "num_key_value_heads" there are as many as heads, if these are stated
  bool has_window = false;    ///< "sliding_window" holds for all layers
  bool of_mixtral = false;    ///< experts are w1, w3 and w2 of "block_sparse_moe"
  bool may_be_dense = false;  ///< "mlp_only_layers" and "decoder_sparse_step" name layers without experts
  bool has_shared = false;    ///< an expert that all tokens take, times the sigmoid of one number a token
};
constexpr Row kMixtral{.experts_key = "num_local_experts",
                       .expert_width_key = "intermediate_size",
                       .vocabulary = 32000,
                       .width = 4096,
                       .dense_width = 0,
                       .expert_width = 14336,
                       .layers = 32,
                       .heads = 32,
                       .kv_heads = 8,
                       .experts = 8,
                       .chosen = 2,
                       .max_length = 4096 * 32,
                       .eps = 1e-5,
                       .theta = 1e6,
                       .begin = 1,
                       .end = 2,
                       .begins = true,
                       .kv_as_heads = true,
                       .has_window = true,
                       .of_mixtral = true};
constexpr Row kQwen2{.experts_key = "num_experts",
                     .expert_width_key = "moe_intermediate_size",
                     .vocabulary = 151936,
                     .width = 2048,
                     .dense_width = 5632,
                     .expert_width = 1408,
                     .layers = 24,
                     .heads = 16,
                     .kv_heads = 16,
                     .experts = 60,
                     .chosen = 4,
                     .max_length = 32768,
                     .eps = 1e-6,
                     .theta = 1e4,
                     .begin = -1,
                     .end = 151643,
                     .sum = WeightSum::by_key,
                     .biases = Biases::of_queries,
                     .may_be_dense = true,
                     .has_shared = true};
constexpr Row kQwen3{.experts_key = "num_experts",
                     .expert_width_key = "moe_intermediate_size",
                     .vocabulary = 151936,
                     .width = 2048,
                     .dense_width = 6144,
                     .expert_width = 768,
                     .layers = 24,
                     .heads = 32,
                     .kv_heads = 4,
                     .experts = 128,
                     .chosen = 8,
                     .max_length = 32768,
                     .eps = 1e-6,
                     .theta = 1e4,
                     .begin = -1,
                     .end = 151645,
                     .norm = HeadNorm::head,
                     .sum = WeightSum::by_key,
                     .biases = Biases::by_key,
                     .may_be_dense = true};
/// The base of rotary positions, under the key of transformers 5 or of earlier versions. If a file has both, they must
/// agree.
double read_theta(const Config& config, double otherwise) {
  constexpr double kLeast = 1e-3, kMost = 1e12;
  std::optional<double> theta;
  std::string from = "rope_theta";
  if (config.has("rope_theta")) theta = config.real("rope_theta", otherwise, kLeast, kMost);
  for (const std::string_view key : {"rope_parameters", "rope_scaling"}) {
    const std::optional<Config> rope = config.part(key);
    if (!rope || !rope->has("rope_theta")) continue;
    const double here = rope->real("rope_theta", otherwise, kLeast, kMost);
    if (theta && *theta != here)
      rope->refuse("rope_theta",
                   shown_json(nlohmann::json(*theta)) + ", the value of " + in_quotes(from) + " in this file");
    theta = here, from = std::string(key) + ".rope_theta";
  }
  return theta.value_or(otherwise);
}

struct Settings {
  const Row* row = nullptr;
  int64_t vocabulary = 0, width = 0, dense_width = 0, expert_width = 0, shared_width = 0, layers = 0, heads = 0,
          kv_heads = 0, head_width = 0, experts = 0, chosen = 0, window = 0, max_length = 0;
  double eps = 0, theta = 0, deviation = 0;
  std::string activation;
  bool tied = false, head = true, renormalize = true, bias_of_queries = false, bias_of_output = false;
  std::vector<bool> is_dense;  ///< by layer
  TokenIds tokens;
};

/// Layers without experts: those of "mlp_only_layers", and those that "decoder_sparse_step" passes over.
std::vector<bool> read_dense_layers(const Config& config, const Row& row, int64_t layers) {
  std::vector<bool> is_dense(layers, false);
  if (!row.may_be_dense) return is_dense;
  const int64_t step = config.integer("decoder_sparse_step", 1, 1, 1024);
  for (int64_t i = 0; i < layers; ++i) is_dense[i] = (i + 1) % step != 0;
  for (const int64_t i : config.integers("mlp_only_layers", 0, 1 << 20))
    if (i < layers) is_dense[i] = true;
  return is_dense;
}

void read_biases(const Config& config, Settings& s) {
  if (s.row->biases == Biases::of_queries) s.bias_of_queries = config.boolean("qkv_bias", true);
  if (s.row->biases == Biases::by_key) s.bias_of_queries = s.bias_of_output = config.boolean("attention_bias", false);
}

void read_attention(const Config& config, Settings& s) {
  const Row& row = *s.row;
  s.heads = config.integer("num_attention_heads", row.heads, 1, 1 << 12);
  const bool as_heads = row.kv_as_heads && config.has("num_attention_heads");
  s.kv_heads = config.integer("num_key_value_heads", as_heads ? s.heads : std::min(row.kv_heads, s.heads), 1, s.heads);
  if (s.heads % s.kv_heads != 0)
    config.refuse("num_key_value_heads", "a divisor of num_attention_heads (" + std::to_string(s.heads) + ")");
  s.head_width = config.integer("head_dim", s.width / s.heads, 2, 1 << 14);
  if (s.head_width % 2 != 0) config.refuse("head_dim", "an even number");
  s.window = row.has_window ? config.integer("sliding_window", 0, 1, 1 << 30) : 0;
  read_biases(config, s);
}

void read_tokens(const Config& config, const Config& generation, Settings& s) {
  s.tokens.ends = end_ids(config, generation, std::min<int64_t>(s.row->end, s.vocabulary - 1), s.vocabulary);
  s.tokens.end = s.tokens.ends.front();
  // As in `generate` for a model without a pad token: finished sequences read their end token.
  s.tokens.pad = token_id(config, generation, "pad_token_id", std::max(0, s.tokens.end), s.vocabulary);
  s.tokens.decoder_start = token_id(config, generation, "bos_token_id", s.row->begin, s.vocabulary);
}

Settings read_settings(const Row& row, const Config& config, const Config& generation, const WeightCatalog* stored) {
  Settings s;
  s.row = &row;
  s.vocabulary = config.integer("vocab_size", row.vocabulary, 1, 1 << 24);
  s.width = config.integer("hidden_size", row.width, 1, 1 << 16);
  s.expert_width = config.integer(row.expert_width_key, row.expert_width, 1, 1 << 20);
  if (row.may_be_dense) s.dense_width = config.integer("intermediate_size", row.dense_width, 1, 1 << 20);
  if (row.has_shared) s.shared_width = config.integer("shared_expert_intermediate_size", 5632, 1, 1 << 20);
  s.layers = config.integer("num_hidden_layers", row.layers, 1, 1024);
  read_attention(config, s);
  s.experts = config.integer(row.experts_key, row.experts, 1, 4096);
  s.chosen = config.integer("num_experts_per_tok", row.chosen, 1, std::min<int64_t>(64, s.experts));
  s.renormalize = row.sum == WeightSum::one || config.boolean("norm_topk_prob", false);
  s.is_dense = read_dense_layers(config, row, s.layers);
  s.max_length = config.integer("max_position_embeddings", row.max_length, 1, 1 << 30);
  s.eps = config.real("rms_norm_eps", row.eps, 0, 1);
  s.theta = read_theta(config, row.theta);
  s.deviation = config.real("initializer_range", 0.02, 0, 1);
  s.activation = activation_word(config, "hidden_act", "silu");
  s.tied = config.boolean("tie_word_embeddings", false);
  const std::vector<std::string> architectures = config.words("architectures");
  if (!architectures.empty()) {
    s.head = architectures[0].ends_with("ForCausalLM");
  } else if (stored) {
    s.head = s.tied || stored->has("lm_head.weight");
  }
  read_tokens(config, generation, s);
  return s;
}

class DecoderBuilder : public LayerBuilder {
 public:
  DecoderBuilder(const Settings& s, WeightCatalog& weights) : LayerBuilder(weights), s_(s) {
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
    const bool bias = s_.bias_of_queries;
    const ValueId q = turned(linear(normed, name + ".q_proj", s_.heads * s_.head_width, {}, bias), s_.heads, name, "q");
    ValueId k = turned(linear(normed, name + ".k_proj", s_.kv_heads * s_.head_width, {}, bias), s_.kv_heads, name, "k");
    ValueId v = linear(normed, name + ".v_proj", s_.kv_heads * s_.head_width, {}, bias);
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
    x = add(x, linear(mixed, name + ".o_proj", s_.width, {}, s_.bias_of_output), prefix + ".attended");
    const ValueId inner = rms_norm(x, prefix + ".post_attention_layernorm", s_.eps);
    if (s_.is_dense[index]) return add(x, gated(inner, prefix + ".mlp", s_.dense_width), prefix);
    const bool old = s_.row->of_mixtral && !catalog().has(prefix + ".mlp.gate.weight");
    return add(x, feed_forward(inner, prefix + (old ? ".block_sparse_moe" : ".mlp")), prefix);
  }
  /// Queries or keys, normed where the family norms them, at their places. NAME.q_norm, NAME.q.rotated.
  ValueId turned(ValueId x, int64_t heads, const std::string& name, const std::string& which) {
    const std::string norm = name + "." + which + "_norm";
    if (s_.row->norm == HeadNorm::head)
      x = value("rms_norm", {x, stored(norm + ".weight", {s_.head_width})}, {{"eps", s_.eps}, {"heads", heads}}, norm);
    return value("rotary", {x, places_}, {{"heads", heads}, {"theta", s_.theta}}, name + "." + which + ".rotated");
  }

  /// A feed-forward layer without a router: NAME.gate_proj, up_proj and down_proj.
  ValueId gated(ValueId x, const std::string& name, int64_t inner) {
    const ValueId gate = activation(linear(x, name + ".gate_proj", inner), s_.activation, name + ".act");
    const ValueId both = value("multiply", {gate, linear(x, name + ".up_proj", inner)}, {}, name + ".gated");
    return linear(both, name + ".down_proj", s_.width);
  }

  ValueId feed_forward(ValueId x, const std::string& name) {
    const ValueId routed = experts(x, name);
    if (!s_.row->has_shared) return routed;
    const ValueId share = activation(linear(x, name + ".shared_expert_gate", 1), "sigmoid", name + ".shared_share");
    const ValueId shared = gated(x, name + ".shared_expert", s_.shared_width);
    return add(routed, value("multiply", {shared, share}, {}, name + ".shared"), name + ".all");
  }

  ValueId experts(ValueId x, const std::string& name) {
    const ValueId scores = linear(x, name + ".gate", s_.experts, {{"precise", int64_t{1}}});
    Protocol protocol;
    protocol.k = static_cast<int32_t>(s_.chosen);
    protocol.softmax = SoftmaxPlace::before;
    protocol.renormalize = s_.renormalize;
    const ValueId decision = route(scores, protocol, name);
    graph().node(graph().value(decision).producer).attributes.set("stack", std::string("decoder"));
    const std::string all = name + ".experts";
    const ExpertForm form = form_of(all);
    return mixture(x, decision, Joined::weighted, name + ".joined", [&](ValueId part, int32_t b) {
      const std::string expert = all + "." + std::to_string(b);
      const auto product = [&](ValueId in, Part which, int64_t outputs) {
        const std::string called = expert + "." + std::string(word_of(which));
        if (form == ExpertForm::single) return linear(in, called, outputs);
        return value("linear", {in, made(called + ".weight", part_of(all, which, b, form), {outputs, width(in)})}, {},
                     called);
      };
      const ValueId gate = activation(product(part, Part::gate, s_.expert_width), s_.activation, expert + ".act");
      const ValueId up = product(part, Part::up, s_.expert_width);
      return product(value("multiply", {gate, up}, {}, expert + ".gated"), Part::down, s_.width);
    });
  }

  enum class Part : uint8_t { gate, up, down };
  std::string_view word_of(Part part) const {
    static constexpr std::array<std::string_view, 3> kWords = {"gate_proj", "up_proj", "down_proj"},
                                                     kOfMixtral = {"w1", "w3", "w2"};
    return (s_.row->of_mixtral ? kOfMixtral : kWords).at(static_cast<size_t>(part));
  }
  /// How files hold the experts of a layer.
  enum class ExpertForm : uint8_t {
    single,  ///< a tensor for each expert and product
    stacks,  ///< a tensor for each product: gate_proj and up_proj [experts, inner, width], down_proj [experts, width,
             ///< inner]
    in_one,  ///< gate and up in one, too: gate_up_proj [experts, 2 x inner, width], gates first
  };
  ExpertForm form_of(const std::string& all) {
    if (catalog().has(all + ".gate_up_proj")) return ExpertForm::in_one;
    return catalog().has(all + ".gate_proj.weight") ? ExpertForm::stacks : ExpertForm::single;
  }
  /// One expert's weight in a tensor of all experts.
  Recipe part_of(const std::string& all, Part which, int32_t expert, ExpertForm form) {
    const bool is_down = which == Part::down;
    const std::vector<int64_t> shape{s_.experts, is_down ? s_.width : s_.expert_width,
                                     is_down ? s_.expert_width : s_.width};
    if (form == ExpertForm::stacks)
      return index_recipe(
          tensor_recipe(catalog().need(all + "." + std::string(word_of(which)) + ".weight", shape).name), expert);
    if (is_down) return index_recipe(tensor_recipe(catalog().need(all + ".down_proj", shape).name), expert);
    const WeightInfo& both = catalog().need(all + ".gate_up_proj", {s_.experts, 2 * s_.expert_width, s_.width});
    const int64_t first = which == Part::gate ? 0 : s_.expert_width;
    return slice_recipe(index_recipe(tensor_recipe(both.name), expert), first, first + s_.expert_width);
  }

  const Settings& s_;
  std::optional<SamplingRule> sampling_;
  SpaceId sequences_, tokens_;
  ValueId ids_, mask_, places_ = kNone, kept_logits_ = kNone;
  std::vector<Memory> caches_;
};

class Decoder final : public Architecture {
 public:
  explicit Decoder(Settings settings) : s_(std::move(settings)) {}

  void describe(Model& model) const override {
    model.vocabulary = s_.vocabulary;
    model.max_length = s_.max_length;
    model.tokens = s_.tokens;
    model.has_decoder = true;
    model.generates = s_.head;
    if (s_.head) model.answer = {Task::language, std::string(kLogits), 0};
  }
  Graph forward(WeightCatalog& weights, PictureSize) const override { return DecoderBuilder(s_, weights).forward(); }
  Graph generate(WeightCatalog& weights, const DecodingForm& form) const override {
    return DecoderBuilder(s_, weights).generate(form);
  }
  Initialisation initialisation(std::string_view name) const override {
    if (name.ends_with("bias")) return {0, 0};
    return name.ends_with("norm.weight") ? Initialisation{1, 0} : Initialisation{0, s_.deviation};
  }
  FrameRule frame_rule() const override { return {.begin = s_.row->begins, .end = false}; }
  std::vector<std::vector<std::string>> tied() const override {
    if (!s_.tied) return {};
    return {{"model.embed_tokens.weight", "lm_head.weight"}};
  }

 private:
  Settings s_;
};

std::unique_ptr<const Architecture> configure(const Row& row, const Config& config, const Config& generation,
                                              const WeightCatalog* stored) {
  return std::make_unique<Decoder>(read_settings(row, config, generation, stored));
}

}  // namespace
}  // namespace decoder_mixtures

std::unique_ptr<const Architecture> configure_mixtral(const Config& config, const Config& generation,
                                                      const WeightCatalog* stored) {
  return decoder_mixtures::configure(decoder_mixtures::kMixtral, config, generation, stored);
}
std::unique_ptr<const Architecture> configure_qwen2_moe(const Config& config, const Config& generation,
                                                        const WeightCatalog* stored) {
  return decoder_mixtures::configure(decoder_mixtures::kQwen2, config, generation, stored);
}
std::unique_ptr<const Architecture> configure_qwen3_moe(const Config& config, const Config& generation,
                                                        const WeightCatalog* stored) {
  return decoder_mixtures::configure(decoder_mixtures::kQwen3, config, generation, stored);
}
}  // namespace stormcell

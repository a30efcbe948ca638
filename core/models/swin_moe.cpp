// Windows of patches that attend to each other, over stages of ever coarser grids, with mixtures of experts in some
// blocks: Swin Transformer V2 (Liu et al., CVPR 2022) with the experts of SwinV2-MoE, in the form of the artifact of
// Brainstorm (OSDI'23).
//
//   x     = norm(projection(patches))                         patches of patch_size x patch_size pixels
//   x     = x + attention(norm(x)); x = x + mlp(norm(x))      norm_place "before";
//                                                             "after": x + norm(attention(x)), x + norm(mlp(x))
//   score = q k / sqrt(d) + B                                 "cosine": q k / (|q| |k|) exp(min(scales, ln 100)) + B
//   B     = mlp(log-spaced relative places)                   in windows, every second block's shifted by half of them
//   mlp   = down(gelu(up(x))); sum_e p_e mlp_e(x)             in dense blocks; in those of moe_blocks, of the
//                                                             experts that the gate chose
//   x     = reduction(norm(2 x 2 cells in one))               between stages; "after": norm(reduction(...))
//   y     = head(mean(norm(x)))
//
// Keys, tensors and shapes: docs/models.md.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/models/family.h"
#include "core/models/layers.h"

namespace stormcell {
namespace swin_moe_family {
namespace {

constexpr int64_t kMostPatch = 256, kMostWidth = 1 << 16, kMostStages = 8, kMostBlocks = 1000, kMostWindow = 64;
constexpr std::array kRead = keys_read(
    "image_size", "num_channels", "num_labels", "id2label", "patch_size", "embed_dim", "depths", "num_heads",
    "window_sizes", "mlp_ratio", "hidden_act", "qkv_bias", "mlp_bias", "norm_place", "attention", "position_width",
    "position_limit", "position_bias", "relative_place", "merge_order", "layer_norm_eps", "moe_blocks", "num_experts",
    "experts_per_token", "capacity_factor", "normalize_gate", "gate_bias", "expert_bias");
// Keys of Swin Transformer V2 in transformers' layout.
constexpr std::array kOther = {ConfigKey{KeyUse::fixed, "use_absolute_embeddings", "false",
                                         "embeddings of places are not in this version of the family"},
                               ConfigKey{KeyUse::fixed, "pretrained_window_sizes", "[0,0,0,0]",
                                         "places scaled to other windows are not in this version of the family"},
                               ConfigKey{KeyUse::harmless, "encoder_stride"}};
constexpr std::array kKeys = in_one(kRead, kOther);

/// The layers of an MLP that add a bias.
enum class Biases : uint8_t { none, first, both };
Biases biases_of(const Config& config, std::string_view key, std::string_view otherwise = "first") {
  const std::string word = config.word(key, otherwise, {"none", "first", "both"});
  return word == "none" ? Biases::none : word == "first" ? Biases::first : Biases::both;
}

struct Stage {
  int64_t width = 0, blocks = 0, heads = 0, height = 0, columns = 0;  ///< height and columns: of its grid
  int64_t window_height = 0, window_width = 0, shift_height = 0, shift_width = 0;
};

struct Settings {
  PictureSize picture;
  int64_t channels = 3, labels = 0, patch = 4, position_width = 512, position_limit = 0;
  std::vector<Stage> stages;
  double mlp_ratio = 4, eps = 1e-6, capacity_factor = 1.25;
  std::string activation, merge_order;
  bool query_value_bias = true, key_bias = true, norm_after = false, cosine = false, turned = false;
  Biases mlp_bias = Biases::first, position_bias = Biases::first, expert_bias = Biases::first;
  std::vector<int64_t> moe_blocks;  ///< counted through all stages
  int64_t experts = 16, experts_per_token = 1;
  bool normalized = false, gate_bias = false;

  int64_t hidden(int64_t width) const {
    return static_cast<int64_t>(std::llround(static_cast<double>(width) * mlp_ratio));
  }
  bool is_sparse(int64_t block) const {
    return std::find(moe_blocks.begin(), moe_blocks.end(), block) != moe_blocks.end();
  }
  int64_t blocks() const {
    int64_t n = 0;
    for (const Stage& stage : stages) n += stage.blocks;
    return n;
  }
};

/// A side of the grid in windows of at most `window`: its window's side and its shift. One window is not shifted.
struct Cut {
  int64_t window, shift;
};
Cut cut_of(const Config& config, int64_t side, int64_t window) {
  if (side <= window) return {side, 0};
  if (side % window != 0)
    config.refuse("window_sizes", "windows that divide the grid of their stage, or hold it: " + std::to_string(side) +
                                      " places in windows of " + std::to_string(window));
  return {window, window / 2};
}

void read_stages(const Config& config, Settings& s) {
  std::vector<int64_t> depths = config.integers("depths", 1, kMostBlocks);
  if (depths.empty()) depths = {2, 2, 18, 2};
  const size_t n = depths.size();
  if (n > static_cast<size_t>(kMostStages))
    config.refuse("depths", "1 to " + std::to_string(kMostStages) + " numbers of blocks");
  const bool paper = n == 4;
  const std::vector<int64_t> heads = config.integers_of_each(
      "num_heads", paper ? std::vector<int64_t>{3, 6, 12, 24} : std::vector<int64_t>{1}, n, "stages", 1, 4096);
  const std::vector<int64_t> windows =
      config.integers_of_each("window_sizes", paper ? std::vector<int64_t>{12, 12, 12, 6} : std::vector<int64_t>{12}, n,
                              "stages", 1, kMostWindow);
  int64_t width = config.integer("embed_dim", 96, 1, kMostWidth), height = s.picture.height / s.patch,
          columns = s.picture.width / s.patch;
  for (size_t i = 0; i < n; ++i) {
    if (width > kMostWidth)
      config.refuse("embed_dim", "a width that stays below " + std::to_string(kMostWidth + 1) + " in the last stage");
    if (width % heads[i] != 0)
      config.refuse("num_heads", "numbers that divide the widths of their stages: " + std::to_string(width));
    const Cut down = cut_of(config, height, windows[i]), across = cut_of(config, columns, windows[i]);
    s.stages.push_back(
        {width, depths[i], heads[i], height, columns, down.window, across.window, down.shift, across.shift});
    if (i + 1 < n && (height % 2 != 0 || columns % 2 != 0))
      config.refuse("image_size", "sides of a multiple of " + std::to_string(s.patch << (n - 1)) +
                                      " pixels, so that every stage but the last has a grid of even sides");
    width *= 2, height /= 2, columns /= 2;
  }
}

/// Without a key, every second block of the last two stages has experts.
void read_experts(const Config& config, Settings& s) {
  s.moe_blocks = config.integers("moe_blocks", 0, s.blocks() - 1);
  if (!config.has("moe_blocks")) {
    int64_t first = 0;
    for (size_t i = 0; i < s.stages.size(); first += s.stages[i++].blocks)
      for (int64_t block = 1; i + 2 >= s.stages.size() && block < s.stages[i].blocks; block += 2)
        s.moe_blocks.push_back(first + block);
  }
  s.experts = config.integer("num_experts", 16, 1, kMostBranches);
  s.experts_per_token = config.integer("experts_per_token", 1, 1, std::min<int64_t>(s.experts, kMostChoices));
  s.capacity_factor = config.real("capacity_factor", s.experts_per_token == 1 ? 1.25 : 0, 0, 1e6);
  // Whether a second choice has a place depends on the first choices of all cells: no published model of this form has
  // both.
  if (s.experts_per_token > 1 && s.capacity_factor > 0)
    config.refuse("capacity_factor", "0, so that places are not limited, with more than one expert a token");
  s.normalized = config.boolean("normalize_gate", false);
  s.gate_bias = config.boolean("gate_bias", false);
  s.expert_bias = biases_of(config, "expert_bias");
}

Settings read_settings(const Config& config) {
  Settings s;
  s.channels = config.integer("num_channels", 3, 1, 64);
  s.labels = config.integer("num_labels", 21841, 1, 1 << 24);
  s.patch = config.integer("patch_size", 4, 1, kMostPatch);
  s.picture = read_picture(config, 1, {192, 192});
  if (s.picture.height % s.patch != 0 || s.picture.width % s.patch != 0)
    config.refuse("image_size", "sides of a multiple of patch_size: " + std::to_string(s.patch));
  read_stages(config, s);
  s.mlp_ratio = config.real("mlp_ratio", 4, 1e-3, 64);
  if (s.hidden(s.stages.front().width) < 1)
    config.refuse("mlp_ratio", "a ratio that leaves a hidden width of 1 or more");
  s.activation = activation_word(config, "hidden_act", "gelu");
  const std::string qkv = config.word("qkv_bias", "all", {"all", "query_value", "none"});
  s.query_value_bias = qkv != "none", s.key_bias = qkv == "all";
  s.mlp_bias = biases_of(config, "mlp_bias");
  s.norm_after = config.word("norm_place", "before", {"before", "after"}) == "after";
  s.cosine = config.word("attention", "scaled", {"scaled", "cosine"}) == "cosine";
  s.position_width = config.integer("position_width", 512, 1, kMostWidth);
  s.position_limit = config.integer("position_limit", 0, 0, 1 << 20);
  s.position_bias = biases_of(config, "position_bias");
  s.turned =
      config.word("relative_place", "query_minus_key", {"query_minus_key", "key_minus_query"}) == "key_minus_query";
  s.merge_order = config.word("merge_order", "columns", {"columns", "rows"});
  s.eps = config.real("layer_norm_eps", 1e-6, 1e-12, 1);
  read_experts(config, s);
  return s;
}

class SwinMoeBuilder : public LayerBuilder {
 public:
  SwinMoeBuilder(const Settings& s, WeightCatalog& weights) : LayerBuilder(weights), s_(s) {}

  Graph forward() {
    const SpaceId pictures = root_space("picture", symbol(kSequences));
    ValueId x = embedded(pictures);
    int64_t block = 0;
    for (size_t i = 0; i < s_.stages.size(); ++i) {
      if (i > 0) x = merged(x, i, pictures);
      for (int64_t k = 0; k < s_.stages[i].blocks; ++k, ++block) x = layer(x, i, k, s_.is_sparse(block));
    }
    x = value("reduce", {layer_norm(x, "norm", s_.eps)}, {{"mode", std::string("mean")}}, "features");
    output(kLogits, linear(x, "head", s_.labels, {}, true));
    return finish();
  }

 private:
  SpaceId tokens_of(size_t stage, SpaceId pictures) {
    const Stage& s = s_.stages[stage];
    return dense_space(stage == 0 ? "patch" : "patch." + std::to_string(stage), pictures, s.height * s.columns);
  }

  ValueId embedded(SpaceId pictures) {
    const ValueId pixels =
        input("pixels", DType::f32, pictures, {s_.picture.height, s_.picture.width, s_.channels}, InputRole::pixels);
    const ValueId standard = standardized(pixels, "pixels.standard");
    const ValueId patches = value("unfold", {standard},
                                  {{"space", int64_t{tokens_of(0, pictures)}},
                                   {"height", s_.patch},
                                   {"width", s_.patch},
                                   {"stride", s_.patch},
                                   {"flat", int64_t{true}}},
                                  "patches");
    return layer_norm(linear(patches, "patch.projection", s_.stages[0].width, {}, true), "patch.norm", s_.eps);
  }

  /// Four cells become one of the stage that begins.
  ValueId merged(ValueId x, size_t stage, SpaceId pictures) {
    const Stage &from = s_.stages[stage - 1], &to = s_.stages[stage];
    const std::string name = "stages." + std::to_string(stage) + ".merge";
    x = value("merge_cells", {x},
              {{"space", int64_t{tokens_of(stage, pictures)}},
               {"height", from.height},
               {"width", from.columns},
               {"order", s_.merge_order}},
              name);
    if (s_.norm_after) return layer_norm(linear(x, name + ".reduction", to.width), name + ".norm", s_.eps);
    return linear(layer_norm(x, name + ".norm", s_.eps), name + ".reduction", to.width);
  }

  ValueId layer(ValueId x, size_t stage, int64_t block, bool sparse) {
    const std::string name = "stages." + std::to_string(stage) + ".blocks." + std::to_string(block);
    const auto residual = [&](const std::string& norm, const std::string& part, auto&& work) {
      const ValueId y = s_.norm_after ? layer_norm(work(x), norm, s_.eps) : work(layer_norm(x, norm, s_.eps));
      x = add(x, y, name + "." + part + ".sum");
    };
    residual(name + ".attention_norm", "attention",
             [&](ValueId y) { return attended(y, s_.stages[stage], name + ".attention", block % 2 == 1); });
    residual(name + ".mlp_norm", "mlp", [&](ValueId y) {
      return sparse ? experts(y, name + ".mlp") : perceptron(y, name + ".mlp", s_.mlp_bias, width(y));
    });
    return x;
  }

  ValueId attended(ValueId x, const Stage& s, const std::string& name, bool shifted) {
    const ValueId q = linear(x, name + ".query", s.width, {}, s_.query_value_bias),
                  k = linear(x, name + ".key", s.width, {}, s_.key_bias),
                  v = linear(x, name + ".value", s.width, {}, s_.query_value_bias);
    std::vector<ValueId> inputs{q, k, v, position_bias(s, name + ".position")};
    Attributes attributes{{"heads", s.heads},
                          {"height", s.height},
                          {"width", s.columns},
                          {"window_height", s.window_height},
                          {"window_width", s.window_width},
                          {"extras", std::string(s_.cosine ? "bias+scales" : "bias")}};
    if (shifted) {
      attributes.set("shift_height", s.shift_height);
      attributes.set("shift_width", s.shift_width);
    }
    if (s_.cosine) {
      inputs.push_back(stored(name + ".scales", {s.heads}));
      attributes.set("cosine", int64_t{true});
    } else {
      attributes.set("scale", 1 / std::sqrt(static_cast<double>(s.width) / s.heads));
    }
    return linear(value("window_attention", std::move(inputs), std::move(attributes), name), name + ".output", s.width,
                  {}, true);
  }

  /// Depends on weights only: computed once, when they are read.
  ValueId position_bias(const Stage& s, const std::string& name) {
    std::vector<Recipe> of;
    const auto operand = [&](const std::string& tensor, std::vector<int64_t> shape) {
      catalog().need(tensor, shape);
      of.push_back(tensor_recipe(tensor));
    };
    operand(name + ".0.weight", {s_.position_width, 2});
    operand(name + ".1.weight", {s.heads, s_.position_width});
    if (s_.position_bias != Biases::none) operand(name + ".0.bias", {s_.position_width});
    if (s_.position_bias == Biases::both) operand(name + ".1.bias", {s.heads});
    const int64_t places = (2 * s.window_height - 1) * (2 * s.window_width - 1);
    return made(name,
                position_bias_recipe(std::move(of), s.window_height, s.window_width, s_.turned, s_.position_limit),
                {places, s.heads});
  }

  ValueId perceptron(ValueId x, const std::string& name, Biases biases, int64_t outputs) {
    const ValueId up = linear(x, name + ".up", s_.hidden(outputs), {}, biases != Biases::none);
    return linear(activation(up, s_.activation, name + ".act"), name + ".down", outputs, {}, biases == Biases::both);
  }

  ValueId experts(ValueId x, const std::string& name) {
    const ValueId scores = linear(x, name + ".gate", s_.experts, {{"precise", int64_t{true}}}, s_.gate_bias);
    Protocol protocol;
    protocol.renormalize = s_.normalized;
    if (s_.experts_per_token == 1) {
      protocol.kind = ProtocolKind::batch_prioritized;
      protocol.capacity_factor = s_.capacity_factor;
    } else {
      protocol.k = static_cast<int32_t>(s_.experts_per_token);
    }
    const int64_t outputs = width(x);
    return mixture(x, route(scores, protocol, name), Joined::weighted, name + ".joined",
                   [&](ValueId part, int32_t expert) {
                     return perceptron(part, name + ".experts." + std::to_string(expert), s_.expert_bias, outputs);
                   });
  }

  const Settings& s_;
};

class SwinMoe final : public Architecture {
 public:
  SwinMoe(Settings settings, std::vector<std::string> classes)
      : s_(std::move(settings)), classes_(std::move(classes)) {}

  /// The graph is built for one size: windows must divide every stage's grid, and few other sizes would let them.
  void describe(Model& model) const override {
    model.picture = s_.picture;
    model.classes = classes_;
    model.answer = {Task::classification, std::string(kLogits), s_.labels};
  }
  Graph forward(WeightCatalog& weights, PictureSize) const override { return SwinMoeBuilder(s_, weights).forward(); }

  /// Second moments are about 1 behind every norm and every layer: pixels are as uniform ones from 0 to 1. Residuals
  /// are drawn so small that all of a stage together double the moment.
  Initialisation initialisation(std::string_view name) const override {
    if (name.ends_with("norm.weight")) return {s_.norm_after && name.starts_with("stages.") ? added() : 1, 0};
    if (const auto neutral = neutral_initialisation(name)) return *neutral;
    if (name.ends_with(".scales")) return {std::log(10.0), 0};
    if (name.ends_with(".position.0.weight")) return {0, 1};
    if (name.ends_with(".position.1.weight")) return {0, std::sqrt(1 / static_cast<double>(s_.position_width))};
    return {0, gain_of(name) / std::sqrt(static_cast<double>(inputs_of(name)))};
  }

 private:
  /// Gain of a block's residual: the residuals of all blocks together add as much as came in.
  double added() const { return 1 / std::sqrt(2 * static_cast<double>(s_.blocks())); }
  double gain_of(std::string_view name) const {
    constexpr double kOfGelu = 1.5, kOfGate = 2, kOfHead = 2;
    if (name.ends_with(".gate.weight")) return kOfGate;
    if (name == "head.weight") return kOfHead;
    const bool last = name.ends_with(".attention.output.weight"), down = name.ends_with(".down.weight");
    return (down ? kOfGelu : 1) * ((last || down) && !s_.norm_after ? added() : 1);
  }
  /// Numbers that one output of a layer is a sum of.
  int64_t inputs_of(std::string_view name) const {
    if (name.starts_with("patch.")) return s_.patch * s_.patch * s_.channels;
    if (name == "head.weight") return s_.stages.back().width;
    const int64_t width = s_.stages.at(static_cast<size_t>(number_at(name, 1))).width;
    if (name.ends_with(".merge.reduction.weight")) return 2 * width;
    return name.ends_with(".down.weight") ? s_.hidden(width) : width;
  }

  Settings s_;
  std::vector<std::string> classes_;
};

}  // namespace
}  // namespace swin_moe_family

std::span<const ConfigKey> keys_of_swin_moe() { return swin_moe_family::kKeys; }

std::unique_ptr<const Architecture> configure_swin_moe(const Config& config, const Config&, const WeightCatalog*) {
  swin_moe_family::Settings settings = swin_moe_family::read_settings(config);
  std::vector<std::string> classes = config.names("id2label", settings.labels);
  return std::make_unique<swin_moe_family::SwinMoe>(std::move(settings), std::move(classes));
}

}  // namespace stormcell

// Pictures through a grid of layers and levels, where gates say of each picture at each node whether anything is
// computed, and to which of the next layer's levels the result goes: DynamicRouting (Li et al., CVPR 2020), in the form
// of the artifact of Brainstorm (OSDI'23).
//
//   x    = stem(standardize(pixels)) at level 0, a quarter of the sides; level i has 2^i times the channels,
//        1/2^i of the sides
//   x    = sum of what arrives, at each later node
//   g    = relu(tanh(scores(mean(relu(conv(x'))))))      a number a way; x' = x, or at a quarter of the
//                                                        sides with small gates
//   skip where sum(g) < threshold: x goes on to the next layer at its own level, as it is; the others compute
//   y    = relu(x + cell(x))                             twice depthwise 3 x 3 and 1 x 1, ReLU between
//   and send g_w way_w(y) by each way w with g_w > threshold:
//   keep y,  up resize(relu(conv(y))),  down relu(conv(y)) with stride 2
//   maps = resize(predictor(head(last layer)))           head: from the coarsest level up, a 1 x 1 convolution and a
//   sum each
//
// Batch norm follows each 1 x 1 convolution and the stem's first, folded into its weights by recipe. Keys, tensors and
// shapes: docs/models.md. No published checkpoint has this layout.
#include <array>

#include "core/models/dynamic_routing_plan.h"
#include "core/models/family.h"
#include "core/models/layers.h"

namespace stormcell {
namespace dynamic_routing_family {
namespace {

using namespace dynamic_routing;

constexpr int64_t kLeastSide = 8, kMostChannels = 4096, kMostLevels = 8, kMostLayers = 256;
constexpr double kLeastThreshold = 1e-12;
constexpr std::array kKeys = keys_read("image_size", "num_channels", "num_labels", "stem_channels", "num_levels",
                                       "num_layers", "gate", "unreached", "threshold", "batch_norm_eps", "id2label");

Settings read_settings(const Config& config) {
  Settings s;
  s.channels = config.integer("num_channels", 3, 1, 64);
  s.labels = config.integer("num_labels", 19, 1, kMostChannels);
  s.stem = config.integer("stem_channels", 64, 1, kMostChannels);
  s.levels = config.integer("num_levels", 4, 1, kMostLevels);
  s.layers = config.integer("num_layers", 16, 1, kMostLayers);
  if (s.layers + 1 < s.levels)
    config.refuse("num_layers", "at least " + std::to_string(s.levels - 1) +
                                    ": each layer reaches one level more, up to " + std::to_string(s.levels));
  if (s.stem % 2 != 0 || s.width(s.levels - 1) > kMostChannels)
    config.refuse("stem_channels", "an even number that makes at most " + std::to_string(kMostChannels) +
                                       " channels at the coarsest level");
  s.small_gate = config.word("gate", "small", {"small", "full"}) == "small";
  s.skips_unreached = config.word("unreached", "skip", {"skip", "zeros"}) == "skip";
  // The least threshold is above 0: with 0 no node would skip. A closed gate is exactly 0 and would lie on the limit:
  // its margin would make each such decision a tie, and a node with one way would send the cell on.
  s.threshold = config.real("threshold", 1e-4, kLeastThreshold, 1);
  s.eps = config.real("batch_norm_eps", 1e-5, 1e-12, 1);
  return s;
}

class DynamicRoutingBuilder : public LayerBuilder {
 public:
  DynamicRoutingBuilder(const Settings& s, WeightCatalog& weights) : LayerBuilder(weights), s_(s) {}

  Graph forward(PictureSize size) {
    pictures_ = root_space("picture", symbol(kSequences));
    const ValueId pixels =
        input("pixels", DType::f32, pictures_, {size.height, size.width, s_.channels}, InputRole::pixels);
    const ValueId first = stem(pixels);
    sizes_ = level_sizes(s_, {extent(first, 0), extent(first, 1)});
    std::vector<Arrivals> now(s_.levels);
    for (int64_t layer = 0; layer <= s_.layers; ++layer) {
      std::vector<Arrivals> next(s_.levels);
      for (int64_t level = 0; level < s_.nodes(layer); ++level)
        node({layer, level}, layer == 0 ? first : kNone, now[level], next);
      now = std::move(next);
    }
    const ValueId predicted = convolution(head(now), "head.predictor", {.outputs = s_.labels});
    output("logits", resized(predicted, size, "logits"));
    return finish();
  }

 private:
  /// Maps that come to a node, and of each by what weight.
  struct Arrivals {
    std::vector<ValueId> maps, weights;
  };

  int64_t extent(ValueId x, size_t i) const { return graph().value(x).type.content[i].constant(); }
  ValueId relu(ValueId x, const std::string& name) { return activation(x, "relu", name); }
  /// relu(norm(conv(x))) by a kernel of 1 x 1.
  ValueId unit(ValueId x, const std::string& name, int64_t outputs, int64_t stride = 1) {
    return relu(normed_convolution(x, name, {.outputs = outputs, .size = 1, .stride = stride, .bias = false}, s_.eps),
                name + ".relu");
  }
  ValueId depthwise(ValueId x, const std::string& name, int64_t stride = 1) {
    return convolution(x, name, {.outputs = width(x), .stride = stride, .bias = false, .groups = width(x)});
  }
  /// Adds the node even if the size is the same: graphs for all sizes have the same nodes.
  ValueId resized(ValueId x, PictureSize to, const std::string& name) {
    return value("resize", {x}, {{"height", to.height}, {"width", to.width}, {"mode", std::string("bilinear")}}, name);
  }

  ValueId stem(ValueId pixels) {
    ValueId x = standardized(pixels, "pixels.standard");
    x = normed_convolution(x, "stem.0", {.outputs = s_.stem, .stride = 2, .bias = false, .padded = false}, s_.eps);
    x = relu(x, "stem.0.relu");
    x = unit(depthwise(x, "stem.1.depthwise"), "stem.1.pointwise", s_.stem);
    return unit(depthwise(x, "stem.2.depthwise", 2), "stem.2.pointwise", s_.stem);
  }

  /// x over the pictures that come: all of them, or with `unreached` = skip those that something arrived of.
  ValueId arrived(const Arrivals& from, const std::string& name) {
    const ValueId x = gather(from.maps, pictures_, "sum", kNone, name + ".sum");
    if (!s_.skips_unreached) return x;
    // A weight is the score of an open gate, or 1. So any threshold above 0 and below the least open gate's score
    // separates them from none.
    Protocol rule;
    rule.kind = ProtocolKind::threshold;
    rule.threshold = static_cast<float>(s_.threshold / 2);
    const ValueId came = gather(from.weights, pictures_, "sum", kNone, name + ".came");
    return scatter(x, route(came, rule, name + ".reached"), {0})[0];
  }

  /// [S, ways]: relu(tanh(head)).
  ValueId gate(ValueId x, const Place& at, const std::string& name) {
    if (s_.small_gate) x = resized(x, gate_size(s_, {extent(x, 0), extent(x, 1)}), name + ".small");
    x = unit(x, name + ".convolution", width(x) / 2);
    x = global_average(x, name + ".mean");
    std::vector<Recipe> weights, biases;
    const std::vector<Way> ways = s_.ways(at);
    for (const Way way : ways) {
      const std::string of = name + "." + std::string(to_text(way));
      catalog().need(of + ".weight", {1, width(x)});
      catalog().need(of + ".bias", {1});
      weights.push_back(tensor_recipe(of + ".weight"));
      biases.push_back(tensor_recipe(of + ".bias"));
    }
    const auto joined = [](std::vector<Recipe>& parts) {
      return parts.size() == 1 ? parts.front() : concat_recipe(std::move(parts));
    };
    const auto count = std::ssize(ways);
    const ValueId weight = made(name + ".weight", joined(weights), {count, width(x)}),
                  bias = made(name + ".bias", joined(biases), {count});
    x = value("linear", {x, weight, bias}, {{"extras", std::string("bias")}}, name + ".scores");
    return relu(activation(x, "tanh", name + ".tanh"), name + ".open");
  }

  void node(const Place& at, ValueId x, const Arrivals& from, std::vector<Arrivals>& next) {
    const std::string name = name_of(at);
    if (at.layer > 0) x = arrived(from, name);
    const ValueId gates = gate(x, at, name + ".gate");
    constexpr int32_t kSkip = 0, kCompute = 1;
    Protocol rule;
    rule.kind = ProtocolKind::residual_threshold;
    rule.threshold = static_cast<float>(s_.threshold);
    rule.residual = kSkip;
    const ValueId decision = route(gates, rule, name + ".compute");
    const std::vector<ValueId> parts = scatter(x, decision, {kSkip, kCompute});
    const ValueId open = scatter(gates, decision, {kCompute})[0];
    arrive(next[at.level], parts[kSkip], decision, name + ".skipped");
    send(at, relu(cell(parts[kCompute], name + ".cell"), name + ".relu"), open, decision, next);
  }

  ValueId cell(ValueId x, const std::string& name) {
    const ValueId y = unit(depthwise(x, name + ".0.depthwise"), name + ".0.pointwise", width(x));
    const std::string last = name + ".1.pointwise";
    return add(x,
               normed_convolution(depthwise(y, name + ".1.depthwise"), last,
                                  {.outputs = width(x), .size = 1, .bias = false}, s_.eps),
               name);
  }

  /// The result of a node by the ways that its gates open. One way alone needs no further router: who is computed goes
  /// it.
  void send(const Place& at, ValueId y, ValueId gates, ValueId computed, std::vector<Arrivals>& next) {
    const std::string name = name_of(at);
    const std::vector<Way> ways = s_.ways(at);
    if (ways.size() == 1) {
      const ValueId kept = value("multiply", {y, gates}, {}, name + ".keep");
      arrive(next[at.level], kept, computed, name + ".keep");
      return;
    }
    Protocol rule;
    rule.kind = ProtocolKind::threshold;
    rule.threshold = static_cast<float>(s_.threshold);
    const ValueId decision = route(gates, rule, name + ".ways");
    for (size_t i = 0; i < ways.size(); ++i) {
      const std::string way = name + "." + std::string(to_text(ways[i]));
      const ValueId part = scatter(y, decision, {static_cast<int32_t>(i)})[0];
      const ValueId weight = choice_weight(part, decision, way + ".weight");
      const ValueId sent = value("multiply", {moved(part, at, ways[i], way), weight}, {}, way + ".weighed");
      Arrivals& to = next[at.level + step_of(ways[i])];
      to.maps.push_back(sent);
      to.weights.push_back(weight);
    }
  }

  /// Maps of a node at the level that their way leads to.
  ValueId moved(ValueId y, const Place& at, Way way, const std::string& name) {
    if (way == Way::keep) return y;
    if (way == Way::down) return unit(y, name, 2 * width(y), 2);
    return resized(unit(y, name, width(y) / 2), sizes_[at.level - 1], name + ".large");
  }

  ValueId choice_weight(ValueId rows, ValueId decision, const std::string& name) {
    return value("choice_weight", {decision}, {{"space", int64_t{space_of(rows)}}}, name);
  }
  void arrive(Arrivals& to, ValueId maps, ValueId decision, const std::string& name) {
    to.maps.push_back(maps);
    if (s_.skips_unreached) to.weights.push_back(choice_weight(maps, decision, name + ".weight"));
  }

  /// The last layer's levels in one map of the finest. A level that nothing arrived at gives zeros.
  ValueId head(const std::vector<Arrivals>& last) {
    ValueId finer = kNone;
    for (int64_t level = s_.levels - 1; level >= 0; --level) {
      const size_t at = level;
      const std::string name = "head." + std::to_string(level);
      ValueId x = gather(last[at].maps, pictures_, "sum", kNone, name + ".sum");
      if (finer != kNone) x = add(x, resized(finer, sizes_[at], name + ".large"), name + ".joined");
      finer = unit(x, name, level == 0 ? s_.stem : s_.width(level - 1));
    }
    return finer;
  }

  const Settings& s_;
  SpaceId pictures_;
  std::vector<PictureSize> sizes_;  // of each level
};

class DynamicRouting final : public Architecture {
 public:
  DynamicRouting(Settings settings, PictureSize picture, std::vector<std::string> classes)
      : s_(settings), picture_(picture), classes_(std::move(classes)) {}

  void describe(Model& model) const override {
    model.picture = picture_;
    model.sizes = PictureSizes{kLeastSide, kMostSide};
    model.classes = classes_;
    model.answer = {Task::segmentation, std::string(kLogits), s_.labels};
  }
  Graph forward(WeightCatalog& weights, PictureSize picture) const override {
    return DynamicRoutingBuilder(s_, weights).forward(picture);
  }
  Initialisation initialisation(std::string_view name) const override {
    return dynamic_routing::initialisation(s_, name);
  }

 private:
  Settings s_;
  PictureSize picture_;
  std::vector<std::string> classes_;
};

}  // namespace
}  // namespace dynamic_routing_family

std::span<const ConfigKey> keys_of_dynamic_routing() { return dynamic_routing_family::kKeys; }

std::unique_ptr<const Architecture> configure_dynamic_routing(const Config& config, const Config&,
                                                              const WeightCatalog*) {
  const dynamic_routing::Settings settings = dynamic_routing_family::read_settings(config);
  std::vector<std::string> classes = config.names("id2label", settings.labels);
  return std::make_unique<dynamic_routing_family::DynamicRouting>(
      settings, read_picture(config, dynamic_routing_family::kLeastSide, {1024, 2048}), std::move(classes));
}

}  // namespace stormcell

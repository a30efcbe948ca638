// A layer of each family of pictures and tasks by numbers that can be followed on paper: weights are a tap or two,
// norms change nothing unless the case says so.
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/formats/safetensors_writer.h"
#include "tests/core/formats/scratch.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// A model of so many tensors, each written as what it holds.
class Written {
 public:
  void tensor(const std::string& name, std::vector<int64_t> shape, std::vector<float> values) {
    QCOMPARE(static_cast<int64_t>(values.size()), elements(shape));
    names_.push_back(name), shapes_.push_back(std::move(shape)), values_.push_back(std::move(values));
  }
  void zeros(const std::string& name, const std::vector<int64_t>& shape) {
    tensor(name, shape, std::vector<float>(static_cast<size_t>(elements(shape))));
  }
  void ones(const std::string& name, int64_t count) {
    tensor(name, {count}, std::vector<float>(static_cast<size_t>(count), 1));
  }
  /// Gain, shift, mean and variance of a batch norm that leaves everything as it is, at the usual epsilon.
  void plain_norm(const std::string& name, int64_t channels) {
    ones(name + ".weight", channels), zeros(name + ".bias", {channels}), zeros(name + ".running_mean", {channels});
    tensor(name + ".running_var", {channels}, std::vector<float>(static_cast<size_t>(channels), 1 - 1e-5F));
  }
  /// A convolution of 3 x 3 from one channel to one: its middle tap, and one `dy`, `dx` beside it.
  void taps(const std::string& name, float middle, int dy = 0, int dx = 0, float beside = 0) {
    std::vector<float> kernel(9);
    kernel[static_cast<size_t>(3 * (1 + dy) + 1 + dx)] = beside;
    kernel[4] += middle;
    tensor(name + ".weight", {1, 3, 3, 1}, kernel);
  }
  /// The middle taps of a convolution of 3 x 3: [outputs][inputs], or of a depthwise one [channels][1].
  void middle(const std::string& name, const std::vector<std::vector<float>>& taps) {
    std::vector<float> kernel;
    for (const std::vector<float>& of : taps)
      for (int at = 0; at < 9; ++at)
        for (const float tap : of) kernel.push_back(at == 4 ? tap : 0);
    tensor(name + ".weight", {static_cast<int64_t>(taps.size()), 3, 3, static_cast<int64_t>(taps[0].size())}, kernel);
  }

  std::shared_ptr<const Model> open(const std::string& config) const {
    scratch_.write("config.json", config);
    std::vector<TensorToWrite> all;
    for (size_t i = 0; i < names_.size(); ++i) all.push_back({names_[i], DType::f32, shapes_[i], values_[i].data()});
    write_safetensors(scratch_.path("model.safetensors"), all);
    return open_model(scratch_.path(""));
  }

 private:
  static int64_t elements(const std::vector<int64_t>& shape) {
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    return count;
  }
  Scratch scratch_;
  std::vector<std::string> names_;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<std::vector<float>> values_;
};

OracleResult<float> ran(const Model& model, int64_t pictures, std::vector<float> pixels, bool keep_values = false) {
  ModelInputs in;
  in.sequences = pictures, in.picture = model.picture;
  in.reals["pixels"] = std::move(pixels);
  OracleOptions options;
  options.keep_values = keep_values;
  return run_oracle<float>(model, *model.forward, in, 0, options);
}

const OracleDecision& decision(const OracleResult<float>& result, const std::string& router) {
  for (const OracleDecision& d : result.decisions)
    if (d.router == router) return d;
  throw std::runtime_error("no decision of " + router);
}

void compare(const std::vector<float>& came, const std::vector<float>& expected) {
  QCOMPARE(came.size(), expected.size());
  for (size_t i = 0; i < came.size(); ++i)
    QVERIFY2(std::fabs(came[i] - expected[i]) <= 2e-5F * std::max(1.0F, std::fabs(expected[i])),
             qPrintable(QString("%1: %2, expected %3")
                            .arg(i)
                            .arg(static_cast<double>(came[i]))
                            .arg(static_cast<double>(expected[i]))));
}

}  // namespace

class HandComputedTest : public QObject {
  Q_OBJECT
 private slots:
  /// Two blocks of a layer each on one scale, and the exit between them.
  void a_block_and_an_exit_of_msdnet() {
    Written w;
    w.tensor("pixels.mean", {1}, {0.25F}), w.tensor("pixels.deviation", {1}, {0.25F});
    // s = relu((x + 2 right - 1) / 2 * 2 - 1), of x = (pixel - 0.25) / 0.25.
    w.taps("stem.0", 1, 0, 1, 2), w.zeros("stem.0.bias", {1});
    w.tensor("stem.0.norm.weight", {1}, {2}), w.tensor("stem.0.norm.bias", {1}, {-1});
    w.tensor("stem.0.norm.running_mean", {1}, {1}), w.tensor("stem.0.norm.running_var", {1}, {4 - 1e-5F});
    // t = s of the row above, and the layer gives s, t, 0.
    std::vector<float> above(18);
    above[1] = 1;
    w.tensor("layers.0.0.normal.convolution.weight", {2, 3, 3, 1}, above),
        w.plain_norm("layers.0.0.normal.convolution.norm", 2);
    // Every second pixel of every second row of relu(s - t); then sums of 3 x 3 of that, likewise.
    w.middle("exits.0.convolutions.0", {{1, -1, 0}}), w.plain_norm("exits.0.convolutions.0.norm", 1);
    w.tensor("exits.0.convolutions.1.weight", {1, 3, 3, 1}, std::vector<float>(9, 1)),
        w.plain_norm("exits.0.convolutions.1.norm", 1);
    w.tensor("exits.0.head.weight", {2, 1}, {1, -1}), w.tensor("exits.0.head.bias", {2}, {0.25F, 0.5F});
    // The second layer adds channels of 3 and 0 whatever comes, and the last exit reads that alone.
    w.middle("layers.1.0.normal.convolution", {{0, 0, 0}, {0, 0, 0}}),
        w.ones("layers.1.0.normal.convolution.norm.weight", 2);
    w.tensor("layers.1.0.normal.convolution.norm.bias", {2}, {3, 0}),
        w.zeros("layers.1.0.normal.convolution.norm.running_mean", {2});
    w.ones("layers.1.0.normal.convolution.norm.running_var", 2);
    w.middle("exits.1.convolutions.0", {{0, 0, 0, 1, 0}}), w.plain_norm("exits.1.convolutions.0.norm", 1);
    w.taps("exits.1.convolutions.1", 1), w.plain_norm("exits.1.convolutions.1.norm", 1);
    w.tensor("exits.1.head.weight", {2, 1}, {0.5F, 1}), w.tensor("exits.1.head.bias", {2}, {0, -1});
    const auto model =
        w.open(R"({"model_type": "msdnet", "image_size": 8, "num_channels": 1, "num_labels": 2, "initial_channels": 1,
      "growth_rate": 2, "scale_factors": [1], "bottleneck": false, "block_layers": [1, 1], "stem": "plain", "classifier_channels": 1,
      "exit_thresholds": [0.9]})");
    // x is 1 and, in row 2, column 5, 3; of the second picture 0.
    std::vector<float> pixels(128, 0.5F);
    pixels[2 * 8 + 5] = 1;
    std::fill(pixels.begin() + 64, pixels.end(), 0.25F);
    const auto result = ran(*model, 2, pixels);
    // s is 1, but 5 and 3 in row 2, columns 4 and 5, and 0 in the last column. Its first row, and the 5, survive s - t:
    // of the 4 x 4 kept 1 1 1 1 / 0 0 4 0 / 0 / 0. The sums around (0, 0), (0, 2), (2, 0), (2, 2): 2, 7, 0, 4; their
    // mean is 3.25.
    compare(result.output("logits").reals, {3.5F, -2.75F, 1.5F, 2});
    const OracleDecision& d = decision(result, "exits.0.router");
    QCOMPARE(d.choice, (std::vector<int32_t>{0, 1}));
    // 1 / (1 + exp(-6.25)) and, of the means 0, 1 / (1 + exp(-0.25)).
    compare(d.margin, {0.998073F - 0.9F, 0.9F - 0.562177F});
  }

  /// Two patches, their features, the nearest centre, and a network each.
  void two_patches_of_livesr() {
    Written w;
    w.taps("classifier.stem", 1), w.plain_norm("classifier.stem.norm", 1);
    w.taps("classifier.layers.0.0.first", 1), w.plain_norm("classifier.layers.0.0.first.norm", 1);
    w.taps("classifier.layers.0.0.second", 2), w.plain_norm("classifier.layers.0.0.second.norm", 1);
    w.tensor("clusters.0", {1}, {1}), w.tensor("clusters.1", {1}, {2.5F});
    const auto convolution = [&](const std::string& name, float bias) { w.tensor(name + ".bias", {1}, {bias}); };
    w.taps("subnets.0.head", 1), convolution("subnets.0.head", 0.5F);
    w.taps("subnets.0.body.0.first", 1), convolution("subnets.0.body.0.first", -1);
    w.taps("subnets.0.body.0.second", 0, 0, -1, 1), convolution("subnets.0.body.0.second", 0);
    w.taps("subnets.0.end", 2), convolution("subnets.0.end", 0);
    w.middle("subnets.0.up.0", {{1}, {2}, {3}, {4}}), w.tensor("subnets.0.up.0.bias", {4}, {0, 0, 0, 1});
    w.taps("subnets.0.tail", 1), convolution("subnets.0.tail", 0);
    w.taps("subnets.1.head", 2), convolution("subnets.1.head", 0);
    w.taps("subnets.1.body.0.first", 0), convolution("subnets.1.body.0.first", 1);
    w.taps("subnets.1.body.0.second", 1), convolution("subnets.1.body.0.second", 0.25F);
    w.taps("subnets.1.end", 2), convolution("subnets.1.end", -0.5F);
    w.middle("subnets.1.up.0", {{1}, {1}, {1}, {1}}), w.tensor("subnets.1.up.0.bias", {4}, {0, 0, 0, 0});
    w.taps("subnets.1.tail", 1), convolution("subnets.1.tail", -0.5F);
    const auto model =
        w.open(R"({"model_type": "livesr", "image_size": [4, 8], "num_channels": 1, "patch_size": 4, "patch_stride": 4,
      "upscale": 2, "num_subnets": 2, "subnet_channels": 1, "subnet_blocks": 1, "normalization": "none", "classifier_stem": "plain",
      "classifier_channels": [1], "classifier_blocks": [1]})");
    // The left patch is 1, the right one 0 but for a 2 in row 1, column 2.
    std::vector<float> pixels(32);
    for (size_t row = 0; row < 4; ++row) std::fill_n(pixels.begin() + static_cast<int64_t>(8 * row), 4, 1.0F);
    pixels[8 + 4 + 2] = 2;
    const auto result = ran(*model, 1, pixels);
    // Features: the means of 3 x, 3 and 6 / 16. 1 / distance squared from 1 and 2.5: 1/4 and 4; 2.56 and 0.221453.
    const OracleDecision& d = decision(result, "router");
    QCOMPARE(d.choice, (std::vector<int32_t>{1, 0}));
    compare(d.weight, {4, 2.56F});
    compare(d.margin, {3.75F, 2.56F - 0.221453F});
    // Network 1 of 1: head 2, block 2 + 1.25, end 2 * 3.25 - 0.5 beside the head's 2: 8; less 0.5.
    // Network 0: 0.5 around the 2.5; the block adds relu(2.5 - 1) a pixel to the right: 0.5, 2.5, 2; twice that beside
    // the head's: 1.5, 7.5, 4.5. Of v a square of v 2v / 3v 4v + 1.
    std::vector<float> expected(8 * 16, 7.5F);
    for (size_t row = 0; row < 4; ++row)
      for (size_t column = 0; column < 4; ++column) {
        const float v = row == 1 && column == 2 ? 7.5F : row == 1 && column == 3 ? 4.5F : 1.5F;
        float* square = expected.data() + 2 * row * 16 + 8 + 2 * column;
        square[0] = v, square[1] = 2 * v, square[16] = 3 * v, square[17] = 4 * v + 1;
      }
    compare(result.output("picture").reals, expected);
  }

  /// Three nodes: one sends its result two ways, one is passed by, one computes; and a picture that never comes to the
  /// last.
  void a_grid_of_dynamic_routing() {
    Written w;
    w.zeros("pixels.mean", {1}), w.ones("pixels.deviation", 1);
    const auto pointwise = [&](const std::string& name, std::vector<float> weights, int64_t outputs) {
      const auto inputs = static_cast<int64_t>(weights.size()) / outputs;
      w.tensor(name + ".weight", {outputs, 1, 1, inputs}, std::move(weights)), w.plain_norm(name + ".norm", outputs);
    };
    w.middle("stem.0", {{1}, {2}}), w.plain_norm("stem.0.norm", 2);
    for (const char* name : {"stem.1", "stem.2"}) {
      w.middle(std::string(name) + ".depthwise", {{1}, {1}});
      pointwise(std::string(name) + ".pointwise", {1, 0, 0, 1}, 2);
    }
    const auto gate = [&](const std::string& name, float weight, float bias, int64_t inputs) {
      w.tensor(name + ".weight", {1, inputs}, std::vector<float>(static_cast<size_t>(inputs), weight)),
          w.tensor(name + ".bias", {1}, {bias});
    };
    pointwise("cells.0.0.gate.convolution", {1, 1}, 1), gate("cells.0.0.gate.keep", 0.1F, -0.1F, 1),
        gate("cells.0.0.gate.down", 0.2F, 0, 1);
    w.middle("cells.0.0.cell.0.depthwise", {{1}, {1}}), pointwise("cells.0.0.cell.0.pointwise", {0, 1, 1, 0}, 2);
    w.middle("cells.0.0.cell.1.depthwise", {{1}, {-1}}), pointwise("cells.0.0.cell.1.pointwise", {1, 0, 0, 1}, 2);
    pointwise("cells.0.0.down", {1, 0, 0, 1, 1, 1, 1, -1}, 4);
    pointwise("cells.1.0.gate.convolution", {1, 1}, 1), gate("cells.1.0.gate.keep", -1, 0, 1);
    pointwise("cells.1.1.gate.convolution", {0, 0, 0, 0, 0, 0, 0, 0}, 2), gate("cells.1.1.gate.keep", 0, 0.5F, 2);
    for (const auto& [name, channels] : {std::pair{"cells.1.0", 2}, {"cells.1.1", 4}})
      for (const char* part : {".cell.0", ".cell.1"}) {
        w.zeros(std::string(name) + part + ".depthwise.weight", {channels, 3, 3, 1});
        pointwise(std::string(name) + part + ".pointwise", std::vector<float>(static_cast<size_t>(channels * channels)),
                  channels);
      }
    pointwise("head.0", {1, 0, 0, 1}, 2), pointwise("head.1", {1, 0, 0, 0, 0, 0, 0, 1}, 2);
    w.middle("head.predictor", {{1, 0}, {0, 1}}), w.tensor("head.predictor.bias", {2}, {0.5F, 0});
    const auto model = w.open(
        R"({"model_type": "dynamic_routing", "image_size": 8, "num_channels": 1, "num_labels": 2, "stem_channels": 2,
      "num_levels": 2, "num_layers": 1, "gate": "full"})");
    std::vector<float> pixels(128, 1);
    std::fill(pixels.begin() + 64, pixels.end(), 0.0F);
    const auto result = ran(*model, 2, pixels);
    // The stem leaves maps of 1 and 2. Gates of the first node: relu(1 + 2) = 3; tanh(0.3 - 0.1) and tanh(0.6). It
    // computes relu((1, 2) + (2, -1)) = (3, 1) and sends 0.197375 of that on, and 0.537050 of (3, 1, 4, 2) down.
    const OracleDecision &first = decision(result, "cells.0.0.compute"), &ways = decision(result, "cells.0.0.ways");
    QCOMPARE(first.choice, (std::vector<int32_t>{1, 0}));
    QCOMPARE(ways.choice, (std::vector<int32_t>{1, 0}));
    compare(ways.weight, {0.537050F, 0.197375F});
    compare(first.margin, {0.197375F + 0.537050F - 1e-4F, 1e-4F});
    // A gate below 0 is closed: both pictures pass the next node by, as they are. The second picture never comes to the
    // last one, whose gate is tanh(0.5) and whose cell adds nothing.
    QCOMPARE(decision(result, "cells.1.0.compute").choice, (std::vector<int32_t>{0, 0}));
    QCOMPARE(decision(result, "cells.1.1.reached").choice, (std::vector<int32_t>{0, kNoBranch}));
    QCOMPARE(decision(result, "cells.1.1.compute").choice, (std::vector<int32_t>{1}));
    // The head: (0.592126, 0.197375) and, of level 1, 0.462117 * 0.537050 * (3, 2); the bias; of the second picture
    // that alone.
    std::vector<float> expected;
    for (int i = 0; i < 64; ++i) expected.insert(expected.end(), {0.592126F + 0.744537F + 0.5F, 0.197375F + 0.496358F});
    for (int i = 0; i < 64; ++i) expected.insert(expected.end(), {0.5F, 0});
    compare(result.output("logits").reals, expected);
  }

  /// Two cells in one window; both ask for the same expert, who has one place.
  void a_block_with_experts_of_swinv2_moe() {
    Written w;
    w.tensor("pixels.mean", {1}, {0.5F}), w.tensor("pixels.deviation", {1}, {0.25F});
    w.tensor("patch.projection.weight", {2, 1}, {1, -1}), w.zeros("patch.projection.bias", {2});
    const auto norm = [&](const std::string& name, std::vector<float> gain, std::vector<float> bias) {
      w.tensor(name + ".weight", {2}, std::move(gain)), w.tensor(name + ".bias", {2}, std::move(bias));
    };
    const std::string block = "stages.0.blocks.0.";
    norm("patch.norm", {1, 1}, {0, 0}), norm(block + "attention_norm", {1, 1}, {1, 0}),
        norm(block + "mlp_norm", {1, 1}, {0, 0});
    norm("norm", {1, 2}, {0, 0});
    const auto root = std::sqrt(2.0F);
    w.tensor(block + "attention.query.weight", {2, 2}, {root, 0, 0, 0}),
        w.tensor(block + "attention.key.weight", {2, 2}, {1, 0, 0, 1});
    w.tensor(block + "attention.value.weight", {2, 2}, {1, 0, 0, 1}),
        w.tensor(block + "attention.output.weight", {2, 2}, {0.5F, 0, 0, 0.5F});
    w.zeros(block + "attention.output.bias", {2});
    w.zeros(block + "attention.position.0.weight", {1, 2}), w.zeros(block + "attention.position.1.weight", {1, 1});
    w.tensor(block + "mlp.gate.weight", {2, 2}, {1, 0, 0, 0}), w.tensor(block + "mlp.gate.bias", {2}, {2, 0});
    w.tensor(block + "mlp.experts.0.up.weight", {2, 2}, {1, 0, 0, 1}),
        w.tensor(block + "mlp.experts.0.up.bias", {2}, {0.5F, 0});
    w.tensor(block + "mlp.experts.0.down.weight", {2, 2}, {2, 0, 0, 1});
    w.zeros(block + "mlp.experts.1.up.weight", {2, 2}), w.zeros(block + "mlp.experts.1.up.bias", {2});
    w.zeros(block + "mlp.experts.1.down.weight", {2, 2});
    w.tensor("head.weight", {1, 2}, {1, 1}), w.tensor("head.bias", {1}, {0.25F});
    const auto model = w.open(
        R"({"model_type": "swinv2_moe", "image_size": [1, 2], "num_channels": 1, "num_labels": 1, "patch_size": 1,
      "embed_dim": 2, "depths": [1], "num_heads": 1, "window_sizes": 2, "mlp_ratio": 1, "hidden_act": "relu", "qkv_bias": "none",
      "position_width": 1, "position_bias": "none", "moe_blocks": [0], "num_experts": 2, "capacity_factor": 1, "gate_bias": true})");
    const auto result = ran(*model, 1, {1, 0}, true);
    // Cells (1, -1) and (-1, 1); behind the norm (2, -1) and (0, 1). The first cell's query sees 4 and 0: 0.9820138 of
    // its own value; the second's sees both alike. Half of (1.9640276, -0.9640276) and of (1, 0) is added: (1.9820138,
    // -1.4820138) and (-0.5, 1). Behind the next norm (1, -1) and (-1, 1) again: scores (3, 0) and (1, 0), so that both
    // choose expert 0; it has int(1 * 2 / 2) places, and serves the surer one.
    const OracleDecision& d = decision(result, block + "mlp");
    QCOMPARE(d.choice, (std::vector<int32_t>{0, dropped_from(0)}));
    compare(d.weight, {0.952574F, 0.731059F});
    // 0.952574 of (2 * relu(1 + 0.5), relu(-1)); the second cell has no place and stays as it is.
    ValueId sum = kNone;
    for (const Node& n : model->forward->nodes)
      if (n.name == "norm") sum = n.inputs[0];
    QVERIFY(sum != kNone);
    compare(result.values.at(sum).reals, {1.9820138F + 3 * 0.952574F, -1.4820138F, -0.5F, 1});
    // (1, -2) and (-1, 2) behind the last norm, whose mean is 0.
    compare(result.output("logits").reals, {0.25F});
  }

  /// Two tokens that attend to each other; the sequence's task sends it to both experts.
  void a_layer_of_task_moe() {
    Written w;
    w.tensor("embeddings.word.weight", {2, 2}, {1, 0, 0, 1}),
        w.tensor("embeddings.position.weight", {4, 2}, {1, 0, 0, 0, 0, 0, 0, 0});
    const auto norm = [&](const std::string& name, std::vector<float> gain, std::vector<float> bias) {
      w.tensor(name + ".weight", {2}, std::move(gain)), w.tensor(name + ".bias", {2}, std::move(bias));
    };
    const auto linear = [&](const std::string& name, std::vector<float> weight, std::vector<float> bias) {
      w.tensor(name + ".weight", {2, 2}, std::move(weight)), w.tensor(name + ".bias", {2}, std::move(bias));
    };
    const std::vector<float> same{1, 0, 0, 1}, none{0, 0, 0, 0};
    norm("embeddings.norm", {1, 1}, {0, 0});
    for (const char* part : {"query", "key", "output"}) linear(std::string("layers.0.attention.") + part, same, {0, 0});
    linear("layers.0.attention.value", same, {1, 0});
    norm("layers.0.attention.norm", {2, 1}, {0, 1});
    const std::string expert = "layers.0.moe.experts.";
    linear(expert + "0.up", same, {0, 0}), linear(expert + "0.down", same, {0, 1}),
        norm(expert + "0.norm", {1, 1}, {0, 0.5F});
    linear(expert + "1.up", none, {0, 0}), linear(expert + "1.down", none, {0, 3}),
        norm(expert + "1.norm", {0.5F, 2}, {0, 0});
    linear("head", {1, 1, 2, 0}, {0, 0.25F});
    const auto model =
        w.open(R"({"model_type": "task_moe", "vocab_size": 2, "max_position_embeddings": 4, "hidden_size": 2,
      "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 2, "hidden_act": "relu", "num_experts": 2})");
    ModelInputs in;
    in.sequences = 1, in.length = 2;
    in.values["input_ids"] = {0, 1}, in.values["attention_mask"] = {1, 1}, in.values["task"] = {0};
    OracleOptions options;
    options.keep_values = true;
    const auto result = run_oracle<float>(*model, *model->forward, in, 0, options);
    // (1, 0) + (1, 0) and (0, 1) become (1, -1) and (-1, 1). Products 2 and -2, by the root of 2: each token sees
    // 0.944201 of its own value (2, -1) or (0, 1), and 0.055799 of the other's.
    const auto value_of = [&](const std::string& name) -> const std::vector<float>& {
      for (const auto& [id, tensor] : result.values)
        if (model->forward->value(id).name == name) return tensor.reals;
      throw std::runtime_error("no value " + name);
    };
    compare(value_of("layers.0.attention"), {1.888401F, -0.888401F, 0.111599F, 0.888401F});
    // Behind the norm (1, -1) and (-1, 1), as (2, 0) and (-2, 2). Expert 0: (2, 0) + (0, 1) + x = (4, 1), (0, 2) + (0,
    // 1) + x = (-2, 5): (1, -0.5) and (-1, 1.5). Expert 1: (0, 3) + x: (2, 3), (-2, 5): (-0.5, 2) twice. Added up:
    // (0.5, 1.5) and (-1.5, 3.5).
    compare(result.output(kDecoderHidden).reals, {0.5F, 1.5F, -1.5F, 3.5F});
    compare(result.output(kLogits).reals, {2, 1.25F, 2, -2.75F});
    const OracleDecision& d = decision(result, "layers.0.moe");
    QCOMPARE(d.choice.size(), size_t{2});
    QCOMPARE(d.choice[0] + d.choice[1], 1);  // both, in the order of the task's table
  }
};
STORMCELL_TEST(HandComputedTest)
#include "hand_computed_test.moc"

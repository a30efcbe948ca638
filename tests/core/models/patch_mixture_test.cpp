// Pictures of any size through one model: the graph is built for a size, over the same weights, and every device
// computes the oracle's picture.
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/cpu/cpu_device.h"
#include "core/formats/safetensors_writer.h"
#include "core/graph/roles.h"
#include "core/models/presets.h"
#include "tests/core/formats/scratch.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/relative_difference.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Json = nlohmann::json;

namespace {

/// A graph of the model with pictures whose squares are unlike one another.
RandomCase case_of(const Model& model, PictureSize size, int64_t pictures, uint64_t seed = 1) {
  RandomCase c;
  c.graph = *model.forward_for(size);
  c.weights = model.weights;
  c.bindings = Bindings(c.graph.symbols.size(), pictures);
  Random random(seed);
  std::vector<float> pixels;
  const int64_t channels = model.inputs.at(0).content[2];
  std::map<int64_t, float> square;
  for (int64_t i = 0; i < pictures * size.pixels() * channels; ++i) {
    const int64_t y = i / (size.width * channels) % size.height, x = i / channels % size.width;
    float& base =
        square.try_emplace(((i / (size.pixels() * channels) * 4096 + y / 9) * 4096 + x / 9) * 64 + i % channels, -1.0F)
            .first->second;
    if (base < 0) base = static_cast<float>(random.uniform());
    pixels.push_back(0.7F * base + 0.3F * static_cast<float>(random.uniform()));
  }
  c.inputs["pixels"] = pixels;
  return c;
}

/// Writes the model's configuration and its weights, as they are drawn, into a folder.
std::string write_model(const Scratch& scratch, const Json& config, const Model& like,
                        const std::string& name = "model") {
  scratch.write(name + "/config.json", config.dump());
  std::vector<TensorToWrite> tensors;
  std::vector<std::shared_ptr<const std::byte>> held;
  for (const Value& v : like.forward->values) {
    if (v.kind != ValueKind::weight) continue;
    const WeightInfo* info = like.weights->find(weight_text(v));
    held.push_back(like.weights->bytes(weight_text(v)));
    tensors.push_back({v.name, info->dtype, info->shape, held.back().get()});
  }
  write_safetensors(scratch.path(name + "/model.safetensors"), tensors);
  return scratch.path(name);
}

int64_t patches_of(const Graph& graph) {
  for (const CellSpace& space : graph.spaces)
    if (space.name == "patch") return space.per_parent.constant();
  return 0;
}

}  // namespace

class PatchMixtureTest : public QObject {
  Q_OBJECT

  /// A folder with a configuration that is no preset, and drawn weights.
  static std::shared_ptr<const Model> model_with(const Scratch& scratch, const Json& changes, const std::string& name) {
    Json config = preset_config("patch-mixture");
    config.update(changes);
    std::vector<TensorToWrite> tensors;
    std::vector<std::vector<float>> values;
    const auto channels = config["branch_channels"].get<std::vector<int64_t>>(),
               blocks = config["branch_blocks"].get<std::vector<int64_t>>();
    const int64_t c = config["num_channels"], r = config["router_channels"], up = config["upscale"];
    Random random(7);
    const auto conv = [&](const std::string& prefix, int64_t outputs, int64_t inputs) {
      for (const auto& [kind, shape] :
           {std::pair<std::string, std::vector<int64_t>>{".weight", {outputs, 3, 3, inputs}}, {".bias", {outputs}}}) {
        std::vector<float>& drawn = values.emplace_back();
        for (int64_t i = 0; i < (kind == ".bias" ? outputs : outputs * 9 * inputs); ++i)
          drawn.push_back(static_cast<float>(random.normal() * std::sqrt(2.0 / static_cast<double>(9 * inputs))));
        tensors.push_back({prefix + kind, DType::f32, shape, nullptr});
      }
    };
    conv("router.conv", r, c);
    for (size_t b = 0; b < channels.size(); ++b) {
      const std::string prefix = "branches." + std::to_string(b);
      conv(prefix + ".first", channels[b], c);
      for (int64_t i = 0; i < blocks[b]; ++i)
        for (const char* part : {".in", ".out"})
          conv(prefix + ".blocks." + std::to_string(i) + part, channels[b], channels[b]);
      conv(prefix + ".last", c * up * up, channels[b]);
    }
    const auto branches = static_cast<int64_t>(channels.size());
    std::vector<float>& classifier = values.emplace_back();
    for (int64_t i = 0; i < branches * r; ++i) classifier.push_back(static_cast<float>(4 * random.normal()));
    tensors.push_back({"router.head.weight", DType::f32, {branches, r}, nullptr});
    values.emplace_back(static_cast<size_t>(branches), 0.0F);
    tensors.push_back({"router.head.bias", DType::f32, {branches}, nullptr});
    for (size_t i = 0; i < tensors.size(); ++i) tensors[i].data = values[i].data();
    scratch.write(name + "/config.json", config.dump());
    write_safetensors(scratch.path(name + "/model.safetensors"), tensors);
    return open_model(scratch.path(name));
  }

  /// The oracle's picture on the CPU, with its decisions replayed; the emulated device gives the CPU's, bit for bit.
  static void check_parity(const RandomCase& c, const std::string& what) {
    OracleOptions options;
    options.threads = 2;
    const auto oracle = Oracle<float>(c.graph, *c.weights).run(testing::oracle_inputs(c), c.bindings, options);
    const auto program = std::make_shared<const Program>(lower(std::make_shared<Graph>(c.graph)));
    ReplayedDecisions replayed(program->routers.size());
    for (size_t r = 0; r < replayed.size(); ++r)
      for (const OracleDecision& d : oracle.decisions)
        if (d.node == program->routers[r].node) replayed[r].push_back({d.choice, d.ancestor});
    ExecuteOptions replay;
    replay.outputs = replay.record = true;
    replay.replayed = &replayed;
    cpu::CpuDevice device(2);
    const ExecutionResult result = execute_once(device, c, replay, program);
    QVERIFY2(relative_difference(result.outputs.at(0).reals, oracle.output("picture").reals) <= 1e-4, what.c_str());
    EmulatedDevice emulated(2);
    const ExecutionResult far = execute_once(emulated, c, replay, program);
    QVERIFY2(far.outputs.at(0).reals == result.outputs.at(0).reals, what.c_str());
  }

 private slots:
  void the_preset_states_what_it_takes() {
    const auto model = open_model("preset:patch-mixture");
    QCOMPARE(model->family, std::string("patch_mixture"));
    QCOMPARE(model->origin, WeightOrigin::seeded);
    QCOMPARE(to_text(model->picture), std::string("64x64"));
    QVERIFY(!model->generates && model->sizes);
    QCOMPARE(to_text(*model->sizes), std::string("heights and widths of 16 to 8192 pixels"));
    QCOMPARE(model->inputs.size(), size_t{1});
    QVERIFY(model->inputs[0].role == InputRole::pixels && model->inputs[0].sizes == model->sizes);
    QCOMPARE(model->inputs[0].content, (std::vector<int64_t>{64, 64, 3}));
    // Families of tokens state no size.
    const auto tokens = open_model("preset:switch-base-8");
    QVERIFY(!tokens->sizes && tokens->picture == PictureSize() && !tokens->inputs[0].sizes);
    QVERIFY(tokens->forward_for({}) == tokens->forward);
    VERIFY_BAD_INPUT(tokens->forward_for({64, 64}), "preset:switch-base-8", "takes no pictures");
  }

  void a_graph_is_built_for_the_size_over_the_same_weights() {
    const auto model = open_model("preset:patch-mixture");
    QVERIFY(model->forward_for({64, 64}) == model->forward);
    QVERIFY(model->forward_for({}) == model->forward);
    QCOMPARE(patches_of(*model->forward), int64_t{25});  // 16, 12 apart: at 0, 12, 24, 36, 48
    const auto weights_of = [](const Graph& graph) {
      std::map<std::string, TensorType> weights;
      for (const Value& v : graph.values)
        if (v.kind == ValueKind::weight) weights[v.name] = v.type;
      return weights;
    };
    const int64_t parameters = model->parameters;
    for (const auto& [size, patches] : std::map<PictureSize, int64_t>{{{16, 16}, 1}, {{17, 40}, 6}, {{48, 80}, 28}}) {
      const auto graph = model->forward_for(size);
      QCOMPARE(patches_of(*graph), patches);
      QVERIFY(weights_of(*graph) == weights_of(*model->forward));
      QCOMPARE(graph->nodes.size(), model->forward->nodes.size());
      const TensorType& picture = graph->value(graph->outputs[0].value).type;
      QCOMPARE(picture.content[0].constant(), 2 * size.height);
      QCOMPARE(picture.content[1].constant(), 2 * size.width);
    }
    QCOMPARE(model->parameters, parameters);
    VERIFY_BAD_INPUT(model->forward_for({15, 64}), "preset:patch-mixture",
                     "takes no pictures of 15x64 (it takes heights and widths of 16 to 8192 pixels)");
    VERIFY_BAD_INPUT(model->forward_for({64, 8193}), "preset:patch-mixture", "8193");
  }

  void patches_go_to_unlike_branches() {
    const auto model = open_model("preset:patch-mixture");
    const RandomCase c = case_of(*model, {64, 64}, 8);
    const auto result = Oracle<float>(c.graph, *c.weights).run(testing::oracle_inputs(c), c.bindings);
    std::vector<int64_t> load(3);
    for (const int32_t branch : result.decisions.at(0).choice) ++load[static_cast<size_t>(branch)];
    QCOMPARE(load[0] + load[1] + load[2], int64_t{200});
    QVERIFY2(std::count_if(load.begin(), load.end(), [](int64_t l) { return l >= 10; }) >= 2,
             (std::to_string(load[0]) + " " + std::to_string(load[1]) + " " + std::to_string(load[2])).c_str());
  }

  void every_size_gives_the_oracle_s_picture_on_every_device() {
    const auto model = open_model("preset:patch-mixture");
    for (const PictureSize size : {PictureSize{16, 16}, {64, 64}, {17, 33}, {50, 31}, {16, 120}, {40, 96}})
      check_parity(case_of(*model, size, 2), to_text(size));
  }

  void any_configuration_works_at_any_size() {
    const Scratch scratch;
    const std::vector<Json> changes = {
        {{"upscale", 1}, {"patch_stride", 16}},
        {{"num_channels", 1}, {"upscale", 3}, {"patch_size", 7}, {"patch_stride", 3}, {"image_size", 20}},
        {{"patch_size", 1}, {"patch_stride", 1}, {"image_size", {4, 6}}},
        {{"branch_channels", {5}}, {"branch_blocks", {3}}, {"hidden_act", "gelu"}, {"router_channels", 1}},
        {{"branch_channels", {2, 2, 9, 1, 3}},
         {"branch_blocks", {0, 0, 2, 1, 0}},
         {"hidden_act", "silu"},
         {"num_channels", 4}},
    };
    for (size_t i = 0; i < changes.size(); ++i) {
      const auto model = model_with(scratch, changes[i], "model" + std::to_string(i));
      const int64_t least = model->sizes->least;
      check_parity(case_of(*model, model->picture, 2), changes[i].dump());
      check_parity(case_of(*model, {least, least + 9}, 3), changes[i].dump());
      check_parity(case_of(*model, {2 * least + 1, least}, 1), changes[i].dump());
    }
  }

  void a_folder_holds_what_the_preset_draws() {
    const auto preset = open_model("preset:patch-mixture");
    const Scratch scratch;
    const auto stored = open_model(write_model(scratch, preset_config("patch-mixture"), *preset));
    QCOMPARE(stored->parameters, preset->parameters);
    QVERIFY(stored->warnings.empty());
    for (const PictureSize size : {PictureSize{64, 64}, {30, 47}}) {
      const RandomCase a = case_of(*preset, size, 2), b = case_of(*stored, size, 2);
      const auto x = Oracle<float>(a.graph, *a.weights).run(testing::oracle_inputs(a), a.bindings),
                 y = Oracle<float>(b.graph, *b.weights).run(testing::oracle_inputs(b), b.bindings);
      QCOMPARE(x.output("picture").reals, y.output("picture").reals);
    }
  }

  void keys_that_nothing_reads_are_named() {
    const auto preset = open_model("preset:patch-mixture");
    const Scratch scratch;
    Json config = preset_config("patch-mixture");
    config["patch_strid"] = 12, config["norm"] = "layer";
    config["architectures"] = {"PatchMixture"}, config["_name_or_path"] = "x";
    const std::string folder = write_model(scratch, config, *preset);
    const auto model = open_model(folder);
    QCOMPARE(model->warnings.size(), size_t{1});
    QVERIFY2(model->warnings[0].starts_with(
                 folder + "/config.json: nothing reads \"norm\", \"patch_strid\"; the keys of patch_mixture are "),
             model->warnings[0].c_str());
    QVERIFY2(model->warnings[0].find("patch_stride") != std::string::npos, model->warnings[0].c_str());
  }

  void bad_configurations_are_one_line() {
    const auto preset = open_model("preset:patch-mixture");
    const Scratch scratch;
    const std::vector<std::pair<Json, std::string>> wrong = {
        {{{"patch_size", 0}}, "patch_size"},
        {{{"patch_size", 300}}, "patch_size"},
        {{{"patch_stride", 17}}, "patch_stride"},
        {{{"upscale", 9}}, "upscale"},
        {{{"image_size", 15}}, "image_size"},
        {{{"image_size", {64, 64, 3}}}, "image_size"},
        {{{"image_size", "large"}}, "image_size"},
        {{{"image_size", {64, 1e9}}}, "image_size"},
        {{{"branch_channels", Json::array()}}, "branch_channels"},
        {{{"branch_channels", std::vector<int>(65, 1)}}, "branch_channels"},
        {{{"branch_channels", {4, 0, 4}}}, "branch_channels"},
        {{{"branch_blocks", {1, 2}}}, "branch_blocks"},
        {{{"branch_blocks", {0, -1, 2}}}, "branch_blocks"},
        {{{"hidden_act", "tanh"}}, "hidden_act"},
        {{{"num_channels", 65}}, "num_channels"},
        {{{"router_channels", 0}}, "router_channels"},
        {{{"branch_channels", nullptr}}, "branch_channels"},
    };
    for (const auto& [changes, key] : wrong) {
      Json config = preset_config("patch-mixture");
      config.update(changes);
      const std::string folder = write_model(scratch, config, *preset), file = folder + "/config.json";
      VERIFY_BAD_INPUT(open_model(folder), file, key);
    }
    // Weights that do not fit the configuration.
    Json config = preset_config("patch-mixture");
    config["branch_channels"] = {4, 8, 17};
    VERIFY_BAD_INPUT(open_model(write_model(scratch, config, *preset)), scratch.path("model/model.safetensors"),
                     "branches.2.first.weight");
  }
};

STORMCELL_TEST(PatchMixtureTest)
#include "patch_mixture_test.moc"

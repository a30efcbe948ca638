// The network of gated paths: its counts at the paper's scale, batches and sizes of pictures, nodes that nothing
// reaches, and configurations that are refused.
#include "core/graph/roles.h"
#include "core/models/dynamic_routing_plan.h"
#include "tests/core/models/configuration_complaint.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/relative_difference.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

std::shared_ptr<const Model> fixture(const char* name) {
  return open_model(reference_path(std::string("dynamic-routing/") + name));
}

std::map<std::string, int64_t> routers_of(const Graph& graph) {
  std::map<std::string, int64_t> count;  // by what they decide: the last part of the name
  for (const Node& n : graph.nodes)
    if (n.op->role == Role::route) ++count[n.name.substr(n.name.rfind('.') + 1)];
  return count;
}

ModelInputs pictures(PictureSize size, int64_t count, int64_t channels = 3) {
  ModelInputs in;
  in.sequences = count;
  std::vector<float>& pixels = in.reals["pixels"];
  for (int64_t i = 0; i < count * size.pixels() * channels; ++i)
    pixels.push_back(static_cast<float>(i % 7) / 7 * static_cast<float>(1 + i / (size.pixels() * channels)) /
                     static_cast<float>(count));
  return in;
}

}  // namespace

class DynamicRoutingTest : public QObject {
  Q_OBJECT
 private slots:
  /// From Brainstorm (OSDI'23), as docs/decisions/035-dynamic-routing.md has it.
  void the_paper_s_grid_has_its_counts() {
    const dynamic_routing::Settings s;
    int64_t cells = 0, routers = 0, ways = 0;
    for (int64_t layer = 0; layer <= s.layers; ++layer)
      for (int64_t level = 0; level < s.nodes(layer); ++level) {
        const size_t of = s.ways({layer, level}).size();
        ++cells;
        ways += static_cast<int64_t>(of);
        routers += of > 1 ? 2 : 1;
      }
    QCOMPARE(cells, int64_t{62});
    QCOMPARE(routers, int64_t{120});
    QCOMPARE(ways, int64_t{149});
    const std::vector<PictureSize> sizes = level_sizes(s, {256, 512});
    QCOMPARE(sizes, (std::vector<PictureSize>{{256, 512}, {128, 256}, {64, 128}, {32, 64}}));
    QCOMPARE(gate_size(s, sizes[1]), (PictureSize{32, 64}));
  }

  /// From Brainstorm (OSDI'23): 62 cells, 120 routers, the stem's maps, 19 maps of the picture's size, 17.6 M
  /// parameters of cells.
  void presets_are_the_paper_s_network() {
    for (const char* arch : {"a", "b", "c", "raw"}) {
      const auto model = open_model(std::string("preset:dynamic-routing-") + arch);
      QCOMPARE(model->origin, WeightOrigin::calibrated);
      QCOMPARE(routers_of(*model->forward),
               (std::map<std::string, int64_t>{{"compute", 62}, {"reached", 61}, {"ways", 58}}));
      int64_t parameters = 0;
      std::map<std::string, std::vector<Dim>> stem;
      for (const Node& n : model->forward->nodes) {
        if (n.name.starts_with("stem.")) stem[n.name] = model->forward->value(n.outputs[0]).type.content;
        if (!n.name.starts_with("cells.")) continue;
        for (const ValueId v : n.inputs)
          if (const Value& value = model->forward->value(v); value.kind == ValueKind::weight) {
            const WeightInfo& info = *model->weights->find(weight_text(value));
            // A norm's gain is within the weight, its shift within the bias.
            const bool normed = n.op->name == "conv2d" && info.shape.size() == 1;
            parameters += info.elements() * (normed ? 2 : 1);
          }
      }
      QCOMPARE(parameters, int64_t{17'585'397});
      QCOMPARE(stem["stem.0"], (std::vector<Dim>{511, 1023, 64}));
      QCOMPARE(stem["stem.2.pointwise"], (std::vector<Dim>{256, 512, 64}));
      QCOMPARE(model->forward->value(model->forward->outputs[0].value).type.content,
               (std::vector<Dim>{1024, 2048, 19}));
    }
  }

  void routers_of_arrivals_are_there_where_unreached_nodes_are_skipped() {
    const auto skips = routers_of(*fixture("three-levels")->forward),
               zeros = routers_of(*fixture("unreached-run-on-zeros")->forward);
    QCOMPARE(skips, (std::map<std::string, int64_t>{{"compute", 12}, {"reached", 11}, {"ways", 9}}));
    QCOMPARE(zeros, (std::map<std::string, int64_t>{{"compute", 12}, {"ways", 9}}));
    QCOMPARE(routers_of(*fixture("one-level")->forward),
             (std::map<std::string, int64_t>{{"compute", 4}, {"reached", 3}}));
  }

  /// A picture's logits and paths are its own, whatever others are in the batch.
  void pictures_of_a_batch_do_not_know_one_another() {
    const auto model = fixture("three-levels");
    const ModelInputs all = read_inputs(reference_path("dynamic-routing/three-levels/input.safetensors"));
    const auto together = run_oracle<float>(*model, *model->forward, all);
    const std::vector<float>& maps = together.output("logits").reals;
    const size_t map = maps.size() / static_cast<size_t>(all.sequences),
                 pixels = all.reals.at("pixels").size() / static_cast<size_t>(all.sequences);
    for (size_t i = 0; i < static_cast<size_t>(all.sequences); ++i) {
      ModelInputs one;
      one.sequences = 1;
      const auto begin = all.reals.at("pixels").begin() + static_cast<std::ptrdiff_t>(i * pixels);
      one.reals["pixels"].assign(begin, begin + static_cast<std::ptrdiff_t>(pixels));
      const auto alone = run_oracle<float>(*model, *model->forward, one);
      const auto first = maps.begin() + static_cast<std::ptrdiff_t>(i * map);
      QVERIFY(relative_difference(alone.output("logits").reals,
                                  std::vector<float>(first, first + static_cast<std::ptrdiff_t>(map))) < 1e-6);
    }
  }

  void pictures_of_any_size_fit() {
    for (const char* name : {"three-levels", "odd-sides-full-gates"}) {
      const auto model = fixture(name);
      for (const PictureSize size : {PictureSize{8, 8}, {9, 31}, {40, 12}}) {
        const auto graph = model->forward_for(size);
        const auto result = run_oracle<float>(*model, *graph, pictures(size, 2));
        QCOMPARE(static_cast<int64_t>(result.output("logits").reals.size()), 2 * size.pixels() * 5);
      }
    }
  }

  void pictures_of_all_sizes_have_the_same_nodes() {
    const auto model = fixture("three-levels");
    const auto nodes = [&](PictureSize size) {
      std::vector<std::string> list;
      const auto graph = model->forward_for(size);
      for (const Node& n : graph->nodes) list.push_back(std::string(n.op->name) + " " + n.name);
      return list;
    };
    // At the least ones levels are as large as each other.
    for (const PictureSize size : {PictureSize{8, 8}, {16, 16}, {8, 64}, {33, 47}})
      QVERIFY(nodes(size) == nodes({256, 256}));
  }

  void what_is_wrong_is_refused_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* config, const char* says) {
      QTest::newRow(name) << config << says;
    };
    row("fewer layers than levels to reach", R"("num_levels": 4, "num_layers": 2)",
        "at least 3: each layer reaches one level more");
    row("an odd width", R"("stem_channels": 7)", "an even number");
    row("too wide", R"("stem_channels": 1024, "num_levels": 4)", "at most 4096 channels at the coarsest level");
    row("an unknown gate", R"("gate": "tiny")", "small or full");
    row("an unknown reading", R"("unreached": "none")", "skip or zeros");
    row("a threshold above every gate", R"("threshold": 1.5)", "1");
    row("a threshold that a closed gate is not below", R"("num_levels": 1, "num_layers": 3, "threshold": 0)", "1e-12");
    row("a threshold below 0", R"("threshold": -0.1)", "1e-12");
    row("a tiny picture", R"("image_size": 4)", "8");
    row("three sides", R"("image_size": [32, 32, 32])", "one side, or [height, width]");
  }
  void what_is_wrong_is_refused() {
    QFETCH(QString, config);
    QFETCH(QString, says);
    const QString came = QString::fromStdString(configuration_complaint("dynamic_routing", config.toStdString()));
    QVERIFY2(came.contains(says), qPrintable(came));
  }
  void missing_tensors_are_named() {
    const std::string came = configuration_complaint("dynamic_routing", R"("stem_channels": 4)");
    QVERIFY2(came.find("pixels.mean") != std::string::npos, came.c_str());
  }
};
STORMCELL_TEST(DynamicRoutingTest)
#include "dynamic_routing_test.moc"

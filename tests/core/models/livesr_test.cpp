// The network of patches and clusters: its counts at the paper's scale, frames of any size, both borders, and
// configurations that are refused.
#include "core/cell/protocol.h"
#include "core/graph/roles.h"
#include "tests/core/models/configuration_complaint.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::livesr_test {
namespace {

const std::string kSmall =
    R"("patch_size": 12, "patch_stride": 10, "num_subnets": 2, "subnet_blocks": 1, "subnet_channels": 2,)"
    R"( "classifier_channels": [3, 4], "upscale": 2)";

std::shared_ptr<const Model> fixture(const char* name) {
  return open_model(reference_path(std::string("livesr/") + name));
}

int64_t extent(const Graph& graph, ValueId v, size_t i) { return graph.value(v).type.content[i].constant(); }

}  // namespace

class LivesrTest : public QObject {
  Q_OBJECT
 private slots:
  void frames_of_any_size_fit() {
    for (const auto& [name, upscale, cut] : {std::tuple{"two-frames", 2, false}, {"cut-at-the-border", 4, true}}) {
      const auto model = fixture(name);
      for (const PictureSize size : {PictureSize{12, 12}, {13, 31}, {32, 22}}) {
        const auto graph = model->forward_for(size);
        const ValueId picture = graph->outputs[0].value;
        const auto reached = [&, &cut = cut](int64_t side) { return cut ? (side - 12) / 10 * 10 + 12 : side; };
        QCOMPARE(extent(*graph, picture, 0), reached(size.height) * upscale);
        QCOMPARE(extent(*graph, picture, 1), reached(size.width) * upscale);
        ModelInputs in;
        in.sequences = 2;
        in.reals["pixels"].assign(static_cast<size_t>(2 * size.pixels() * 3), 0.5F);
        const auto result = run_oracle<float>(*model, *graph, in);
        const int64_t pixels = reached(size.height) * reached(size.width) * upscale * upscale;
        QCOMPARE(static_cast<int64_t>(result.output("picture").reals.size()), 2 * pixels * 3);
      }
    }
  }

  void the_nearest_centre_takes_the_patch_whatever_its_distance() {
    const auto model = fixture("two-frames");
    model->forward->for_each_node([&](NodeId id, int) {
      const Node& n = model->forward->node(id);
      if (n.op->role != Role::route) return;
      QCOMPARE(n.attributes.word("protocol"), std::string("top-k"));
      QCOMPARE(model->forward->value(n.outputs[0]).branches, 3);
    });
  }

  /// From Brainstorm (OSDI'23): 165 convolutions and 99 K parameters a network of 8 channels, 88 patches.
  void presets_are_the_paper_s_network() {
    for (const auto& [channels, parameters] : {std::pair{8, 99'139}, {12, 221'715}, {16, 392'963}, {20, 612'883}})
      for (const int networks : {4, 10}) {
        const auto model = open_model("preset:livesr-k" + std::to_string(networks) + "-f" + std::to_string(channels));
        QCOMPARE(model->origin, WeightOrigin::calibrated);
        QCOMPARE(model->picture, (PictureSize{240, 320}));
        int64_t convolutions = 0, numbers = 0;
        for (const Node& n : model->forward->nodes)
          if (n.op->name == "conv2d" && n.name.starts_with("subnets.3.")) {
            ++convolutions;
            for (const size_t i : {size_t{1}, size_t{2}})
              numbers += model->weights->find(weight_text(model->forward->value(n.inputs[i])))->elements();
          }
        QCOMPARE(convolutions, int64_t{165});
        QCOMPARE(numbers, int64_t{parameters});
        QCOMPARE(extent(*model->forward, model->forward->outputs[0].value, 0), int64_t{228 * 4});
        for (const CellSpace& space : model->forward->spaces)
          if (space.kind == SpaceKind::dense) QCOMPARE(space.per_parent, Dim(88));
      }
  }

  void what_is_wrong_is_refused_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* config, const char* says) {
      QTest::newRow(name) << config << says;
    };
    row("gaps between patches", R"("patch_size": 12, "patch_stride": 13)", "12");
    row("an upscale that is not a power of two", R"("upscale": 3)", "1, 2, 4, 8 or 16");
    row("channels of other networks", R"("num_subnets": 3, "subnet_channels": [8, 8])",
        "one number, or one for each of 3 networks");
    row("blocks of other networks", R"("num_subnets": 3, "subnet_blocks": [8, 8])",
        "one number, or one for each of 3 networks");
    row("no network", R"("num_subnets": 0)", "1");
    row("blocks of other stages", R"("classifier_blocks": [2, 2])", "as many numbers as classifier_channels has: 4");
    row("a patch without a window", R"("patch_size": 4)", "5 or more with a pooled stem");
    row("an unknown border", R"("border": "pad")", "shift or cut");
    row("an unknown normalization", R"("normalization": "imagenet")", "standardize or none");
    row("a picture smaller than a patch", R"("image_size": 16)", "32");
  }
  void what_is_wrong_is_refused() {
    QFETCH(QString, config);
    QFETCH(QString, says);
    const QString came = QString::fromStdString(configuration_complaint("livesr", config.toStdString()));
    QVERIFY2(came.contains(says), qPrintable(came));
  }
  void missing_tensors_are_named() {
    const std::string came = configuration_complaint("livesr", kSmall);
    QVERIFY2(came.find("pixels.mean") != std::string::npos, came.c_str());
  }
};

STORMCELL_TEST(LivesrTest)

}  // namespace stormcell::testing::livesr_test

#include "livesr_test.moc"

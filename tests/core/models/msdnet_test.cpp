// The network with exits: its counts at the paper's scale, what its graph is, pictures of any size, and configurations
// that are refused.
#include <nlohmann/json.hpp>

#include "core/graph/operator.h"
#include "core/graph/roles.h"
#include "core/models/msdnet_plan.h"
#include "tests/core/formats/scratch.h"
#include "tests/core/models/configuration_complaint.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

msdnet::Settings paper() {
  msdnet::Settings s;
  s.factors = s.bottlenecks = {1, 2, 4, 4};
  s.block_layers = {4, 4, 4, 4, 4};
  s.thresholds = {2, 2, 2, 2};
  return s;
}

}  // namespace

class MsdnetTest : public QObject {
  Q_OBJECT
 private slots:
  /// From Brainstorm (OSDI'23), as docs/decisions/030-msdnet.md has them.
  void the_paper_s_network_has_its_counts() {
    const msdnet::Plan plan = msdnet::plan(paper());
    int64_t convolutions = 0, parameters = 0;
    std::vector<int64_t> until_exit;
    plan.visit([&](const msdnet::Convolution& c) {
      ++convolutions;
      parameters += c.out * (c.in * c.size * c.size + 2 + (c.bias ? 1 : 0));  // with gain and shift of its norm
    });
    int64_t seen = static_cast<int64_t>(plan.stem.size());
    for (const msdnet::Block& block : plan.blocks) {
      msdnet::Plan alone;
      alone.blocks = {block};
      alone.visit([&](const msdnet::Convolution&) { ++seen; });
      until_exit.push_back(seen);
      parameters += block.features * 1000 + 1000;
    }
    QCOMPARE(convolutions, int64_t{186});
    QCOMPARE(until_exit, (std::vector<int64_t>{62, 113, 151, 176, 186}));
    QCOMPARE(parameters, int64_t{23'958'440});
    QCOMPARE(plan.blocks.back().features, int64_t{560});
  }

  void presets_are_the_paper_s_network() {
    for (int e = 1; e <= 8; ++e) {
      const auto model = open_model("preset:msdnet-e" + std::to_string(e));
      QCOMPARE(model->origin, WeightOrigin::calibrated);
      QCOMPARE(model->picture, (PictureSize{224, 224}));
      int64_t convolutions = 0, routers = 0;
      std::vector<std::string> at_exits;
      model->forward->for_each_node([&](NodeId id, int) {
        const Node& n = model->forward->node(id);
        convolutions += n.op->name == "conv2d";
        routers += n.op->role == Role::route;
      });
      QCOMPARE(convolutions, int64_t{186});
      QCOMPARE(routers, int64_t{4});
      QCOMPARE(model->parameters / 100'000, int64_t{239});  // gains of norms are within the weights
    }
  }

  void what_was_fitted_to_one_seed_is_called_so_for_it_alone() {
    ModelOptions other;
    other.seed = 1;
    QCOMPARE(open_model("preset:msdnet-e4", other)->origin, WeightOrigin::seeded);
  }

  void maps_at_the_exits_are_the_paper_s() {
    const auto model = open_model("preset:msdnet-e1");
    std::vector<std::vector<std::string>> flows;
    model->forward->for_each_node([&](NodeId id, int) {
      const Node& n = model->forward->node(id);
      if (n.op->role != Role::open) return;
      const TensorType& type = model->forward->value(n.outputs[0]).type;
      if (type.content.size() == 1) return void(flows.emplace_back());
      QCOMPARE(type.content[0].constant(), type.content[1].constant());
      flows.back().push_back(std::to_string(type.content[2].constant()) + "@" +
                             std::to_string(type.content[0].constant()));
    });
    QCOMPARE(flows.size(), size_t{4});
    QCOMPARE(flows[0], (std::vector<std::string>{"96@56", "192@28", "384@14", "384@7"}));
    QCOMPARE(flows[1], (std::vector<std::string>{"192@28", "384@14", "384@7"}));
    QCOMPARE(flows[2], (std::vector<std::string>{"352@14", "352@7"}));
    QCOMPARE(flows[3], (std::vector<std::string>{"304@7"}));
  }

  void pictures_of_any_size_fit() {
    const auto model = open_model(reference_path("msdnet/plain-stem-odd-sides"));
    for (const PictureSize size : {PictureSize{8, 8}, {9, 31}, {40, 12}}) {
      const auto graph = model->forward_for(size);
      ModelInputs in;
      in.sequences = 2;
      in.reals["pixels"].assign(static_cast<size_t>(2 * size.pixels() * 3), 0.5F);
      const auto result = run_oracle<float>(*model, *graph, in);
      QCOMPARE(result.output("logits").reals.size(), size_t{14});
    }
  }

  void classes_have_the_names_of_id2label() {
    const std::string from = reference_path("msdnet/one-scale/");
    const auto with = [&](const nlohmann::json& names) {
      const Scratch scratch;
      nlohmann::json config = nlohmann::json::parse(Scratch::read(from + "config.json"));
      config["num_labels"] = 7;
      config["id2label"] = names;
      scratch.write("config.json", config.dump());
      scratch.write("model.safetensors", Scratch::read(from + "model.safetensors"));
      return open_model(scratch.path(""));
    };
    const auto plain = open_model(from);
    QVERIFY(plain->classes.empty());
    QVERIFY(plain->answer.task == Task::classification && plain->answer.output == "logits" &&
            plain->answer.classes == 7);
    nlohmann::json names = {{"0", "a"}, {"1", "crane"}, {"2", "c"}, {"3", "d"}, {"4", "crane"}, {"5", "f"}, {"6", "g"}};
    const std::vector<std::string> told{"a", "crane (1)", "c", "d", "crane (4)", "f", "g"};
    QCOMPARE(with(names)->classes, told);
    QCOMPARE(with({"a", "crane", "c", "d", "crane", "f", "g"})->classes, told);
    names["6"] = 6;
    QVERIFY_THROWS_EXCEPTION(Error, with(names));
    names.erase("6"), names["7"] = "g";
    QVERIFY_THROWS_EXCEPTION(Error, with(names));
    QVERIFY_THROWS_EXCEPTION(Error, with({"a", "b"}));
  }

  void what_is_wrong_is_refused_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* config, const char* says) {
      QTest::newRow(name) << config << says;
    };
    row("too few thresholds", R"("exit_thresholds": [0.5])", "4 numbers, one for each block but the last");
    row("a threshold below -1", R"("exit_thresholds": [0.5, 0.5, 0.5, -2])", "numbers from -1 to 2 (");
    row("a threshold above 2", R"("exit_thresholds": [0.5, 0.5, 0.5, 1000])", "numbers from -1 to 2 (");
    row("a threshold that is none", R"("exit_thresholds": [0.5, 0.5, "half", 1])", "numbers from -1 to 2 (");
    row("fewer layers than scales", R"("block_layers": [1, 2])", "at least as many as scales");
    row("an odd half", R"("growth_rate": 3, "scale_factors": [1, 1])", "an even number of channels");
    row("bottlenecks of other scales", R"("bottleneck_factors": [1, 2])", "as many numbers as scale_factors has: 4");
    row("an unknown stem", R"("stem": "wide")", "pooled");
    row("the other pruning", R"("prune": "min")", "max");
    row("a reduction that leaves nothing", R"("reduction": 0.016, "initial_channels": 8, "growth_rate": 4)",
        "a share that leaves a channel");
    row("a tiny picture", R"("image_size": 4)", "8");
  }
  void what_is_wrong_is_refused() {
    QFETCH(QString, config);
    QFETCH(QString, says);
    const QString came = QString::fromStdString(configuration_complaint("msdnet", config.toStdString()));
    QVERIFY2(came.contains(says), qPrintable(came));
  }
};
STORMCELL_TEST(MsdnetTest)
#include "msdnet_test.moc"

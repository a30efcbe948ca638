// Windows with experts: the counts of the paper's network, which windows are shifted, what both readings of open
// definitions make of the graph, and configurations that are refused.
#include <algorithm>

#include "core/cell/capacity.h"
#include "core/cell/protocol.h"
#include "core/graph/patch_grid.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"
#include "core/graph/window_grid.h"
#include "tests/core/models/configuration_complaint.h"
#include "tests/core/models/model_run.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

const std::string kSmall =
    R"("image_size": 16, "patch_size": 2, "depths": [2, 2], "num_heads": 2, "embed_dim": 4, "window_sizes": 4)";

std::vector<Node> nodes_of(const Graph& graph, std::string_view op) {
  std::vector<Node> nodes;
  graph.for_each_node([&](NodeId id, int) {
    if (graph.node(id).op->name == op) nodes.push_back(graph.node(id));
  });
  return nodes;
}

std::shared_ptr<const Model> fixture(const std::string& name) { return open_model(reference_path("swin-moe/" + name)); }

}  // namespace

class SwinMoeTest : public QObject {
  Q_OBJECT
 private slots:
  /// As docs/decisions/036-swinv2-moe.md has it: windows of a picture 16 / 4 / 1 / 1, ten layers of experts, places by
  /// capacity factor.
  void presets_are_the_paper_s_network() {
    const std::vector<std::pair<std::string, std::pair<int32_t, int32_t>>> capacities = {
        {"1.25", {1440, 360}}, {"2", {2304, 576}}, {"3", {3456, 864}}, {"4", {4608, 1152}}};
    for (const auto& [factor, places] : capacities) {
      const auto model = open_model("preset:swinv2-moe-small-c" + factor);
      QCOMPARE(model->picture, (PictureSize{192, 192}));
      std::vector<int64_t> windows, blocks;
      for (const Node& n : nodes_of(*model->forward, "window_attention")) {
        const int64_t of_picture = window_grid_of(n).windows();
        if (n.name.find(".blocks.0.") != std::string::npos) windows.push_back(of_picture), blocks.push_back(0);
        ++blocks.back();
      }
      QCOMPARE(windows, (std::vector<int64_t>{16, 4, 1, 1}));
      QCOMPARE(blocks, (std::vector<int64_t>{2, 2, 18, 2}));
      const std::vector<Node> routers = nodes_of(*model->forward, "route");
      QCOMPARE(routers.size(), size_t{10});
      for (const Node& n : routers) {
        const Protocol protocol = protocol_of(n.attributes);
        QCOMPARE(protocol.kind, ProtocolKind::batch_prioritized);
        const bool last = n.name.starts_with("stages.3.");
        QCOMPARE(capacity_of(protocol.capacity_factor, last ? 4608 : 18432, 16), last ? places.second : places.first);
      }
    }
  }
  /// Biases of the first layer of each MLP, none of the second; of the position MLP what it makes counts, a number a
  /// place and head.
  void the_paper_s_network_has_its_parameters() {
    const auto model = open_model("preset:swinv2-moe-small-c1.25");
    int64_t expected = 2 * 3 + 96 * 48 + 96 + 2 * 96 + 2 * 768 + 21841 * 769;
    const auto stage = [&](int64_t width, int64_t heads, int64_t places, int64_t blocks, int64_t sparse) {
      const int64_t attention = 4 * width * (width + 1) + places * heads, mlp = 8 * width * width + 4 * width;
      expected += blocks * (attention + 4 * width) + (blocks - sparse) * mlp + sparse * (16 * mlp + 16 * (width + 1));
      if (width > 96) expected += 2 * 2 * width + 2 * width * width;
    };
    stage(96, 3, 23 * 23, 2, 0), stage(192, 6, 23 * 23, 2, 0), stage(384, 12, 23 * 23, 18, 9),
        stage(768, 24, 11 * 11, 2, 1);
    QCOMPARE(model->parameters, expected);
  }

  void every_second_block_is_shifted_where_there_are_several_windows() {
    const auto model = fixture("three-stages-odd-windows");
    std::vector<std::vector<int64_t>> shifts;
    for (const Node& n : nodes_of(*model->forward, "window_attention")) {
      const WindowGrid grid = window_grid_of(n);
      shifts.push_back({grid.shift_height, grid.shift_width});
    }
    QCOMPARE(shifts, (std::vector<std::vector<int64_t>>{{0, 0}, {1, 1}, {0, 0}, {0, 0}, {0, 1}}));
  }
  void windows_are_no_larger_than_their_grid() {
    const auto model = fixture("one-picture-whole-windows");
    std::vector<int64_t> cells;
    for (const Node& n : nodes_of(*model->forward, "window_attention")) cells.push_back(window_grid_of(n).cells());
    QCOMPARE(cells, (std::vector<int64_t>{16, 16, 4, 4}));
  }
  /// By which tokens of every stage are told by row and column.
  void tokens_of_every_stage_lie_in_a_grid() {
    const auto model = fixture("two-stages");
    std::vector<std::pair<std::string, int64_t>> columns;
    for (const SpaceId space : model->forward->spaces.ids())
      if (model->forward->space(space).kind == SpaceKind::dense)
        columns.emplace_back(model->forward->space(space).name, grid_columns(*model->forward, space));
    QCOMPARE(columns, (std::vector<std::pair<std::string, int64_t>>{{"patch", 12}, {"patch.1", 6}}));
  }
  void several_experts_a_token_have_no_capacity() {
    for (const Node& n : nodes_of(*fixture("two-experts-a-token")->forward, "route")) {
      const Protocol protocol = protocol_of(n.attributes);
      QCOMPARE(protocol.kind, ProtocolKind::top_k);
      QVERIFY(protocol.k == 2 && protocol.renormalize);
    }
  }
  void without_a_key_experts_stand_in_every_second_block_of_the_last_two_stages() {
    const auto model = open_model("preset:swinv2-moe-small-c1.25");
    std::vector<std::string> names;
    for (const Node& n : nodes_of(*model->forward, "route")) names.push_back(n.name);
    QVERIFY(std::find(names.begin(), names.end(), "stages.2.blocks.1.mlp") == names.begin());
    QVERIFY(names.back() == "stages.3.blocks.1.mlp");
  }

  void what_is_wrong_is_refused_data() {
    QTest::addColumn<QString>("config");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const char* config, const char* says) {
      QTest::newRow(name) << config << says;
    };
    row("sides that patches do not divide", R"("image_size": 190)", "sides of a multiple of patch_size: 4");
    row("windows that do not divide", R"("image_size": 224)",
        "windows that divide the grid of their stage, or hold it: 56 places in windows of 12");
    row("a grid of odd sides", R"("image_size": 36, "depths": [1, 1], "window_sizes": 9)", "a multiple of 8 pixels");
    row("heads of other stages", R"("num_heads": [3, 6])", "one number, or one for each of 4 stages");
    row("heads that do not divide", R"("num_heads": 5)", "numbers that divide the widths of their stages: 96");
    row("no hidden width", R"("mlp_ratio": 0.002)", "a hidden width of 1 or more");
    row("a window too large", R"("window_sizes": 65)", "64");
    row("a block that is not there", R"("moe_blocks": [24])", "23");
    row("places with two experts", R"("experts_per_token": 2, "capacity_factor": 1.25)",
        "0, so that places are not limited");
    row("more experts than there are", R"("num_experts": 2, "experts_per_token": 3)", "2");
    row("an unknown place of norms", R"("norm_place": "both")", "before or after");
    row("an unknown attention", R"("attention": "linear")", "scaled or cosine");
    row("an unknown order", R"("merge_order": "z")", "columns or rows");
    row("an unknown sign", R"("relative_place": "minus")", "query_minus_key or key_minus_query");
    row("unknown biases", R"("expert_bias": "second")", "none, first or both");
  }
  void what_is_wrong_is_refused() {
    QFETCH(QString, config);
    QFETCH(QString, says);
    const QString came = QString::fromStdString(configuration_complaint("swinv2_moe", config.toStdString()));
    QVERIFY2(came.contains(says), qPrintable(came));
  }
  void missing_tensors_are_named() {
    const std::string came = configuration_complaint("swinv2_moe", kSmall);
    QVERIFY2(came.find("pixels.mean") != std::string::npos, came.c_str());
  }
};
STORMCELL_TEST(SwinMoeTest)
#include "swin_moe_test.moc"

// Batches of pictures that the oracle is too slow for: some of their pictures are judged, as the plan ran them among
// all of the batch.
#include <functional>

#include "core/bench/plan_graphs.h"
#include "core/cpu/cpu_device.h"
#include "core/graph/roles.h"
#include "core/measuring/candidates.h"
#include "core/models/model.h"
#include "core/verification/batch_part.h"
#include "core/verification/verify.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::verify_part_test {
namespace {

/// An open state as Experiment::open() makes it, without what measures the machine.
struct Opened {
  Opened(const std::string& fixture, const std::string& data, int64_t batch, const std::string& dtype = {}) {
    s.options.model = reference_path(fixture);
    s.options.data = data, s.options.batch = batch, s.options.threads = 2;
    s.model = open_model(s.options.model);
    DataOptions options;
    options.inputs = s.model->inputs;
    options.batch = batch;
    s.data = Dataset::open(data, nullptr, options);
    s.device = std::make_unique<cpu::CpuDevice>(2);
    s.picture = s.data->sizes().back().size;
    s.graph = s.model->forward_for(s.picture);
    s.dtype = dtype.empty() ? s.model->dtype : *parse_dtype(dtype);
    s.store = std::make_unique<WeightStore>(*s.device, s.model->weights);
    s.memory = std::make_shared<SharedMemory>(*s.device);
  }
  ExperimentState s;
};

/// The seconds of an hour that the oracle takes for a picture.
VerifyOptions hour_with(const ExperimentState& s, double picture_seconds) {
  return {3600, 3600, true, picture_seconds / static_cast<double>(s.picture.pixels())};
}

/// Does `change` to each node of an operator in a plan's graph.
GraphOfSize changed(const ExperimentState& s, std::string_view op, const std::function<void(Node&)>& change) {
  return [right = plan_graphs(s, s.graph, {}), op, change](PictureSize size) {
    auto wrong = std::make_shared<Graph>(*right(size));
    for (Node& n : wrong->nodes)
      if (n.op->name == op) change(n);
    return std::shared_ptr<const Graph>(wrong);
  };
}

std::string all_reasons(const Verification& v) {
  std::string text;
  for (const std::string& reason : v.reasons) text += reason + "; ";
  return text;
}

}  // namespace

class VerifyPartTest : public QObject {
  Q_OBJECT
 private slots:
  void right_plans_are_judged_by_a_part_data() {
    QTest::addColumn<QString>("fixture");
    for (const char* name : {"swin-moe/capacity-drops-tokens", "swin-moe/two-experts-a-token", "msdnet/one-picture",
                             "msdnet/pooled-stem-three-scales", "livesr/two-frames", "dynamic-routing/three-levels"})
      QTest::newRow(name) << name;
  }
  void right_plans_are_judged_by_a_part() {
    QFETCH(QString, fixture);
    Opened opened(fixture.toStdString(), "random:12", 7);
    ForwardPass work(opened.s);
    const auto plan = work.make_baseline({}), baseline = work.make_baseline({});
    // A thousand of 3,600 seconds each: three pictures of the first batch, and none of the second.
    const Verification v = verify(work, *plan, baseline.get(), hour_with(opened.s, 1000), {});
    QVERIFY2(v.passed, all_reasons(v).c_str());
    QCOMPARE(QString::fromStdString(v.text),
             QString("3 of 7 pictures of batch 0 against the oracle, 2 of 2 batches against the baseline"));
    QVERIFY(v.batches == 1 && v.baseline_batches == 2 && v.parts.size() == 1);
    QVERIFY(v.parts[0].batch == 0 && v.parts[0].pictures == 3 && v.parts[0].of == 7);
    QVERIFY(v.max_rel_diff > 0 && !v.outputs.empty() && !v.routers.empty());
  }
  void there_is_at_least_one_picture_and_never_more_than_there_are() {
    Opened opened("msdnet/one-picture", "random:4", 4);
    ForwardPass work(opened.s);
    const auto plan = work.make_baseline({});
    const Verification one = verify(work, *plan, nullptr, hour_with(opened.s, 1e6), {});
    QVERIFY2(one.passed, all_reasons(one).c_str());
    QCOMPARE(QString::fromStdString(one.text), QString("1 of 4 pictures of batch 0 against the oracle"));
    const Verification all = verify(work, *plan, nullptr, hour_with(opened.s, 100), {});
    QVERIFY2(all.passed && all.parts.empty(), all_reasons(all).c_str());
    QCOMPARE(QString::fromStdString(all.text), QString("1 of 1 batches against the oracle"));
  }
  void every_size_is_judged_by_a_part() {
    QCOMPARE(parts_text({{0, 8, 128}}), std::string("8 of 128 pictures of batch 0"));
    QCOMPARE(parts_text({{0, 8, 128}, {3, 1, 2}}),
             std::string("8 of 128 pictures of batch 0 and 1 of 2 pictures of batch 3"));
    QCOMPARE(parts_text({{0, 8, 128}, {3, 1, 2}, {4, 1, 2}, {5, 1, 2}, {6, 1, 2}}),
             std::string("8 of 128 pictures of batch 0, 1 of 2 pictures of batch 3, 1 of 2 pictures of batch 4 and of "
                         "2 batches more"));
  }
  void pictures_are_spread_over_the_batch() {
    QCOMPARE(further_rows(1, 128), std::vector<int64_t>());
    QCOMPARE(further_rows(2, 128), std::vector<int64_t>{127});
    QCOMPARE(further_rows(4, 7), (std::vector<int64_t>{2, 4, 6}));
  }
  void a_format_is_judged_on_the_part() {
    Opened opened("swin-moe/capacity-drops-tokens", "random:7", 7, "bf16");
    ForwardPass work(opened.s);
    const auto plan = work.make_baseline({});
    opened.s.options.tolerance = 1;  // of no interest here
    const Verification v = verify(work, *plan, nullptr, hour_with(opened.s, 1000), {});
    QVERIFY2(v.passed, all_reasons(v).c_str());
    QVERIFY(v.format && v.format->max_rel_diff > 0 && v.format->choices > 0);
  }

  /// A decision that is left out is judged by what it would have been: of batches where all cells go where the plan
  /// takes them to go the answers count, and where one goes elsewhere the router is named.
  void decisions_that_are_left_out_are_judged_by_where_cells_go_data() {
    QTest::addColumn<double>("threshold");
    QTest::newRow("everybody leaves at the first exit") << -1.0;
    QTest::newRow("nobody does") << 2.0;
  }
  void decisions_that_are_left_out_are_judged_by_where_cells_go() {
    QFETCH(double, threshold);
    Opened opened("msdnet/one-picture", "random:12", 7);
    Graph graph = *opened.s.graph;
    int changed = 0;
    for (Node& n : graph.nodes)
      if (n.name == "exits.0.router") n.attributes.set("threshold", threshold), ++changed;
    QCOMPARE(changed, 1);
    opened.s.graph = std::make_shared<Graph>(graph);
    ForwardPass work(opened.s);
    const auto baseline = work.make_baseline({});
    const bool leave = threshold < 0;
    LoadProfile profile;
    profile.routers["exits.0.router"] = {{leave ? 12 : 0, leave ? 0 : 12}, 12, 2};
    PassSelection selection;
    selection.only = {"permanent-path"};
    selection.options["permanent-path"] = {{"approximate", "on"}, {"min-cells", "1"}};
    const auto judged = [&](bool as_profiled) {
      if (!as_profiled) std::swap(profile.routers["exits.0.router"].load[0], profile.routers["exits.0.router"].load[1]);
      const Candidates made = make_candidates(work, profile, select_passes(selection), OnTheirOwn::no, {});
      return verify(work, *made.plans.at(made.final_plan), baseline.get(), {3600, 3600, true, std::nullopt}, {});
    };
    const Verification right = judged(true);
    QVERIFY2(right.passed && right.parts.empty() && right.batches == 2, all_reasons(right).c_str());
    const Verification wrong = judged(false);
    QVERIFY(!wrong.passed);
    QCOMPARE(all_reasons(wrong),
             std::string("router exits.0.router, which the plan does not decide, sends 12 of 12 cells elsewhere; "));
  }

  /// A plan that is wrong is wrong in some of its pictures, too.
  void wrong_plans_fail_data() {
    QTest::addColumn<QString>("fixture");
    QTest::addColumn<QString>("op");
    QTest::addColumn<QString>("says");
    QTest::newRow("places of another capacity") << "swin-moe/capacity-drops-tokens"
                                                << "route"
                                                << "not follow its capacity";
    QTest::newRow("norms with another epsilon") << "swin-moe/capacity-drops-tokens"
                                                << "layer_norm"
                                                << "differs by";
    QTest::newRow("another threshold") << "msdnet/one-picture"
                                       << "route"
                                       << "scores of router exits.0.router differ";
    QTest::newRow("gates that close earlier") << "dynamic-routing/three-levels"
                                              << "route"
                                              << "without a near tie";
  }
  void wrong_plans_fail() {
    QFETCH(QString, fixture);
    QFETCH(QString, op);
    QFETCH(QString, says);
    Opened opened(fixture.toStdString(), "random:7", 7);
    ForwardPass work(opened.s);
    int done = 0;
    const auto plan = opened.s.make_plan("wrong",
                                         changed(opened.s, op.toStdString(),
                                                 [&](Node& n) {
                                                   ++done;
                                                   if (n.attributes.has("capacity_factor"))
                                                     n.attributes.set("capacity_factor", 0.5);
                                                   if (n.attributes.has("threshold"))
                                                     n.attributes.set("threshold", 0.9);
                                                   if (n.attributes.has("eps")) n.attributes.set("eps", 0.5);
                                                 }),
                                         0, {});
    QVERIFY(done > 0);
    const Verification v = verify(work, *plan, nullptr, hour_with(opened.s, 1000), {});
    QVERIFY(!v.passed);
    QVERIFY2(all_reasons(v).find(says.toStdString()) != std::string::npos, all_reasons(v).c_str());
    QCOMPARE(v.parts.size(), size_t{1});
  }
};
STORMCELL_TEST(VerifyPartTest)

}  // namespace stormcell::testing::verify_part_test
#include "verify_part_test.moc"

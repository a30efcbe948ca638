// The report is one well-formed page that refers to nothing, hides nothing and claims nothing that was not verified.
#include "core/report/report.h"

#include <QRegularExpression>

#include "core/base/error.h"
#include "core/experiment/experiment.h"
#include "core/profile/recorder.h"
#include "core/report/html.h"
#include "core/report/ticks.h"
#include "core/session/session_writer.h"
#include "core/summary/summary_json.h"
#include "tests/core/profile/synthetic.h"
#include "tests/core/report/figure_pages.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

const char* const kHostile = "<script>alert(\"1\")</script>&amp;'\x01\xff\xE2\x80\xAE]]>--";

}  // namespace

class ReportTest : public QObject, private testing::FigurePages {
  Q_OBJECT
 private slots:
  void it_is_well_formed_and_refers_to_nothing() {
    const std::string html = page(some_figures(), testing::two_stacks());
    QCOMPARE(flaw(html), QString());
    QVERIFY(html.starts_with("<!DOCTYPE html>"));
    const QString text = QString::fromStdString(html);
    QVERIFY(!text.contains(QRegularExpression("https?:", QRegularExpression::CaseInsensitiveOption)));
    QVERIFY(!text.contains(QRegularExpression(
        "<(script|link|img|iframe|object)|\\bsrc=|\\bhref=(?!\"data:image/png;base64,)|url\\(|@import")));
  }

  void every_part_is_there() {
    const std::string html = page(some_figures(), testing::two_stacks());
    for (const char* id :
         {"passes", "loads", "labels", "transitions", "memory", "operators", "guards", "proof", "settings"})
      QVERIFY2(has(html, std::string("<section id=\"") + id + "\""), id);
    QVERIFY(has(html, "1.94 times as fast"));
    QVERIFY(has(html, "<footer>") && has(html, "session ") && has(html, STORMCELL_VERSION));
    QVERIFY(has(html, "max |y − oracle|") && has(html, "−Σ p log₂ p") && has(html, "mean load − 1"));
  }

  void what_charts_show_stands_in_tables() {
    const std::string all = tables(page(some_figures(), testing::two_stacks()));
    for (const char* text : {"1.94 ×", "1.38 ×", "1.30 to 1.44", "1.81 to 2.06", "8.25 ms", "4.06 ms", "5.50 ms",
                             "78.6 %", "nothing to fuse", "1 of 13"})
      QVERIFY2(has(all, std::string(">") + text + "<"), text);
    QVERIFY(has(all, "Cells by router and branch") && has(all, "Flows from encoder.0.mlp to encoder.1.mlp") &&
            has(all, "Cells by label and branch of"));
  }

  /// A time limit can leave one batch, whose empty branches are not dead ones.
  void a_picture_of_a_part_of_the_data_says_so_itself() {
    const std::string whole = page(some_figures(), testing::two_stacks()),
                      part = page(some_figures(), testing::two_stacks(), 1);
    const char* mark = ">Only 1 of 6 batches: a branch that is empty here may have cells in the others.</text>";
    QVERIFY(has(part, mark) && !has(whole, "Only 1 of"));
    QVERIFY(has(part, ", of which this run recorded 1 batch.") && !has(whole, "of which this run recorded"));
    QCOMPARE(flaw(part), QString());
  }

  void task_quality_has_a_tile_and_a_part_of_its_own() {
    RunSummaryFigures f = some_figures();
    QVERIFY(!has(page(f, testing::two_stacks()), "id=\"quality\""));
    f.quality = QualityFigures{"classification", "accuracy", "share", "Wilson", "right", "picture", 1000, 12};
    f.quality->baseline = PlanQuality{0.989, {{0.9804, 0.9938}}, 1000, 989};
    f.quality->optimized = PlanQuality{0.99, {{0.9817, 0.9946}}, 1000, 990};
    f.quality->better = 2, f.quality->worse = 1;
    f.quality->groups = {{"<cat>", 400, 0.975, 0.98}, {"owl", 600, 1.0, {}}};
    const std::string html = page(f, testing::two_stacks()), all = tables(html);
    QCOMPARE(flaw(html), QString());
    QVERIFY(has(html, "<section id=\"quality\"") && has(html, "Accuracy, optimised"));
    for (const char* text : {"98.9 %", "98.0 % to 99.4 %", "990", "97.5 %", "&lt;cat&gt;"})
      QVERIFY2(has(all, std::string(">") + text + "<"), text);
    QVERIFY(has(html, "990 of 1,000 pictures right; &lt;cat&gt; 98.0 %; baseline 98.9 %"));
    QVERIFY(has(html, "the optimised plan answers 2 pictures better than the baseline and 1 worse"));
    QVERIFY(has(html, "95 % interval by Wilson; of 12 pictures more the data do not say what is right"));
  }

  void exits_and_the_dense_plan_are_told_as_what_they_are() {
    RunSummaryFigures f = some_figures();
    QVERIFY(!has(page(f, testing::two_stacks()), "id=\"exits\"") && !has(page(f, testing::two_stacks()), "Dense"));
    f.dense = PlanFigures{{17.5, 19, 16, 9}, 480, 0.5, 5000, 900};
    f.dense_baseline_ms = Latency{8.25, 9, 8, 18};
    f.routing_speedup = 2.125, f.routing_speedup_ci95 = {{2.0, 2.25}};
    f.exits = ExitCurve{"accuracy", "share", "picture", 1000, {0.9}};
    f.exits->exits = {{"exits.0.router", 0.4375, 800, 0.99, 0.97}, {"", 1, 200, 0.95, 0.985}};
    f.exits->chosen = {0.9, 0.55, 0.982, {{0.97, 0.99}}, {800, 200}};
    f.exits->curve = {
        {0, 0.4375, 0.97, {}, {1000, 0}}, {0.95, 0.75, 0.984, {}, {440, 560}}, {2, 1, 0.985, {}, {0, 1000}}};
    f.exits->classes = {{"<owl>", {7, 3}}};
    const std::string html = page(f, testing::two_stacks()), all = tables(html);
    QCOMPARE(flaw(html), QString());
    QVERIFY(has(html, "Dense, a batch") && has(html, "; the baseline in the same pairs 8.25 ms<"));
    QVERIFY(has(html,
                "17.5 ms a batch where the baseline took 8.25 ms in the same pairs: routing alone makes it 2.12x as "
                "fast [2, 2.25]"));
    QVERIFY(!has(all, ">dense<"));  // its times beside those of other executions would say another speed-up
    QVERIFY(has(
        html,
        "80.0 % of 1,000 pictures answer at exit 1, 20.0 % at the end: 55.0 % of the operations of the whole network"));
    QVERIFY(has(html, " answers 80.0 % of the pictures at the first exit.</h1>"));
    QVERIFY(has(html, "</strong> It needs 55.0 % of the operations of the whole network. <strong>"));
    QVERIFY(!has(html, "Thresholds for a target"));
    ExitTarget& t = f.exit_target.emplace();
    t.of = Bounded::quality, t.target = 0.98, t.met = true, t.is_optimum = true, t.measure = "accuracy",
    t.unit = "share", t.item = "picture";
    t.routers = {"exits.0.router"}, t.thresholds = {0.87}, t.own_thresholds = {0.9};
    t.fitted = {0.87, 0.5, 0.984, {{0.96, 0.99}}, {210, 40}};
    t.predicted = t.held_out = t.own = {0.87, 0.52, 0.981, {{0.97, 0.99}}, {640, 110}};
    const std::string targeted = page(f, testing::two_stacks());
    QCOMPARE(has(targeted, "</strong> Both with the thresholds that were found. It needs "), f.optimized.has_value());
    QVERIFY(has(targeted, " of the operations of the whole network over all 1,000 pictures. <strong>"));
    QVERIFY(has(all, ">exit 1 (<code>exits.0.router</code>)<"));
    QCOMPARE(flaw(targeted), QString());
    QVERIFY(!has(targeted, "Speed-up over the model as it came"));
    t.over_model_withheld = SpeedupWithheld{WithheldReason::few_pairs, 3};
    QVERIFY(has(page(f, testing::two_stacks()),
                "<dt>Speed-up over the model as it came</dt><dd>not measured well enough<small>3 pairs were measured"));
    t.over_model_withheld.reset();
    t.speedup_over_model = 2.5, t.speedup_over_model_ci95 = {{2.25, 2.75}}, t.held_out.items = {750, 0};
    const std::string gained = page(f, testing::two_stacks());
    QCOMPARE(flaw(gained), QString());
    for (const char* text : {"Speed-up over the model as it came", "exit 1 takes all 750 pictures",
                             "2.5 [2.25, 2.75] times as fast as the model as it came, with its own thresholds"})
      QVERIFY2(has(gained, text), text);
    for (const char* text :
         {"Thresholds for a target", "accuracy of at least 98.0 %", "0.87 at exit 1; the model's own: 0.9",
          "met on 750 pictures that it was not found on", "compares the plan with the oracle at these thresholds"})
      QVERIFY2(has(QString::fromStdString(targeted).replace("&#39;", "'").toStdString(), text), text);
    for (const char* text : {"43.8 %", "98.4 %", "560", "&lt;owl&gt;"})
      QVERIFY2(has(all, std::string(">") + text + "<"), text);
    for (const char* tick : {"97.0 %", "97.5 %", "98.5 %"})
      QVERIFY2(has(html, ">" + std::string(tick) + "</text>"), tick);
    QVERIFY(has(html, "accuracy against mean operations</text>") && has(html, "ring: 98.2 % at 55.0 %"));
    // No point of the curve has an interval here; the thresholds that ran have one.
    QVERIFY(!has(html, "class=\"band\"") && has(html, "<line class=\"ran\""));
    f.exits->curve[0].value_ci95 = {{0.95, 0.98}}, f.exits->curve[1].value_ci95 = {{0.97, 0.99}};
    QVERIFY(has(page(f, testing::two_stacks()), "class=\"band\""));
    // The axis says of which plan costs are; a point that another program gave no value is left out.
    QVERIFY(!has(html, ">as the optimised plan runs</text>"));
    f.exits->plan = CurvePlan::optimized, f.exits->curve[1].value.reset();
    const std::string gap = page(f, testing::two_stacks());
    QCOMPARE(flaw(gap), QString());
    QVERIFY(has(gap, ">as the optimised plan runs</text>"));
    const auto points = [](const std::string& text) {
      return QString::fromStdString(text).count("<circle class=\"bar\"");
    };
    QCOMPARE(points(gap), points(html) - 1);
  }

  void details_lie_folded_under_their_titles_and_figures_keep_their_units() {
    RunSummaryFigures f = some_figures();
    const std::string html = page(f, testing::two_stacks());
    for (const char* id : {"labels", "transitions", "memory", "operators", "guards", "proof", "settings"})
      QVERIFY2(has(html, std::string("<section id=\"") + id + "\" aria-labelledby=\"" + id +
                             "-title\">\n<details class=\"part\"><summary><h2"),
               id);
    QVERIFY(has(html, "<section id=\"passes\" aria-labelledby=\"passes-title\">\n<h2"));
    const QString kept =
        QString::fromStdString(report::keep_units("76.7 % of 60, 8.25 ms, 1 s, 3 steps, 2 x, 5.0 MiB"));
    QCOMPARE(kept, QString("76.7\u00a0% of 60, 8.25\u00a0ms, 1\u00a0s, 3 steps, 2 x, 5.0\u00a0MiB"));
  }

  void what_items_cost_is_told_where_it_is_verified() {
    RunSummaryFigures f = some_figures();
    QVERIFY(!has(page(f, testing::two_stacks()), "id=\"item-costs\"") &&
            !has(page(f, testing::two_stacks()), "Operations spent"));
    ItemCostFigures& c = f.item_costs.emplace();
    c.item = "picture", c.items = 90, c.operations = 5.5e6, c.operations_of_all = 1e7, c.share = 0.55,
    c.share_ci95 = {{0.5, 0.6}};
    c.quartiles = {0.45, 0.5, 0.6}, c.alike = true;
    c.least = {7, "picture 7", 4e6, 0.4}, c.most = {9, "<9>", 8e6, 0.8};
    c.groups = {{"<man>", {40, 0.7, {{0.65, 0.75}}}, ItemsSpent{50, 0.43, {{0.4, 0.46}}}, 0.386, {{0.3, 0.45}}}};
    f.dataset.note = "drawings & such";
    c.parts = PartsComputed{6.36, {{6.1, 6.6}}, 18};
    c.groups[0].with.parts = PartsComputed{9.52, {{9.25, 9.75}}, 18},
    c.groups[0].without->parts = PartsComputed{4.73, {}, 18};
    const std::string html = page(f, testing::two_stacks()), all = tables(html);
    QCOMPARE(flaw(html), QString());
    QVERIFY(has(html, " spends 38.6 % fewer operations on pictures without &lt;man&gt; than on those with it.</h1>"));
    QVERIFY(has(html,
                " It spends 38.6 % [30.0, 45.0] fewer operations on the 50 pictures without &lt;man&gt; than on the 40 "
                "with, and on "
                "average 55.0 % of what all branches would take. "));
    QVERIFY(has(html, "Operations spent") && has(html, "without &lt;man&gt; 43.0 %, with 70.0 %"));
    QVERIFY(has(html, "Parts computed") && has(html, "without &lt;man&gt; 4.73, with 9.52"));
    QVERIFY(has(html, "These are drawings &amp; such. "));
    for (const char* text :
         {"5.5 million on average, 55.0 % [50.0, 60.0] of the 10 million that all branches would take",
          "quartiles 45.0, 50.0 and 60.0 %; least 40.0 % (picture 7), most 80.0 % (&lt;9&gt;)", "&lt;man&gt;",
          "43.0 % [40.0, 46.0]", "38.6 % [30.0, 45.0] fewer",
          "6.36 [6.10, 6.60] on average of the 18 that routers may leave out",
          "without &lt;man&gt; 4.73, with 9.52 [9.25, 9.75]"})
      QVERIFY2(has(all, std::string(">") + text + "<"), text);
    f.verified->passed = false;
    QVERIFY(!has(page(f, testing::two_stacks()), " spends "));
  }

  void ticks_are_few_whatever_the_numbers() {
    QVERIFY(report::ticks(0, 1) == std::vector<double>({0, 0.2, 2 * 0.2, 3 * 0.2, 4 * 0.2, 1}));
    QVERIFY(report::ticks(-1e15, -1e15 + 0.25).size() <= 12 && report::ticks(1e15, 1e15 + 0.5).size() <= 12);
  }

  void placements_are_told_with_what_was_held_out_and_their_front() {
    page(some_figures(), testing::two_stacks());
    const std::string path = last_session();
    StoredPlacement stored;
    stored.run = 1, stored.name = kHostile, stored.solver = "hand", stored.layout = "{}";
    stored.summary =
        R"({"cluster":{"name":"8x-h100","nodes":1,"ranks":8},"slots":16,"moved_slots":3,"advice":"stay: nothing is cheaper",
      "unit":"tokens","steps":{"fit":70,"held_out":30},"held_out":"requests","backend":"per-rank","replicas":"nearest","residence":"home",
      "costed_steps":{"kind":"recorded","statistic":"p95","amortise":100},"sizes":{"source":"<b>config.json"},"warnings":["<i>one request"],
      "layouts":[{"name":"contiguous","fit":{"imbalance":0.5,"cross_pairs":0.875,"objective":null},"held_out":{"imbalance":0.25}},
                 {"name":"result","fit":{"imbalance":0.125,"objective":0.05},"held_out":{"imbalance":0.2}}, {"name":"of another version"}],
      "differences":[{"of":"result","from":"contiguous","drawn":"requests","imbalance":{"value":-0.05,"ci95":[-0.0625,-0.03]},"objective":null}],
      "front":[{"name":"eplb","fit":{"imbalance":0.1,"cross_pairs":0.9}},{"name":"joint","fit":{"imbalance":0.2,"cross_pairs":0.7}}]})";
    {
      SessionWriter writer(path, {"0123456789abcdef", some_figures().model.name, some_figures().model.family, "{}"});
      writer.add_placement(stored);
      writer.close();
    }
    const std::string html = written(path);
    QCOMPARE(flaw(html), QString());
    QVERIFY(has(html, "<section id=\"placements\"") &&
            has(html, "made by hand for 8x-h100, 8 GPUs in 1 node, 16 slots a layer"));
    const std::string all = tables(html);
    for (const char* text : {"contiguous", "0.500", "0.250", "0.875", "0.125", "joint"})
      QVERIFY2(has(all, std::string(">") + text + "<"), text);
    QVERIFY(has(html, "us a step, fitted") && has(all, ">50.0<"));  // in the unit of the advice
    QVERIFY(!has(all, "of another version") && has(html, "stay: nothing is cheaper"));
    // Before and after on what was held out, with their difference's interval; balance against traffic; what it is all
    // of.
    QVERIFY(has(html, "0.200 (−20.0 %)") && has(all, "−0.0625 to −0.0300") &&
            has(html, "aria-label=\"Imbalance against cross pairs"));
    for (const char* text : {"fitted to 70 tokens, judged on 30 that were held out, whole requests",
                             "the 95th percentile over recorded steps: dispatch",
                             "experts and combine of all layers, with the move shared over 100 steps",
                             "experts per-rank; they go to the nearest replicas",
                             "sizes of the model: &lt;b&gt;config.json", "&lt;i&gt;one request"})
      QVERIFY2(has(html, text), text);
  }

  void settings_stand_there_once_also_of_a_run_without_a_result() {
    RunSummaryFigures without = some_figures();
    without.settings.clear();
    for (const RunSummaryFigures& f : {some_figures(), without}) {
      const std::string html = page(f, testing::two_stacks());
      QCOMPARE(QString::fromStdString(html).count("<code>batch</code>"), 1);
      QVERIFY(!has(html, "settings.batch") && has(html, "Exact settings") && has(html, "<code>sequences</code>"));
      QVERIFY(!has(html, "did not keep its settings"));
    }
  }

  void a_budget_is_told_with_what_was_read_held_and_planned() {
    QVERIFY(!has(page(some_figures(), testing::two_stacks()), "id=\"budget\""));
    constexpr int64_t kMiB = int64_t{1} << 20;
    RunSummaryFigures f = some_figures();
    BudgetFigures& b = f.weight_budget.emplace();
    b.budget_bytes = 60 * kMiB, b.dense_bytes = 30 * kMiB, b.expert_bytes = 100 * kMiB, b.slot_bytes = 50 * kMiB,
    b.arena_bytes = 7 * kMiB;
    b.executions = 73, b.reads = 286, b.bytes_read = 18 * kMiB, b.evictions = 256, b.stall_seconds = 0.5, b.readers = 2;
    b.held_bytes = 97 * kMiB, b.held_counted = kHostile, b.peak_bytes = 99 * kMiB;
    f.baseline->weights_read = WeightsRead{9, 40, 5.0 * kMiB, 2.5, 0.303};
    f.optimized->weights_read = WeightsRead{8, 30, 0, 1.57, 0.25};
    const std::string html = page(f, testing::two_stacks()), all = tables(html);
    QCOMPARE(flaw(html), QString());
    QVERIFY(has(html, "<section id=\"budget\"") && has(html, "With a budget of 60.0 MiB for weights of branches"));
    QVERIFY(has(html, "there was room for 50.0 MiB at a time"));
    for (const char* cell :
         {"60.0 MiB", "100.0 MiB", "50.0 MiB", "30.0 MiB", "7.0 MiB", "87.0 MiB", "97.0 MiB", "99.0 MiB", "5.0 MiB",
          "2.50 ms", "1.57 ms", "30.3 %", "25.0 %", "drawn", "286", "256", "0.500 s"})
      QVERIFY2(has(all, std::string(">") + cell + "<"), cell);
    // The reads of an unverified plan belong to another computation.
    f.verified->passed = false;
    QVERIFY(!has(tables(page(f, testing::two_stacks())), ">1.57 ms<"));
  }

  void padding_is_spoken_of_where_there_is_some() {
    // The made-up batches have padding; those without a mask have none.
    QVERIFY(has(page(some_figures(), testing::two_stacks()), "padding left out, the table has it apart"));
    RunLayout layout;
    layout.spaces = {"items"};
    layout.routers.push_back({"router", 4, 1, "top-k", 0, "items"});
    const std::string path = folder_.filePath("unpadded.storm").toStdString();
    {
      SessionWriter writer(path, {"0123456789abcdef", "m", "f", "{}"});
      RunStart start;
      start.kind = "profile";
      start.layout = layout;
      auto run = writer.begin_run(start);
      Recorder recorder({run.get()});
      BatchRecord& batch = recorder.begin_batch();
      CellTable cells;
      cells.sequences = 4, cells.per_sequence = 1;
      batch.add_space(0, cells, {}, {});
      const std::vector<int32_t> choice = {0, 1, 1, 3};
      DecisionRecord d;
      d.router = 0, d.choice = choice;
      batch.add_decision(d);
      recorder.submit();
      recorder.finish();
      run->finish(RunStatus::finished, "");
      run.reset();
      writer.close();
    }
    const std::string html = written(path);
    QVERIFY(has(html, "Every decision of 1 batch counted."));
    QVERIFY(!has(html, "adding left out") && !has(html, "adding included") && !has(html, "leave padding out"));
  }

  void hostile_names_are_text() {
    RunSummaryFigures f = some_figures();
    f.model.name = f.model.family = f.dataset.name = f.device.name = f.passes[0].name = f.passes[0].reason = kHostile;
    f.verified->text = kHostile;
    f.warnings = {kHostile};
    RunLayout layout = testing::two_stacks();
    for (RouterInfo& r : layout.routers) r.name += kHostile;
    for (StepInfo& s : layout.steps) s.name = kHostile;
    const std::string html = page(f, layout, 6, {std::string(kHostile) + "a", std::string(kHostile) + "b"});
    QCOMPARE(flaw(html), QString());
    QVERIFY(!has(html, "<script") && !has(html, "\xE2\x80\xAE") && has(html, "&lt;script&gt;"));
  }

  void a_huge_run_stays_small() {
    RunLayout layout;
    layout.spaces = {"tokens"};
    for (int i = 0; i < 12; ++i)
      layout.routers.push_back({"model.layers." + std::to_string(i) + ".mlp", 256, 2, "top-k", 0, "decoder"});
    layout.steps = {{"guard", "guard", -1, -1, 0, 0}};
    std::vector<std::string> labels;
    for (int i = 0; i < 60; ++i) labels.push_back("label " + std::to_string(i));
    const std::string html = page(some_figures(), layout, 60, labels);
    QCOMPARE(flaw(html), QString());
    QVERIFY2(html.size() < 3'000'000, std::to_string(html.size()).c_str());
  }

  void what_stays_in_a_cache_has_no_share_above_the_limit() {
    RunSummaryFigures f = some_figures();
    f.baseline->limit_share = 1.03;
    f.baseline_operators = {{"scatter", 12, 2.0, 3.0}};
    const std::string html = page(f, testing::two_stacks());
    QVERIFY(has(html, "in cache") && !has(html, "103 %") && !has(html, "150 %"));
  }

  void what_a_run_has_not_is_left_out_and_said_in_a_sentence() {
    RunSummaryFigures f;
    f.verb = "run";
    f.model.name = "dense";
    RunLayout layout;
    layout.spaces = {"tokens"};
    layout.steps = {{"head", "product", -1, -1, 0, 0}};
    const std::string html = page(f, layout, 1, {});
    QCOMPARE(flaw(html), QString());
    for (const char* id : {"passes", "loads", "labels", "transitions", "memory", "operators", "proof"})
      QVERIFY2(!has(html, std::string("<section id=\"") + id), id);
    QVERIFY(has(html, "leaves them out: passes; routing decisions; labels"));
  }

  void no_session_is_bad_input() {
    QVERIFY_THROWS_EXCEPTION(Error, write_report(folder_.filePath("none.storm").toStdString(), "-"));
  }

  void escaping_leaves_only_what_xml_allows() {
    QCOMPARE(report::escape("a<b>&\"'\x02\xC0\x80"),
             std::string("a&lt;b&gt;&amp;&quot;&#39;\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD"));
    QCOMPARE(report::shortened("äöü", 2), std::string("äö…"));
    QCOMPARE(report::number(-0.125), std::string("−0.125"));
    QCOMPARE(report::count(-1234567), std::string("−1,234,567"));
  }
};

STORMCELL_TEST(ReportTest)
}  // namespace stormcell
#include "report_test.moc"

// The overview: parsing, what it says, its rules, and the view on sessions with and without a summary.
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QPushButton>
#include <QSet>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <algorithm>
#include <numeric>

#include "tests/core/session/session_fixture.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/overview_fixture.h"
#include "views/drawing/theme.h"
#include "views/overview/overview_painter.h"
#include "views/overview/overview_view.h"
#include "views/words/figure_text.h"

namespace stormcell::views {
namespace {
using namespace stormcell::testing;
/// A plan that ran seven times.
QJsonObject few(QJsonObject plan) {
  QJsonObject latency = plan["latency_ms"].toObject();
  latency["runs"] = 7;
  plan["latency_ms"] = latency;
  return plan;
}

}  // namespace

class OverviewTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

 private slots:
  void a_summary_is_read_and_anything_else_is_none() {
    const auto s = shown(parse_summary(text(optimised())));
    QVERIFY(s && s->figures.is_verified() && s->figures.speedup == 1.25);
    QCOMPARE(s->figures.passes.size(), size_t{3});
    QCOMPARE(s->figures.dataset.cells, int64_t{83786});
    QVERIFY(!s->figures.passes[2].speedup_cumulative);
    for (const char* other :
         {"", "{", "[]", "{\"speedup\":1.5}", "{\"schema\":\"stormcell.compare/1\"}", "{\"schema\":7}"})
      QVERIFY2(!shown(parse_summary(other)), other);
    // Missing parts leave gaps, nothing else.
    const auto bare =
        shown(parse_summary("{\"schema\":\"stormcell.run/1\",\"passes\":7,\"baseline\":[],\"routing\":[null]}"));
    QVERIFY(bare && !bare->figures.baseline && bare->figures.passes.empty());
    const auto g = shown(parse_summary(
        R"({"schema":"stormcell.generate/1","tokens":100,"tokens_per_s":50.5,"latency_ms":{"median":3,"runs":4}})"));
    QVERIFY(g && g->generated && g->generated->tokens == 100 && g->figures.baseline->latency_ms.median == 3);
  }

  void what_is_not_verified_never_shows_a_speed_up() {
    QJsonObject failed = optimised();
    failed["verified"] =
        QJsonObject{{"passed", false}, {"text", "1 of 210"}, {"tolerance", 0.02}, {"max_rel_diff", 0.5}};
    QJsonObject none = optimised();
    none["verified"] = QJsonValue();
    for (const QJsonObject& j : {failed, none}) {
      const Situation s = situation(j);
      const OverviewPageModel page = make_page(s);
      QVERIFY(!s.summary->figures.speedup && !page.hero.ratio && page.waterfall.empty());
      QVERIFY(page.headline.startsWith("Not verified"));
      for (const FigureRow& row : page.figures) QVERIFY(row.after.isEmpty() && row.change.isEmpty());
      const Table table = make_overview_table(s);
      QVERIFY(!says(table, "1.25") && !says(table, "speed-up alone") && !says(table, "optimised"));
    }
    QVERIFY(rules_of(situation(failed)).constFirst() == "not-verified");
    QVERIFY(rules_of(situation(none)).constFirst() == "not-compared");
  }

  void the_proof_says_why_it_failed_what_follows_and_what_the_format_costs() {
    QJsonObject failed = optimised();
    failed["verified"] = QJsonObject{
        {"passed", false},
        {"text", "1 of 210"},
        {"reasons", QJsonArray{"the scores of router moe differ by 0.004 of the largest score"}},
        {"tolerance", 0.0001},
        {"max_rel_diff", 2e-6},
        {"flips", 2},
        {"explained_flips", 2},
        {"consequences", 5},
        {"format", QJsonObject{{"dtype", "bf16"}, {"max_rel_diff", 0.007}, {"tolerance", 0.05}, {"passed", true}}}};
    QVERIFY(!proof_of(situation(failed)).text.contains("Running freely"));  // an older run
    QJsonObject verified = failed["verified"].toObject(), format = verified["format"].toObject();
    format["free_max_rel_diff"] = 0.42, format["choices"] = 5760, format["differing_choices"] = 99;
    verified["format"] = format;
    failed["verified"] = verified;
    const Situation s = situation(failed);
    const QString said = proof_of(s).text;
    QVERIFY2(said.contains("Running freely it is 0.42: 99 of 5,760 routing choices differ"), qPrintable(said));
    QVERIFY2(said.contains("Failed: the scores of router moe differ") && said.contains("5 more follow") &&
                 said.contains("Converting to bf16"),
             qPrintable(said));
    QVERIFY(next_steps(s, 1).at(0).sentence.contains("the scores of router moe differ"));
  }

  void the_page_says_what_the_figures_say() {
    const OverviewPageModel page = make_page(situation(optimised()));
    QVERIFY(page.headline.startsWith(QString::fromUtf8("1.25×")));
    QVERIFY(page.tone == Tone::good && page.proof.tone == Tone::good);
    QVERIFY(page.proof.text.contains("3 routing decisions differ, 3 of them"));
    QCOMPARE(page.figures.size(), size_t{7});
    QCOMPARE(page.figures[0].change, change_text(1.1 * 2.34, 1.1 * 1.87));
    // Medians and percentiles are shown and never divided.
    QVERIFY(page.figures[1].name.contains("median") && page.figures[1].change.isEmpty() &&
            !page.figures[1].after.isEmpty());
    QVERIFY(page.figures[2].name.contains("95th") && page.figures[2].change.isEmpty());
    QCOMPARE(page.waterfall.size(), size_t{3});
    QCOMPARE(page.waterfall[1].from, 1.02);
    QVERIFY(!page.waterfall[2].to);
    QVERIFY(page.figures[4].name == "Share of the limit" && page.figures[4].before == "59.8 %" &&
            !page.figures[4].change.isEmpty());
    // Data that stays in a cache has no share of the memory's limit.
    QJsonObject cached = optimised(), fast = plan(1.87, 199036);
    fast["limit_share"] = 1.03;
    cached["optimized"] = fast;
    const FigureRow share = make_page(situation(cached)).figures[4];
    QVERIFY(share.before == "59.8 %" && share.after == "in cache" && share.change.isEmpty());
    QJsonObject even = optimised();
    even["speedup_ci95"] = QJsonArray{0.9, 1.3};
    QVERIFY(make_page(situation(even)).headline.startsWith("No measurable difference"));
    even["speedup_ci95"] = QJsonArray{0.8, 0.9};
    QVERIFY(make_page(situation(even)).tone == Tone::bad);
    QVERIFY(make_page(situation({})).notes[0].contains("Missing"));
  }

  void a_pass_is_coloured_by_what_it_brought_itself() {
    QJsonObject j = optimised();
    const QJsonObject first = brought(pass("unpad", true, "padding is not computed", 1.6, 1.5, 1.7), 1.6, 1.5, 1.7),
                      second = brought(pass("same", true, "nothing", 1.6, 1.5, 1.7), 1, 0.98, 1.02),
                      third = brought(pass("slower", true, "kept for its memory", 1.5, 1.4, 1.6), 0.93, 0.9, 0.96),
                      older = pass("older", true, "of an older run", 1.6, 1.5, 1.7);
    j["passes"] = QJsonArray{first, second, third, older};
    const OverviewPageModel page = make_page(situation(j));
    QCOMPARE(page.waterfall.size(), size_t{4});
    QVERIFY(page.waterfall[0].tone == Tone::good && page.waterfall[1].tone == Tone::plain &&
            page.waterfall[2].tone == Tone::bad && page.waterfall[3].tone == Tone::plain);
    QVERIFY(page.waterfall[1].tip.contains("of the speed without it"));
  }

  void where_everything_was_left_out_nothing_was_gained_and_that_is_no_failure() {
    QJsonObject j = optimised(),
                left = pass("dead-path", false,
                            "left out: 0.973 [0.936, 0.995] of the speed without it, and no memory saved", 0, 0, 0);
    left["left_out"] = true;
    j["optimized"] = j["speedup"] = j["speedup_ci95"] = QJsonValue();
    j["passes"] = QJsonArray{left};
    const OverviewPageModel page = make_page(situation(j));
    QVERIFY2(page.headline.startsWith("Nothing was gained: the passes that applied are left out"),
             qPrintable(page.headline));
    QVERIFY(page.tone == Tone::plain && page.waterfall[0].left_out);
  }

  void decoding_says_whether_it_was_verified() {
    QJsonObject j{{"schema", "stormcell.generate/1"}, {"tokens", 100}, {"tokens_per_s", 50.5}};
    QVERIFY(proof_of(situation(j)).tone == Tone::warn);
    const QString text = "the first 16 tokens of 3 of 3 sequences equal the oracle's";
    for (const bool passed : {true, false}) {
      j["verified"] = QJsonObject{
          {"passed", passed}, {"text", text}, {"reasons", passed ? QJsonArray{} : QJsonArray{"a token differs"}}};
      const Situation s = situation(j);
      QCOMPARE(proof_of(s).title, passed ? QString("Verified") : QString("Verification failed"));
      QVERIFY(proof_of(s).text.startsWith(text) && proof_of(s).text.contains("Failed: a token differs") == !passed);
      QCOMPARE(make_page(s).headline.startsWith("Not verified"), !passed);
    }
    // Too little that was compared is no difference that was found.
    j["verified"] = QJsonObject{
        {"passed", false}, {"text", text}, {"reasons", QJsonArray{"inconclusive: 3 of 24 tokens could be compared"}}};
    const Situation s = situation(j);
    QCOMPARE(proof_of(s).title, QString("Not verified"));
    QVERIFY(proof_of(s).text.contains("inconclusive: 3 of 24") && !proof_of(s).text.contains("Failed"));
    QCOMPARE(make_page(s).headline, QString("Not verified: too little could be compared with the reference."));
  }

  void the_table_obeys_the_rules_of_models() {
    const Table table = make_overview_table(situation(optimised()));
    for (const auto& row : table.rows) QCOMPARE(row.size(), table.columns.size());
    QVERIFY(says(table, "1.25") && !says(table, "predicted") && says(table, "measured"));
    QVERIFY(to_csv(table).contains("Fuse neighbours") && !to_csv(table).contains("vertical-fusion"));
  }

  void a_recording_is_not_orange() {
    Situation s = situation(QJsonObject());
    const OverviewPageModel page = make_page(s);
    QVERIFY(page.tone == Tone::plain && page.hero.tone == Tone::plain && page.proof.tone == Tone::plain &&
            page.notes_tone == Tone::plain);
    QVERIFY(!page.notes.isEmpty());
    // A run that did not end is another matter.
    s.facts.line.status = RunStatus::failed;
    QVERIFY(make_page(s).tone == Tone::warn && make_page(s).notes_tone == Tone::warn);
    // A profile left figures, and nothing that could differ from a reference.
    QJsonObject profile = optimised();
    profile["schema"] = "stormcell.profile/1";
    for (const char* key : {"optimized", "speedup", "speedup_ci95", "verified", "passes"}) profile.remove(key);
    const Situation recorded = situation(profile);
    const OverviewPageModel of_profile = make_page(recorded);
    QVERIFY(of_profile.tone == Tone::plain && of_profile.hero.tone == Tone::plain &&
            of_profile.proof.tone == Tone::plain && of_profile.notes_tone == Tone::plain);
    profile["warnings"] = QJsonArray{"the machine was busy"};
    QVERIFY(make_page(situation(profile)).notes_tone == Tone::warn);
    QCOMPARE(of_profile.proof.title, QString("Nothing to verify"));
    QVERIFY(!rules_of(recorded).contains("not-compared"));
  }

  void times_whose_ratio_is_not_stated_have_a_remark() {
    QJsonObject j = optimised();
    for (const FigureRow& row : make_page(situation(j)).figures) QVERIFY(row.remark.isEmpty());
    j["other_load"] = 0.5;
    const OverviewPageModel page = make_page(situation(j));
    const auto row = [&](const QString& name) { return *std::ranges::find(page.figures, name, &FigureRow::name); };
    QCOMPARE(row("Latency, mean").remark, QString("no ratio: not measured well enough"));
    QCOMPARE(row("Cells a second").remark, QString("no ratio: not measured well enough"));
    QVERIFY(row("Latency, mean").change.isEmpty());
    // Bytes are counted: their change stands.
    QVERIFY(row("Memory, weights").remark.isEmpty() && !row("Memory, weights").change.isEmpty());
    QVERIFY(says(make_overview_table(situation(j)), "no ratio: not measured well enough"));
    QVERIFY(!says(make_overview_table(situation(optimised())), "no ratio"));
  }

  void what_was_not_measured_well_enough_is_nowhere_and_can_be_measured_again() {
    QJsonObject j = optimised();
    j["other_load"] = 0.5;
    const Situation s = situation(j);
    const OverviewPageModel page = make_page(s);
    QVERIFY(page.headline.contains("not measured well enough") && page.tone == Tone::warn);
    QCOMPARE(page.hero.value, QString("not measured well enough"));
    QVERIFY2(page.hero.note.contains("50 % of the processors") && !page.hero.ratio && !page.hero.interval,
             qPrintable(page.hero.note));
    for (const FigureRow& row : page.figures)  // a change of times is a speed-up; a change of bytes is not
      QCOMPARE(row.change.isEmpty(), !row.name.startsWith("Memory"));
    for (const WaterfallRow& row : page.waterfall) QVERIFY(!row.to && !row.interval && row.tone == Tone::plain);
    const Table table = make_overview_table(s);
    QVERIFY(says(table, "not measured well enough") && !says(table, "1.25") && !says(table, "1.22"));
    QCOMPARE(page.steps.front().button, QString("Measure again"));
    QCOMPARE(page.steps.front().action, QString("run-again"));
  }

  void every_rule_has_a_case_data() {
    QTest::addColumn<QString>("rule");
    for (const StepRule& r : step_rules()) QTest::newRow(r.id) << r.id;
  }
  void every_rule_has_a_case() {
    QFETCH(QString, rule);
    QJsonObject j = optimised();
    Situation plain = situation(j), s = plain;
    s.facts.routers[0].imbalance = 0.2;
    const auto verification = [](bool passed) {
      return QJsonObject{{"passed", passed}, {"text", "x"}, {"tolerance", 0.02}, {"max_rel_diff", 0.5}};
    };
    if (rule == "going-on") s = situation({}), s.facts.line.status = RunStatus::running;
    if (rule == "result-elsewhere") s = situation({}), s.facts.newest_result = 5;
    if (rule == "no-result" || rule == "open-another") s = situation({}), s.facts.line.status = RunStatus::interrupted;
    if (rule == "not-verified") j["verified"] = verification(false), s = situation(j);
    if (rule == "not-compared") j["verified"] = QJsonValue(), s = situation(j);
    if (rule == "interval-holds-1") j["speedup_ci95"] = QJsonArray{0.9, 1.1}, s = situation(j);
    if (rule == "wide-interval") j["speedup_ci95"] = QJsonArray{1.1, 2.1}, s = situation(j);
    if (rule == "disturbed") j["other_load"] = 0.5, s = situation(j);
    if (rule == "few-measured") j["optimized"] = few(j["optimized"].toObject()), s = situation(j);
    if (rule == "only-baseline") j["schema"] = "stormcell.run/1", j["optimized"] = QJsonValue(), s = situation(j);
    if (rule == "fallbacks") s.summary->figures.passes[0].fallbacks = 3;
    if (rule == "dropped") s.facts.routers[1].dropped = {0, 4, 0};
    if (rule == "imbalance") s = plain;
    if (rule == "no-inputs") s.facts.inputs = false;
    if (rule == "compared") s.compared = true;
    if (rule == "flips") s.summary->figures.passes.clear();  // else the table is offered for another reason
    QVERIFY2(rules_of(s).contains(rule), qPrintable(rules_of(s).join(' ')));
    // Never two ways to the same place, never more than asked for, always something.
    const auto three = next_steps(s);
    QVERIFY(!three.empty() && three.size() <= 3);
    QSet<QString> actions;
    for (const NextStep& step : three) {
      QVERIFY(!step.sentence.contains('%') || step.sentence.contains(" %"));
      actions.insert(step.action);
    }
    QCOMPARE(actions.size(), static_cast<qsizetype>(three.size()));
  }

  void who_recorded_no_inputs_is_told_what_they_would_be() {
    Situation s = situation(optimised());
    s.facts.inputs = false;
    const auto rule = std::find_if(step_rules().begin(), step_rules().end(),
                                   [](const StepRule& r) { return r.id == QString("no-inputs"); });
    QVERIFY(rule != step_rules().end() && rule->when(s) && rule->sentence(s).contains("word"));
    s.facts.pictures = true;
    QVERIFY(rule->when(s) && rule->sentence(s).contains("No pictures are kept"));
    s.facts.inputs = true;
    QVERIFY(!rules_of(s).contains("no-inputs"));
  }

  void loads_that_were_not_counted_are_not_called_even() {
    Situation s = situation(optimised());
    for (auto& row : s.facts.routers) row.load = {0, 0, 0}, row.imbalance = 0;
    QCOMPARE(routers_of(s).size(), size_t{1});  // those of the summary
    QCOMPARE(make_page(s).routers[0].imbalance, 1.4);
    Situation with;
    with.summary = shown(parse_summary(
        R"({"schema":"stormcell.run/1","routing":[{"router":"r","imbalance":1.4,"load_real":[1,2],"imbalance_real":0.7}]})"));
    QCOMPARE(routers_of(with).at(0).imbalance, 0.7);
    QVERIFY(!rules_of(s).contains("look-at-routing") && !rules_of(s).contains("imbalance"));
    s.summary->figures.routing.clear();
    QVERIFY(make_page(s).routers.empty());
  }

  void sessions_with_and_without_a_summary_are_shown() {
    OverviewView view;
    run_load(view, {});
    QVERIFY(!view.has_content() && view.message().contains("No session"));
    run_load(view, context_of("/nowhere/a.storm"));
    QVERIFY(!view.has_content() && view.message().contains("/nowhere/a.storm"));
    const std::string bare = make_session(folder_.filePath("bare.storm").toStdString(), 12);
    const auto facts = read_run_facts(bare, 0);
    QCOMPARE(facts->line.batches, int64_t{12});
    QCOMPARE(facts->newest_result, int64_t{1});
    QVERIFY(facts->cells > 0 && facts->cells_by_exit.empty());
    QCOMPARE(facts->routers.size(), read_loads(bare, 1)->rows.size());
    // Without padding, as the heatmap has it: fewer than all cells that came.
    const auto all = read_loads(bare, 1);
    for (size_t r = 0; r < facts->routers.size(); ++r) {
      const auto sum = [](const std::vector<int64_t>& load) {
        return std::accumulate(load.begin(), load.end(), int64_t{0});
      };
      QVERIFY(sum(facts->routers[r].load) > 0 && sum(facts->routers[r].load) < sum(all->rows[r].load));
    }
    run_load(view, context_of(bare));
    QVERIFY(view.has_content());
    QVERIFY(says(view.table(), "imbalance") && !says(view.table(), "speed-up"));
    Context with =
        context_of(make_session(folder_.filePath("measured.storm").toStdString(), 12, some_run(), text(optimised())));
    with.main.settings = "{}";
    run_load(view, with);
    QVERIFY(says(view.table(), "1.25"));
    // A failed read is repeated when asked for, whatever was on show before.
    Context gone = with;
    gone.main.file = "/nowhere/a.storm";
    run_load(view, gone);
    QVERIFY(!view.has_content());
    QVERIFY(view.look_at(gone, {}) != nullptr);
    run_load(view, with);
    QVERIFY(view.has_content() && view.look_at(with, {}) == nullptr);
    // The steps are buttons that ask for actions.
    QSignalSpy wanted(&view, &View::action_wanted);
    for (QPushButton* button : view.picture()->findChildren<QPushButton*>()) button->click();
    QCOMPARE(wanted.count(), 3);
    QVERIFY(view.picture()->accessibleDescription().contains("1.25"));
  }

  void pictures_are_the_stored_ones_data() {
    QTest::addColumn<bool>("dark");
    QTest::addColumn<int>("kind");
    QTest::newRow("overview-light") << false << 0;
    QTest::newRow("overview-dark") << true << 0;
    QTest::newRow("overview-failed") << false << 1;
    QTest::newRow("overview-recording") << true << 2;
  }
  void pictures_are_the_stored_ones() {
    QFETCH(bool, dark);
    QFETCH(int, kind);
    QJsonObject j = optimised();
    if (kind == 1)
      j["verified"] = QJsonObject{{"passed", false},
                                  {"text", "1 of 210 batches against the oracle"},
                                  {"tolerance", 0.02},
                                  {"max_rel_diff", 0.5}};
    Situation s = situation(kind == 2 ? QJsonObject() : j);
    if (kind == 2) s.facts.line.status = RunStatus::interrupted, s.facts.latency_ms = {20.3, 34.4, 3.82, 16};
    OverviewPage page;
    page.setPalette((dark ? Theme::dim() : Theme::light()).palette());
    page.set_page(make_page(s));
    const QString trouble = compare_with_golden(draw(page, {960, 720}), QTest::currentDataTag());
    QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
  }
};
STORMCELL_TEST(OverviewTest)

}  // namespace stormcell::views
#include "overview_test.moc"

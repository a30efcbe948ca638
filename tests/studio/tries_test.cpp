// Tries: what differs between two runs, which run answers a try, the list's rows and the command of a row.
#include "app/studio/tries.h"

#include <utility>

#include "core/summary/summary_json.h"
#include "tests/testing/testing.h"

namespace stormcell::studio {
using namespace stormcell::testing;

namespace {

RunLine line_of_try(int64_t id, const TrySettings& settings, const RunSummaryFigures& figures = {}) {
  RunLine run;
  run.id = id, run.kind = "run", run.phase = "forward", run.status = RunStatus::finished;
  run.settings = settings_json(settings.experiment);
  PlanConfig config;
  config.intervention = settings.intervention, config.exits = settings.exits;
  config.passes = {settings.passes.begin(), settings.passes.end()};
  run.config = to_json(config);
  auto summary = std::make_shared<Summary>();
  summary->figures = figures;
  summary->figures.verb = "run";
  run.result = summary;
  return run;
}

TrySettings some_settings() {
  TrySettings settings;
  settings.experiment.model = settings.experiment.data = "demo:switch-names";
  return settings;
}

}  // namespace

class TriesTest : public QObject {
  Q_OBJECT
 private slots:
  void a_run_says_what_it_was_made_with() {
    TrySettings settings = some_settings();
    settings.experiment.dtype = "bf16";
    settings.intervention.off = {{"a.router", 3}};
    settings.intervention.capacities = {{"a.router", {Capacity::Unit::factor, 1.25}}, {{}, {}}};
    settings.exits = {{"exit", 0.5}};
    RunLine run = line_of_try(1, settings);
    QVERIFY(try_settings(run) == settings);
    // A run says it when it ends; only of an optimisation it is beside the run.
    auto summary = std::make_shared<Summary>(*run.result);
    summary->figures.config = std::exchange(run.config, "{}");
    run.result = summary;
    QVERIFY(try_settings(run) == settings);
    QCOMPARE(configuration_of(run), summary->figures.config);
    QVERIFY(!try_settings(RunLine()));
  }

  void passes_are_part_of_a_try() {
    TrySettings base = some_settings();
    base.passes = {{"vertical-fusion", {}}, {"dead-path", {{"max-share", "0.02"}}}};
    const RunLine run = line_of_try(1, base);
    QVERIFY(try_settings(run) == base);
    TrySettings less = base;
    less.passes.erase("vertical-fusion");
    QCOMPARE(changes_between(base, less), QStringList{"Fuse neighbours off"});
    QCOMPARE(changes_between(less, base), QStringList{"Fuse neighbours on"});
    QVERIFY(config_of_try(some_settings()).empty());
    const PlanConfig config = parse_plan_config(config_of_try(base), "here");
    QVERIFY(PlanPasses(config.passes.begin(), config.passes.end()) == base.passes);
    QVERIFY(command_of_try(less, {}, "try-1.json").contains("run demo:switch-names"));
    QVERIFY(command_of_try(less, {}, "try-1.json").endsWith("--config try-1.json"));
  }

  void a_pass_that_was_found_once_can_be_switched_on_again() {
    TrySettings base = some_settings(), less = some_settings();
    base.passes = {{"dead-path", {{"max-share", "0.02"}}}};
    RunSummaryFigures figures;
    figures.passes = {{.name = "vertical-fusion", .applied = false, .reason = "nothing to fold"}};
    SessionOverview session;
    session.runs = {line_of_try(1, base, figures), line_of_try(2, less)};
    for (const PassSwitch& one : pass_switches(session, less)) {
      QVERIFY(!one.on);
      QCOMPARE(one.found.has_value(), one.line.id == "dead-path");
      QCOMPARE(one.obstacle, one.line.id == "vertical-fusion" ? QString("In run #1: nothing to fold") : QString());
    }
    // Passes that were found for another number format do not hold here.
    less.experiment.dtype = "bf16";
    for (const PassSwitch& one : pass_switches(session, less)) QVERIFY(!one.found && one.obstacle.isEmpty());
  }

  void a_search_has_the_passes_of_the_plan_and_one_more() {
    TrySettings base = some_settings();
    base.passes = {{"vertical-fusion", {}}};
    QCOMPARE(choice_with(base, "dead-path").enabled, (QSet<QString>{"vertical-fusion", "dead-path"}));
    const views::PassChoice choice = choice_with(base, "dead-path", "max-share", "0.03");
    QCOMPARE(choice.options.value("dead-path").value("max-share"), QString("0.03"));
    QVERIFY(refusal_of_search(base).isEmpty());
    base.intervention.k = 2;
    QVERIFY(!refusal_of_search(base).isEmpty());
  }

  void each_change_is_a_phrase() {
    const TrySettings base = some_settings();
    TrySettings changed = base;
    QVERIFY(changes_between(base, changed).isEmpty());
    changed.experiment.dtype = "bf16";
    changed.intervention.off = {{"a.router", 3}};
    changed.intervention.k = 2;
    changed.intervention.capacities = {{"a.router", {Capacity::Unit::factor, 1.25}}, {{}, {}}};
    changed.exits = {{"exit", 0.5}, {"next", 0.5}};
    QCOMPARE(changes_between(base, changed),
             (QStringList{"dtype bf16", "a.router/3 off", "capacity a.router=1.25x all", "k 2", "threshold 0.5"}));
    QCOMPARE(changes_between(changed, base),
             (QStringList{"dtype at its default", "a.router/3 on", "the model's own capacity", "the model's own k",
                          "the model's own thresholds"}));
    QVERIFY(capacities_of(capacities_text(changed.intervention)) == changed.intervention.capacities);
  }

  void a_row_tells_the_change_and_the_answers_of_its_run() {
    TrySettings changed = some_settings();
    changed.intervention.off = {{"a.router", 3}};
    RunSummaryFigures figures;
    figures.changed = AnswersChanged{1, "sequence", {4, 60, {}}, "token", ChangedCount{3, 240, {}}};
    SessionOverview session;
    session.runs = {line_of_try(1, some_settings()), line_of_try(2, changed, figures)};
    const auto rows = try_rows(session);
    QCOMPARE(rows.size(), size_t{2});
    QCOMPARE(rows[0].changed, QString("the model as it came"));
    QVERIFY(rows[0].answers.isEmpty());
    QCOMPARE(rows[1].changed, QString("a.router/3 off"));
    QCOMPARE(rows[1].answers, QString("3 of 240 tokens changed"));
    QCOMPARE(run_of_try(session, changed), int64_t{2});
    changed.intervention.k = 2;
    QCOMPARE(run_of_try(session, changed), int64_t{0});
  }

  void a_try_of_a_try_is_compared_with_the_first_run() {
    TrySettings changed = some_settings(), other_data = some_settings();
    changed.intervention.off = {{"a.router", 3}};
    other_data.experiment.data = "random:4x8";
    RunSummaryFigures figures;
    figures.changed = AnswersChanged{1, "sequence", {}, "", {}};
    SessionOverview session;
    session.runs = {line_of_try(1, some_settings()), line_of_try(2, changed, figures)};
    changed.intervention.k = 2;
    const TryRequest request = try_request(session, session.runs[1], changed);
    QVERIFY(request.base == some_settings() && request.changed == changed && request.is_comparable);
    QVERIFY(!try_request(session, session.runs[1], other_data).is_comparable);
  }

  void a_change_of_the_routing_is_one_of_a_single_phase() {
    TrySettings settings = some_settings();
    settings.intervention.k = 2;
    for (const char* phase : {"forward", "decode"}) {
      settings.experiment.phase = phase;
      QVERIFY(refusal_of(settings).isEmpty());
    }
    settings.experiment.phase = "both";
    QVERIFY(!refusal_of(settings).isEmpty());
    settings.intervention = {};
    QVERIFY(refusal_of(settings).isEmpty());
  }

  void a_row_of_decoding_tells_the_first_token_that_changed() {
    TrySettings changed = some_settings();
    changed.experiment.phase = "decode";
    changed.intervention.off = {{"a.router", 3}};
    RunSummaryFigures figures;
    figures.changed = AnswersChanged{1, kDecodedItem, {2, 10, {}}, "token", ChangedCount{12, 80, {}}, 3, 7};
    SessionOverview session;
    session.runs = {line_of_try(1, some_settings()), line_of_try(2, changed, figures)};
    session.runs[1].phase = "decode";
    QCOMPARE(try_rows(session)[1].answers,
             QString("2 of 10 texts changed, 12 of 80 tokens changed, first token 3 of text 7"));
    QCOMPARE(command_of_try(changed, {}, "try-2.json"),
             QString("stormcell what-if demo:switch-names --data demo:switch-names --phase decode --off a.router/3"));
  }

  void the_command_of_a_try_is_what_if_and_of_thresholds_run_with_a_configuration() {
    TrySettings settings = some_settings();
    settings.intervention.off = {{"a.router", 3}};
    QCOMPARE(command_of_try(settings, "s.storm", "try-2.json"),
             QString("stormcell what-if demo:switch-names --data demo:switch-names --off a.router/3 -o s.storm"));
    settings.intervention.capacities = {{{}, {Capacity::Unit::cells, 8}}};
    QCOMPARE(command_of_try(settings, "s.storm", "try-2.json"),
             QString("stormcell what-if demo:switch-names --data demo:switch-names --off a.router/3 --capacity 8 -o "
                     "s.storm"));
    settings.exits = {{"exit", 0.5}};
    QCOMPARE(command_of_try(settings, "s.storm", "try-2.json"),
             QString("stormcell run demo:switch-names --data demo:switch-names --config try-2.json -o s.storm"));
  }
};
STORMCELL_TEST(TriesTest)

}  // namespace stormcell::studio
#include "tries_test.moc"

// Passes as switches: what is known of a choice, undo, and the pictures.
#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QPushButton>
#include <QSignalSpy>
#include <algorithm>

#include "core/experiment/pass_list.h"
#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "views/drawing/theme.h"
#include "views/optimisations/optimisations_view.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

std::string summary(const char* passes, double speedup, bool verified) {
  return QString(
             R"({"schema":"stormcell.optimize/1","speedup":%1,"speedup_ci95":[%2,%3],"verified":{"passed":%4,"text":"3 of 3 batches against the oracle"},
"baseline":{"latency_ms":{"mean":2.5}},"optimized":{"latency_ms":{"mean":2.0}},"passes":[%5]})")
      .arg(speedup)
      .arg(speedup - 0.05)
      .arg(speedup + 0.05)
      .arg(verified ? "true" : "false", passes)
      .toStdString();
}

constexpr const char* kBoth =
    R"({"name":"dead-path","applied":true,"reason":"2 branches without load","speedup_alone":0.98,"speedup_alone_ci95":[0.95,1.01],
"speedup_cumulative":0.99,"speedup_cumulative_ci95":[0.96,1.02],"guard_hits":10,"fallbacks":1,"parameters":{}},
{"name":"vertical-fusion","applied":true,"reason":"5 norms folded","speedup_alone":1.2,"speedup_alone_ci95":[1.15,1.25],
"speedup_cumulative":1.19,"speedup_cumulative_ci95":[1.14,1.24],"guard_hits":0,"fallbacks":0,"parameters":{}})";
constexpr const char* kWithOptions =
    R"({"name":"vertical-fusion","applied":true,"reason":"with norms=off: 3 residuals folded","speedup_alone":1.05,
"speedup_cumulative":1.05,"speedup_cumulative_ci95":[1.0,1.1],"guard_hits":0,"fallbacks":0,"options":{"norms":"off"},"parameters":{}})";
constexpr const char* kOne =
    R"({"name":"vertical-fusion","applied":true,"reason":"5 norms folded","speedup_alone":null,
"speedup_cumulative":1.22,"speedup_cumulative_ci95":[1.2,1.24],"guard_hits":0,"fallbacks":0,"parameters":{}})";

std::shared_ptr<SessionOverview> session() {
  auto s = std::make_shared<SessionOverview>();
  s->file = "a.storm";
  const auto add = [&](int64_t id, const std::string& text, const char* settings) {
    RunLine run;
    run.id = id, run.kind = "optimize", run.status = RunStatus::finished, run.settings = settings,
    run.result = parse_summary(text), run.config = "{\"schema\":\"stormcell.config/1\"}";
    s->runs.push_back(run);
  };
  add(1, summary(kBoth, 1.19, true), "{\"model\":\"m\"}");
  add(2, summary(kOne, 1.22, true), "{\"model\":\"m\"}");
  add(3, summary(kOne, 9.0, true), "{\"model\":\"another\"}");
  add(4, "", "{\"model\":\"m\"}");
  return s;
}

Context context(int64_t run) {
  Context c;
  c.session = session();
  c.main.file = "a.storm", c.main.run = run;
  for (const RunLine& r : c.session->runs)
    if (r.id == run) c.main.settings = r.settings;
  return c;
}

const PassRow& row(const Optimisations& of, const QString& pass) {
  return *std::ranges::find(of.rows, pass, &PassRow::id);
}

}  // namespace

class OptimisationsTest : public QObject {
  Q_OBJECT
 private slots:
  void a_choice_is_answered_by_the_run_that_measured_it() {
    const Optimisations both = look_up(*session(), 1, {{"dead-path", "vertical-fusion"}});
    QCOMPARE(both.run, int64_t{1});
    QCOMPARE(to_text(*both.speedup), QString("1.19x [1.14, 1.24]"));
    const Optimisations one = look_up(*session(), 1, {{"vertical-fusion"}});
    QCOMPARE(one.run, int64_t{2});  // not the other model's
    QCOMPARE(one.speedup->value, 1.22);
    // Figures of single passes from another run still count.
    for (const PassRow& row : one.rows)
      if (row.id == "vertical-fusion") QCOMPARE(row.alone->value, 1.2);
    const Optimisations none = look_up(*session(), 1, {});
    QCOMPARE(none.run, int64_t{0});
    QVERIFY(!none.speedup && none.config.empty());
    for (const PassRow& row : none.rows) QVERIFY(!row.enabled && !row.cumulative);
  }

  void what_is_not_verified_shows_no_speedup() {
    auto s = session();
    s->runs[1].result = parse_summary(summary(kOne, 1.5, false));
    QVERIFY(!look_up(*s, 1, {{"vertical-fusion"}}).speedup);
  }

  void what_was_not_measured_well_enough_shows_why() {
    auto s = session();
    std::string text = summary(kOne, 1.22, true);
    text.insert(text.size() - 1, R"(,"other_load":0.5)");
    s->runs[1].result = parse_summary(text);
    const Optimisations state = look_up(*s, 1, {{"vertical-fusion"}});
    QCOMPARE(state.run, int64_t{2});
    QVERIFY2(!state.speedup && state.withheld.contains("50 % of the processors"), qPrintable(state.withheld));
    QVERIFY(!row(state, "vertical-fusion").cumulative &&
            row(state, "vertical-fusion").withheld.startsWith("not measured well enough: "));
    const QString csv = to_csv(make_table(state));
    QVERIFY2(csv.contains("not measured well enough") && !csv.contains("1.22"), qPrintable(csv));
  }

  void what_is_set_of_a_pass_is_part_of_the_choice() {
    auto s = session();
    s->runs[3].result = parse_summary(summary(kWithOptions, 1.05, true));
    s->runs[3].id = 4;
    const PassChoice off{{"vertical-fusion"},
                         {{"vertical-fusion", {{"norms", "off"}}}, {"dead-path", {{"max-share", "0.1"}}}}};
    QCOMPARE(*chosen_passes(s->runs[3]), effective(off));  // what is set of a pass that is off does not count
    QCOMPARE(options_text(off), QString("vertical-fusion norms=off"));
    const Optimisations set = look_up(*s, 1, off);
    QCOMPARE(set.run, int64_t{4});
    QCOMPARE(row(set, "vertical-fusion").alone->value, 1.05);
    const Optimisations standard = look_up(*s, 1, {{"vertical-fusion"}});
    QCOMPARE(standard.run, int64_t{2});
    QCOMPARE(row(standard, "vertical-fusion").alone->value, 1.2);
    // Not measured with this: neither the gain alone nor the reason of other settings is shown.
    const Optimisations other = look_up(*s, 1, {{"vertical-fusion"}, {{"vertical-fusion", {{"gates", "off"}}}}});
    QVERIFY(other.run == 0 && !row(other, "vertical-fusion").alone && !row(other, "vertical-fusion").applied &&
            row(other, "vertical-fusion").reason.isEmpty());
    QCOMPARE(selection_of(off).options,
             (std::map<std::string, std::map<std::string, std::string>>{{"vertical-fusion", {{"norms", "off"}}}}));
    // The standard is not kept.
    OptionRow norms;
    for (const OptionRow& option : row(set, "vertical-fusion").options)
      if (option.line.key == "norms") norms = option;
    QVERIFY(!norms.is_standard());
    QVERIFY(!with_option(off, "vertical-fusion", norms, "on").options.contains("vertical-fusion"));
  }

  void parameters_have_controls_and_are_undone() {
    OptimisationsView view;
    run_load(view, context(1));
    std::function<void()> undo;
    connect(&view, &View::edit_wanted, this,
            [&](const QString&, const std::function<void()>& redo, const std::function<void()>& back) {
              redo();
              undo = back;
            });
    std::optional<PassSelection> wanted;
    connect(&view, &View::run_wanted, this, [&](const PassSelection& choice) { wanted = choice; });
    QDoubleSpinBox* share = nullptr;
    for (QDoubleSpinBox* box : view.findChildren<QDoubleSpinBox*>())
      if (box->accessibleName() == "Skip unused branches max-share") share = box;
    QVERIFY(share);
    share->setValue(2.5);
    QCOMPARE(row(view.state(), "dead-path").options[0].value, QString("0.025"));
    QCOMPARE(view.state().run, int64_t{0});
    view.run();
    QCOMPARE(wanted->options.at("dead-path").at("max-share"), std::string("0.025"));
    undo();
    QCOMPARE(share->value(), 0.0);
    QCOMPARE(view.state().run, int64_t{1});
    QCheckBox* norms = nullptr;
    for (QCheckBox* box : view.findChildren<QCheckBox*>())
      if (box->accessibleName() == "Fuse neighbours norms") norms = box;
    QVERIFY(norms && norms->isChecked());
    norms->setChecked(false);
    QCOMPARE(row(view.state(), "vertical-fusion").options[0].value, QString("off"));
    // Every option that a pass has, has a control.
    size_t options = 0;
    for (const PassLine& pass : list_passes()) options += pass.options.size();
    int controls = 0;
    for (const QWidget* widget : view.findChildren<QWidget*>())
      for (const PassLine& pass : list_passes())
        controls += widget->accessibleName().startsWith(QString::fromStdString(pass.name) + " ");
    QCOMPARE(static_cast<size_t>(controls), options);
  }

  void no_pass_is_not_all_passes() {
    QVERIFY(selection_of({}).only.empty());
    QCOMPARE(selection_of({}).disable.size(), list_passes().size());
    QCOMPARE(selection_of({{"dead-path"}}).only, (std::vector<std::string>{"dead-path"}));
    QVERIFY(selection_of({{"dead-path"}}).disable.empty());
  }

  void switches_are_undone_at_once_and_a_run_asks_for_the_choice() {
    OptimisationsView view;
    run_load(view, context(1));
    QVERIFY(view.has_content());
    std::function<void()> undo;
    connect(&view, &View::edit_wanted, this,
            [&](const QString&, const std::function<void()>& redo, const std::function<void()>& back) {
              redo();
              undo = back;
            });
    std::optional<PassSelection> wanted;
    connect(&view, &View::run_wanted, this, [&](const PassSelection& choice) { wanted = choice; });
    for (QCheckBox* box : view.findChildren<QCheckBox*>())
      if (box->text() == "Skip unused branches") box->click();
    QCOMPARE(view.state().run, int64_t{2});
    QVERIFY(undo);
    undo();
    QCOMPARE(view.state().run, int64_t{1});
    for (QPushButton* button : view.findChildren<QPushButton*>())
      if (button->text().startsWith("Run")) button->click();
    QVERIFY(wanted);
    QCOMPARE(wanted->only, (std::vector<std::string>{"dead-path", "vertical-fusion"}));
  }

  void a_click_in_the_picture_is_a_switch() {
    OptimisationsView view;
    run_load(view, context(1));
    auto* canvas = view.findChild<ImGuiWidget*>();
    canvas->resize(900, 400);
    QImage ignored = draw(*canvas, {900, 400});
    int edits = 0;
    connect(&view, &View::edit_wanted, this,
            [&](const QString&, const std::function<void()>&, const std::function<void()>&) { ++edits; });
    // Down the column of switches until one is hit.
    for (int y = 60; y < 260 && edits == 0; y += 6) {
      QTest::mouseClick(canvas, Qt::LeftButton, {}, {26, y});
      for (int i = 0; i < 3; ++i) draw(*canvas, {900, 400});
      QCoreApplication::processEvents();
    }
    QCOMPARE(edits, 1);
  }

  void a_run_of_unknown_making_says_so() {
    OptimisationsView view;
    Context c = context(1);
    c.main.settings.clear();
    run_load(view, c);
    QVERIFY(!view.has_content() && view.message().contains("not known"));
  }

  void pictures_are_the_stored_ones() {
    for (const bool dark : {false, true}) {
      OptimisationsView view;
      view.setPalette((dark ? Theme::dim() : Theme::light()).palette());
      run_load(view, context(1));
      const QString trouble =
          compare_with_golden(draw(*view.picture(), {900, 430}), dark ? "optimisations-dark" : "optimisations-light");
      QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
    }
  }
};
STORMCELL_TEST(OptimisationsTest)

}  // namespace stormcell::views
#include "optimisations_test.moc"

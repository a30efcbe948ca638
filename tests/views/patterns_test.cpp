// Figures that papers publish: planted choices give the squares and curves, the controls give each figure, and what a run
// lacks is said.
#include "views/patterns/patterns_view.h"

#include <QComboBox>
#include <QImage>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <algorithm>

#include "tests/testing/golden.h"
#include "tests/testing/run_load.h"
#include "tests/testing/testing.h"
#include "tests/views/controls.h"
#include "tests/views/diff_fixture.h"

namespace stormcell::views {
namespace {

using namespace stormcell::testing;

PatternsPicture& patterns_picture_of(PatternsView& view) { return *static_cast<PatternsPicture*>(view.picture()); }

/// The runs of the session are in the context, as the document has them.
Context context_with_runs(const std::string& file, int64_t run) {
  Context context = context_of(file, run);
  context.session = std::make_shared<const SessionOverview>(open_session(file));
  return context;
}

void choose(PatternsView& view, const char* control, const QString& entry) {
  auto* box = control_of<QComboBox>(view, control);
  QVERIFY2(box && box->findText(entry) >= 0, control);
  box->setCurrentIndex(box->findText(entry));
}

}  // namespace

class PatternsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;
  std::string session_;  ///< two runs with margins, the second with a planted choice

  std::string at(const char* name) const { return folder_.filePath(name).toStdString(); }

 private slots:
  void initTestCase() {
    const std::vector<PlantedChoice> planted = {{1, 0, 3, {0, 7}}};
    session_ = make_planted_session(at("planted.storm"), {{.margins = true}, {planted, true}});
  }

  void layers_are_a_curve_with_the_band_of_even_routers() {
    PatternsView view;
    run_load(view, context_of(session_));
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    const PatternPage& page = patterns_picture_of(view).page();
    QCOMPARE(page.places.size(), size_t{kPlantedRouters});
    QCOMPARE(page.lines.size(), size_t{1});
    for (int router = 0; router < kPlantedRouters; ++router) {
      // Eight branches, of which positions take turns: four times as many choices of some as there are positions.
      const auto& chance = page.lines[0].chance[router];
      QVERIFY(page.lines[0].values[router] && chance && chance->low < chance->high);
      QVERIFY(!line_words(page, 0, router).isEmpty());
    }
    QCOMPARE(view.table().rows.size(), size_t{kPlantedRouters});
  }

  void coactivation_has_both_halves_of_the_matrix() {
    PatternsView view;
    run_load(view, context_of(session_));
    choose(view, "Figure", "co-activation");
    const PatternMap& map = patterns_picture_of(view).page().map;
    QCOMPARE(map.rows.size(), size_t{8});
    const auto at_pair = [&](int a, int b) { return map.squares[static_cast<size_t>(a * 8 + b)]; };
    // Choices are (p + r) mod 4 and four more: partners always come together, others never.
    for (int b = 0; b < 4; ++b) {
      QVERIFY(at_pair(b, b + 4) && at_pair(b + 4, b) && at_pair(b, b + 4)->tone == 1);
      QVERIFY(!at_pair(b, (b + 1) % 4) && !at_pair(b, b));
    }
    QCOMPARE(view.table().rows.size(), size_t{4 * kPlantedRouters});
  }

  void transitions_follow_the_gap() {
    PatternsView view;
    run_load(view, context_of(session_));
    choose(view, "Figure", "transitions");
    auto* router = control_of<QComboBox>(view, "Router");
    QCOMPARE(router->count(), kPlantedRouters - 1);
    QSignalSpy asks(&view, &View::load_wanted);
    choose(view, "Gap", "2");
    QCOMPARE(asks.count(), 1);
    run_load(view, context_of(session_));
    QCOMPARE(router->count(), 1);
    const PatternMap& map = patterns_picture_of(view).page().map;
    // Branch 0 of router 0 is followed by branches 2 and 6 of router 2.
    QVERIFY(map.squares[2] && map.squares[6] && !map.squares[0] && map.squares[2]->words.contains("#0"));
  }

  void margins_have_a_row_for_each_layer() {
    PatternsView view;
    run_load(view, context_of(session_));
    choose(view, "Figure", "margins");
    choose(view, "Margin", "cut");
    const PatternMap& map = patterns_picture_of(view).page().map;
    QCOMPARE(map.rows.size(), size_t{kPlantedRouters});
    QVERIFY(std::any_of(map.squares.begin(), map.squares.end(), [](const auto& s) { return s && s->tone == 1; }));
  }

  void saturation_compares_with_the_runs_before() {
    PatternsView view;
    run_load(view, context_with_runs(session_, 2));
    choose(view, "Figure", "saturation");
    run_load(view, context_with_runs(session_, 2));
    const PatternPage& page = patterns_picture_of(view).page();
    QCOMPARE(page.lines.size(), size_t{1});
    const double cells = kPlantedSequences * kPlantedPositions;
    QCOMPARE(*page.lines[0].values[0], 1.0);
    // One cell of router 1 has {0, 7} in place of {0, 4}: one of its two choices is new.
    QCOMPARE(*page.lines[0].values[1], 1 - 1 / (2 * cells));
    // The first run has none before it.
    PatternsView first;
    run_load(first, context_with_runs(session_, 1));
    choose(first, "Figure", "saturation");
    run_load(first, context_with_runs(session_, 1));
    QVERIFY(patterns_picture_of(first).page().hint.contains("checkpoint"));
  }

  void what_is_not_recorded_is_said_in_the_picture() {
    const std::string plain = make_planted_session(at("plain.storm"), {{.inputs = false}});
    PatternsView view;
    run_load(view, context_of(plain));
    choose(view, "Figure", "vocabulary");
    QVERIFY(patterns_picture_of(view).page().hint.contains("token ids are not recorded"));
    choose(view, "Figure", "labels");
    QVERIFY(!patterns_picture_of(view).page().hint.isEmpty() || !patterns_picture_of(view).page().map.rows.empty());
    Context sums = context_of(plain);
    sums.main.decisions = false;
    PatternsView none;
    run_load(none, sums);
    QVERIFY(!none.has_content() && none.message().contains("profile"));
  }

  void a_click_selects_router_and_expert() {
    PatternsView view;
    view.resize(1000, 600);
    run_load(view, context_of(session_));
    choose(view, "Figure", "co-activation");
    view.show();
    QVERIFY(QTest::qWaitForWindowExposed(&view));
    Selection wanted;
    connect(&view, &View::selection_wanted, &view, [&](const Selection& selection) { wanted = selection; });
    PatternsPicture& picture = patterns_picture_of(view);
    const QPointF middle = picture.geometry_now().square({3, 7}).center();
    QVERIFY((picture.geometry_now().spot_at(middle) == PatternSpot{3, 7}));
    QTest::mouseClick(&picture, Qt::LeftButton, {}, middle.toPoint());
    QVERIFY(wanted.router == "model.layers.0.mlp" && wanted.branch == 3);
    QTest::keyClick(&picture, Qt::Key_Down);
    QTest::keyClick(&picture, Qt::Key_Return);
    QVERIFY(wanted.branch > 3);
  }

  void every_figure_is_drawn_in_every_size_data() {
    QTest::addColumn<int>("form");
    for (int form = 0; form < 7; ++form) QTest::addRow("%d", form) << form;
  }
  void every_figure_is_drawn_in_every_size() {
    QFETCH(int, form);
    PatternsView view;
    run_load(view, context_with_runs(session_, 2));
    control_of<QComboBox>(view, "Figure")->setCurrentIndex(form);
    run_load(view, context_with_runs(session_, 2));
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    for (const QSize& size : {QSize(320, 200), QSize(1000, 600), QSize(2400, 1400)}) {
      PatternsPicture& picture = patterns_picture_of(view);
      view.resize(size);
      QImage image(view.size(), QImage::Format_RGB32);
      view.render(&image);
      const QRectF plot = picture.geometry_now().plot;
      QVERIFY(plot.isValid() && QRectF(picture.rect()).contains(plot.center()));
    }
    for (const Table::Column& column : view.table().columns) QVERIFY2(!column.tip.isEmpty(), qPrintable(column.name));
  }

  void pictures_are_the_stored_ones_data() {
    QTest::addColumn<QString>("figure");
    QTest::addColumn<bool>("dark");
    QTest::addColumn<double>("scale");
    QTest::newRow("patterns-light") << "layers" << false << 1.0;
    QTest::newRow("patterns-dark") << "layers" << true << 1.0;
    QTest::newRow("patterns-2x") << "layers" << false << 2.0;
    QTest::newRow("patterns-together") << "co-activation" << false << 1.0;
    QTest::newRow("patterns-transitions") << "transitions" << false << 1.0;
    QTest::newRow("patterns-margins") << "margins" << false << 1.0;
    QTest::newRow("patterns-saturation") << "saturation" << false << 1.0;
  }
  void pictures_are_the_stored_ones() {
    QFETCH(QString, figure);
    QFETCH(bool, dark);
    QFETCH(double, scale);
    PatternsView view;
    view.setPalette((dark ? Theme::dim() : Theme::light()).palette());
    run_load(view, context_with_runs(session_, 2));
    if (figure != "layers") {
      choose(view, "Figure", figure);
      run_load(view, context_with_runs(session_, 2));
    }
    QVERIFY2(view.has_content(), qPrintable(view.message()));
    const QString trouble = compare_with_golden(draw(*view.picture(), {1000, 620}, scale), QTest::currentDataTag());
    QVERIFY2(trouble.isEmpty(), qPrintable(trouble));
  }
};
STORMCELL_TEST(PatternsTest)

}  // namespace stormcell::views
#include "patterns_test.moc"

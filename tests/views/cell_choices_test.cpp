// A followed cell: all its branches with their weights, the one that came next, and by how much it lost.
#include "core/readings/cell_choices.h"

#include <QTemporaryDir>
#include <algorithm>
#include <cmath>
#include <memory>

#include "tests/core/session/session_fixture.h"
#include "tests/testing/testing.h"
#include "views/cells/cells_painter.h"

namespace stormcell::views {

using namespace stormcell::testing;

class CellChoicesTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

  std::string session(const char* name, bool scores) {
    const std::string path = folder_.filePath(name).toStdString();
    SessionWriter writer(path, some_model());
    const RunStart start = some_run();
    auto run = writer.begin_run(start);
    record_batches(*run, start.layout, 0, 3, {}, scores);
    run->finish(RunStatus::finished);
    run.reset();
    writer.close();
    return path;
  }

 private slots:
  void the_runner_up_is_the_best_of_those_not_chosen() {
    // The fixture gives all branches one score: the first that was not chosen comes next.
    const std::string path = session("scores.storm", true);
    const auto trail = read_cell_trail(path, 1, {0, 0});
    const auto choices = read_cell_choices(path, 1, *trail);
    QCOMPARE(choices->size(), trail->steps.size());
    int known = 0;
    for (size_t s = 0; s < choices->size(); ++s) {
      const CellChoice& choice = (*choices)[s];
      if (choice.runner_up < 0) continue;
      ++known;
      QCOMPARE(*choice.margin, 0.5);
      const std::vector<int32_t>& chosen = trail->steps[s].branches;
      int32_t first = 0;
      while (std::ranges::find(chosen, first) != chosen.end()) ++first;
      QCOMPARE(choice.runner_up, first);
    }
    QVERIFY(known > 0);
  }

  void what_is_not_recorded_is_not_said() {
    const std::string path = session("bare.storm", false);
    const auto trail = read_cell_trail(path, 1, {0, 0});
    for (const CellChoice& choice : *read_cell_choices(path, 1, *trail))
      QVERIFY(choice.runner_up < 0 && !choice.margin && next_text(choice).isEmpty());
    QCOMPARE(next_text({0.031, 7}), QString("next: branch 7, margin 0.031"));
    QCOMPARE(next_text({0.5, -1}), QString("margin 0.5"));
  }

  void all_branches_of_a_cell_have_room() {
    CellTrail trail;
    CellTrail::Step step;
    step.router = "a.mlp";
    for (int32_t b = 0; b < 8; ++b) step.branches.push_back(b), step.weights.push_back(0.125F);
    trail.steps = {step};
    const auto height = [&](double width) {
      QImage image(600, 400, QImage::Format_RGB32);
      QPainter p(&image);
      return paint_trail(p, {0, 0, width, 400}, trail, {}, {}, Theme::light());
    };
    // Eight branches need several lines in a narrow panel, so nothing of them is cut.
    QVERIFY(height(200) > height(2000) + 2 * QFontMetricsF(QFont()).height());
  }

  void the_text_of_a_cell_and_what_would_record_its_margins_have_lines() {
    CellTrail trail;
    trail.steps.resize(1);
    trail.steps[0].router = "a.mlp", trail.steps[0].branches = {3}, trail.steps[0].weights = {1};
    const auto lines = [&](const std::vector<CellChoice>& choices) {
      QImage image(600, 400, QImage::Format_RGB32);
      QPainter p(&image);
      const TrailDetails details{std::make_shared<const std::vector<CellChoice>>(choices), "cat"};
      const double line = QFontMetricsF(p.font()).height() + 3;
      return std::lround(paint_trail(p, {0, 0, 600, 400}, trail, {}, details, Theme::light()) / line);
    };
    // Cell, label, a remark on margins, its branch, the router; with margins a line on them instead of the remark.
    QCOMPARE(lines({{}}), 5L);
    QCOMPARE(lines({{0.031, 7}}), 5L);
    trail.text = "the cat sat";
    QCOMPARE(lines({{0.031, 7}}), 6L);
  }
};
STORMCELL_TEST(CellChoicesTest)

}  // namespace stormcell::views
#include "cell_choices_test.moc"

// Colours of branches: never one for two of them.
#include "views/drawing/branch_colors.h"

#include <QSet>
#include <numeric>

#include "tests/testing/testing.h"

namespace stormcell::views {

class BranchColorsTest : public QObject {
  Q_OBJECT
 private slots:
  void no_colour_stands_for_two_branches() {
    for (const Theme* theme : {&Theme::light(), &Theme::dim()})
      for (const int branches : {2, 8, 9, 12, 13, 64, 128}) {
        std::vector<int64_t> load(static_cast<size_t>(branches));
        std::iota(load.begin(), load.end(), 5);
        const std::vector<int> ranks = load_ranks(load);
        QSet<QRgb> colors;
        for (int b = 0; b < branches; ++b) colors << branch_color(b, ranks, *theme).rgb();
        QCOMPARE(static_cast<int>(colors.size()), branches);
      }
  }

  void the_busier_a_branch_the_stronger_its_tone() {
    std::vector<int64_t> load(20, 3);
    load[7] = 90, load[2] = 0;
    const std::vector<int> ranks = load_ranks(load);
    QCOMPARE(ranks[7], 0);
    QCOMPARE(ranks[2], 19);
    const auto light = [&](int b) { return oklab_lightness(branch_color(b, ranks, Theme::light())); };
    QVERIFY(light(7) < light(0) && light(0) < light(2));
    QVERIFY(load_ranks(std::vector<int64_t>(8, 1)).empty());
  }
};
STORMCELL_TEST(BranchColorsTest)

}  // namespace stormcell::views
#include "branch_colors_test.moc"

// The presets of DynamicRouting spend what their gates were fitted to spend. A picture takes a thread seconds, so that
// here one of the twelve that the fit saw is run; tests/calibration/ runs them all and looks at each gate.
#include "core/models/dynamic_routing_gates.h"
#include "tests/testing/taken_paths.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class PathCalibrationTest : public QObject {
  Q_OBJECT
 private slots:
  void a_picture_spends_what_it_spent_in_the_fit_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < std::size(kCalibratedPaths); ++i)
      QTest::newRow(kCalibratedPaths[i].arch) << static_cast<int>(i);
  }
  void a_picture_spends_what_it_spent_in_the_fit() {
    QFETCH(int, index);
    const CalibratedPaths& row = kCalibratedPaths[index];
    PathTaker paths(row.arch);
    const double spent = paths.spent(paths.take(1));
    // A gate that rounding decides would move the picture by some nodes.
    QVERIFY2(std::fabs(spent / row.of_picture - 1) < 0.05,
             qPrintable(QString("%1: %2, not %3").arg(row.arch).arg(spent).arg(row.of_picture)));
  }

  void every_way_has_a_gate_that_was_fitted() {
    for (const auto arch :
         {dynamic_routing::Arch::a, dynamic_routing::Arch::b, dynamic_routing::Arch::c, dynamic_routing::Arch::raw})
      QCOMPARE(fitted_gates(arch).size(), size_t{149});
  }
};
STORMCELL_TEST(PathCalibrationTest)
#include "path_calibration_test.moc"

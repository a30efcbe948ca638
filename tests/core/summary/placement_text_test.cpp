// How cores lay to each other, in words.
#include "core/summary/placement_text.h"

#include "tests/testing/testing.h"

namespace stormcell::testing {

class PlacementTextTest : public QObject {
  Q_OBJECT
 private slots:
  void places_that_changed_are_all_named() {
    DeviceFigures device;
    QCOMPARE(placement_text(device), std::string());
    device.core_placement = "two cores, one L3";  // an older run has no list
    QCOMPARE(placement_text(device), std::string("two cores, one L3"));
    device.core_placements = {"two cores, one L3"};
    QCOMPARE(placement_text(device), std::string("two cores, one L3"));
    device.core_placements = {"x", "y", "z"};
    QCOMPARE(placement_text(device), std::string("changing cores (mostly x; also y; z)"));
  }
};

STORMCELL_TEST(PlacementTextTest)

}  // namespace stormcell::testing

#include "placement_text_test.moc"

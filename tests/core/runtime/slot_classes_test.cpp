// A budget divided into slots.
#include "core/runtime/slot_classes.h"

#include <algorithm>

#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class SlotClassesTest : public QObject {
  Q_OBJECT
 private slots:
  void slots_hold_every_part_and_no_more_than_the_budget() {
    Random random(5);
    for (int turn = 0; turn < 2000; ++turn) {
      std::map<int64_t, int64_t> parts;
      int64_t largest = 0, all = 0;
      for (int64_t kinds = random.between(1, 5); kinds > 0; --kinds)
        parts[random.between(1, 4000)] = random.between(1, 40);
      for (const auto& [bytes, count] : parts) {
        const int64_t slot = (bytes + 63) / 64 * 64;
        largest = std::max(largest, slot);
        all += slot * count;
      }
      const int64_t budget = random.between(largest, std::max(largest, all + 1000));
      const std::vector<SlotClass> classes = slot_classes(parts, budget);
      int64_t bytes = 0;
      for (size_t i = 0; i < classes.size(); ++i) {
        QVERIFY(classes[i].count > 0 && classes[i].bytes % 64 == 0 &&
                (i == 0 || classes[i].bytes < classes[i - 1].bytes));
        bytes += classes[i].bytes * classes[i].count;
      }
      QVERIFY(bytes <= budget);
      QCOMPARE(bytes == all, budget >= all);
      for (const auto& [size, count] : parts)
        QVERIFY(class_of(classes, size) >= 0 && classes[size_t(class_of(classes, size))].bytes >= size);
      // No slot more would fit.
      if (bytes < all) QVERIFY(budget - bytes < largest || classes[0].count == parts.rbegin()->second);
    }
  }
};
STORMCELL_TEST(SlotClassesTest)

}  // namespace stormcell::testing
#include "slot_classes_test.moc"

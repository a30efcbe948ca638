#include "core/bench/profile_split.h"

#include <algorithm>

#include "core/profile/record.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class ProfileSplitTest : public QObject {
  Q_OBJECT
 private slots:
  void a_split_profiles_a_quarter_and_measures_the_rest() {
    const ProfileSplit strided = split_batches(10, SplitRule::strided), first = split_batches(10, SplitRule::first);
    QCOMPARE(strided.profiled, (std::vector<int64_t>{0, 4, 8}));
    QCOMPARE(strided.measured, (std::vector<int64_t>{1, 2, 3, 5, 6, 7, 9}));
    QCOMPARE(first.profiled, (std::vector<int64_t>{0, 1, 2}));
    QCOMPARE(first.measured, (std::vector<int64_t>{3, 4, 5, 6, 7, 8, 9}));
    for (int64_t count = 2; count < 40; ++count)
      for (const SplitRule rule : {SplitRule::strided, SplitRule::first}) {
        const ProfileSplit split = split_batches(count, rule);
        QVERIFY(!split.profiled.empty() && !split.measured.empty() && !split.same);
        QCOMPARE(static_cast<int64_t>(split.profiled.size() + split.measured.size()), count);
        for (const int64_t b : split.measured)
          QVERIFY(!std::binary_search(split.profiled.begin(), split.profiled.end(), b));
      }
    QVERIFY(first.part_of(2) == kProfiled && first.part_of(3) == kMeasured);
    const ProfileSplit one = split_batches(1, SplitRule::first);
    QCOMPARE(one.part_of(0), static_cast<uint8_t>(kProfiled | kMeasured));
    QVERIFY(one.same && one.profiled == std::vector<int64_t>{0} && one.measured == one.profiled);
  }
};

STORMCELL_TEST(ProfileSplitTest)

}  // namespace stormcell::testing

#include "profile_split_test.moc"

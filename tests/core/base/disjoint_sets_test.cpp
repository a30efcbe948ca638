#include "core/base/disjoint_sets.h"

#include <map>
#include <random>
#include <set>

#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;

class DisjointSetsTest : public QObject {
  Q_OBJECT

 private slots:
  void the_lowest_number_stands_for_its_set() {
    DisjointSets sets(5);
    QCOMPARE(sets.add(), size_t{5});
    sets.join(5, 3);
    sets.join(3, 4);
    QCOMPARE(sets.lowest_with(4), size_t{3});
    sets.join(5, 1);
    for (const size_t n : {1, 3, 4, 5}) QCOMPARE(sets.lowest_with(n), size_t{1});
    QCOMPARE(sets.lowest_with(2), size_t{2});
  }

  void joins_in_any_order_give_what_walking_the_pairs_gives() {
    testing::Drawn<std::mt19937> random(3);
    for (int round = 0; round < 50; ++round) {
      constexpr size_t kNumbers = 40;
      DisjointSets sets(kNumbers);
      std::map<size_t, std::set<size_t>> beside;
      for (int i = 0; i < 25; ++i) {
        const size_t a = random() % kNumbers, b = random() % kNumbers;
        sets.join(a, b);
        beside[a].insert(b), beside[b].insert(a);
      }
      for (size_t n = 0; n < kNumbers; ++n) {
        std::set<size_t> reached{n};
        for (std::vector<size_t> next{n}; !next.empty();) {
          const size_t at = next.back();
          next.pop_back();
          for (const size_t other : beside[at])
            if (reached.insert(other).second) next.push_back(other);
        }
        QCOMPARE(sets.lowest_with(n), *reached.begin());
      }
    }
  }
};

STORMCELL_TEST(DisjointSetsTest)

#include "disjoint_sets_test.moc"

// Planted skews are found with the numbers of cells that docs/method/chance.md states. The rows of its tables are
// made here, and each must be on the page.
#include <QFile>
#include <QTest>
#include <cstdio>
#include <random>
#include <string>

#include "core/chance/even_pairs.h"
#include "core/chance/even_router.h"
#include "tests/core/chance/even_routers.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int kPlanted = 100, kFound = 90;
constexpr int64_t kOfLayers = 48;

/// Cells with which a skew is found by one router alone, and by one of 48.
struct PlantedSkew {
  int32_t k, branches;
  int percent;
  int64_t cells, cells_of_many;
};
constexpr PlantedSkew kHotBranches[] = {{2, 8, 10, 15000, 20000}, {2, 8, 25, 3000, 4000},    {2, 8, 50, 700, 1000},
                                        {2, 8, 100, 200, 300},    {8, 64, 10, 30000, 50000}, {8, 64, 25, 5000, 7000},
                                        {8, 64, 50, 1500, 2000},  {8, 64, 100, 400, 500}};
constexpr PlantedSkew kTiedPairs[] = {
    {2, 16, 5, 30000, 50000}, {2, 16, 10, 7000, 10000}, {2, 16, 25, 1500, 2000}, {2, 16, 50, 500, 700}};

/// "| 2 of 8 | 25 % | 3,000 | 4,000 |"
std::string row_of(const PlantedSkew& skew) {
  const auto thousands = [](int64_t n) {
    std::string text = std::to_string(n);
    if (text.size() > 3) text.insert(text.size() - 3, ",");
    return text;
  };
  return "| " + std::to_string(skew.k) + " of " + std::to_string(skew.branches) + " | " + std::to_string(skew.percent) +
         " % | " + thousands(skew.cells) + " | " + thousands(skew.cells_of_many) + " |";
}

}  // namespace

class ChancePowerTest : public QObject {
  Q_OBJECT
  std::string page_;

  void check_found(const PlantedSkew& skew, int alone, int of_many) {
    const std::string row = row_of(skew), found = std::to_string(alone) + ", " + std::to_string(of_many);
    std::printf("%s found %s of %d\n", row.c_str(), found.c_str(), kPlanted);
    QVERIFY2(alone >= kFound && of_many >= kFound, (row + " found " + found).c_str());
    QVERIFY2(page_.find(row + "\n") != std::string::npos, (row + " is not in docs/method/chance.md").c_str());
  }

 private slots:
  void initTestCase() {
    QFile file(QString::fromStdString(source_folder() + "/docs/method/chance.md"));
    QVERIFY(file.open(QIODevice::ReadOnly));
    page_ = file.readAll().toStdString();
  }

  void a_hot_branch_is_found() {
    testing::Drawn<std::mt19937_64> random(21);
    EvenRouters alone(1), among(kOfLayers);
    for (const PlantedSkew& skew : kHotBranches) {
      SkewedRouter router(skew.branches, skew.k, skew.percent / 100.);
      int found = 0, of_many = 0;
      for (int i = 0; i < kPlanted; ++i) {
        found += alone.judge(router.loads(random, skew.cells), skew.k).p_value <= kFalseCalls;
        of_many += among.judge(router.loads(random, skew.cells_of_many), skew.k).p_value * kOfLayers <= kFalseCalls;
      }
      check_found(skew, found, of_many);
    }
  }

  void a_tied_pair_is_found() {
    testing::Drawn<std::mt19937_64> random(23);
    for (const PlantedSkew& skew : kTiedPairs) {
      const SkewedRouter router(skew.branches, skew.k);
      const auto is_found = [&](int64_t cells, int64_t verdicts) {
        const TwoRouters two(random, router, router, skew.branches, cells, skew.percent / 100.);
        return transitions_beside_chance(two.transitions, skew.k, verdicts).is_beyond(0, 0);
      };
      int found = 0, of_many = 0;
      for (int i = 0; i < kPlanted; ++i)
        found += is_found(skew.cells, 1), of_many += is_found(skew.cells_of_many, kOfLayers);
      check_found(skew, found, of_many);
    }
  }
};

STORMCELL_TEST(ChancePowerTest)

}  // namespace stormcell::testing

#include "power_test.moc"

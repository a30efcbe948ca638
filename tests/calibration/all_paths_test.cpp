// The promises of the calibration of DynamicRouting's presets for the pictures that it was fitted on: their operations
// on average are those that the paper states, within 5 %, and no gate is open, or closed, in more than 95 % of the
// pictures that come to it.
#include <numeric>

#include "tests/testing/taken_paths.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// Counts over all pictures, by router: those that came, and those that went each way.
using AllLoads = std::map<std::string, RouterLoads>;

/// If fewer come, one that goes otherwise is more than 5 % of them.
constexpr int64_t kFew = 2;

void add(AllLoads& all, const std::vector<RouterLoads>& of_picture) {
  for (const RouterLoads& of : of_picture) {
    RouterLoads& to =
        all.try_emplace(of.router, RouterLoads{of.router, of.decision, 0, std::vector<double>(of.branches.size(), 0)})
            .first->second;
    to.came += of.came;
    for (size_t b = 0; b < of.branches.size(); ++b) to.branches[b] += of.branches[b];
  }
}

/// Shares of the pictures that come to a node in which each of its ways is open, by way; of nodes to which more than
/// kFew came.
std::map<std::string, double> open_shares(const AllLoads& all) {
  constexpr std::string_view kCompute = ".compute";
  std::map<std::string, double> shares;
  for (const auto& [router, loads] : all) {
    if (!router.ends_with(kCompute) || loads.came <= kFew) continue;
    const std::string node = router.substr(0, router.size() - kCompute.size());
    const auto came = static_cast<double>(loads.came);
    const auto ways = all.find(node + ".ways");
    // A node of one way has no router for it: who is computed goes it.
    const std::vector<double> open = ways == all.end() ? std::vector<double>{loads.branches[1]} : ways->second.branches;
    for (size_t way = 0; way < open.size(); ++way) shares[node + "." + std::to_string(way)] = open[way] / came;
  }
  return shares;
}

}  // namespace

class AllPathsTest : public QObject {
  Q_OBJECT
 private slots:
  void pictures_of_the_fit_spend_what_is_stated_and_no_gate_is_fixed_data() {
    QTest::addColumn<int>("index");
    for (size_t i = 0; i < std::size(kCalibratedPaths); ++i)
      QTest::newRow(kCalibratedPaths[i].arch) << static_cast<int>(i);
  }
  void pictures_of_the_fit_spend_what_is_stated_and_no_gate_is_fixed() {
    QFETCH(int, index);
    const CalibratedPaths& row = kCalibratedPaths[index];
    PathTaker paths(row.arch);
    AllLoads all;
    double spent = 0;
    for (int64_t picture = 0; picture < kFittedPictures; ++picture) {
      const std::vector<RouterLoads> loads = paths.take(picture);
      spent += paths.spent(loads) / static_cast<double>(kFittedPictures);
      add(all, loads);
    }
    double least = 1, most = 0;
    const std::map<std::string, double> shares = open_shares(all);
    for (const auto& [way, share] : shares) {
      least = std::min(least, share), most = std::max(most, share);
      QVERIFY2(share >= 0.05 && share <= 0.95,
               qPrintable(QString("%1: %2 is open in %3").arg(row.arch).arg(way.c_str()).arg(share)));
    }
    qInfo("%s: %.2f G multiplications, stated %.1f; %zu of 149 ways open in %.2f to %.2f of the pictures", row.arch,
          spent, row.stated, shares.size(), least, most);
    QVERIFY2(std::fabs(spent / row.stated - 1) < 0.05,
             qPrintable(QString("%1: %2, not %3").arg(row.arch).arg(spent).arg(row.stated)));
    QVERIFY(shares.size() > 140);
  }
};
STORMCELL_TEST(AllPathsTest)
#include "all_paths_test.moc"

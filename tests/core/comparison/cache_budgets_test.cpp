// Budgets of a cache on two real traces: hit rates and bytes that were found of the same files before (preloading.md,
// section 5.1; tests need ../shared).
#include "core/comparison/cache_budgets.h"

#include <QTemporaryDir>
#include <cmath>

#include "core/imports/import.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

struct RatesOfBudget {
  int64_t mib;
  double lru, lfu, belady, wait;  // percent
};
struct CachedTrace {
  const char* trace;
  double cliff_mib;
  RatesOfBudget rates[4];
};
constexpr CachedTrace kTraces[] = {
    {"qwen",
     784.7,
     {{700, 0, 31.4, 53.6, 34.9},
      {1000, 37.7, 38.5, 62.7, 42.9},
      {2000, 56.5, 56.1, 79.4, 62.1},
      {4000, 80.3, 78.6, 92.7, 83.3}}},
    {"gemma",
     676.4,
     {{700, 35.4, 37, 56.4, 38.9},
      {1000, 36.1, 44.8, 65.7, 47.1},
      {2000, 62.2, 63.3, 80.6, 65.5},
      {4000, 81.9, 83.1, 92.9, 84.1}}}};

}  // namespace

class CacheBudgetsTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

 private slots:
  void real_traces_have_the_rates_that_are_known_of_them() {
    if (shared_folder().empty()) QSKIP("../shared is not there");
    for (const CachedTrace& known : kTraces) {
      const std::string session = folder_.filePath(known.trace).toStdString() + ".storm";
      ImportOptions import;
      import.traces = {shared_folder() + "/data/traces/" + known.trace + ".route.csv"};
      import.session = session;
      import_traces(import);
      for (const RatesOfBudget& rates : known.rates) {
        CacheOptions options;
        options.session = session, options.memory_bytes = rates.mib << 20, options.disk_bytes_per_s = 1e9;
        const CacheBudgets figures = replay_budgets(options);
        QCOMPARE(figures.budgets.size(), size_t{4});
        QVERIFY(figures.token_by_token && figures.demand.decode);
        QCOMPARE(figures.demand.tokens, int64_t{128});
        QVERIFY(std::abs(static_cast<double>(figures.cliff_bytes) / 0x1p20 - known.cliff_mib) < .05);
        const double percent[] = {rates.lru, rates.lfu, rates.belady, rates.wait};
        for (size_t p = 0; p < 4; ++p) {
          const CacheOfBudget& row = figures.budgets[p];
          QVERIFY2(row.hit_rate && std::abs(100 * *row.hit_rate - percent[p]) < .051,
                   (std::string(known.trace) + " " + std::to_string(rates.mib) + " " + std::string(to_text(row.policy)))
                       .c_str());
          QVERIFY(row.oracle_hit_rate == figures.budgets[2].hit_rate);
          QVERIFY(std::abs(*row.tokens_per_s * row.bytes_per_token - 1e9) < 1);
        }
        QCOMPARE(figures.warnings.size(), rates.mib < known.cliff_mib ? size_t{1} : size_t{0});
      }
    }
  }
};

STORMCELL_TEST(CacheBudgetsTest)

}  // namespace stormcell::testing

#include "cache_budgets_test.moc"

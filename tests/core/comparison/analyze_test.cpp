// Guesses and caches on two real traces: figures that others published of the same files (tests need ../shared).
#include "core/comparison/analyze.h"

#include <QTemporaryDir>
#include <cmath>

#include "core/base/error.h"
#include "core/imports/import.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

struct Golden {
  const char* trace;
  double temporal, static_in_sample, lru_all;  // percent
  int64_t lru_hits, decode_lookups;
  double belady;
  int64_t none_mib, some_mib;  // LRU of so many MiB hits nothing, and `some` percent
  double some;
};
constexpr Golden kGoldens[] = {{"qwen", 37.95, 37.53, 74.9, 29597, 36864, 92.7, 770, 785, 37.7},
                               {"gemma", 35.71, 39.52, 76.8, 18872, 23040, 92.9, 650, 676, 27.9}};

bool near(const std::optional<double>& share, double percent, double within) {
  return share && std::abs(*share * 100 - percent) < within;
}

}  // namespace

class AnalyzeTest : public QObject {
  Q_OBJECT
  QTemporaryDir folder_;

 private slots:
  void what_others_found_on_real_traces_is_found() {
    if (shared_folder().empty()) QSKIP("../shared is not there");
    for (const Golden& g : kGoldens) {
      const std::string session = folder_.filePath(g.trace).toStdString() + ".storm";
      ImportOptions import;
      import.traces = {shared_folder() + "/data/traces/" + g.trace + ".route.csv"};
      import.session = session;
      import_traces(import);
      const auto cached = [&](const char* policy, int64_t mib) {
        return analyze_session(AnalyzeOptions{session, policy, mib << 20});
      };
      const AnalyzeFigures f = cached("lru", 4000);
      QVERIFY(near(f.predictability.temporal_lag1, g.temporal, .005));
      QVERIFY(near(f.predictability.static_in_sample, g.static_in_sample, .01));
      QVERIFY(near(f.cache->all.rate, g.lru_all, .05));
      QCOMPARE(f.cache->decode.hits, g.lru_hits);
      QCOMPARE(f.cache->decode.lookups, g.decode_lookups);
      QVERIFY(near(cached("belady", 4000).cache->decode.rate, g.belady, .05));
      QCOMPARE(cached("lru", g.none_mib).cache->decode.hits, int64_t{0});
      QVERIFY(near(cached("lru", g.some_mib).cache->decode.rate, g.some, .05));
    }
  }
};

STORMCELL_TEST(AnalyzeTest)

}  // namespace stormcell::testing

#include "analyze_test.moc"

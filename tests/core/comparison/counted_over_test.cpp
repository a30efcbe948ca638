// Two runs whose figures were counted over unlike parts of the same data.
#include <nlohmann/json.hpp>

#include "core/comparison/compare.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

const ComparedFigure* figure_named(const Comparison& comparison, const std::string& figure) {
  for (const ComparedFigure& row : comparison.rows)
    if (row.figure == figure) return &row;
  return nullptr;
}

}  // namespace

class CountedOverTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  /// A run over so many batches of 64, which verified and judged so many.
  std::string run(const char* name, int measured, int verified, int items) {
    const Json j = {{"schema", "stormcell.optimize/1"},
                    {"dataset", {{"name", "words"}, {"cells", 6400}}},
                    {"split", {{"profiled", 5}, {"measured", measured}, {"same", false}}},
                    {"expected_seconds", {40 + items, 90}},
                    {"speedup", 1 + 0.1 * items},
                    {"quality", {{"items", items}, {"optimized", {{"value", 0.9 + 0.01 * items}}}}},
                    {"verified", {{"passed", true}, {"batches", verified}, {"max_rel_diff", 0.001 * verified}}},
                    {"routing", Json::array({{{"router", "r"}, {"imbalance", 0.1 * measured}}})}};
    return scratch_.write(name, j.dump());
  }
  static bool warns(const Comparison& c, const char* words) {
    return std::any_of(c.warnings.begin(), c.warnings.end(),
                       [&](const std::string& w) { return w.find(words) != std::string::npos; });
  }

 private slots:
  void batches_left_out_by_a_time_limit_are_warned_of() {
    const Comparison c = compare_runs(run("a", 10, 2, 3), run("b", 55, 2, 3));
    QVERIFY(warns(c, "the batches that ran differ: 15 and 60"));
    QVERIFY(!c.same_data && !figure_named(c, "routing.r.imbalance")->comparable);
    QVERIFY(!figure_named(c, "routing.r.imbalance")->significant && !figure_named(c, "speedup")->comparable);
    QVERIFY(figure_named(c, "verified.max_rel_diff")->comparable);
  }

  void what_was_verified_or_judged_over_other_numbers_is_not_compared() {
    const Comparison c = compare_runs(run("c", 10, 2, 1), run("d", 10, 5, 60));
    QVERIFY(c.same_data && figure_named(c, "routing.r.imbalance")->comparable);
    QVERIFY(warns(c, "the batches that were verified differ: 2 and 5"));
    QVERIFY(!figure_named(c, "verified.max_rel_diff")->comparable && figure_named(c, "verified.passed")->comparable);
    QVERIFY(warns(c, "the numbers of items that were judged differ: 1 and 60"));
    QVERIFY(!figure_named(c, "quality.optimized.value")->comparable);
  }

  void like_counts_have_no_warning_and_an_expectation_is_no_figure() {
    const Comparison c = compare_runs(run("e", 10, 2, 1), run("f", 10, 2, 1));
    QVERIFY(c.same_data && c.warnings.empty() && !figure_named(c, "expected_seconds.0"));
  }
};

STORMCELL_TEST(CountedOverTest)

}  // namespace stormcell::testing

#include "counted_over_test.moc"

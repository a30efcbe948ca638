// Two placements that were made for unlike clusters, phases or steps.
#include "core/comparison/placement_terms.h"

#include <nlohmann/json.hpp>

#include "core/comparison/compare.h"
#include "core/comparison/figure_rows.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
using OrderedJson = nlohmann::ordered_json;

class PlacementTermsTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

  static OrderedJson placement(const char* cluster, int ranks, const char* backend, double objective) {
    return {{"schema", "stormcell.place/1"},
            {"cluster", {{"name", cluster}, {"nodes", 1}, {"ranks", ranks}}},
            {"backend", backend},
            {"layouts",
             OrderedJson::array({{{"name", "joint"}, {"fit", {{"imbalance", 0.1}, {"objective", objective}}}}})}};
  }

 private slots:
  void costs_of_two_clusters_are_not_compared() {
    const std::string a = scratch_.write("a", placement("8x-h100", 8, "deepep", 2).dump()),
                      b = scratch_.write("b", placement("8x-h200", 8, "deepep", 3).dump());
    const Comparison c = compare_runs(a, b);
    QCOMPARE(c.warnings.size(), size_t{1});
    QCOMPARE(c.warnings[0],
             std::string("the clusters differ: 8x-h100 and 8x-h200, so costs of steps must not be compared"));
    for (const ComparedFigure& row : c.rows) {
      if (row.figure.ends_with(".objective")) QVERIFY(!row.comparable && !row.significant);
      if (row.figure.ends_with(".imbalance")) QVERIFY(row.comparable);
    }
  }

  void every_term_that_costs_depend_on_is_named() {
    const OrderedJson a = placement("four", 4, "deepep", 2);
    QVERIFY(compare_placement_terms(a, a).warnings.empty());
    const PlacementTerms backend = compare_placement_terms(a, placement("four", 4, "nccl", 2));
    QVERIFY(backend.same_ranks && !backend.same_costs && backend.warnings.size() == 1);
    const PlacementTerms ranks = compare_placement_terms(a, placement("four", 8, "deepep", 2));
    QVERIFY(!ranks.same_ranks && ranks.exclude("layouts.joint.fit.imbalance") && !ranks.exclude("slots"));
  }

  void a_cost_has_its_unit() {
    QCOMPARE(unit_of("layouts.joint.fit.objective"), std::string_view("ms"));
    QCOMPARE(unit_of("bound"), std::string_view("ms"));
    QVERIFY(unit_of("layouts.joint.fit.imbalance").empty() && unit_of("slot_bytes").empty());
  }
};

STORMCELL_TEST(PlacementTermsTest)

}  // namespace stormcell::testing

#include "placement_terms_test.moc"

#include "core/readings/placements_view.h"

#include <string>

#include "tests/testing/testing.h"

namespace stormcell {

class PlacementsViewTest : public QObject {
  Q_OBJECT
 private slots:
  void words_of_a_summary_are_values() {
    const PlacementBasis basis =
        parse_place_summary(R"({"unit": "tokens", "held_out": "requests", "backend": "per-rank",
        "replicas": "nearest", "residence": "follow", "costed_steps": {"kind": "filled up", "statistic": "p95"}})")
            .basis;
    QCOMPARE(basis.unit, std::string("tokens"));
    QCOMPARE(basis.held_out, std::optional(HeldOutBy::requests));
    QCOMPARE(basis.replicas.value, std::optional(ReplicaRule::nearest));
    QCOMPARE(basis.residence.value, std::optional(Residence::follow));
    QCOMPARE(basis.statistic, std::optional(StepStatistic::p95));
    QCOMPARE(basis.step_kind, std::string("filled up"));
  }
  void a_summary_without_the_words_means_the_usual_rules() {
    const PlacementBasis basis = parse_place_summary(R"({"replicas": null})").basis;
    QVERIFY(!basis.held_out && !basis.statistic);
    QCOMPARE(basis.replicas.or_usual(ReplicaRule::even), std::optional(ReplicaRule::even));
    QCOMPARE(basis.residence.or_usual(Residence::home), std::optional(Residence::home));
  }
  void words_of_another_version_are_shown_as_they_stand_and_mean_nothing() {
    const PlacementBasis basis =
        parse_place_summary(
            R"({"unit": "pages", "held_out": "moons", "backend": "per-rack", "replicas": "farthest", "residence": "tent"})")
            .basis;
    QCOMPARE(basis.unit, std::string("pages"));
    QCOMPARE(basis.backend, std::string("per-rack"));
    QVERIFY(!basis.held_out && !basis.replicas.or_usual(ReplicaRule::even) &&
            !basis.residence.or_usual(Residence::home));
  }
};

STORMCELL_TEST(PlacementsViewTest)

}  // namespace stormcell

#include "placements_view_test.moc"

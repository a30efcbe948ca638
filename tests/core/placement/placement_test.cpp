#include "core/placement/placement.h"

#include <cmath>

#include "tests/testing/testing.h"

namespace stormcell::testing::placement_test {

class PlacementTest : public QObject {
  Q_OBJECT
 private slots:
  void replicas_share_their_branch_evenly() {
    const LayerSlots layer = {0, 1, 0, 2};
    const std::vector<double> load = {6, 1, 2};
    QVERIFY(loads_of_ranks(layer, 2, load) == std::vector<double>({4, 5}));
    QVERIFY(std::abs(imbalance_of_ranks(loads_of_ranks(layer, 2, load)) - (5 / 4.5 - 1)) < 1e-12);
    QCOMPARE(imbalance_of_ranks(std::vector<double>{0, 0}), 0.);
    // Sums in another order differ in their last digits; that is no imbalance.
    QCOMPARE(imbalance_of(1, 1 + 8.9e-16), 0.);
    QCOMPARE(imbalance_of(1.25, 1), 0.25);
    QCOMPARE(imbalance_of(1, 0), 0.);
  }

  void what_a_server_could_not_load_is_told() {
    QCOMPARE(placement_fault({2, 3, {{0, 1, 0, 2}}}), std::string());
    QCOMPARE(placement_fault({2, 3, {{0, 1, 0, 1}}}), std::string("layer 0 lacks branch 2"));
    QCOMPARE(placement_fault({2, 3, {{0, 1, 3, 2}}}), std::string("layer 0 names branch 3, there are 0 to 2"));
    QCOMPARE(placement_fault({2, 3, {{0, 1, 2}}}), std::string("layer 0: 3 slots do not divide among 2 ranks"));
    QCOMPARE(placement_fault({2, 2, {{0, 1}, {0, 1, 0, 1}}}), std::string("layer 1 has 4 slots, layer 0 has 2"));
  }

  void two_replicas_on_one_rank_are_counted_by_layer() {
    QCOMPARE(layers_with_idle_replicas({2, 3, {{0, 0, 1, 2}, {0, 1, 0, 2}}}), 1);
  }

  void only_what_changes_its_rank_moves() {
    const Placement before = contiguous_placement(1, 4, 4, 2);
    QVERIFY(before.layers[0] == LayerSlots({0, 1, 2, 3}));
    QCOMPARE(moved_slots(before, {2, 4, {{1, 0, 3, 2}}}), int64_t{0});
    QCOMPARE(moved_slots(before, {2, 4, {{0, 2, 1, 3}}}), int64_t{2});
  }

  void spare_slots_hold_the_first_branches_again() {
    QVERIFY(contiguous_placement(1, 3, 4, 2).layers[0] == LayerSlots({0, 1, 2, 0}));
  }
};

STORMCELL_TEST(PlacementTest)

}  // namespace stormcell::testing::placement_test

#include "placement_test.moc"

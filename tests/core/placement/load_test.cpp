// Placement by load alone, beside the EPLB rule that it begins with.
#include "core/placement/load.h"

#include <algorithm>
#include <cmath>
#include <random>

#include "core/placement/eplb.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class LoadTest : public QObject {
  Q_OBJECT
 private slots:
  void what_packing_left_is_mended() {
    // Heaviest first to the lightest rank gives 8 + 5 + 4 and 7 + 6: 17 and 13. 8 + 7 and 6 + 5 + 4 is even; of equally
    // many 8 + 4 + 3.
    const std::vector<std::vector<double>> loads = {{8, 7, 6, 5, 4, 0}};
    const Placement p = load_placement(loads, {2, 6, {{0, 3, 4, 1, 2, 5}}});
    QCOMPARE(placement_fault(p), std::string());
    QCOMPARE(std::ranges::max(loads_of_ranks(p.layers[0], 2, loads[0])), 15.);
  }

  void it_is_never_less_even_than_where_it_begins() {
    testing::Drawn<std::mt19937> random(2);
    std::lognormal_distribution<double> draw(3, 1);
    double eplb_sum = 0, load_sum = 0;
    for (const int32_t slot_count : {64, 72, 96}) {
      std::vector<std::vector<double>> loads(4, std::vector<double>(64));
      for (auto& layer : loads)
        for (double& load : layer) load = std::floor(draw(random));
      const Placement eplb = eplb_placement(loads, {slot_count, 1, 1, 8});
      Placement start = eplb;
      spread_idle_replicas(loads, start);
      QCOMPARE(layers_with_idle_replicas(start), 0);
      QCOMPARE(placement_fault(start), std::string());
      const Placement p = load_placement(loads, start);
      QCOMPARE(placement_fault(p), std::string());
      QCOMPARE(layers_with_idle_replicas(p), 0);
      for (size_t l = 0; l < loads.size(); ++l) {
        const double before = imbalance_of_ranks(loads_of_ranks(start.layers[l], 8, loads[l]));
        const double after = imbalance_of_ranks(loads_of_ranks(p.layers[l], 8, loads[l]));
        QVERIFY(after <= before + 1e-12);
        eplb_sum += imbalance_of_ranks(loads_of_ranks(eplb.layers[l], 8, loads[l])), load_sum += after;
      }
    }
    QVERIFY2(load_sum < 0.95 * eplb_sum, (std::to_string(load_sum) + " " + std::to_string(eplb_sum)).c_str());
  }

  void a_replica_that_brings_nothing_gives_way() {
    Placement p{2, 3, {{0, 0, 1, 2, 1, 0}}};
    spread_idle_replicas({{9, 4, 2}}, p);
    QCOMPARE(layers_with_idle_replicas(p), 0);
    QCOMPARE(placement_fault(p), std::string());
  }
};

STORMCELL_TEST(LoadTest)

}  // namespace stormcell::testing

#include "load_test.moc"

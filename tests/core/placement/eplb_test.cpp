// The EPLB rule against its published answer, and what holds of every answer.
#include "core/placement/eplb.h"

#include <cmath>
#include <random>

#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

// deepseek-ai/EPLB, README: 2 layers of 12 experts, 16 replicas, 4 groups, 2 nodes, 8 GPUs.
const LayerLoads kPublished = {{90, 132, 40, 61, 104, 165, 39, 4, 73, 56, 183, 86},
                               {20, 107, 104, 64, 19, 197, 187, 157, 172, 86, 16, 27}};

double imbalance_of(const Placement& p, const LayerLoads& loads, size_t layer) {
  return imbalance_of_ranks(loads_of_ranks(p.layers[layer], p.ranks, loads[layer]));
}

LayerLoads skewed(size_t layers, size_t branches, uint32_t seed) {
  testing::Drawn<std::mt19937> random(seed);
  std::lognormal_distribution<float> draw(4, 1);
  LayerLoads loads(layers, std::vector<double>(branches));
  for (auto& layer : loads)
    for (double& load : layer) load = std::floor(draw(random));
  return loads;
}

}  // namespace

class EplbTest : public QObject {
  Q_OBJECT
 private slots:
  void the_published_example_is_reproduced_slot_by_slot() {
    const Placement p = eplb_placement(kPublished, {16, 4, 2, 8});
    const std::vector<LayerSlots> published = {{5, 6, 5, 7, 8, 4, 3, 4, 10, 9, 10, 2, 0, 1, 11, 1},
                                               {7, 10, 6, 8, 6, 11, 8, 9, 2, 4, 5, 1, 5, 0, 3, 1}};
    QVERIFY(p.layers == published);
    QVERIFY(std::abs(imbalance_of(p, kPublished, 0) - .208) < 5e-4 &&
            std::abs(imbalance_of(p, kPublished, 1) - .242) < 5e-4);
  }

  void without_a_whole_number_of_groups_a_node_it_packs_globally() {
    const Placement p = eplb_placement(kPublished, {16, 1, 2, 8});
    QVERIFY(std::abs(imbalance_of(p, kPublished, 0) - .073) < 5e-4 &&
            std::abs(imbalance_of(p, kPublished, 1) - .190) < 5e-4);
  }

  void one_branch_a_rank_stays_where_it_is() {
    const Placement p = eplb_placement({{9, 1, 5, 3}}, {4, 1, 1, 4});
    QVERIFY(p.layers[0] == LayerSlots({0, 1, 2, 3}));
  }

  void equal_loads_go_by_the_lower_id() {
    const Placement p = eplb_placement({{1, 1, 1, 1, 1, 1}}, {8, 1, 1, 2});
    QVERIFY(replicas_of(p.layers[0], 6) == std::vector<int32_t>({2, 2, 1, 1, 1, 1}));
    QVERIFY(placement_fault(p).empty());
  }

  void loads_are_alike_that_single_precision_does_not_tell_apart() {
    const Placement p = eplb_placement({{16777216, 16777217, 1}}, {4, 1, 1, 2});  // 2^24 and one more
    QVERIFY(replicas_of(p.layers[0], 3) == std::vector<int32_t>({2, 1, 1}));
  }

  void every_answer_is_a_placement_and_they_are_more_even_than_none() {
    const std::vector<EplbShape> shapes = {{64, 1, 1, 8}, {72, 8, 2, 8}, {96, 4, 4, 16}, {80, 1, 2, 16}};
    double even = 0, none = 0;  // a single layer may be less even, where groups must stay whole
    for (uint32_t seed = 0; seed < 20; ++seed) {
      const LayerLoads loads = skewed(3, 64, seed);
      for (const EplbShape& shape : shapes) {
        const Placement p = eplb_placement(loads, shape);
        QCOMPARE(placement_fault(p), std::string());
        const Placement contiguous = contiguous_placement(3, 64, shape.slot_count, shape.ranks);
        for (size_t l = 0; l < 3; ++l) even += imbalance_of(p, loads, l), none += imbalance_of(contiguous, loads, l);
      }
    }
    QVERIFY2(even < none / 2, std::to_string(even / none).c_str());
  }

  void shapes_that_do_not_divide_are_told() {
    QCOMPARE(eplb_fault({65, 1, 1, 8}, 64), std::string("65 slots do not divide among 8 ranks"));
    QCOMPARE(eplb_fault({64, 1, 3, 8}, 64), std::string("8 ranks do not divide among 3 nodes"));
    QCOMPARE(eplb_fault({64, 5, 1, 8}, 64), std::string("64 branches do not divide among 5 groups"));
    QCOMPARE(eplb_fault({32, 1, 1, 8}, 64), std::string("32 slots do not hold 64 branches"));
    QCOMPARE(eplb_fault({72, 8, 2, 8}, 64), std::string());
  }
};

STORMCELL_TEST(EplbTest)

}  // namespace stormcell::testing

#include "eplb_test.moc"

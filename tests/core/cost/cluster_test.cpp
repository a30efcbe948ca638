// Doubts about clusters whose figures no machine has.
#include "core/cost/cluster.h"

#include <string>
#include <vector>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class ClusterTest : public QObject {
  Q_OBJECT
 private slots:
  void a_link_that_is_faster_than_the_one_behind_it_is_doubted() {
    Cluster c;
    c.name = "lab", c.nodes = 2, c.gpus_per_node = 8;
    c.memory_bytes_per_s = 3e12, c.fabric_bytes_per_s = 3.15e10, c.network_bytes_per_s = 2.5e10;
    QVERIFY(doubts_about(c).empty());
    c.network_bytes_per_s = 5e10;
    const std::vector<std::string> card = doubts_about(c);
    QVERIFY(card.size() == 1);
    QVERIFY(card[0].starts_with(
        "lab: the network is said to carry 50 GB/s of a GPU to other nodes, more than the 31.5 GB/s"));
    c.nodes = 1;
    QVERIFY(doubts_about(c).empty());  // there is no network
    c.fabric_bytes_per_s = 3.6e12;
    const std::vector<std::string> link = doubts_about(c);
    QVERIFY(link.size() == 1 && link[0].find("3600 GB/s, more than the 3000 GB/s of the memory") < link[0].size());
    c.rank_cost.assign(64, 1e-9);
    QVERIFY(doubts_about(c).empty());  // each pair says it, the rates are means
    c.rank_cost.clear();
    c.gpus_per_node = 1;
    QVERIFY(doubts_about(c).empty());
  }
};

STORMCELL_TEST(ClusterTest)

}  // namespace stormcell::testing

#include "cluster_test.moc"

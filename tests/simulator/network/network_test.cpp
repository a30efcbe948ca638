// Links say their names: session pages and JSON show them.
#include "simulator/network/network.h"

#include <string>

#include "tests/testing/testing.h"

namespace stormcell::testing {

class NetworkTest : public QObject {
  Q_OBJECT
 private slots:
  void names_say_owner_port_and_direction() {
    QCOMPARE((Link{"GPU 3", LinkPort::fabric, true}.name()), std::string("GPU 3, fabric out"));
    QCOMPARE((Link{"GPU 3", LinkPort::network, false}.name()), std::string("GPU 3, network in"));
    QCOMPARE((Link{"node 1", LinkPort::uplink, true}.name()), std::string("node 1, uplink out"));
    QCOMPARE((Link{"GPU 3", LinkPort::only, false}.name()), std::string("GPU 3, in"));
  }
  void only_uplinks_have_a_lane_beside_their_owner() {
    QCOMPARE((Link{"node 1", LinkPort::uplink, true}.lane()), std::string("node 1 uplink"));
    QCOMPARE((Link{"GPU 3", LinkPort::network, true}.lane()), std::string("GPU 3"));
  }
};

STORMCELL_TEST(NetworkTest)

}  // namespace stormcell::testing

#include "network_test.moc"

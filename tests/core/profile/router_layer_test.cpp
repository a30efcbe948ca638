#include "core/profile/router_layer.h"

#include "tests/testing/testing.h"

namespace stormcell::testing {

class RouterLayerTest : public QObject {
  Q_OBJECT
 private slots:
  void the_first_number_between_points_is_the_layer() {
    QCOMPARE(layer_in_name("encoder.block.3.layer.1.mlp"), 3);
    QCOMPARE(layer_in_name("model.layers.17.mlp"), 17);
    QCOMPARE(layer_in_name("7"), 7);
  }
  void a_name_without_one_says_nothing() {
    for (const char* name : {"", ".", "exits", "conv2.gate", "model.3x.mlp", "model.-1.mlp", "model.99999999999.mlp"})
      QCOMPARE(layer_in_name(name), -1);
  }
};
STORMCELL_TEST(RouterLayerTest)

}  // namespace stormcell::testing
#include "router_layer_test.moc"

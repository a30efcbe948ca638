// The store knows what a weight will take on the device before it is loaded.
#include "core/runtime/weight_store.h"

#include "core/cpu/cpu_device.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Products of odd widths, a convolution, one by each channel alone, an embedding, norms and biases.
RandomCase every_layout(DType dtype) {
  CaseBuilder b(1);
  b.weight_dtype = dtype;
  const SpaceId images = b.root_space("images", b.bound_symbol("N", 2));
  const ValueId x = b.floats("x", images, {33}), maps = b.floats("maps", images, {6, 6, 8}), ids = b.integers("ids", images, 9);
  ValueId y = b.linear(b.norm(x, "norm"), 70, "odd");
  y = b.value("linear", {y, b.drawn("precise.weight", {5, 70}, 1)}, {{"precise", int64_t{1}}}, "precise");
  b.output("y", y);
  b.output("picture", b.conv(maps, 5, 3, 1, "conv"));
  b.output("each",
           b.value("conv2d", {maps, b.drawn("each.weight", {8, 3, 3, 1}, 1)}, {{"groups", int64_t{8}}, {"padding", int64_t{1}}}, "each"));
  b.output("embedded", b.value("embedding", {ids, b.drawn("table", {9, 7}, 1)}, {}, "embedded"));
  return b.take("every layout");
}

}  // namespace

class WeightStoreTest : public QObject {
  Q_OBJECT
 private slots:
  void bytes_before_loading_are_those_after_it() {
    cpu::CpuDevice cpu_device(1);
    EmulatedDevice emulated(1);
    for (Device* device : {static_cast<Device*>(&cpu_device), static_cast<Device*>(&emulated)})
      for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        const RandomCase c = every_layout(dtype);
        WeightStore store(*device, c.weights);
        const auto executable = device->compile(std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), store, {c.bindings});
        QVERIFY(executable->layout().always.size() == 8);
        for (const WeightHandle handle : executable->layout().always) {
          const int64_t before = store.counters().dense_bytes;
          store.load(handle);
          const int64_t took = store.counters().dense_bytes - before;
          QVERIFY2(took == store.bytes(handle), (store.key(handle).tensor + " as " + store.key(handle).layout + ": " +
                                                 std::to_string(store.bytes(handle)) + " and " + std::to_string(took))
                                                    .c_str());
        }
      }
  }
};
STORMCELL_TEST(WeightStoreTest)

}  // namespace stormcell::testing
#include "weight_store_test.moc"

#include "core/experiment/inspected_kernels.h"

#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

using Names = std::vector<std::string>;

/// A device with the same kernels for every operator but "route", for which no device has one.
DeviceRow device_with(const char* name, Names kernels) {
  return {name, {}, [kernels](std::string_view op) { return op == "route" ? Names{} : kernels; }};
}

const Names kOperators = {"linear", "route"};

}  // namespace

class InspectedKernelsTest : public QObject {
  Q_OBJECT
 private slots:
  void kernels_that_all_devices_have_name_no_device() {
    const std::vector<DeviceRow> one = {device_with("cpu", {"panels", "plain"})};
    std::vector<DeviceRow> two = one;
    two.push_back(device_with("cuda", {"panels", "plain"}));
    for (const auto& devices : {one, two}) {
      const std::vector<KernelsOfOperator> list = inspected_kernels(kOperators, devices);
      QCOMPARE(list.size(), size_t{1});
      QCOMPARE(list[0].op, std::string("linear"));
      QCOMPARE(list[0].devices, Names{});
      QCOMPARE(list[0].names, (Names{"panels", "plain"}));
    }
  }

  void kernels_that_differ_name_the_devices_that_have_them() {
    const std::vector<DeviceRow> devices = {device_with("cpu", {"panels", "plain"}), device_with("cuda", {"tiles"}),
                                            device_with("none", {}), device_with("cuda:1", {"tiles"})};
    const std::vector<KernelsOfOperator> list = inspected_kernels(kOperators, devices);
    QCOMPARE(list.size(), size_t{2});
    QCOMPARE(list[0].devices, Names{"cpu"});
    QCOMPARE(list[0].names, (Names{"panels", "plain"}));
    QCOMPARE(list[1].devices, (Names{"cuda", "cuda:1"}));
    QCOMPARE(list[1].names, Names{"tiles"});
  }

  void kernels_that_another_device_lacks_name_their_device() {
    const std::vector<DeviceRow> devices = {device_with("cpu", {}), device_with("cuda", {"tiles"})};
    const std::vector<KernelsOfOperator> list = inspected_kernels(kOperators, devices);
    QCOMPARE(list.size(), size_t{1});
    QCOMPARE(list[0].devices, Names{"cuda"});
  }
};

STORMCELL_TEST(InspectedKernelsTest)

}  // namespace stormcell::testing

#include "inspected_kernels_test.moc"

// The operators that devices compute: all there are, or the reason why not.
#include <algorithm>
#include <map>

#include "core/cpu/cpu_device.h"
#include "core/graph/operator.h"
#include "gpu/plan/missing.h"
#include "tests/gpu/host_device.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// Operators for which no device has a kernel, and why.
const std::map<std::string_view, std::string_view>& operators_without_kernel() {
  static const std::map<std::string_view, std::string_view> reasons{
      {"guard", "a program has steps that jump over one of its bodies"},
      {"repeat", "a program has steps that jump back to the beginning of its body"},
  };
  return reasons;
}

}  // namespace

class DeviceOperatorsTest : public QObject {
  Q_OBJECT
 private slots:
  /// Fails where an operator is added without a kernel, and where a kernel is named otherwise than its operator.
  void kernels_and_what_needs_none_are_all_operators() {
    const cpu::CpuDevice cpu(1);
    const EmulatedDevice emulated(1);
    for (const Device* device : {static_cast<const Device*>(&cpu), static_cast<const Device*>(&emulated)}) {
      std::vector<std::string_view> named = device->info().operators, all;
      QVERIFY(!named.empty());
      for (const auto& [op, reason] : operators_without_kernel()) named.push_back(op);
      for (const Operator* op : operators()) all.push_back(op->name);
      std::sort(named.begin(), named.end());
      std::sort(all.begin(), all.end());
      QCOMPARE(named, all);
    }
  }

  /// The host device lacks more, and each operator that it lacks is in the list with its reason.
  void plans_have_nodes_for_all_operators_but_those_of_the_list() {
    std::vector<std::string_view> named = HostDevice().info().operators, all;
    const std::vector<std::string_view> planned = named;
    for (const auto& [op, reason] : operators_without_kernel()) named.push_back(op);
    for (const Operator* op : operators()) all.push_back(op->name);
    std::sort(all.begin(), all.end());
    for (const gpu::Missing& row : gpu::missing_in_plans()) {
      QVERIFY(!row.why.empty());
      const bool is_operator = std::binary_search(all.begin(), all.end(), row.what);
      const bool has_kernel = std::find(planned.begin(), planned.end(), row.what) != planned.end();
      // An operator with a kernel lacks cases, one without a kernel lacks all.
      QCOMPARE(has_kernel, !row.when.empty());
      if (is_operator && !has_kernel) named.push_back(row.what);
    }
    std::sort(named.begin(), named.end());
    QCOMPARE(named, all);
  }

  void each_operator_is_named_once_however_many_kernels_it_has() {
    const std::vector<std::string_view> named = cpu::CpuDevice(1).info().operators;
    QVERIFY(cpu::kernel_names("conv2d").size() > 1);
    QCOMPARE(std::count(named.begin(), named.end(), "conv2d"), std::ptrdiff_t{1});
  }

  void a_device_of_a_test_lacks_what_it_is_told_to() {
    EmulatedDevice device(1);
    const size_t all = device.info().operators.size();
    device.lacks = {"grouped_linear", "zeros"};
    QCOMPARE(device.info().operators.size(), all - 2);
  }
};
STORMCELL_TEST(DeviceOperatorsTest)
#include "device_operators_test.moc"

// Guards on the host device: whichever body is due gives the oracle's answer, in several orders, and weights of a
// fallback come when it is due. And faults in the plan of a guard.
#include <cstring>

#include "gpu/plan/kernel_list.h"
#include "tests/gpu/guarded_case.h"
#include "tests/gpu/host_run.h"
#include "tests/gpu/planted_fault.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::host_guard_test {
namespace {

using gpu::Plan;
using gpu::PlanNode;

std::string first_difference(HostDevice& device, const RandomCase& c, int orders) {
  try {
    HostRun run(device, c);
    for (int i = 0; i < orders; ++i)
      if (const std::string wrong = difference(c, run.program(), run.run()); !wrong.empty()) return wrong;
  } catch (const std::exception& e) {
    return e.what();
  }
  return {};
}

template <class Kernel>
int change_args(Plan& plan, const std::function<void(typename Kernel::Args&)>& change) {
  int changed = 0;
  for (PlanNode& node : plan.nodes) {
    if (node.kernel != gpu::PlanKernels::place<Kernel>()) continue;
    typename Kernel::Args args;
    std::memcpy(&args, node.args.data(), sizeof args);
    change(args);
    std::memcpy(node.args.data(), &args, sizeof args);
    ++changed;
  }
  return changed;
}

}  // namespace

class HostGuardTest : public QObject {
  Q_OBJECT
 private slots:
  void the_body_that_is_due_gives_the_oracle_s_answer_in_several_orders() {
    for (const bool late : {false, true})
      for (const bool misses : {false, true}) {
        const RandomCase c = guarded(late, misses);
        HostDevice device;
        device.order_seed = 1;
        const std::string wrong = first_difference(device, c, 6);
        QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
      }
  }

  void weights_of_a_fallback_come_when_it_is_due() {
    const RandomCase c = guarded(false, true);
    HostDevice device;
    HostRun run(device, c);
    QCOMPARE(run.run().late_loads, int64_t{1});
    QCOMPARE(run.run().late_loads, int64_t{0});
    int32_t leaves = 0;
    for (const PlanNode& node : device.plan().nodes) leaves = std::max(leaves, node.leaf + 1);
    QVERIFY(leaves > 1);
  }

  void faults_of_a_guard_are_found_data() {
    QTest::addColumn<QString>("fault");
    QTest::addColumn<bool>("late");
    QTest::addColumn<bool>("misses");
    QTest::newRow("the other body") << "words" << false << false;
    QTest::newRow("no fallback") << "fallback" << false << true;
    QTest::newRow("weights are not asked for") << "need" << false << true;
    QTest::newRow("a router that was not due counts") << "region" << false << false;
    QTest::newRow("nothing is taken back") << "restored" << true << true;
  }
  void faults_of_a_guard_are_found() {
    QFETCH(QString, fault);
    QFETCH(bool, late);
    QFETCH(bool, misses);
    const RandomCase c = guarded(late, misses);
    const auto tamper = [&](Plan& plan) {
      if (fault == "words")
        return change_args<gpu::GuardKernel>(plan, [](auto& a) { std::swap(a.ref[a.kTaken], a.ref[a.kFallback]); });
      if (fault == "fallback")
        return change_args<gpu::GuardKernel>(plan, [](auto& a) { a.ref[a.kFallback] = a.ref[a.kTaken]; });
      if (fault == "need") return change_args<gpu::NeedKernel>(plan, [](auto& a) { a.count = 0; });
      if (fault == "region") return change_args<gpu::SettleKernel>(plan, [](auto& a) { a.region = -1; });
      // The node that puts saved rows back is in the fallback, with that word; the puts of the bodies are not first.
      int changed = 0;
      for (PlanNode& node : plan.nodes) {
        gpu::PutArgs args;
        if (node.kernel != gpu::PlanKernels::place<gpu::PutKernel>() || changed > 0) continue;
        std::memcpy(&args, node.args.data(), sizeof args);
        if (args.word < 0) continue;
        node.blocks = 0;
        ++changed;
      }
      return changed;
    };
    HostDevice whole;
    QCOMPARE(first_difference(whole, c, 1), std::string());
    Plan copy = whole.plan();
    QVERIFY(tamper(copy) > 0);
    QVERIFY(is_found_in_a_process([&] {
      HostDevice device;
      device.tamper = tamper;
      return !first_difference(device, c, 1).empty();
    }));
  }
};

STORMCELL_TEST(HostGuardTest)

}  // namespace stormcell::testing::host_guard_test
#include "host_guard_test.moc"

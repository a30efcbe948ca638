// Decoding on the host device: the tokens, the records and the replayed choices of the CPU, in several orders of each
// turn. And faults in loops, caches and records.
#include <cstdio>
#include <cstring>

#include "gpu/plan/kernel_list.h"
#include "tests/gpu/decoding.h"
#include "tests/gpu/host_device.h"
#include "tests/gpu/planted_fault.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::host_generate_test {
namespace {

using gpu::Plan;
using gpu::PlanNode;

template <class Kernel>
int change_args(Plan& plan, const std::function<bool(typename Kernel::Args&)>& change) {
  int changed = 0;
  for (PlanNode& node : plan.nodes) {
    if (node.kernel != gpu::PlanKernels::place<Kernel>()) continue;
    typename Kernel::Args args;
    std::memcpy(&args, node.args.data(), sizeof args);
    changed += change(args);
    std::memcpy(node.args.data(), &args, sizeof args);
  }
  return changed;
}

}  // namespace

class HostGenerateTest : public QObject {
  Q_OBJECT
 private slots:
  void decoding_writes_the_cpu_s_tokens_in_several_orders_data() {
    QTest::addColumn<QString>("name");
    for (const std::string& name : reference_cases("generated"))
      if (name.starts_with("switch/")) QTest::newRow(name.c_str()) << QString::fromStdString(name);
  }
  void decoding_writes_the_cpu_s_tokens_in_several_orders() {
    QFETCH(QString, name);
    const DecodedFixture c(name.toStdString());
    HostDevice device;
    device.order_seed = 3;
    for (const bool isolates : {true, false}) {
      device.isolates = isolates;
      const std::string wrong = c.difference(c.run(device, nullptr, isolates ? 1 : 3));
      QVERIFY2(wrong.empty(), wrong.c_str());
    }
    QCOMPARE(device.plan().loops.size(), size_t{1});
    std::printf("%s: %zu nodes, %d in the loop\n", qPrintable(name), device.plan().nodes.size(),
                device.plan().loops[0].end - device.plan().loops[0].first);
  }

  void turns_replay_their_own_choices() {
    const DecodedFixture& c = sparse_decoder();
    const ReplayedDecisions replayed = c.other_choices();
    cpu::CpuDevice cpu(1);
    HostDevice device;
    device.order_seed = 2;
    // As many turns as were recorded: other choices may write other tokens, and end later.
    ExecutionResult near, far;
    try {
      near = c.run(cpu, &replayed);
    } catch (const Error&) {
      QSKIP("other choices take more turns");
    }
    far = c.run(device, &replayed);
    const std::string wrong = DecodedFixture::difference(far, near);
    QVERIFY2(wrong.empty(), wrong.c_str());
  }

  void faults_of_a_loop_are_found_data() {
    QTest::addColumn<QString>("fault");
    for (const char* fault : {"no further turn", "one record", "no turn in records", "put at place 0",
                              "cache of one page", "keys up to the place alone", "not counted"})
      QTest::newRow(fault) << fault;
  }
  void faults_of_a_loop_are_found() {
    QFETCH(QString, fault);
    const DecodedFixture& c = sparse_decoder();
    const auto tamper = [&](Plan& plan) {
      if (fault == "no further turn")
        return change_args<gpu::TurnKernel>(plan, [](gpu::TurnArgs& a) {
          if (a.begins) return false;
          a.ref[a.kEnds] = a.ref[a.kAgain];  // which is 1
          return true;
        });
      if (fault == "one record" || fault == "no turn in records")
        return change_args<gpu::RecordKernel>(plan, [&](gpu::RecordArgs& a) {
          if (fault == "one record") a.records.bytes = 0;
          if (fault == "no turn in records") a.ref[a.kTurn] = {};
          return true;
        });
      if (fault == "put at place 0")
        return change_args<gpu::PutKernel>(plan, [](gpu::PutArgs& a) {
          a.ref[a.kAt] = {};
          return true;
        });
      if (fault == "not counted")
        return change_args<gpu::SettleKernel>(plan, [](gpu::SettleArgs& a) {
          a.ref[a.kExecutions] = {};
          return true;
        });
      return change_args<gpu::AttentionKernel>(plan, [&](gpu::AttentionArgs& a) {
        if (a.paged_keys < 0) return false;
        if (fault == "cache of one page") a.paged_keys = a.paged_values;
        if (fault == "keys up to the place alone") a.ref[a.kStep] = {};
        return true;
      });
    };
    HostDevice whole;
    QCOMPARE(c.difference_on(whole), std::string());
    Plan copy = whole.plan();
    QVERIFY(tamper(copy) > 0);
    QVERIFY(is_found_in_a_process([&] {
      HostDevice device;
      device.tamper = tamper;
      return !c.difference_on(device).empty();
    }));
  }

  /// Edges of nodes in the loop that put, attend, record, or say whether there is another turn.
  void edges_within_a_loop_that_are_missing_are_found() {
    const DecodedFixture& c = sparse_decoder();
    HostDevice whole;
    c.run(whole);
    const std::vector<PlanNode>& nodes = whole.plan().nodes;
    int looked = 0;
    for (size_t n = 0; n < nodes.size(); ++n) {
      if (nodes[n].loop < 0 || looked >= (kSanitized ? 1 : 8)) continue;
      const auto name = nodes[n].kernel_name;
      if (name != "put" && name != "attention" && name != "turn") continue;
      const size_t e = nodes[n].after.size() - 1;
      if (nodes[n].after.empty()) continue;
      ++looked;
      const bool found = is_found_in_a_process([&] {
        HostDevice device;
        device.order_seed = 1, device.isolates = false;
        device.tamper = [&](Plan& plan) { plan.nodes[n].after.erase(plan.nodes[n].after.begin() + long(e)); };
        for (int i = 0; i < 12; ++i)
          if (!c.difference_on(device).empty()) return true;
        return false;
      });
      if (!found)
        std::printf("edge of node %zu (%s) to %d (%s) was not missed\n", n, std::string(name).c_str(),
                    nodes[n].after[e], std::string(nodes[static_cast<size_t>(nodes[n].after[e])].kernel_name).c_str());
      QVERIFY(found);
    }
    QVERIFY(looked > 0);
  }
};

STORMCELL_TEST(HostGenerateTest)

}  // namespace stormcell::testing::host_generate_test
#include "host_generate_test.moc"

// Choices that are drawn, and not those that routers would make, replayed by the host device and by the CPU: the same
// decisions, the same free choices left behind, the same outputs. And faults in the plan of a replay.
#include <cstdio>
#include <cstring>

#include "gpu/plan/kernel_list.h"
#include "tests/gpu/host_cases.h"
#include "tests/gpu/planted_fault.h"
#include "tests/gpu/replay_case.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

using gpu::Plan;
using gpu::PlanNode;

RandomCase make(const QString& name, int seed) {
  const auto drawn = static_cast<uint64_t>(seed);
  if (name == "chains") return chains(drawn);
  if (name == "cells") return many_cells(drawn, false);
  if (name == "dropped") return many_cells(drawn, true);
  if (name == "branches") return many_branches(drawn);
  if (name == "labels") return many_labels(drawn);
  return random_mixtures(drawn);
}

}  // namespace

class HostReplayTest : public QObject {
  Q_OBJECT
 private slots:
  void recorded_choices_are_made_again_as_the_cpu_makes_them_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("seed");
    const auto add = [](const char* name, int count) {
      for (int seed = 1; seed <= count; ++seed)
        QTest::newRow(qPrintable(QString("%1 %2").arg(name).arg(seed))) << name << seed;
    };
    add("chains", 3), add("branches", 2), add("labels", 1), add("cells", 1), add("dropped", 1);
    add("mixtures", kSanitized ? 2 : 12);
  }
  void recorded_choices_are_made_again_as_the_cpu_makes_them() {
    QFETCH(QString, name);
    QFETCH(int, seed);
    const ReplayCase c(make(name, seed), static_cast<uint64_t>(seed));
    int64_t free = 0;
    for (const int32_t cells : c.expected.not_replayed) free += cells;
    QVERIFY(name == "labels" || name == "mixtures" || free > 0);
    HostDevice device;
    device.order_seed = static_cast<uint64_t>(seed);
    const std::string wrong = c.first_difference(device, 2);
    QVERIFY2(wrong.empty(), (c.of.name + ": " + wrong).c_str());
  }

  void a_run_behind_a_replay_decides_freely() {
    const ReplayCase c(chains(1), 1);
    HostDevice device;
    HostRun run(device, c.of);
    run.run(&c.replayed);
    const ExecutionResult free = run.run();
    const std::string wrong = difference(c.of, run.program(), free);
    QVERIFY2(wrong.empty(), wrong.c_str());
    for (const ExecutedDecision& d : free.decisions) QVERIFY(d.free_choice.empty());
  }

  void faults_of_a_replay_are_found_data() {
    QTest::addColumn<QString>("fault");
    for (const char* fault : {"not replayed", "of another router", "not followed", "in order", "not counted"})
      QTest::newRow(fault) << fault;
  }
  void faults_of_a_replay_are_found() {
    QFETCH(QString, fault);
    const ReplayCase c(chains(2), 2);
    int changed = 0;
    HostDevice device;
    device.tamper = [&](Plan& plan) {
      for (PlanNode& node : plan.nodes) {
        if (node.kernel_name != "route") continue;
        gpu::RouteArgs args;
        std::memcpy(&args, node.args.data(), sizeof args);
        if (args.replaying.chain.links == 0 && fault != "not counted") continue;
        ++changed;
        if (fault == "not replayed") args.replaying.router = -1;
        if (fault == "of another router") args.replaying.router = 1 - args.replaying.router;
        if (fault == "not followed") args.replaying.chain.links = 0;
        if (fault == "in order") args.replaying.by_row = false;
        if (fault == "not counted") args.ref[gpu::RouteArgs::kNotReplayed].offset += 4;
        std::memcpy(node.args.data(), &args, sizeof args);
      }
    };
    std::string wrong;
    try {
      wrong = c.first_difference(device, 1);
    } catch (const std::exception& e) {
      wrong = e.what();
    }
    QVERIFY(changed > 0);
    QVERIFY(!wrong.empty());
    std::printf("%s: %s\n", qPrintable(fault), wrong.c_str());
  }

  void a_range_of_a_replay_that_is_not_declared_is_found() {
    int looked = 0;
    for (const ReplayCase& c : {ReplayCase(chains(2), 2), ReplayCase(many_branches(3), 3)}) {
      HostDevice whole;
      HostRun run(whole, c.of);
      const std::vector<PlanNode>& nodes = whole.plan().nodes;
      for (size_t n = 0; n < nodes.size(); ++n)
        for (size_t r = 0; r < nodes[n].ranges.size(); ++r) {
          const bool replays = nodes[n].kernel_name == "route" || nodes[n].kernel_name == "replay";
          // The word of a region that is due reads the same as poison; few cells leave the workspace alone.
          const gpu::ByteRange& range = nodes[n].ranges[r];
          const bool is_entry = !range.writes && range.end - range.begin == sizeof(gpu::RowsEntry);
          if (!replays || (range.memory == gpu::Memory::control && !is_entry)) continue;
          ++looked;
          const bool is_missed = is_found_in_a_process([&] {
            HostDevice device;
            device.tamper = [&](Plan& plan) { plan.nodes[n].ranges.erase(plan.nodes[n].ranges.begin() + long(r)); };
            return !c.first_difference(device, 1).empty();
          });
          QVERIFY2(is_missed, qPrintable(QString("%1: range %2 of node %3").arg(c.of.name.c_str()).arg(r).arg(n)));
        }
    }
    QVERIFY(looked > 8);
  }

  void an_edge_of_a_replay_that_is_missing_is_found() {
    const ReplayCase c(many_branches(3), 3);
    HostDevice whole;
    HostRun run(whole, c.of);
    const std::vector<PlanNode>& nodes = whole.plan().nodes;
    int looked = 0;
    for (size_t n = 0; n < nodes.size(); ++n)
      for (size_t e = 0; e < nodes[n].after.size(); ++e) {
        const auto before = static_cast<size_t>(nodes[n].after[e]);
        if (nodes[n].kernel_name != "replay" && nodes[before].kernel_name != "replay") continue;
        ++looked;
        const bool is_missed = is_found_in_a_process([&] {
          HostDevice device;
          device.order_seed = 1;
          device.tamper = [&](Plan& plan) { plan.nodes[n].after.erase(plan.nodes[n].after.begin() + long(e)); };
          return !c.first_difference(device, 40).empty();
        });
        QVERIFY2(is_missed, qPrintable(QString("edge of node %1 to %2").arg(n).arg(before)));
      }
    QVERIFY(looked >= 2);
  }
};

STORMCELL_TEST(HostReplayTest)

}  // namespace stormcell::testing
#include "host_replay_test.moc"

// Routers by priority and grids of capacities on the host device: the oracle's answers in several orders, the loads that
// the CPU reports, recorded choices replayed. And faults in their plans.
#include <algorithm>
#include <cstring>

#include "core/cpu/cpu_device.h"
#include "gpu/plan/kernel_list.h"
#include "tests/gpu/host_run.h"
#include "tests/gpu/planted_fault.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::host_route_test {
namespace {

/// A mixture behind one router. Tokens are drawn from 19 rows, so that many cells are alike.
RandomCase one_router(const Protocol& rule, int64_t branches, int64_t sequences, int64_t length) {
  MixtureBuilder b(21);
  const ValueId x = b.tokens(sequences, length, 4);
  Mixture shape;
  shape.branches = branches, shape.width = 5, shape.mode = "weighted", shape.expert = Expert::single;
  const ValueId decision = rule.kind == ProtocolKind::label
                               ? b.route(b.integers("labels", b.space_of(x), branches), rule, "moe", branches)
                               : b.scored(x, rule, branches, "moe");
  b.output("y", b.mixture(x, decision, shape, "moe"));
  return b.take("router of " + std::to_string(branches) + " branches, " + std::to_string(sequences * length) +
                " cells");
}

Protocol by_confidence(double factor) {
  Protocol rule;
  rule.kind = ProtocolKind::batch_prioritized;
  rule.capacity_factor = factor;
  return rule;
}
Protocol in_grid(ProtocolKind kind, bool padding, bool path_wise) {
  Protocol rule;
  rule.kind = kind;
  rule.supported_capacities = {1, 2, 4};
  rule.capacity_padding = padding, rule.path_wise_padding = path_wise;
  return rule;
}

/// Empty, or how the first wrong of some runs differs from the oracle, and from the loads of the CPU.
std::string route_difference(HostDevice& device, const RandomCase& c, int orders) {
  cpu::CpuDevice cpu(1);
  HostRun expected(cpu, c), run(device, c);
  const ExecutionResult right = expected.run();
  for (int i = 0; i < orders; ++i) {
    const ExecutionResult came = run.run();
    if (std::string wrong = difference(c, run.program(), came); !wrong.empty()) return wrong;
    if (came.decisions.size() != right.decisions.size()) return "other decisions";
    for (size_t d = 0; d < came.decisions.size(); ++d)
      if (came.decisions[d].padded != right.decisions[d].padded) return "other loads";
  }
  return {};
}

template <class Kernel, class Change>
std::function<void(gpu::Plan&)> route_fault(const Change& change) {
  return [change](gpu::Plan& plan) {
    for (gpu::PlanNode& node : plan.nodes) {
      if (node.kernel != gpu::PlanKernels::place<Kernel>()) continue;
      typename Kernel::Args args;
      std::memcpy(&args, node.args.data(), sizeof args);
      change(args);
      std::memcpy(node.args.data(), &args, sizeof args);
    }
  };
}

}  // namespace

class HostRouteTest : public QObject {
  Q_OBJECT
 private slots:
  void the_most_confident_cells_of_a_batch_are_served() {
    for (const double factor : {0.0, 0.5, 1.0, 8.0}) {
      agrees(one_router(by_confidence(factor), 3, 3, 7));
      agrees(one_router(by_confidence(factor), 9, 1, 2));  // most branches are empty
      agrees(one_router(by_confidence(factor), 2, 1, 1));
    }
    Protocol rule = by_confidence(0.5);
    rule.renormalize = true;  // all weights are alike, confidence is not
    agrees(one_router(rule, 4, 2, 9));
    agrees(one_router(by_confidence(0.7), 5, 3, 750), 1);  // more than a tile of choices
  }

  void loads_are_reported_by_the_capacities_that_are_supported() {
    for (const ProtocolKind kind : {ProtocolKind::top_k, ProtocolKind::label, ProtocolKind::switch_top1})
      for (const bool padding : {false, true})
        for (const bool path_wise : {false, true}) {
          agrees(one_router(in_grid(kind, padding, path_wise), 3, 2, 5));
          agrees(one_router(in_grid(kind, padding, path_wise), 3, 1, 1));
        }
    agrees(one_router(in_grid(ProtocolKind::label, true, false), 3, 3, 750), 1);
  }

  void recorded_drops_are_replayed() {
    const RandomCase c = one_router(by_confidence(0.5), 3, 3, 7);
    HostDevice device;
    HostRun run(device, c);
    const ExecutionResult recorded = run.run();
    const ExecutedDecision& d = recorded.decisions.at(0);
    ReplayedDecisions replayed(run.program().routers.size());
    ReplayedDecision& of = replayed[d.router].emplace_back();
    for (const int32_t choice : d.choice) of.choice.push_back(is_kept(choice) ? dropped_from(choice) : ~choice);
    of.ancestor = d.ancestor;
    const ExecutionResult came = run.run(&replayed);
    QCOMPARE(came.decisions.at(0).choice, of.choice);
    QCOMPARE(came.decisions.at(0).free_choice, d.choice);
    QVERIFY(std::any_of(d.choice.begin(), d.choice.end(), [](int32_t choice) { return is_dropped(choice); }));
  }

  void branches_that_are_off_are_refused() {
    for (const ProtocolKind kind : {ProtocolKind::top_k, ProtocolKind::exit_threshold}) {
      Protocol rule;
      rule.kind = kind, rule.off = {1};
      const RandomCase c = one_router(rule, 2, 2, 5);
      QVERIFY(!HostDevice().refusal_of(c.graph, c.weights, c.bindings).empty());
    }
  }

  void a_fault_in_what_follows_a_choice_is_found() {
    const RandomCase priority = one_router(by_confidence(0.5), 3, 3, 7);
    RandomCase grid = one_router(in_grid(ProtocolKind::label, true, false), 3, 2, 5);
    grid.inputs["labels"] = std::vector<int32_t>{0, 1, 2, 2, 0, 1, 2, 2, 0, 1};  // loads of 3, 3 and 4
    struct Fault {
      const char* name;
      std::function<void(gpu::Plan&)> plant;
      const RandomCase& c;
    };
    const Fault faults[] = {
        {"another capacity", route_fault<gpu::PriorityKernel>([](gpu::PriorityArgs& a) { a.factor = 8; }), priority},
        {"no confidence", route_fault<gpu::PriorityKernel>([](gpu::PriorityArgs& a) {
           a.ref[gpu::PriorityArgs::kRanking].offset += a.branch_at;
         }),
         priority},
        {"branches lie where confidence does",
         route_fault<gpu::ConfidenceKernel>([](gpu::PriorityArgs& a) { a.branch_at = 0; }), priority},
        {"one capacity", route_fault<gpu::PadKernel>([](gpu::PadArgs& a) { a.count = 1; }), grid},
        {"no padding", route_fault<gpu::PadKernel>([](gpu::PadArgs& a) { a.padding = false; }), grid},
    };
    for (const Fault& fault : faults)
      QVERIFY2(is_found_in_a_process([&] {
                 HostDevice device;
                 device.tamper = fault.plant;
                 return !route_difference(device, fault.c, 1).empty();
               }),
               fault.name);
  }

 private:
  static void agrees(const RandomCase& c, int orders = 3) {
    HostDevice device;
    device.order_seed = 5;
    const std::string wrong = route_difference(device, c, orders);
    QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
  }
};

STORMCELL_TEST(HostRouteTest)

}  // namespace stormcell::testing::host_route_test
#include "host_route_test.moc"

// Plans for a card run on the host device: small graphs give the oracle's answers in every order that the plan allows,
// and faults that are planted in a plan are found.
#include <cstring>

#include "core/base/error.h"
#include "gpu/plan/kernel_list.h"
#include "tests/gpu/host_run.h"
#include "tests/gpu/planted_fault.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

using gpu::Plan;
using gpu::PlanNode;

constexpr int kOrders = 20;

/// Elementwise operators and look-ups, no router: rows of three numbers, which are no whole sixteen bytes, and of eight.
RandomCase rows_alone(uint64_t seed) {
  MixtureBuilder b(seed);
  for (const int64_t width : {3, 8}) {
    const std::string name = "of" + std::to_string(width);
    const SpaceId root = b.root_space(name + ".sequences", b.bound_symbol("N" + std::to_string(width), 2));
    const SpaceId space = b.dense_space(name + ".tokens", root, b.bound_symbol("T" + std::to_string(width), 5));
    const ValueId x =
        b.value("embedding", {b.integers(name + ".ids", space, 19), b.drawn(name + ".table", {19, width}, 1)}, {},
                name + ".start");
    const ValueId y = b.value("scale", {x}, {{"factor", 0.5}}, name + ".half");
    const ValueId z = b.value("activation", {b.add(x, y, name + ".sum")}, {{"kind", std::string("silu")}}, name + ".z");
    b.output(name, b.value("multiply", {z, x}, {}, name + ".product"));
  }
  return b.take("rows alone");
}

/// A router by label with three branches that do different things; with `nested`, one of them routes again. Labels name
/// the branches that get cells.
RandomCase branches(uint64_t seed, std::vector<int32_t> labels, bool nested) {
  MixtureBuilder b(seed);
  const SpaceId root = b.root_space("sequences", b.bound_symbol("N", 2));
  const SpaceId space = b.dense_space("tokens", root, b.bound_symbol("T", 6));
  const ValueId x = b.value("embedding", {b.integers("ids", space, 19), b.drawn("table", {19, 8}, 1)}, {}, "start");
  const ValueId flow = b.value("scale", {x}, {{"factor", 2.0}}, "flow");
  const ValueId chosen = b.labelled(space, 3, "outer");
  std::vector<ValueId> parts = b.scatter(flow, chosen, {0, 1, 2});
  parts[0] = b.value("activation", {parts[0]}, {{"kind", std::string("gelu")}}, "active");
  parts[1] = b.add(b.value("scale", {parts[1]}, {{"factor", 3.0}}, "more"), parts[1], "sum");
  if (nested) {
    Protocol by_label;
    by_label.kind = ProtocolKind::label;
    const ValueId labels = b.scatter(b.integers("inner.labels", space, 2), chosen, {1})[0];
    const ValueId inner = b.route(labels, by_label, "inner", 2);
    std::vector<ValueId> deep = b.scatter(parts[1], inner, {0, 1});
    deep[0] = b.value("scale", {deep[0]}, {{"factor", -1.0}}, "deep.0");
    parts[1] = b.gather(deep, b.space_of(parts[1]), "sum", kNone, "inner.joined");
  }
  b.output("y", b.add(b.gather(parts, space, "sum", kNone, "joined"), x, "residual"));
  RandomCase c = b.take(nested ? "nested branches" : "branches");
  auto& of_cells = std::get<std::vector<int32_t>>(c.inputs.at("outer.labels"));
  for (size_t i = 0; i < of_cells.size(); ++i) of_cells[i] = labels[i % labels.size()];
  return c;
}

/// Runs a case in many orders; empty, or how the first wrong one differs.
std::string first_difference(HostDevice& device, const RandomCase& c, int orders) {
  HostRun run(device, c);
  for (int i = 0; i < orders; ++i) {
    std::string wrong;
    try {
      wrong = difference(c, run.program(), run.run());
    } catch (const std::exception& e) {  // of the device, or of a host that was told sizes that are none
      wrong = e.what();
    }
    if (!wrong.empty()) return wrong;
  }
  return {};
}
/// The same in a process of its own.
bool is_found(const std::function<void(Plan&)>& fault, const RandomCase& c, int orders, uint64_t seed) {
  return is_found_in_a_process([&] {
    HostDevice device;
    device.order_seed = seed;
    device.tamper = fault;
    return !first_difference(device, c, orders).empty();
  });
}
std::string first_difference_with(const std::function<void(Plan&)>& fault, const RandomCase& c, int orders = kOrders) {
  HostDevice device;
  device.order_seed = 1;
  device.tamper = fault;
  return first_difference(device, c, orders);
}

/// change(args) for each node of a kernel.
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

/// True of a range whose absence shows in nothing here: workspace that a router of few cells leaves alone, the word of a
/// region that is due, which reads the same as poison, and what a replay alone touches (HostReplayTest looks at that).
bool is_benign(const PlanNode& node, const gpu::ByteRange& range) {
  const bool is_word = !range.writes && range.end - range.begin == sizeof(int32_t);
  const bool is_index = node.kernel_name == "index";
  const bool is_workspace = range.writes && (node.kernel_name == "choose" || is_index);
  if (range.memory == gpu::Memory::control) return is_word || is_workspace;
  return is_index && (range.memory == gpu::Memory::status || !range.writes);
}

const std::vector<RandomCase>& cases() {
  static const std::vector<RandomCase> all = [] {
    std::vector<RandomCase> of;
    of.push_back(rows_alone(3));
    of.push_back(branches(4, {0, 1, 2, 1}, false));
    of.push_back(branches(5, {0, 2}, false));
    of.push_back(branches(6, {1}, true));
    of.push_back(branches(7, {0, 2}, true));
    return of;
  }();
  return all;
}

}  // namespace

class HostDeviceTest : public QObject {
  Q_OBJECT
 private slots:
  void small_graphs_give_the_oracle_s_answers_in_every_order() {
    for (const RandomCase& c : cases()) {
      HostDevice device;
      HostRun in_program_order(device, c);
      const std::string wrong = difference(c, in_program_order.program(), in_program_order.run());
      QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
      QCOMPARE(in_program_order.synchronizations(), kSynchronizationsOfARun);
      QVERIFY(device.plan().edges() > 0);
      device.order_seed = 7;
      const std::string in_some_order = first_difference(device, c, kOrders);
      QVERIFY2(in_some_order.empty(), (c.name + ": " + in_some_order).c_str());
      QCOMPARE(device.orders(), int64_t{kOrders});
      std::printf("%s: %zu nodes, %lld edges\n", c.name.c_str(), device.plan().nodes.size(),
                  static_cast<long long>(device.plan().edges()));
    }
  }

  void branches_are_not_ordered_among_each_other() {
    HostDevice device;
    const RandomCase c = branches(4, {0, 1, 2, 1}, false);
    HostRun run(device, c);
    // The kernels of one branch, by the words that they ask.
    std::map<int32_t, std::vector<int32_t>> of_branch;
    for (int32_t n = 0; n < std::ssize(device.plan().nodes); ++n)
      for (const gpu::ByteRange& r : device.plan().nodes[n].ranges)
        if (r.branch >= 0 && r.writes && device.plan().nodes[n].kernel_name == "pointwise")
          of_branch[r.branch].push_back(n);
    QVERIFY(of_branch.size() >= 2);
    for (const auto& [branch, nodes] : of_branch)
      for (const auto& [other, others] : of_branch)
        for (const int32_t n : nodes)
          if (branch != other)
            for (const int32_t before : device.plan().nodes[n].after)
              QVERIFY(std::find(others.begin(), others.end(), before) == others.end());
  }

  void every_missing_edge_is_found() {
    const RandomCase c = branches(6, {1, 0}, true);
    HostDevice whole;
    HostRun run(whole, c);
    int missed = 0, looked = 0;
    for (size_t n = 0; n < whole.plan().nodes.size(); ++n)
      for (size_t e = 0; e < whole.plan().nodes[n].after.size(); ++e) {
        ++looked;
        const auto without = [&](Plan& plan) { plan.nodes[n].after.erase(plan.nodes[n].after.begin() + e); };
        if (!is_found(without, c, 200, 1)) {
          ++missed;
          const PlanNode& node = whole.plan().nodes[n];
          std::printf("edge of node %zu (%s) to %d (%s) was not missed\n", n, std::string(node.kernel_name).c_str(),
                      node.after[e], std::string(whole.plan().nodes[node.after[e]].kernel_name).c_str());
        }
      }
    QVERIFY(looked > 10);
    QCOMPARE(missed, 0);
  }

  void a_region_that_is_not_cleared_is_found() {
    const RandomCase c = branches(7, {0, 2}, true);
    const std::string wrong = first_difference_with(
        [](Plan& plan) { change_args<gpu::SettleKernel>(plan, [](gpu::SettleArgs& args) { args.words = 0; }); }, c);
    QCOMPARE(wrong, std::string("host device: router inner counted more executions than there are"));
  }

  void an_execution_that_is_not_counted_is_found() {
    const RandomCase c = branches(7, {0, 2}, true);
    const std::string wrong = first_difference_with(
        [](Plan& plan) { change_args<gpu::AbsentKernel>(plan, [](gpu::AbsentArgs& args) { args.count = 0; }); }, c);
    QCOMPARE(wrong, std::string("expected 2 decisions, got 1"));
  }

  void an_odd_row_that_is_not_aligned_is_found() {
    const std::string moved = first_difference_with(
        [](Plan& plan) {
          change_args<gpu::MoveKernel>(plan, [](gpu::MoveArgs& args) {
            if (args.piece == 4) args.piece = 16, args.width = 4;
          });
        },
        rows_alone(3));
    QVERIFY2(moved.find("16 bytes at once") != std::string::npos, moved.c_str());
  }

  void a_range_that_is_not_declared_is_found() {
    // One range at a time is kept from the order and from the interpreter: what the node wrote there was not to be
    // written, what it read was poison. A node that has something to do in one of the cases shows it there.
    const RandomCase all = branches(6, {1, 0, 2}, true), some = branches(6, {0, 2}, true);
    HostDevice whole;
    HostRun run(whole, all);
    const std::vector<PlanNode>& nodes = whole.plan().nodes;
    int unseen = 0;
    for (size_t n = 1; n < nodes.size(); ++n)
      for (size_t r = 0; r < nodes[n].ranges.size(); ++r) {
        if (is_benign(nodes[n], nodes[n].ranges[r])) continue;
        const auto without = [&](Plan& plan) { plan.nodes[n].ranges.erase(plan.nodes[n].ranges.begin() + r); };
        // In the order of the program, so that no edge is missed.
        if (is_found(without, all, 1, 0) || is_found(without, some, 1, 0)) continue;
        ++unseen;
        std::printf("range %zu of node %zu (%s), memory %d, %s, was not missed\n", r, n,
                    std::string(nodes[n].kernel_name).c_str(), static_cast<int>(nodes[n].ranges[r].memory),
                    nodes[n].ranges[r].writes ? "written" : "read");
      }
    QCOMPARE(unseen, 0);
  }

  void memory_that_is_overlaid_in_conflict_is_found() {
    // A buffer is put where another one lies that lives at the same time.
    HostDevice device;
    device.plan_options.change_memory = [](const Program& program, MemoryPlan& memory) {
      BufferId start = kNone, flow = kNone;
      for (const BufferId b : program.buffers.ids()) {
        if (program.buffers[b].name == "start") start = b;
        if (program.buffers[b].name == "flow") flow = b;
      }
      memory.offset[flow] = memory.offset[start];
    };
    device.order_seed = 1;
    const std::string wrong = first_difference(device, branches(4, {0, 1, 2, 1}, false), kOrders);
    QVERIFY2(wrong.starts_with("y: "), wrong.c_str());
  }

  void what_a_card_does_not_run_yet_is_refused_in_words() {
    MixtureBuilder b(1);
    const SpaceId cells =
        b.dense_space("cells", b.root_space("sequences", b.bound_symbol("N", 3)), b.bound_symbol("T", 2));
    const ValueId x = b.floats("x", cells, {200});
    b.output("y", b.value("attention", {x, x, x}, {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}}, "wide"));
    const RandomCase c = b.take("wide heads");
    HostDevice device;
    std::string refused;
    try {
      HostRun run(device, c);
    } catch (const Error& e) {
      refused = e.what();
    }
    QCOMPARE(refused, std::string("attention \"wide\": no CUDA kernel"));
  }
};

STORMCELL_TEST(HostDeviceTest)

}  // namespace stormcell::testing
#include "host_device_test.moc"

// Ragged cells on the host device: compacted ones, members of routed parents, what is joined and expanded again, in
// several orders against the oracle. And faults in their plans.
#include <cstring>

#include "core/graph/operator.h"
#include "gpu/plan/kernel_list.h"
#include "tests/gpu/host_run.h"
#include "tests/gpu/planted_fault.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/nested_capacity.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

struct Sizes {
  int64_t sequences, tokens;
};

/// The cells of a mask in every operator that asks how they lie: `flags` are repeated over all cells.
RandomCase ragged_rows(Sizes sizes, const std::vector<int32_t>& flags) {
  MixtureBuilder b(11);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", sizes.sequences)),
                tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", sizes.tokens));
  const ValueId mask = b.flags("mask", tokens), real = b.value("compact", {mask}, {}, "real");
  const ValueId x = b.pack(b.floats("x", tokens, {7}), real, sequences), ones = b.pack(mask, real, sequences);
  const SpaceId cells = b.space_of(x);
  const auto expanded = [&](const std::string& name, ValueId rows) {
    b.output(name, b.value("expand", {rows, real}, {}, name + ".expanded"));
  };
  for (const char* mode : {"mean", "sum", "last"})
    b.output(mode, b.value("reduce", {x}, {{"mode", std::string(mode)}}, std::string("by.") + mode));
  const ValueId whole = b.value("reduce", {x}, {{"mode", std::string("sum")}}, "whole");
  expanded("spread", b.value("broadcast", {whole}, {{"space", int64_t{cells}}}, "spread"));
  expanded("places",
           b.value("positions", {ones, b.integers("from", sequences, 4)}, {{"extras", std::string("from")}}, "places"));
  if (sizes.tokens < 100) {  // more takes the emulated threads long
    const ValueId heads = b.product(x, 12, "heads");
    expanded("mixed", b.value("attention", {heads, heads, heads, b.drawn("bias", {8, 3}, 1)},
                              {{"heads", int64_t{3}},
                               {"kv_heads", int64_t{3}},
                               {"causal", int64_t{1}},
                               {"buckets", int64_t{8}},
                               {"max_distance", int64_t{6}},
                               {"extras", std::string("bias")}},
                              "attention"));
  }
  Protocol rule;
  rule.kind = ProtocolKind::switch_top1;
  rule.capacity = 1;
  Mixture shape;
  shape.branches = 3, shape.width = 5, shape.mode = "weighted", shape.otherwise = true;
  expanded("routed", b.mixture(x, b.scored(x, rule, shape.branches, "moe"), shape, "moe"));
  // The cells of a second mask among those of the first.
  const ValueId again = b.value("compact", {b.pack(b.flags("inner", tokens), real, sequences)}, {}, "again");
  const ValueId inner = b.pack(x, again, sequences);
  expanded("inner", b.value("expand", {b.value("scale", {inner}, {{"factor", 2.0}}, "twice"), again}, {}, "between"));
  RandomCase c = b.take("ragged rows");
  auto& of_cells = std::get<std::vector<int32_t>>(c.inputs.at("mask"));
  for (size_t i = 0; i < of_cells.size(); ++i) of_cells[i] = flags[i % flags.size()];
  return c;
}

/// Sequences to two branches by label, with all their tokens or those of a mask; the tokens of a branch are routed again.
RandomCase routed_sequences(Sizes sizes, bool masked, const std::string& mode) {
  MixtureBuilder b(12);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", sizes.sequences)),
                tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", sizes.tokens));
  ValueId x = b.floats("x", tokens, {8}), real = kNone;
  if (masked) {
    real = b.value("compact", {b.flags("mask", tokens)}, {}, "real");
    x = b.pack(x, real, sequences);
  }
  const SpaceId base = b.space_of(x);
  Protocol rule;
  rule.kind = ProtocolKind::switch_top1;
  rule.capacity = 1;
  const ValueId whole = b.value("reduce", {x}, {{"mode", std::string("mean")}}, "whole");
  const ValueId decision = mode == "weighted" ? b.scored(whole, rule, 3, "tasks") : b.labelled(sequences, 3, "tasks");
  std::vector<ValueId> told{decision};
  if (masked) told.push_back(real);
  const ValueId members = b.value("members", std::move(told), {{"base", int64_t{base}}}, "members");
  std::vector<ValueId> parts = b.pack_branches(x, members, decision, {0, 1, 2});
  parts[0] = b.value("scale", {parts[0]}, {{"factor", 2.0}}, "twice");
  Mixture shape;
  shape.branches = 2, shape.width = 6;
  parts[1] = b.mixture(parts[1], b.scored(parts[1], {}, shape.branches, "inner"), shape, "inner");
  const ValueId mean = b.value("reduce", {parts[2]}, {{"mode", std::string("mean")}}, "mean");
  parts[2] = b.add(parts[2], b.value("broadcast", {mean}, {{"space", int64_t{b.space_of(parts[2])}}}, "spread"), "sum");
  x = b.gather(std::move(parts), base, mode, x, "joined");
  b.output("y", masked ? b.value("expand", {x, real}, {}, "expanded") : x);
  return b.take("routed sequences, " + mode + (masked ? ", masked" : ""));
}

/// Empty, or how the first wrong of some runs differs.
std::string ragged_difference(HostDevice& device, const RandomCase& c, int orders) {
  HostRun run(device, c);
  for (int i = 0; i < orders; ++i)
    if (std::string wrong = difference(c, run.program(), run.run()); !wrong.empty()) return wrong;
  return {};
}

template <class Kernel, class Change>
std::function<void(gpu::Plan&)> ragged_fault(const Change& change) {
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

class HostRaggedTest : public QObject {
  Q_OBJECT
 private slots:
  void ragged_cells_give_the_oracle_s_answers_in_several_orders() {
    const std::vector<std::vector<int32_t>> masks{{1, 0, 1, 1, 0}, {0}, {1}, {0, 0, 0, 0, 0, 0, 1}};
    for (const auto& flags : masks) agrees(ragged_rows({5, 7}, flags));
    for (const int32_t flag : {0, 1}) agrees(ragged_rows({1, 1}, {flag}));
    // More than a block looks at in one turn.
    agrees(ragged_rows({3, 900}, {1, 1, 0}), 1);
  }

  void members_give_the_oracle_s_answers_in_several_orders() {
    for (const char* mode : {"sum", "weighted", "place"})
      for (const bool masked : {false, true}) {
        agrees(routed_sequences({4, 5}, masked, mode));
        agrees(routed_sequences({1, 1}, masked, mode));
      }
    // More slots than a block counts in one turn.
    agrees(routed_sequences({300, 2}, true, "sum"), 1);
    for (int seed = 1; seed <= (kSanitized ? 3 : 12); ++seed)
      agrees(random_sequence_experts(static_cast<uint64_t>(seed)));
    agrees(nested_capacity(true));
  }

  void products_of_all_members_give_the_oracle_s_answers() {
    int over_members = 0;
    for (int seed = 1; seed <= (kSanitized ? 3 : 12); ++seed) {
      RandomCase c = random_sequence_experts(static_cast<uint64_t>(seed));
      c.graph = optimised_for(HostDevice(), c.graph);
      c.graph.for_each_node([&](NodeId id, int) {
        const Node& node = c.graph.node(id);
        over_members +=
            node.op->name == "grouped_linear" && c.graph.holds_members(SpaceId(node.attributes.integer("slots")));
      });
      agrees(c);
    }
    QVERIFY(over_members > 0);
  }

  void cells_of_ragged_values_are_counted() {
    const RandomCase c = ragged_rows({5, 7}, {1, 0, 1, 1, 0});
    HostDevice device;
    HostRun run(device, c);
    for (int i = 0; i < 2; ++i) QCOMPARE(run.run().ragged_cells.at(0), 21);
  }

  void a_fault_in_ragged_cells_is_found() {
    const RandomCase rows = ragged_rows({5, 7}, {1, 0, 1, 1, 0});
    const RandomCase members = routed_sequences({4, 5}, true, "weighted");
    struct Fault {
      const char* name;
      std::function<void(gpu::Plan&)> plant;
      const RandomCase& c;
    };
    gpu::Ref packed;  // the rows of the last copy before an expand
    const Fault faults[] = {
        {"places are parents", ragged_fault<gpu::CompactKernel>([](gpu::CompactArgs& a) { a.to.place = a.to.parent; }),
         rows},
        {"entries are not settled",
         ragged_fault<gpu::SettleKernel>([](gpu::SettleArgs& a) { a.ref[gpu::SettleArgs::kRagged] = {}; }), rows},
        {"rows are expanded where they lie", ragged_fault<gpu::MoveKernel>([&packed](gpu::MoveArgs& a) {
           if (a.map == gpu::RowMap::same) packed = a.ref[gpu::MoveArgs::kFrom];
           if (a.map == gpu::RowMap::by_place && a.ref[gpu::MoveArgs::kFrom].memory == gpu::Memory::control)
             a.ref[gpu::MoveArgs::kFrom] = packed;
         }),
         rows},
        {"capacity over the whole batch",
         ragged_fault<gpu::OneBlockRoute<8, 1>>([](gpu::RouteArgs& a) { a.ref[gpu::RouteArgs::kCells] = {}; }), rows},
        {"queries have equal groups",
         ragged_fault<gpu::AttentionKernel>([](gpu::AttentionArgs& a) { a.ref[gpu::AttentionArgs::kQueryCells] = {}; }),
         rows},
        {"members of a parent of one cell", ragged_fault<gpu::MemberCellsKernel>([](gpu::MembersArgs& a) {
           a.ref[gpu::MembersArgs::kBase] = {};
           a.per_parent = 1;
         }),
         members},
        {"dropped sequences keep nothing",
         ragged_fault<gpu::JoinKernel>([](gpu::JoinArgs& a) { a.weighs_dropped = false; }), members},
    };
    for (const Fault& fault : faults)
      QVERIFY2(is_found_in_a_process([&] {
                 HostDevice device;
                 device.tamper = fault.plant;
                 return !ragged_difference(device, fault.c, 1).empty();
               }),
               fault.name);
  }

 private:
  static void agrees(const RandomCase& c, int orders = 3) {
    HostDevice device;
    device.order_seed = 3;
    const std::string wrong = ragged_difference(device, c, orders);
    QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
  }
};

STORMCELL_TEST(HostRaggedTest)

}  // namespace stormcell::testing
#include "host_ragged_test.moc"

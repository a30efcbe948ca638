// Facts that every device asks of a program's steps: rows by branch, chains of ragged cells, weights that only
// fallbacks read, events, records.
#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/cpu/cpu_device.h"
#include "core/runtime/branch_rows.h"
#include "core/runtime/cell_chain.h"
#include "core/runtime/lower.h"
#include "core/runtime/record_room.h"
#include "core/runtime/step_needs.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/many_turns.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing {
namespace {

/// Steps of a case whose kernels ask for every weight as it is stored.
struct AskedSteps {
  explicit AskedSteps(const RandomCase& c)
      : device(1),
        store(device, c.weights),
        program(std::make_shared<const Program>(lower(std::make_shared<Graph>(c.graph)))) {
    needs = make_steps(*program, store, c.bindings, 1, [&](int32_t at, const KernelBuildContext& context) {
      ++made;
      QVERIFY(&context.step == &program->steps[at]);
      for (size_t i = 0; i < context.node().inputs.size(); ++i)
        if (context.value(i).kind == ValueKind::weight) context.plain_weight(i);
    });
  }
  cpu::CpuDevice device;
  WeightStore store;
  std::shared_ptr<const Program> program;
  IdVector<int32_t, StepNeeds> needs;
  int64_t made = 0;
};

/// A product for the branches of two, over the slots of tokens or over the members of sequences.
RandomCase grouped_product(bool members) {
  CaseBuilder b(6);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 4));
  const SpaceId tokens = b.dense_space("tokens", sequences, b.bound_symbol("T", 3));
  const ValueId x = b.floats("x", tokens, {8});
  const ValueId routed = members ? b.value("reduce", {x}, {{"mode", std::string("mean")}}, "whole") : x;
  const ValueId d = b.route(b.linear(routed, 2, "scores"), {}, "moe");
  const ValueId rows = members ? b.pack_branches(x, b.value("members", {d}, {{"base", int64_t{tokens}}}, "members"), d,
                                                 {kAllBranches})[0]
                               : x;
  const SpaceId place = members ? b.space_of(rows) : b.routed_space(d, kAllBranches);
  const ValueId y = b.value(
      "grouped_linear", {rows, d, b.drawn("first", {8, 8}, 0.5), b.drawn("second", {8, 8}, 0.5)},
      {{"slots", int64_t{place}}, {"branches", std::vector<int64_t>{0, 1}}, {"activation", std::string("none")}},
      "experts");
  b.output("y", b.gather({y}, tokens, "sum", kNone, "joined"));
  return b.take("grouped product");
}

/// The first rows of the branches of the grouped product, and where the last one ends.
std::vector<int32_t> first_rows(const RandomCase& c, const DecisionView& d, const CellGroups& groups) {
  cpu::CpuDevice device(1);
  WeightStore store(device, c.weights);
  const Program program = lower(std::make_shared<Graph>(c.graph));
  std::vector<int32_t> rows;
  make_steps(program, store, c.bindings, 1, [&](int32_t, const KernelBuildContext& context) {
    if (context.node().name != "experts") return;
    const BranchRows of(context);
    for (int32_t b = 0; b <= of.branches(); ++b) rows.push_back(of.first_row(d, groups, b));
  });
  return rows;
}

}  // namespace

class StepNeedsTest : public QObject {
  Q_OBJECT
 private slots:
  void rows_of_branches_are_slots_or_the_members_below_them() {
    std::vector<int32_t> offsets_of_slots{0, 1, 4}, cells{0, 2, 5, 6, 9};
    DecisionView d;
    d.offsets = offsets_of_slots.data(), d.branches = 2;
    CellGroups groups;
    groups.parents = 4, groups.offsets = cells.data();
    QCOMPARE(first_rows(grouped_product(false), d, groups), offsets_of_slots);
    QCOMPARE(first_rows(grouped_product(true), d, groups), (std::vector<int32_t>{0, 2, 9}));
  }

  void a_chain_leads_from_members_of_a_branch_to_their_cells() {
    struct Input {
      const DecisionView* decision = nullptr;
      const RaggedView* ragged = nullptr;
    };
    // Three slots: one of branch 0, two of branch 1; below them two, one and two cells.
    std::vector<int32_t> offsets_of_slots{0, 1, 3}, offsets{0, 2, 3, 5}, cell{6, 7, 0, 3, 4}, parent{0, 0, 1, 2, 2};
    std::vector<float> weight{0.5f, 0.25f, 0.75f};
    DecisionView d;
    d.offsets = offsets_of_slots.data(), d.weight = weight.data(), d.branches = 2;
    RaggedView r;
    r.offsets = offsets.data(), r.cell = cell.data(), r.parent = parent.data();
    const std::vector<Input> in{{}, {nullptr, &r}, {&d, nullptr}};
    std::vector<CellLink> links(1);
    links[0].ragged = true, links[0].decision = ValueId(0);
    float of_slot = 0;
    // Members of all slots, and those of branch 1 alone.
    const CellChain all(links, 1);
    QCOMPARE(all.follow(in, 1, &of_slot), int64_t{7});
    QCOMPARE(of_slot, 0.5f);
    links[0].branch = 1;
    const CellChain second(links, 1);
    QCOMPARE(second.follow(in, 2, &of_slot), int64_t{4});
    QCOMPARE(of_slot, 0.75f);
    QCOMPARE(second.links().at(0).decision, size_t{2});
  }

  void each_weight_is_loaded_at_once_or_with_the_fallbacks_that_read_it() {
    int64_t lazy = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const AskedSteps asked(make_random_case(seed));
      ExecutableLayout layout;
      sort_weights(*asked.program, asked.needs, asked.store, layout);
      std::set<WeightHandle> at_once(layout.always.begin(), layout.always.end());
      QCOMPARE(at_once.size(), layout.always.size());
      int64_t kernels = 0;
      for (const int32_t at : asked.program->steps.ids()) {
        const Step& step = asked.program->steps[at];
        kernels += has_kernel(step);
        if (!has_kernel(step)) QVERIFY(asked.needs[at].weights.empty());
        for (const WeightHandle handle : asked.needs[at].weights) {
          if (step.fallback == kNone) {
            QVERIFY(at_once.contains(handle));
          } else if (!at_once.contains(handle)) {
            QVERIFY(std::ranges::count(layout.lazy[step.fallback], handle) == 1);
            ++lazy;
          }
        }
      }
      QCOMPARE(asked.made, kernels);
      QVERIFY(layout.sites.empty());
    }
    QVERIFY(lazy > 0);
  }

  void routers_and_ragged_values_are_found_at_their_steps() {
    for (const Toy& toy : toys()) {
      const AskedSteps asked(toy.make(1));
      std::set<RouterId> routers;
      std::set<int32_t> raggeds;
      for (const StepNeeds& needs : asked.needs) {
        if (needs.router != kNone) routers.insert(needs.router);
        if (needs.ragged >= 0) raggeds.insert(needs.ragged);
      }
      QVERIFY2(routers.size() == asked.program->routers.size(), toy.name);
      QVERIFY2(raggeds.size() == asked.program->raggeds.size(), toy.name);
    }
  }

  void events_are_counted_in_every_turn_as_far_as_there_is_room() {
    const auto events_of = [](int64_t turns) {
      const RandomCase c = many_turns(turns);
      return most_events(lower(std::make_shared<Graph>(c.graph)), c.bindings);
    };
    const int32_t of_a_turn = events_of(2) - events_of(1);
    QVERIFY(of_a_turn > 0);
    QCOMPARE(events_of(100), events_of(1) + 99 * of_a_turn);
    QCOMPARE(events_of(int64_t{1} << 30), kMostEvents);
  }

  void records_and_replayed_choices_have_their_places() {
    const RandomCase c = iterated_router_toy();
    const Program program = lower(std::make_shared<Graph>(c.graph));
    ExecutableLayout with, without;
    const RecordRoom room(program, with, c.bindings, true), plain(program, without, c.bindings, false);
    QVERIFY(with.record_bytes > without.record_bytes);
    const auto dim = [&](DimId id) { return program.dims[id].evaluate(c.bindings); };
    int64_t bytes = 0, most = 0;
    for (const RouterId r : program.routers.ids()) {
      const ProgramRouter& router = program.routers[r];
      const Operand& d = program.decision_of(router);
      const auto executions = static_cast<int32_t>(dim(router.executions));
      QCOMPARE(with.records[r].first, bytes);
      bytes += with.records[r].bytes() * executions;
      most = std::max(most, dim(d.decision_cells) * d.fan_out);
      QVERIFY(room.has_room(r, executions - 1, dim));
      QVERIFY(!room.has_room(r, executions, dim));
      const RecordRoom::Staged staged = plain.staged({r, 2}, 3, dim);
      QCOMPARE(staged.first, 2 * dim(program.replayed_rows(router)) * d.fan_out);
      QCOMPARE(staged.cells, int64_t{3});
      QCOMPARE(staged.by_row, router.by_row);
      QCOMPARE(room[r].operands.at(0), router.decision);
    }
    QCOMPARE(with.record_bytes, bytes);
    QCOMPARE(room.most_choices(), most);
  }
};

STORMCELL_TEST(StepNeedsTest)

}  // namespace stormcell::testing
#include "step_needs_test.moc"

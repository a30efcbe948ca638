// The record of a graph of routers: its edges, and counts by edge that are those of the cells themselves.
#include "core/bench/record_plan.h"

#include <map>
#include <set>

#include "core/cpu/cpu_device.h"
#include "core/graph/patch_grid.h"
#include "core/profile/accumulator.h"
#include "core/profile/layout_edges.h"
#include "core/runtime/lower.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell {
namespace {
using testing::RandomCase;

struct Recorded {
  RecordPlan plan;
  BatchRecord batch;
};

Recorded record(const RandomCase& made, int64_t items, bool scores = false,
                const std::vector<BatchCells>& spaces = {}) {
  cpu::CpuDevice device(2);
  WeightStore store(device, made.weights);
  const auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(made.graph)));
  Executor executor(device, store, program, CompileOptions{made.bindings, scores});
  ExecuteOptions execute;
  execute.record = true;
  ExecutionResult result;
  executor.run(testing::input_values(made), made.bindings, execute, result);
  Batch batch;
  for (int64_t i = 0; i < items; ++i) batch.items.push_back(i);
  batch.spaces = spaces;
  Recorded recorded{record_plan(*program), {}};
  RecordOptions options;
  options.decisions = true;
  options.scores = scores;
  fill_record({recorded.plan, *program, batch, made.bindings, result}, options, recorded.batch);
  return recorded;
}

int32_t router(const RunLayout& layout, const std::string& name) {
  for (size_t r = 0; r < layout.routers.size(); ++r)
    if (layout.routers[r].name == name) return static_cast<int32_t>(r);
  return -1;
}

/// Kept branches by row of the images.
std::map<int32_t, std::set<int32_t>> kept(const Recorded& of, const std::string& name) {
  std::map<int32_t, std::set<int32_t>> rows;
  const int32_t number = router(of.plan.layout, name), k = of.plan.layout.routers[static_cast<size_t>(number)].fan_out;
  for (size_t i = 0; i < of.batch.decisions(); ++i) {
    const DecisionRecord d = of.batch.decision(i);
    if (d.router != number) continue;
    for (size_t c = 0; c < d.choice.size(); ++c) {
      const auto cell = static_cast<int32_t>(c) / k;
      if (is_kept(d.choice[c]))
        rows[d.ancestor.empty() ? cell : d.ancestor[static_cast<size_t>(cell)]].insert(d.choice[c]);
    }
  }
  return rows;
}

}  // namespace

class RecordPlanTest : public QObject {
  Q_OBJECT
 private slots:
  void counts_by_edge_are_the_ways_of_the_cells() {
    const RandomCase made = testing::exit_chain_toy();
    const Recorded recorded = record(made, 6);
    const RunLayout& layout = recorded.plan.layout;
    QCOMPARE(edge_fault(layout), std::string());
    QCOMPARE(layout.edges.size(), size_t{5});
    ProfileAccumulator profile(layout);
    profile.batch(recorded.batch);
    const auto total = [&](const std::string& from, const std::string& to) {
      return profile.transitions(find_edge(layout, router(layout, from), router(layout, to))).total();
    };
    const std::string exit = "block.0.exit", moe = "block.1.moe", inner = "block.1.moe.expert.1.inner",
                      second = "block.1.exit";
    int64_t to_moe = 0, to_inner = 0, past_inner = 0, from_inner = 0;
    const auto exits = kept(recorded, exit), experts = kept(recorded, moe), inners = kept(recorded, inner);
    for (const auto& [row, branches] : exits)
      to_moe += branches.contains(1) ? static_cast<int64_t>(experts.at(row).size()) : 0;
    for (const auto& [row, branches] : experts) {
      to_inner += branches.contains(1) ? static_cast<int64_t>(inners.at(row).size()) : 0;
      past_inner += static_cast<int64_t>(branches.size()) - branches.contains(1);
    }
    for (const auto& [row, branches] : inners) from_inner += static_cast<int64_t>(branches.size());
    QVERIFY(to_moe > 0 && to_inner > 0 && past_inner > 0);
    QCOMPARE(total(exit, moe), to_moe);
    QCOMPARE(total(moe, inner), to_inner);
    QCOMPARE(total(moe, second), past_inner);  // each cell has one choice at an exit
    QCOMPARE(total(inner, second), from_inner);
    for (const PairCount& p :
         profile.transitions(find_edge(layout, router(layout, moe), router(layout, second))).entries)
      QVERIFY(p.from != 1);
  }

  void exits_record_the_scores_that_they_compare() {
    const RandomCase made = testing::exit_chain_toy();
    const Recorded recorded = record(made, 6, true);
    size_t exits = 0;
    for (size_t i = 0; i < recorded.batch.decisions(); ++i) {
      const DecisionRecord d = recorded.batch.decision(i);
      const RouterInfo& info = recorded.plan.layout.routers[static_cast<size_t>(d.router)];
      const size_t cells = d.choice.size() / static_cast<size_t>(info.fan_out);
      const bool is_exit = info.name.ends_with(".exit");
      exits += is_exit;
      QCOMPARE(d.score_columns, is_exit ? 5 : 3);
      QCOMPARE(d.scores.size(), cells * static_cast<size_t>(d.score_columns));
    }
    QCOMPARE(exits, size_t{2});
    ProfileAccumulator profile(recorded.plan.layout);
    profile.batch(recorded.batch);  // it is taken
  }

  void patches_lie_in_the_grid_that_cut_them() {
    size_t grids = 0;
    for (const testing::Toy& toy : testing::toys()) {
      const RandomCase made = toy.make(1);
      const auto program = lower(std::make_shared<Graph>(made.graph));
      const RecordPlan plan = record_plan(program);
      for (size_t s = 0; s < plan.spaces.size(); ++s) {
        const SpaceId space = plan.spaces[s].space;
        const int32_t columns = plan.spaces[s].columns;
        bool cut = false;
        for (const Node& node : made.graph.nodes)
          if (node.op->name == "unfold" &&
              made.graph.dense_ancestor(made.graph.value(node.outputs[0]).type.space) == space) {
            cut = true;
            const PatchGrid grid = grid_of_unfold(made.graph, node);
            QCOMPARE(int64_t{columns}, grid.columns());
            QCOMPARE(made.graph.space(space).per_parent, Dim(grid.rows() * grid.columns()));
          }
        QVERIFY2(cut || columns == 0, toy.name);
        grids += cut;
      }
    }
    QVERIFY(grids >= 3);
  }

  void routers_among_the_members_of_a_branch_are_nested_in_it() {
    const RandomCase made = testing::sequence_router_toy();
    const Recorded recorded = record(made, 4);
    const RunLayout& layout = recorded.plan.layout;
    const int32_t tasks = router(layout, "tasks"), experts = router(layout, "task.1.experts");
    const RouterInfo &outer = layout.routers[static_cast<size_t>(tasks)],
                     &inner = layout.routers[static_cast<size_t>(experts)];
    QVERIFY(outer.space != inner.space);
    QCOMPARE(outer.parent, -1);
    QCOMPARE(inner.parent, tasks);
    QCOMPARE(inner.parent_branch, 1);
    size_t steps = 0;
    for (const StepInfo& step : layout.steps)
      for (int32_t task = 0; task < 2; ++task)
        if (step.name.starts_with("task." + std::to_string(task) + ".") &&
            step.name.find("expert") == std::string::npos) {
          QVERIFY2(step.router == tasks && step.branch == task, step.name.c_str());
          ++steps;
        }
    QVERIFY(steps >= 10);
    // Every cell that the experts saw is of a sequence that was sent to task 1.
    const auto sent = kept(recorded, "tasks"), seen = kept(recorded, "task.1.experts");
    const int32_t tokens = recorded.batch.space(static_cast<size_t>(inner.space)).cells.per_sequence;
    QVERIFY(!seen.empty() && tokens > 1);
    for (const auto& [row, branches] : seen) QVERIFY(sent.at(row / tokens).contains(1));
  }

  void parts_of_padding_are_padding() {
    // Two sequences of three tokens, of which the second has two, and a router over the four parts of each token.
    testing::CaseBuilder b(1);
    const SpaceId tokens = b.dense_space("tokens", b.root_space("sequences", b.bound_symbol("N", 2)),
                                         b.bound_symbol("T", 3)),
                  parts = b.dense_space("parts", tokens, 4);
    Protocol best;
    best.k = 1;
    const ValueId x = b.floats("x", parts, {4}), decision = b.route(b.linear(x, 2, "scores"), best, "router");
    const std::vector<ValueId> ways = b.scatter(x, decision, {0, 1});
    b.output("y", b.gather({b.linear(ways[0], 4, "0"), b.linear(ways[1], 4, "1")}, parts, "weighted", kNone, "y"));
    const Recorded recorded = record(b.take("parts"), 2, false, {{"tokens", "sequences", true, 3, {1, 1, 1, 1, 1, 0}}});
    ProfileAccumulator profile(recorded.plan.layout);
    profile.batch(recorded.batch);
    QCOMPARE(profile.counts(0).loads.cells, int64_t{24});
    QCOMPARE(profile.counts(0).cells_real, int64_t{20});
  }

  void a_router_of_the_fallback_alone_stands_where_its_cells_go() {
    testing::CaseBuilder b(1);
    const SpaceId tokens =
        b.dense_space("tokens", b.root_space("sequences", b.bound_symbol("N", 2)), b.bound_symbol("T", 3));
    const auto mixture = [&](ValueId from, const std::string& name) {
      Protocol best;
      best.k = 1;
      const ValueId decision = b.route(b.linear(from, 2, name + ".scores"), best, name);
      const std::vector<ValueId> parts = b.scatter(from, decision, {0, 1});
      const ValueId joined = b.gather({b.linear(parts[0], 4, name + ".0"), b.linear(parts[1], 4, name + ".1")},
                                      b.space_of(from), "weighted", kNone, name + ".joined");
      return std::pair{decision, joined};
    };
    const auto [decision, first] = mixture(b.floats("x", tokens, {4}), "first");
    const ValueId empty = b.value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{1}}}, "empty");
    b.begin_body();
    b.end_body({mixture(first, "shared").second});
    b.begin_body();
    b.end_body({mixture(mixture(first, "alone").second, "again").second});
    b.output("y", mixture(b.graph().node(b.add_region("guard", {empty}, {}, "guard")).outputs[0], "last").second);
    auto graph = std::make_shared<Graph>(b.take("a guard").graph);
    Program program = lower(graph);
    // Passes copy a router into both bodies under its name.
    for (ProgramRouter& r : program.routers)
      if (r.name == "again") r.name = "shared";
    const RecordPlan plan = record_plan(program);
    const RunLayout& layout = plan.layout;
    QCOMPARE(edge_fault(layout), std::string());
    std::vector<std::string> names;
    for (const RouterInfo& r : layout.routers) names.push_back(r.name);
    QCOMPARE(names, (std::vector<std::string>{"first", "alone", "shared", "last"}));
    std::set<std::pair<std::string, std::string>> edges;
    for (const LayoutEdge& e : layout.edges)
      edges.emplace(names[static_cast<size_t>(e.from)], names[static_cast<size_t>(e.to)]);
    QCOMPARE(edges, (std::set<std::pair<std::string, std::string>>{
                        {"first", "alone"}, {"first", "shared"}, {"alone", "shared"}, {"shared", "last"}}));
    // Whatever the order, a decision is recorded under the name of its router.
    for (const RouterId r : program.routers.ids()) {
      const auto n = static_cast<size_t>(plan.routers.of[r]);
      QCOMPARE(program.routers[r].name, names[n]);
      QCOMPARE(program.routers[plan.routers.first[n]].name, names[n]);
    }
  }

  void every_toy_has_a_layout_that_is_taken() {
    for (const testing::Toy& toy : testing::toys()) {
      const auto program = lower(std::make_shared<Graph>(toy.make(1).graph));
      const RunLayout layout = record_plan(program).layout;
      QVERIFY2(edge_fault(layout).empty(), toy.name);
    }
  }
};

STORMCELL_TEST(RecordPlanTest)

}  // namespace stormcell

#include "record_plan_test.moc"

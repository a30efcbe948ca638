// Dead path: what it guards and why not, what stays unloaded, and that an input which needs a dead branch gets the
// right answer.
#include <numeric>

#include "core/cpu/cpu_device.h"
#include "core/graph/text.h"
#include "core/graph/verify.h"
#include "core/passes/pipeline.h"
#include "core/runtime/named_routers.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing::dead_path_test {
namespace {

const Pass& dead_path() { return *find_pass("dead-path"); }

/// One mixture of four experts whose cells go where the input "moe.labels" says.
RandomCase labelled_mixture(Mixture shape = {}) {
  MixtureBuilder b(5);
  const ValueId x = b.tokens(2, 3, 8);
  b.output("y", b.mixture(x, b.labelled(b.space_of(x), shape.branches, "moe"), shape, "moe"));
  return b.take("labelled mixture");
}

CaseInputs with_labels(const RandomCase& from, const std::string& name, std::vector<int32_t> labels) {
  CaseInputs inputs = from.inputs;
  const size_t cells = std::get<std::vector<int32_t>>(inputs.at(name)).size();
  std::vector<int32_t> all;
  for (size_t i = 0; i < cells; ++i) all.push_back(labels[i % labels.size()]);
  inputs[name] = std::move(all);
  return inputs;
}

PassResult apply(const RandomCase& from, const LoadProfile& profile) {
  return dead_path().run(pass_input(from.graph, profile));
}

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

/// The optimised plan answers `inputs` as the plain one does; returns what it did.
ExecutionResult check_answer(Device& device, const RandomCase& from, Plan& optimised, const CaseInputs& inputs) {
  Plan plain(device, from.graph, from);
  const std::vector<OutputValue> expected = plain.run(inputs).outputs;
  const ExecutionResult& came = optimised.run(inputs);
  const std::string why = difference(expected, came.outputs);
  if (!why.empty()) QTest::qFail(why.c_str(), __FILE__, __LINE__);
  return came;
}

int64_t sum(const std::vector<int32_t>& counts) {
  int64_t all = 0;
  for (const int32_t n : counts) all += n;
  return all;
}

}  // namespace

class DeadPathTest : public QObject {
  Q_OBJECT
 private slots:
  void branches_without_load_stay_unloaded_until_an_input_needs_them() {
    const RandomCase from = labelled_mixture();
    const PassResult result = apply(from, profile_of(from, {with_labels(from, "moe.labels", {0, 1})}));
    QVERIFY(result.applied);
    QCOMPARE(result.parameters.at("moe"), std::string("2,3"));
    // Two experts, each 12 x 8 and 8 x 12 in f32.
    QVERIFY2(contains(result.reason, "2 branches of 1 router got no cells; 1.5 KiB of weights are loaded"),
             result.reason.c_str());

    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
      Plan optimised(*device, result.graph, from);
      const int64_t unloaded = optimised.spared_bytes(), loaded = optimised.needed_bytes();
      QVERIFY(unloaded > 0);
      ExecutionResult came = check_answer(*device, from, optimised, with_labels(from, "moe.labels", {1, 0, 0}));
      QCOMPARE(came.guard_hits, std::vector<int32_t>{1});
      QCOMPARE(came.guard_misses, std::vector<int32_t>{0});
      QCOMPARE(came.late_loads, int64_t{0});
      QCOMPARE(optimised.spared_bytes(), unloaded);

      const CaseInputs missing = with_labels(from, "moe.labels", {1, 3, 0});
      came = check_answer(*device, from, optimised, missing);
      QCOMPARE(came.guard_hits, std::vector<int32_t>{0});
      QCOMPARE(came.guard_misses, std::vector<int32_t>{1});
      QCOMPARE(came.late_loads, int64_t{1});
      QCOMPARE(optimised.spared_bytes(), int64_t{0});
      QVERIFY(optimised.needed_bytes() > loaded);

      came = check_answer(*device, from, optimised, missing);
      QCOMPARE(came.guard_misses, std::vector<int32_t>{1});
      QCOMPARE(came.late_loads, int64_t{0});
    }
  }

  void a_run_synchronises_once_and_once_more_to_load_weights() {
    const RandomCase from = labelled_mixture();
    const PassResult result = apply(from, profile_of(from, {with_labels(from, "moe.labels", {0, 1})}));
    EmulatedDevice device(1);
    Plan optimised(device, result.graph, from);
    const auto synchronizations = [&](const std::vector<int32_t>& labels) {
      const int64_t before = device.synchronizations();
      optimised.run_silently(with_labels(from, "moe.labels", labels));
      return device.synchronizations() - before;
    };
    QCOMPARE(synchronizations({0}), int64_t{1});
    QCOMPARE(synchronizations({2}), int64_t{2});
    QCOMPARE(synchronizations({3}), int64_t{1});
    QCOMPARE(synchronizations({1}), int64_t{1});
  }

  void absent_branches_cost_nothing() {
    // As many kernels run with 40 experts as with 4 when two of them get cells.
    cpu::CpuDevice device(1);
    std::vector<size_t> kernels;
    for (const int64_t branches : {4, 40}) {
      Mixture shape;
      shape.branches = branches;
      const RandomCase from = labelled_mixture(shape);
      const CaseInputs inputs = with_labels(from, "moe.labels", {0, 1});
      const PipelineResult all = run_passes(pass_input(from.graph, profile_of(from, {inputs})), select_passes({}));
      Plan optimised(device, all.graph, from);
      kernels.push_back(check_answer(device, from, optimised, inputs).events.size());
    }
    QCOMPARE(kernels[0], kernels[1]);
    QVERIFY(kernels[0] < 10);
  }

  void a_router_nested_in_a_live_branch_is_guarded_within_it() {
    MixtureBuilder b(6);
    const ValueId x = b.tokens(2, 4, 8);
    const ValueId outer = b.labelled(b.space_of(x), 3, "outer");
    const std::vector<ValueId> parts = b.scatter(x, outer, {0, 1, 2});
    const ValueId inner_x = parts[1];
    Protocol rule;
    rule.k = 1;
    const ValueId inner = b.mixture(inner_x, b.scored(inner_x, rule, 6, "inner"), {}, "inner.moe");
    const ValueId y = b.gather({b.product(parts[0], 8, "first"), inner, b.product(parts[2], 8, "last")}, b.space_of(x),
                               "sum", kNone, "joined");
    b.output("y", y);
    const RandomCase from = b.take("nested routers");
    const CaseInputs usual = with_labels(from, "outer.labels", {0, 1});
    const LoadProfile profile = profile_of(from, {usual});
    size_t inner_dead = 0;
    for (const int64_t load : profile.routers.at("inner").load) inner_dead += load == 0;
    QVERIFY(inner_dead > 0);
    const PassResult result = apply(from, profile);
    QCOMPARE(result.parameters.size(), size_t{2});
    QCOMPARE(count_nodes(result.graph, "guard"), size_t{2});

    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
      Plan optimised(*device, result.graph, from);
      // Weights of the inner router's unused experts are in two fallbacks, and stays unloaded none the less.
      QVERIFY(optimised.spared_bytes() >= static_cast<int64_t>(inner_dead) * 2 * 12 * 8 * 4);
      QCOMPARE(check_answer(*device, from, optimised, usual).late_loads, int64_t{0});
      // Nobody comes to the inner router: its guard holds.
      ExecutionResult came = check_answer(*device, from, optimised, with_labels(from, "outer.labels", {0}));
      QCOMPARE(sum(came.guard_misses), int64_t{0});
      for (uint64_t seed = 1; seed < 9; ++seed) {
        CaseInputs inputs = drawn_anew(from, seed);
        inputs["outer.labels"] = with_labels(from, "outer.labels", {1}).at("outer.labels");
        came = check_answer(*device, from, optimised, inputs);
      }
      came = check_answer(*device, from, optimised, with_labels(from, "outer.labels", {2, 1}));
      QCOMPARE(sum(came.guard_misses), int64_t{1});
      // The inner router stands in both bodies of the outer guard, and is one router to who counts.
      const Program& program = optimised.executor().program();
      const NamedRouters named = name_routers(program);
      QCOMPARE(named.first.size(), size_t{2});
      QVERIFY(program.routers.size() > 2);
      for (size_t r = 0; r < program.routers.size(); ++r)
        QCOMPARE(program.routers[static_cast<size_t>(named.first[static_cast<size_t>(named.of[r])])].name,
                 program.routers[r].name);
      QCOMPARE(standing_decisions(program, named, came).size(), size_t{2});
      // Guards belong to the pass that put them there: its report counts them.
      QVERIFY(program.guards.size() > 1);
      for (const ProgramGuard& guard : program.guards) QCOMPARE(guard.pass, std::string("dead-path"));
    }
  }

  void a_router_inside_a_repeat_is_guarded_in_each_turn() {
    MixtureBuilder b(7);
    const ValueId x = b.tokens(2, 3, 8);
    const SpaceId tokens = b.space_of(x);
    const ValueId labels = b.integers("moe.labels", tokens, 4);
    const ValueId hidden = b.state("hidden", DType::f32, tokens, {8}), turn = b.state("turn", DType::i32, tokens);
    b.GraphBuilder::add("state_write", {hidden, x}, {}, "begin");
    b.GraphBuilder::add("state_write", {turn, labels}, {}, "begin.turn");
    b.begin_body();
    Protocol rule;
    rule.kind = ProtocolKind::label;
    const ValueId decision = b.route(turn, rule, "moe", 4);
    b.GraphBuilder::add("state_write", {hidden, b.mixture(hidden, decision, {}, "moe")}, {}, "keep");
    b.GraphBuilder::add("state_write", {turn, b.value("add_constant", {turn}, {{"value", int64_t{1}}}, "next")}, {},
                        "keep.turn");
    b.end_body({b.value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{0, 1, 2}}}, "done")});
    b.add_region("repeat", {}, {{"most", std::string("4")}}, "loop");
    b.output("y", b.value("scale", {hidden}, {{"factor", 1.0}}, "y"));
    const RandomCase from = b.take("router inside a repeat");
    // Cells with label 3 stop after one turn.
    const LoadProfile profile = profile_of(from, {with_labels(from, "moe.labels", {3})});
    const PassResult result = apply(from, profile);
    QCOMPARE(result.parameters.at("moe"), std::string("0,1,2"));
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
      Plan optimised(*device, result.graph, from);
      QCOMPARE(check_answer(*device, from, optimised, with_labels(from, "moe.labels", {3})).guard_misses,
               std::vector<int32_t>{0});
      const ExecutionResult came = check_answer(*device, from, optimised, with_labels(from, "moe.labels", {1}));
      QCOMPARE(came.guard_misses, std::vector<int32_t>{2});
      QCOMPARE(came.guard_hits, std::vector<int32_t>{1});
      QCOMPARE(came.late_loads, int64_t{1});
    }
  }

  void weighed_and_dropped_cells_survive_a_miss() {
    MixtureBuilder b(9);
    const ValueId x = b.tokens(3, 6, 8);
    Protocol rule;
    rule.kind = ProtocolKind::switch_top1;
    rule.capacity = 1;
    rule.dropped = DroppedCells::scaled_input;
    Mixture shape;
    shape.branches = 6;
    shape.mode = "weighted";
    shape.otherwise = true;
    b.output("y", b.mixture(x, b.scored(x, rule, 6, "moe"), shape, "moe"));
    const RandomCase from = b.take("capacity");
    CaseInputs alike = from.inputs;
    for (int32_t& id : std::get<std::vector<int32_t>>(alike.at("ids"))) id = 3;
    const PassResult result = apply(from, profile_of(from, {alike}));
    QVERIFY(result.applied);
    cpu::CpuDevice device(2);
    Plan optimised(device, result.graph, from);
    QCOMPARE(check_answer(device, from, optimised, alike).guard_misses, std::vector<int32_t>{0});
    QCOMPARE(check_answer(device, from, optimised, from.inputs).guard_misses, std::vector<int32_t>{1});
  }

  void a_grouped_product_is_guarded_too() {
    const RandomCase from = labelled_mixture();
    const LoadProfile profile = profile_of(from, {with_labels(from, "moe.labels", {2})});
    RandomCase grouped = from;
    grouped.graph = find_pass("horizontal-fusion")->run(pass_input(from.graph, profile)).graph;
    QCOMPARE(count_nodes(grouped.graph, "grouped_linear"), size_t{2});
    const PassResult result = apply(grouped, profile);
    QCOMPARE(result.parameters.at("moe"), std::string("0,1,3"));
    cpu::CpuDevice device(2);
    Plan optimised(device, result.graph, from);
    QVERIFY(optimised.spared_bytes() > 0);
    QCOMPARE(check_answer(device, from, optimised, with_labels(from, "moe.labels", {2})).guard_misses,
             std::vector<int32_t>{0});
    QCOMPARE(check_answer(device, from, optimised, with_labels(from, "moe.labels", {2, 1})).late_loads, int64_t{1});
  }

  void the_parameters_do_the_same_again_without_a_profile() {
    const RandomCase from = labelled_mixture();
    const LoadProfile profile = profile_of(from, {with_labels(from, "moe.labels", {0})}), none;
    const PassResult first = apply(from, profile);
    PassInput again = pass_input(from.graph, none);
    again.parameters = &first.parameters;
    const PassResult second = dead_path().run(again);
    QCOMPARE(to_text(second.graph), to_text(first.graph));
    QVERIFY(second.parameters == first.parameters);

    const PassParameters foreign{{"moe", "1,3"}, {"elsewhere", "0"}}, wrong{{"moe", "1;3"}};
    again.parameters = &foreign;
    const PassResult part = dead_path().run(again);
    QCOMPARE(part.parameters.at("moe"), std::string("1,3"));
    QVERIFY2(contains(part.reason, "not applied to elsewhere: the model has no such router"), part.reason.c_str());
    again.parameters = &wrong;
    QVERIFY_THROWS_EXCEPTION(std::runtime_error, dead_path().run(again));
  }

  void a_router_that_nothing_reached_keeps_its_smallest_branch() {
    const RandomCase from = labelled_mixture();
    LoadProfile profile;
    profile.routers["moe"] = {{0, 0, 0, 0}, 0, 3};
    const PassResult result = apply(from, profile);
    QCOMPARE(result.parameters.at("moe"), std::string("1,2,3"));
    cpu::CpuDevice device(1);
    Plan optimised(device, result.graph, from);
    QCOMPARE(check_answer(device, from, optimised, with_labels(from, "moe.labels", {0})).guard_misses,
             std::vector<int32_t>{0});
    QCOMPARE(check_answer(device, from, optimised, with_labels(from, "moe.labels", {0, 1, 2, 3})).guard_misses,
             std::vector<int32_t>{1});
  }

  void it_says_why_it_does_not_apply() {
    const RandomCase from = labelled_mixture();
    PassResult result = apply(from, profile_of(from, {with_labels(from, "moe.labels", {0, 1, 2, 3})}));
    QVERIFY(!result.applied);
    QCOMPARE(result.reason, std::string("every branch got cells in the profiled batches"));
    QCOMPARE(to_text(result.graph), to_text(from.graph));
    result = apply(from, {});
    QCOMPARE(result.reason, std::string("no router was profiled"));
    LoadProfile unused;
    unused.routers["moe"] = {{0, 0, 0, 0}, 0, 0};
    QVERIFY(!apply(from, unused).applied);

    const RandomCase exits = exit_chain_toy();
    LoadProfile late = profile_of(exits, {exits.inputs});
    for (auto& [router, load] : late.routers) load.load.assign(load.load.size(), 1);
    late.routers.at("block.1.exit").load = {5, 0};
    result = apply(exits, late);
    QCOMPARE(result.parameters.at("block.1.exit"), std::string("1"));

    MixtureBuilder b(3);
    const ValueId x = b.tokens(1, 4, 8);
    const std::vector<ValueId> parts = b.scatter(x, b.labelled(b.space_of(x), 2, "skip"), {0, 1});
    b.output("y", b.gather({b.product(parts[0], 8, "work"), parts[1]}, b.space_of(x), "sum", kNone, "joined"));
    const RandomCase skipping = b.take("skipping");
    result = apply(skipping, profile_of(skipping, {with_labels(skipping, "skip.labels", {0})}));
    QVERIFY2(contains(result.reason, "no weight is read only by its unused branches"), result.reason.c_str());
  }

  /// Two routers of one name over the same experts, as a prompt's and its turns'.
  void a_branch_is_dead_where_neither_the_prompt_nor_turns_send_to_it() {
    const RandomCase from = labelled_mixture();
    LoadProfile profile;
    const auto told_apart = [&](std::vector<int64_t> prompt, std::vector<int64_t> turns,
                                const PassParameters& options) {
      RouterLoad &all = profile.routers["moe"] = {}, of_prompt, of_turns;
      of_prompt.load = prompt, of_turns.load = turns;
      for (RouterLoad* part : {&of_prompt, &of_turns})
        part->batches = 1, part->cells = std::accumulate(part->load.begin(), part->load.end(), int64_t{0});
      for (size_t b = 0; b < prompt.size(); ++b) all.load.push_back(prompt[b] + turns[b]);
      all.cells = of_prompt.cells + of_turns.cells, all.batches = 2;
      all.prompt_and_turns = {of_prompt, of_turns};
      PassInput input = pass_input(from.graph, profile);
      input.options = options;
      return dead_path().run(input);
    };
    // One cell of 100 in all is one of 10 in turns, where the guard would miss.
    QCOMPARE(told_apart({45, 0, 45, 0}, {9, 1, 0, 0}, {{"max-share", "0.05"}}).parameters.at("moe"), std::string("3"));
    profile.routers["moe"].prompt_and_turns.clear();
    PassInput together = pass_input(from.graph, profile);
    together.options = {{"max-share", "0.05"}};
    QCOMPARE(dead_path().run(together).parameters.at("moe"), std::string("1,3"));
    // A branch that is unused in only one of them is seen, and said to be of no use: the other needs its weights.
    PassResult result = told_apart({9, 9, 9, 9}, {5, 0, 5, 5}, {});
    QVERIFY(!result.applied);
    QCOMPARE(result.reason,
             std::string(
                 "not applied to moe: what gets no cells in turns gets more in the prompt, which needs its weights"));
    result = told_apart({9, 9, 9, 0}, {5, 5, 5, 5}, {});
    QCOMPARE(
        result.reason,
        std::string("not applied to moe: what gets no cells in the prompt gets more in turns, which need its weights"));
    result = told_apart({9, 9, 9, 0}, {5, 0, 5, 0}, {});
    QVERIFY(result.applied);
    QCOMPARE(result.parameters.at("moe"), std::string("3"));
    QVERIFY2(!contains(result.reason, "not applied"), result.reason.c_str());
  }

  void under_a_budget_it_says_that_no_part_is_spared() {
    const RandomCase from = labelled_mixture();
    const CaseInputs usual = with_labels(from, "moe.labels", {0, 1});
    const LoadProfile profile = profile_of(from, {usual});
    cpu::CpuDevice device(2);
    constexpr int64_t kBudget = 1 << 20;
    Plan plain(device, from.graph, from, kBudget);
    PassInput input = pass_input(from.graph, profile);
    for (const WeightHandle part : plain.store().parts()) input.parts.insert(plain.store().key(part).tensor);
    const PipelineResult found = run_passes(input, {{&dead_path(), {}}});
    const PassResult& result = found.outcomes.at(0).cumulative;
    QCOMPARE(
        result.reason,
        std::string("2 branches of 1 router got no cells; none of their weights is spared: 1.5 KiB are read only when "
                    "cells go there, as without this pass under --weight-budget; the slots stay as they are"));
    QCOMPARE(
        replay_passes(input, {{"dead-path", saved_parameters(found.outcomes[0])}}).outcomes.at(0).cumulative.reason,
        result.reason);
    // And so it is.
    Plan optimised(device, result.graph, from, kBudget);
    for (Plan* plan : {&plain, &optimised}) plan->run(usual);
    const WeightCounters without = plain.store().counters(), with = optimised.store().counters();
    QCOMPARE(with.bytes_read, without.bytes_read);
    QCOMPARE(with.slot_bytes, without.slot_bytes);
    QCOMPARE(with.dense_bytes, without.dense_bytes);
    QVERIFY(without.bytes_read > 0 && without.bytes_read < without.branch_weight_bytes);
    // A weight that is not read on demand is spared as ever.
    input.parts.erase(std::prev(input.parts.end()));
    const PassResult half = dead_path().run(input);
    QVERIFY2(
        contains(
            half.reason,
            "got no cells; 384 B of weights are loaded only if a guard misses; 1.1 KiB are read only when cells go"),
        half.reason.c_str());
  }

  void routers_that_share_their_experts_are_guarded_together() {
    // As prefill and step do: two routers of one name over the same weights.
    MixtureBuilder b(8);
    const ValueId x = b.tokens(2, 3, 8);
    const ValueId labels = b.integers("moe.labels", b.space_of(x), 4);
    Protocol rule;
    rule.kind = ProtocolKind::label;
    ValueId y = x;
    for (int round = 0; round < 2; ++round) y = b.mixture(y, b.route(labels, rule, "moe", 4), {}, "moe");
    b.output("y", y);
    const RandomCase from = b.take("shared experts");
    const CaseInputs usual = with_labels(from, "moe.labels", {1});
    const PassResult result = apply(from, profile_of(from, {usual}));
    QVERIFY2(contains(result.reason, "3 branches of 1 router got no cells; 2.2 KiB of weights are loaded"),
             result.reason.c_str());
    QCOMPARE(count_nodes(result.graph, "guard"), size_t{2});
    cpu::CpuDevice device(2);
    Plan optimised(device, result.graph, from);
    QVERIFY(optimised.spared_bytes() > 0);
    QCOMPARE(check_answer(device, from, optimised, usual).late_loads, int64_t{0});
    const ExecutionResult came = check_answer(device, from, optimised, with_labels(from, "moe.labels", {1, 2}));
    QCOMPARE(sum(came.guard_misses), int64_t{2});
    QCOMPARE(came.late_loads, int64_t{1});
  }

  void a_first_exit_guards_the_whole_rest_of_the_chain() {
    const RandomCase exits = exit_chain_toy();
    LoadProfile all_leave = profile_of(exits, {exits.inputs});
    for (auto& [router, load] : all_leave.routers) load.load.assign(load.load.size(), 1);
    all_leave.routers.at("block.0.exit").load = {6, 0};
    const PassResult result = apply(exits, all_leave);
    QVERIFY(result.applied);
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
      Plan optimised(*device, result.graph, exits);
      QCOMPARE(sum(check_answer(*device, exits, optimised, exits.inputs).guard_misses), int64_t{1});
    }
  }

  void what_stands_between_goes_before_or_behind() {
    for (const bool depends : {false, true}) {
      MixtureBuilder b(4);
      const ValueId x = b.tokens(1, 5, 8);
      const ValueId decision = b.labelled(b.space_of(x), 2, "moe");
      const std::vector<ValueId> parts = b.scatter(x, decision, {0, 1});
      const ValueId first = b.product(parts[0], 8, "first");
      const ValueId shared = b.product(x, 8, "shared");  // between, of no branch
      const ValueId second = b.product(parts[1], 8, "second");
      const ValueId joined = b.gather({first, second}, b.space_of(x), "sum", kNone, "joined");
      const ValueId more = depends ? b.value("scale", {joined}, {{"factor", 2.0}}, "more") : joined;
      // A second round over the same decision; where it reads the first, it is a region of its own behind it.
      const std::vector<ValueId> again = b.scatter(more, decision, {0, 1});
      const ValueId last = b.gather({b.product(again[0], 8, "third"), b.product(again[1], 8, "fourth")}, b.space_of(x),
                                    "sum", kNone, "last");
      b.output("y", b.add(last, shared));
      const RandomCase from = b.take("rounds");
      const CaseInputs zeros = with_labels(from, "moe.labels", {0});
      const PassResult result = apply(from, profile_of(from, {zeros}));
      QCOMPARE(count_nodes(result.graph, "guard"), size_t{2});
      cpu::CpuDevice device(1);
      Plan optimised(device, result.graph, from);
      QCOMPARE(sum(check_answer(device, from, optimised, zeros).guard_misses), int64_t{0});
      QCOMPARE(sum(check_answer(device, from, optimised, with_labels(from, "moe.labels", {0, 1})).guard_misses),
               int64_t{2});
    }
  }
};

STORMCELL_TEST(DeadPathTest)

}  // namespace stormcell::testing::dead_path_test

#include "dead_path_test.moc"

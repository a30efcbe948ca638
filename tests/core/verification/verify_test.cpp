// Real executions judged: right ones pass on every graph, device and format; a plan with one thing wrong does not. What
// is wrong is put into the weights of the plan alone; the oracle reads the true ones.
#include <algorithm>
#include <cmath>
#include <set>

#include "core/bench/record_plan.h"
#include "core/graph/operator.h"
#include "core/measuring/candidates.h"
#include "core/passes/pipeline.h"
#include "core/verification/compare_decisions.h"
#include "core/verification/verify.h"
#include "tests/core/verification/verify_runs.h"
#include "tests/testing/nested_capacity.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class VerifyTest : public QObject {
  Q_OBJECT

 private slots:
  void right_executions_pass_data() {
    QTest::addColumn<int>("seed");
    for (int seed = -static_cast<int>(toys().size()); seed < drawn(60); ++seed)
      QTest::newRow(qPrintable(QString::number(seed))) << seed;
  }
  void right_executions_pass() {
    QFETCH(int, seed);
    const RandomCase c = toy_or_random(seed);
    cpu::CpuDevice device(threads_for(seed));
    const Verification v = judged(c, device, c.weights);
    QVERIFY2(v.passed, qPrintable(said(v) + QString::fromStdString(c.name)));
    QVERIFY(!v.outputs.empty());
  }

  void optimised_plans_pass_where_guards_hold_and_where_they_miss() {
    int applied = 0, missed = 0;
    for (int seed = -2; seed < 30; ++seed) {
      const RandomCase c = toy_or_random(seed);
      cpu::CpuDevice device(threads_for(seed));
      const Observed reference = by_oracle(c, c.graph, *c.weights, device.info().rounds_bf16_inputs);
      LoadProfile profile;
      for (const JudgedDecision& d : reference.decisions) {
        RouterLoad& load = profile.routers[d.router];
        load.load.resize(static_cast<size_t>(d.shape.branches));
        load.cells += d.shape.cells, load.batches = 1;
        // Only the first cell counts: what the others need is behind guards that miss.
        if (d.shape.cells > 0 && is_kept(d.choice[0])) ++load.load[static_cast<size_t>(d.choice[0])];
      }
      const PipelineResult passes = run_passes({c.graph, profile}, select_passes({}), OnTheirOwn::no);
      for (const PassOutcome& outcome : passes.outcomes) applied += outcome.cumulative.applied;
      Plan plan(device, c, std::make_shared<Graph>(passes.graph), c.weights);
      const Observed free = plan.run(nullptr);
      missed += plan.misses;
      const bool bf16 = c.weight_dtype == DType::bf16;
      Judge judge(bf16 ? 2e-2 : 1e-4,
                  bf16 && device.info().rounds_bf16_inputs ? Arithmetic::rounds_to_bf16 : Arithmetic::f32);
      judge.add(0, reference, plan.run(&reference), &free);
      const Verification v = judge.verdict();
      QVERIFY2(v.passed, qPrintable(said(v) + QString::fromStdString(c.name)));
    }
    QVERIFY(applied > 20 && missed > 5);
  }

  /// A router whose cells nobody sends any more is known by the same names: recorded, replayed, judged and nested as in
  /// the model.
  void routers_within_what_is_made_straight_are_the_model_s() {
    int within = 0, held = 0, missed = 0;
    cpu::CpuDevice device(2);
    for (int seed = -static_cast<int>(toys().size()); seed < 60; ++seed) {
      RandomOptions options;
      options.maps = seed % 2 == 1;
      const RandomCase c = seed < 0 ? toy_or_random(seed) : make_random_case(static_cast<uint64_t>(seed), options);
      const Observed reference = by_oracle(c, c.graph, *c.weights, device.info().rounds_bf16_inputs);
      Plan baseline(device, c, std::make_shared<Graph>(c.graph), c.weights);
      const Observed usual = baseline.run(nullptr);
      for (const bool as_it_is : {true, false})
        for (const char* pass : {"constant-decision", "permanent-path"}) {
          LoadProfile profile;
          for (const JudgedDecision& d : usual.decisions) {
            RouterLoad& load = profile.routers[d.router];
            load.load.resize(static_cast<size_t>(d.shape.branches));
            load.cells += d.shape.cells, load.batches = 1;
            for (const int32_t choice : d.choice)
              if (is_kept(choice)) ++load.load[static_cast<size_t>(choice)];
          }
          // The choice of most cells counts as that of all: guards miss.
          if (!as_it_is)
            for (auto& [router, load] : profile.routers)
              for (int64_t& n : load.load) n = 2 * n > load.cells ? load.cells : 0;
          PassSelection selection;
          selection.only = {pass};
          selection.options[pass]["min-cells"] = "1";
          const PipelineResult passes = run_passes({c.graph, profile}, select_passes(selection), OnTheirOwn::no);
          if (!passes.outcomes[0].cumulative.applied) continue;
          passes.graph.for_each_node([&](NodeId id, int) { within += passes.graph.node(id).attributes.has("within"); });
          Plan plan(device, c, std::make_shared<Graph>(passes.graph), c.weights);
          const Observed free = plan.run(nullptr);
          (plan.misses == 0 ? held : missed) += 1;
          QVERIFY2(decided_alike(free.decisions, usual.decisions), c.name.c_str());
          const bool bf16 = c.weight_dtype == DType::bf16;
          Judge judge(bf16 ? 2e-2 : 1e-4,
                      bf16 && device.info().rounds_bf16_inputs ? Arithmetic::rounds_to_bf16 : Arithmetic::f32);
          judge.add(0, reference, plan.run(&reference), &free);
          const Verification v = judge.verdict();
          QVERIFY2(v.passed, qPrintable(said(v) + QString::fromStdString(c.name)));
          // Its record names the same router and branch above it.
          const RunLayout mine = record_plan(*plan.program).layout, model = record_plan(*baseline.program).layout;
          const auto above = [](const RunLayout& layout, const std::string& name) {
            for (const RouterInfo& r : layout.routers)
              if (r.name == name && r.parent >= 0)
                return layout.routers[static_cast<size_t>(r.parent)].name + "=" + std::to_string(r.parent_branch);
            return std::string();
          };
          for (const RouterInfo& r : mine.routers) QCOMPARE(above(mine, r.name), above(model, r.name));
        }
    }
    qInfo("%d routers within, %d plans held, %d missed", within, held, missed);
    QVERIFY(within > 20 && held > 20 && missed > 20);
  }

  void a_replay_records_what_each_router_would_have_chosen_on_every_device() {
    for (int seed = -2; seed < 25; ++seed) {
      const RandomCase c = toy_or_random(seed);
      const Observed reference = by_oracle(c, c.graph, *c.weights, false);
      cpu::CpuDevice cpu(2);
      EmulatedDevice emulated(2);
      Plan on_cpu(cpu, c, std::make_shared<Graph>(c.graph), c.weights),
          on_emulated(emulated, c, std::make_shared<Graph>(c.graph), c.weights);
      const Observed a = on_cpu.run(&reference), b = on_emulated.run(&reference);
      QCOMPARE(a.decisions.size(), b.decisions.size());
      for (size_t i = 0; i < a.decisions.size(); ++i) {
        const auto same =
            std::find_if(reference.decisions.begin(), reference.decisions.end(), [&](const JudgedDecision& d) {
              return d.router == a.decisions[i].router && d.execution == a.decisions[i].execution;
            });
        QVERIFY(same != reference.decisions.end());
        QCOMPARE(a.decisions[i].choice, same->choice);
        QCOMPARE(a.decisions[i].place, same->place);
        QCOMPARE(a.decisions[i].above, same->above);
        QCOMPARE(a.decisions[i].free_choice.size(), a.decisions[i].choice.size());
        QCOMPARE(a.decisions[i].free_choice, b.decisions[i].free_choice);
        QCOMPARE(a.decisions[i].place, b.decisions[i].place);
      }
      for (const JudgedDecision& d : on_cpu.run(nullptr).decisions) QVERIFY(d.free_choice.empty());
    }
  }

  void what_a_router_would_have_chosen_does_not_depend_on_what_it_is_told() {
    const RandomCase c = mixture(best(2), "weighted");
    cpu::CpuDevice device(1);
    Plan plan(device, c, std::make_shared<Graph>(c.graph), c.weights);
    const Observed free = plan.run(nullptr);
    Observed others = free;
    for (int32_t& choice : others.decisions[0].choice) choice = 3 - choice;
    const Observed replayed = plan.run(&others);
    QCOMPARE(replayed.decisions[0].choice, others.decisions[0].choice);
    QCOMPARE(replayed.decisions[0].free_choice, free.decisions[0].choice);
  }

  void a_router_off_by_a_step_of_bf16_is_found_though_nothing_else_shows_it() {
    // Its gather has no weights: with the decisions replayed the outputs are the same to the last bit.
    const RandomCase c = mixture(best(1), "place");
    auto ours = std::make_shared<Tampered>(c.weights);
    ours->change("router.weight", round_to_bf16);
    const Verification v = judged(c, ours);
    QVERIFY(v.max_rel_diff < 1e-5);
    QVERIFY2(said(v).contains("the scores of router moe differ"), qPrintable(said(v)));
  }

  void two_rows_of_a_router_exchanged_are_found_though_nothing_else_shows_it() {
    const RandomCase c = mixture(best(1), "place");
    auto ours = std::make_shared<Tampered>(c.weights);
    ours->change("router.weight", [](std::vector<float>& w, const std::vector<int64_t>& shape) {
      std::swap_ranges(w.begin(), w.begin() + shape[1], w.begin() + shape[1]);
    });
    const Verification v = judged(c, ours);
    QVERIFY(v.max_rel_diff < 1e-5);
    QVERIFY(v.flips > 0);
    QVERIFY2(said(v).contains("router moe"), qPrintable(said(v)));
  }

  void how_far_a_flip_reaches_is_known_of_every_router() {
    // In the exit chain every image goes its own way.
    const RandomCase c = exit_chain_toy();
    const CellReach reach = cell_reach(c.graph);
    const auto decisions =
        decisions_of(c.graph, c.bindings, Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings), reach);
    QVERIFY(!decisions.empty());
    for (const JudgedDecision& d : decisions) QCOMPARE(d.together, int64_t{1});
  }

  void padding_that_no_longer_takes_places_within_a_branch_is_found() {
    const RandomCase whole = nested_capacity(), compacted = nested_capacity(true);
    const std::vector<int32_t> real = std::get<std::vector<int32_t>>(whole.inputs.at("mask"));
    Observed reference = by_oracle(whole, whole.graph, *whole.weights, false);
    Batch batch;
    batch.items = {0, 1, 2};
    batch.spaces = {{"sequences", "", false, 1, {}}, {"tokens", "sequences", true, 8, {}}};
    batch.inputs = {{"mask", InputRole::mask, {24}, real, {}}};
    reference.decisions = only_computed(reference.decisions, computed_cells(compacted.graph, whole.graph, batch));
    reference.real["y"] = real;
    cpu::CpuDevice device(2);
    Plan plan(device, whole, std::make_shared<Graph>(compacted.graph), whole.weights);
    const Observed replayed = plan.run(&reference), free = plan.run(nullptr);
    for (const Observed* ran_free : {static_cast<const Observed*>(nullptr), &free}) {
      Judge judge(1e-4, Arithmetic::f32);
      judge.add(0, reference, replayed, ran_free);
      const Verification v = judge.verdict();
      QVERIFY(v.max_rel_diff < 1e-5);
      QVERIFY2(said(v).contains("of router inner differ from the reference's"), qPrintable(said(v)));
    }
    // Its other half: no flip, so nothing that follows from one.
    Judge judge(1e-4, Arithmetic::f32);
    judge.add(0, reference, replayed, &free);
    QCOMPARE(judge.verdict().explained_flips, int64_t{0});
    QCOMPARE(judge.verdict().consequences, int64_t{0});
  }

  void outputs_of_a_free_execution_that_decided_as_the_reference_are_held_to_the_tolerance() {
    const RandomCase c = mixture(best(2), "weighted");
    cpu::CpuDevice device(2);
    const Observed reference = by_oracle(c, c.graph, *c.weights, false);
    Plan plan(device, c, std::make_shared<Graph>(c.graph), c.weights);
    const Observed replayed = plan.run(&reference);
    Observed free = plan.run(nullptr);
    Judge right(1e-4, Arithmetic::f32);
    right.add(0, reference, replayed, &free);
    QVERIFY2(right.verdict().passed, qPrintable(said(right.verdict())));
    for (float& y : free.outputs[0].reals) y *= 1.01f;
    Judge wrong(1e-4, Arithmetic::f32);
    wrong.add(0, reference, replayed, &free);
    QVERIFY2(said(wrong.verdict()).contains("output small, running freely, differs by 0.01"),
             qPrintable(said(wrong.verdict())));
    QVERIFY(!said(wrong.verdict()).contains("output logits"));
  }

  void outputs_of_items_that_no_flip_reaches_are_held_to_the_tolerance() {
    const RandomCase c = mixture(best(2), "weighted");  // four items of eight tokens
    cpu::CpuDevice device(2);
    const Observed reference = by_oracle(c, c.graph, *c.weights, false);
    QCOMPARE(reference.items, int64_t{4});
    QCOMPARE(reference.by_item, (std::set<std::string>{"small", "logits"}));
    Plan plan(device, c, std::make_shared<Graph>(c.graph), c.weights);
    const Observed replayed = plan.run(&reference), free = plan.run(nullptr);
    // A token of the second item goes elsewhere; the outputs of the fourth, or of the second, are wrong.
    const auto judged_with = [&](size_t wrong_item, bool by_item) {
      Observed told = reference, other = free;
      if (!by_item) told.by_item.clear();
      int32_t* choice = other.decisions[0].choice.data() + 9 * 2;
      const std::set<int32_t> chosen{choice[0], choice[1]};
      choice[1] = 0;
      while (chosen.contains(choice[1])) ++choice[1];
      std::vector<float>& y = other.outputs[0].reals;
      for (size_t i = wrong_item * y.size() / 4; i < (wrong_item + 1) * y.size() / 4; ++i) y[i] *= 1.01f;
      Judge judge(1e-4, Arithmetic::f32);
      const Reached reached = judge.add(0, told, replayed, &other);
      return std::pair(said(judge.verdict()), reached);
    };
    const auto [far, reached] = judged_with(3, true);
    QVERIFY2(far.contains("output small, running freely, differs by 0.0"), qPrintable(far));
    QCOMPARE(reached.items, std::set<int64_t>{1});
    QVERIFY(!judged_with(1, true).first.contains("running freely"));
    // Nothing can be said of a batch with a flip if items may mix.
    QVERIFY(!judged_with(3, false).first.contains("running freely"));
  }

  void a_branch_that_is_masked_does_not_switch_the_router_s_check_off() {
    RandomCase c = mixture(best(2), "weighted");
    auto masked = std::make_shared<Tampered>(c.weights);
    // The first expert is forced, or out of the question, by scores of about 1e9.
    masked->change("router.weight", [](std::vector<float>& w, const std::vector<int64_t>& shape) {
      for (int64_t i = 0; i < shape[1]; ++i) w[static_cast<size_t>(i)] *= 1e9f;
    });
    c.weights = masked;
    QVERIFY2(judged(c, c.weights).passed, qPrintable(said(judged(c, c.weights))));
    auto ours = std::make_shared<Tampered>(masked);
    ours->change("router.weight", [](std::vector<float>& w, const std::vector<int64_t>& shape) {
      for (size_t i = static_cast<size_t>(shape[1]); i < w.size(); ++i) w[i] *= 1.02f;
    });
    QVERIFY2(said(judged(c, ours)).contains("the scores of router moe differ"), qPrintable(said(judged(c, ours))));
  }

  void large_scores_do_not_excuse_probabilities_that_differ() {
    const RandomCase c = confident_exit();
    QVERIFY(judged(c, c.weights).passed && judged_as_bf16(c, c.weights).passed);
    auto slightly = std::make_shared<Tampered>(c.weights), half = std::make_shared<Tampered>(c.weights);
    slightly->change("classifier.weight", times(0.99f));
    half->change("classifier.weight", times(0.5f));
    QVERIFY2(said(judged(c, slightly)).contains("the scores of router exit differ"),
             qPrintable(said(judged(c, slightly))));
    QVERIFY2(said(judged_as_bf16(c, half)).contains("the scores of router exit differ"),
             qPrintable(said(judged_as_bf16(c, half))));
  }

  void large_scores_do_not_excuse_a_correction_in_the_wrong_order() {
    const RandomCase c = corrected_sigmoids();
    QVERIFY(judged(c, c.weights).passed && judged_as_bf16(c, c.weights).passed);
    auto reversed = std::make_shared<Tampered>(c.weights);
    reversed->change("correction", [](std::vector<float>& bias, const std::vector<int64_t>&) {
      std::reverse(bias.begin(), bias.end());
    });
    for (const Verification& v : {judged(c, reversed), judged_as_bf16(c, reversed)})
      QVERIFY2(v.flips > 0 && said(v).contains("the scores of router moe differ"), qPrintable(said(v)));
  }

  void plans_that_are_only_measured_are_compared_with_the_baseline() {
    ExperimentState s;
    s.model = open_model("demo:switch-names");
    DataOptions options;
    options.vocabulary = s.model->vocabulary, options.inputs = s.model->inputs;
    options.batch = 4;
    s.data = Dataset::open("random:8x12", s.model->tokenizer, options);
    s.device = std::make_unique<cpu::CpuDevice>(2);
    s.graph = s.model->forward, s.dtype = s.model->dtype;
    s.tolerance = s.dtype == DType::bf16 ? 2e-2 : 1e-4;
    s.store = std::make_unique<WeightStore>(*s.device, s.model->weights);
    s.memory = std::make_shared<SharedMemory>(*s.device);
    const auto baseline = s.make_plan("baseline", s.graph, 0, {});
    ForwardPass work(s);
    Candidates c = make_candidates(work, {}, select_passes({}), OnTheirOwn::no, {});
    c.wrong = differences_from(work, *baseline, c.plans, 1, {});
    QVERIFY(c.plans.size() >= 2);
    QCOMPARE(c.wrong, std::vector<std::string>(c.plans.size()));
    for (const Contribution& own : contributions_of(c, *baseline, {})) QVERIFY(own.wrong.empty());

    // The first plan with the weights of two products exchanged: what is measured with it, and from it on, is no
    // speed-up.
    auto exchanged = std::make_shared<Graph>(*s.graph);
    std::vector<ValueId*> weights;
    for (Node& n : exchanged->nodes)
      if (n.op->name == std::string_view("linear") &&
          (weights.empty() || exchanged->value(n.inputs[1]).type == exchanged->value(*weights[0]).type))
        weights.push_back(&n.inputs[1]);
    QVERIFY(weights.size() >= 2);
    std::swap(*weights[0], *weights[1]);
    c.plans[0] = s.make_plan("wrong", exchanged, 0, {});
    c.wrong = differences_from(work, *baseline, c.plans, 1, {});
    for (size_t p = 0; p < c.plans.size(); ++p) QCOMPARE(c.wrong[p].empty(), p != 0);
    const std::vector<Contribution> own = contributions_of(c, *baseline, {});
    for (size_t i = 0; i < own.size(); ++i) QCOMPARE(own[i].wrong.empty(), i > 1);
  }

  void members_of_all_branches_are_judged_each_in_its_branch_data() {
    QTest::addColumn<int>("sequences");
    QTest::addColumn<bool>("padding");
    for (const int sequences : {1, 4})
      for (const bool padding : {false, true})
        QTest::addRow("%d sequences, %s", sequences, padding ? "real tokens" : "all tokens") << sequences << padding;
  }
  void members_of_all_branches_are_judged_each_in_its_branch() {
    QFETCH(const int, sequences);
    QFETCH(const bool, padding);
    const RandomCase c = members_of_all_branches(sequences, padding);
    const Observed reference = by_oracle(c, c.graph, *c.weights, false);
    const auto inner = std::find_if(reference.decisions.begin(), reference.decisions.end(),
                                    [](const JudgedDecision& d) { return d.router == "experts"; });
    QVERIFY(inner != reference.decisions.end());
    QCOMPARE(inner->above, std::vector<std::string>{"tasks"});
    if (!padding) QCOMPARE(inner->shape.cells, int64_t{2 * 6 * sequences});
    std::set<std::pair<int32_t, int32_t>> places;  // token and branch: no two cells are one
    std::map<int32_t, std::set<int32_t>> branches;
    for (int64_t i = 0; i < inner->shape.cells; ++i) {
      const auto at = static_cast<size_t>(i) * 2;
      places.emplace(inner->place[at], inner->place[at + 1]);
      branches[inner->place[at]].insert(inner->place[at + 1]);
    }
    QCOMPARE(static_cast<int64_t>(places.size()), inner->shape.cells);
    for (const auto& [token, of] : branches) QCOMPARE(of.size(), size_t{2});
    int64_t dropped = 0;
    for (const int32_t choice : inner->choice) dropped += is_dropped(choice);
    if (!padding) QVERIFY(dropped > 0);
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
      const Verification v = judged(c, *device, c.weights);
      QVERIFY2(v.passed, qPrintable(said(v)));
    }
    auto ours = std::make_shared<Tampered>(c.weights);
    ours->exchange("expert.0.weight", "expert.1.weight");
    QVERIFY2(said(judged(c, ours)).contains("output y differs"), qPrintable(said(judged(c, ours))));
    auto scores = std::make_shared<Tampered>(c.weights);
    scores->change("experts.scores.weight", times(-1));
    QVERIFY2(said(judged(c, scores)).contains("router experts"), qPrintable(said(judged(c, scores))));
  }

  void two_experts_exchanged_are_found() {
    const RandomCase c = mixture(best(2), "weighted");
    auto ours = std::make_shared<Tampered>(c.weights);
    ours->exchange("expert.1.up.weight", "expert.2.up.weight");
    QVERIFY2(said(judged(c, ours)).contains("output small differs"), qPrintable(said(judged(c, ours))));
  }

  void an_error_in_a_small_output_is_not_hidden_by_large_logits() {
    const RandomCase c = mixture(best(2), "weighted");
    auto ours = std::make_shared<Tampered>(c.weights);
    ours->change("small.weight", times(1.01f));
    const Verification v = judged(c, ours);
    QVERIFY2(said(v).contains("output small differs"), qPrintable(said(v)));
    QVERIFY(!said(v).contains("output logits"));
    // On one scale for both it would have passed.
    double scale = 0;
    for (const OutputValue& o : by_oracle(c, c.graph, *c.weights, false).outputs)
      for (const float y : o.reals) scale = std::max(scale, std::fabs(double(y)));
    QVERIFY(v.max_abs_diff / scale < 1e-4);
  }

  void a_nested_classifier_that_is_wrong_is_found_behind_right_exits() {
    const RandomCase c = exit_chain_toy();
    auto ours = std::make_shared<Tampered>(c.weights);
    ours->change("block.1.classifier.weight", times(1.02f));
    for (const JudgedDecision& d : by_oracle(c, c.graph, *c.weights, false).decisions)
      if (d.router == "block.1.exit") QVERIFY(d.shape.cells > 0 && d.above == std::vector<std::string>{"block.0.exit"});
    QVERIFY2(said(judged(c, ours)).contains("router block.1.exit"), qPrintable(said(judged(c, ours))));
  }
};

STORMCELL_TEST(VerifyTest)

}  // namespace stormcell::testing

#include "verify_test.moc"

// Decoding as a workload: passes change what is repeated, the plan decodes the same tokens, what is wrong is found.
#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "core/bench/recording.h"
#include "core/configuration/plan_config.h"
#include "core/cpu/cpu_device.h"
#include "core/experiment/routing_figures.h"
#include "core/formats/safetensors_writer.h"
#include "core/graph/operator.h"
#include "core/measuring/candidates.h"
#include "core/measuring/plan_figures.h"
#include "core/models/model.h"
#include "core/verification/verify.h"
#include "tests/core/formats/scratch.h"
#include "tests/core/verification/verify_cases.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::decoding_test {
namespace {

constexpr int64_t kTokens = 8;
const char* const kMixtral = "mixtral/top-2-of-8-grouped-heads";
const char* const kSwitch = "switch/encoder-decoder-8-experts";

/// A small model that is open as an experiment opens it.
struct Opened {
  ExperimentState state;
  explicit Opened(const std::string& fixture, const std::string& data = "random:6x7", int threads = 1) {
    ExperimentState& s = state;
    s.model = open_model(reference_path(fixture));
    DataOptions options;
    options.vocabulary = s.model->vocabulary, options.inputs = s.model->inputs;
    options.batch = 3;
    s.data = Dataset::open(data, s.model->tokenizer, options);
    s.device = std::make_unique<cpu::CpuDevice>(threads);
    s.graph = s.model->forward, s.dtype = s.model->dtype;
    s.options.verify_seconds = 60;
    s.options.most_new_tokens = kTokens;
    s.store = std::make_unique<WeightStore>(*s.device, s.model->weights);
    s.memory = std::make_shared<SharedMemory>(*s.device);
  }
  /// Loads of every router over the first `batches`, the prompt's and the turns' together.
  LoadProfile profile(ReadyPlan& plan, int64_t batches) {
    SessionRun run(state, plan, {.kind = RunKind::profile}, {});
    for (int64_t b = 0; b < batches; ++b) {
      const Batch batch = state.data->batch(b);
      ExecuteOptions record;
      record.record = true;
      state.run_batch(plan, batch, record);
      run.add(batch, kProfiled);
    }
    return load_profile(run.profile());
  }
};

/// A file of six prompts, two batches, padded behind: of 5, 130, 1 cells and of 3, 70, 64.
std::string unlike_prompts(const Scratch& scratch) {
  constexpr int64_t kLength = 130;
  std::vector<int32_t> ids, mask;
  for (const int64_t length : {5, 130, 1, 3, 70, 64})
    for (int64_t i = 0; i < kLength; ++i) {
      mask.push_back(i < length);
      ids.push_back(i < length ? static_cast<int32_t>(3 + (i * 7 + length) % 45) : 0);
    }
  std::string file = scratch.path("unlike.safetensors");
  const std::vector<TensorToWrite> tensors = {{"input_ids", DType::i32, {6, kLength}, ids.data()},
                                              {"attention_mask", DType::i32, {6, kLength}, mask.data()}};
  write_safetensors(file, tensors);
  return file;
}

/// Names of the operators within repeats, guards in them included.
std::multiset<std::string> repeated_operators(const Graph& graph) {
  std::multiset<std::string> names;
  const std::function<void(const std::vector<NodeId>&, bool)> visit = [&](const std::vector<NodeId>& nodes,
                                                                          bool inside) {
    for (const NodeId id : nodes) {
      const Node& n = graph.node(id);
      if (inside) names.emplace(n.op->name);
      for (const auto& body : n.bodies) visit(body.nodes, inside || n.op->name == std::string_view("repeat"));
    }
  };
  visit(graph.top.nodes, false);
  return names;
}

QString said(const Verification& v) {
  QString text = QString::fromStdString(v.text) + "; ";
  for (const std::string& reason : v.reasons) text += QString::fromStdString(reason) + "; ";
  return text;
}

const PassOutcome* outcome_of(const Candidates& c, std::string_view pass) {
  for (const PassOutcome& o : c.passed.outcomes)
    if (o.pass->id == pass) return &o;
  return nullptr;
}

}  // namespace

class DecodingTest : public QObject {
  Q_OBJECT
 private slots:
  void passes_change_what_is_repeated_and_the_tokens_stay_data() {
    QTest::addColumn<QString>("fixture");
    for (const char* fixture : {kMixtral, kSwitch}) QTest::newRow(fixture) << fixture;
  }
  void passes_change_what_is_repeated_and_the_tokens_stay() {
    QFETCH(const QString, fixture);
    Opened opened(fixture.toStdString(), "random:6x7", 2);
    ExperimentState& s = opened.state;
    Decoding work(s);
    QVERIFY(work.phase() == WorkPhase::decode);
    const auto baseline = work.make_baseline({});
    LoadProfile profile = opened.profile(*baseline, s.data->batch_count());
    // Each router has one branch that the profile is told to know nothing of: its guard has to miss.
    for (auto& [name, load] : profile.routers) {
      load.load.back() = load.load_real.back() = 0;
      for (RouterLoad& part : load.prompt_and_turns) part.load.back() = part.load_real.back() = 0;
    }
    Candidates c = make_candidates(work, profile, select_passes({}), OnTheirOwn::no, {});
    QVERIFY(c.final_plan != kNoPlan);
    for (const char* pass : {"dead-path", "vertical-fusion", "horizontal-fusion"}) {
      const PassOutcome* outcome = outcome_of(c, pass);
      QVERIFY2(outcome && outcome->cumulative.applied, (std::string(pass) + ": " + outcome->cumulative.reason).c_str());
    }
    ReadyPlan& optimized = *c.plans[c.final_plan];
    const auto before = repeated_operators(*baseline->graph), after = repeated_operators(*optimized.graph);
    QVERIFY(before.count("guard") == 0 && after.count("guard") > 0);
    // The live branches of a guard's body run as one.
    QVERIFY(before.count("grouped_linear") < after.count("grouped_linear"));

    c.wrong = differences_from(work, *baseline, c.plans, 1, {});
    QCOMPARE(c.wrong, std::vector<std::string>(c.plans.size()));
    for (int64_t b = 0; b < s.data->batch_count(); ++b) {
      const Batch batch = s.data->batch(b);
      s.run_batch(*baseline, batch, {});
      s.run_batch(optimized, batch, {});
      QCOMPARE(optimized.decoded.at(b), baseline->decoded.at(b));
      QCOMPARE(optimized.decoded.at(b).size(), static_cast<size_t>(batch.size() * kTokens));
    }
    const GuardCounts guards = optimized.guards["dead-path"];
    QVERIFY(guards.hits + guards.misses > 0);
    const Verification v = verify(work, optimized, baseline.get(), verify_options(s), {});
    QVERIFY2(v.passed, qPrintable(said(v)));
    QVERIFY(v.tokens && v.tokens->sequences == 6 && v.tokens->compared > 6);
    QVERIFY2(v.max_rel_diff > 0 && v.max_rel_diff <= v.tolerance, qPrintable(said(v)));
  }

  void a_plan_that_decodes_something_else_is_found() {
    Opened opened(kMixtral);
    ExperimentState& s = opened.state;
    Decoding work(s);
    const auto baseline = work.make_baseline({});
    // Two products of one repeated layer with each other's weights.
    const auto exchange = [](const Graph& from) {
      auto graph = std::make_shared<Graph>(from);
      std::vector<ValueId*> weights;
      for (Node& n : graph->nodes)
        if (n.name.find("layers.1.self_attn.k") != std::string::npos ||
            n.name.find("layers.1.self_attn.v") != std::string::npos)
          if (n.op->name == std::string_view("linear")) weights.push_back(&n.inputs[1]);
      for (size_t i = 0; i + 1 < weights.size(); i += 2) std::swap(*weights[i], *weights[i + 1]);
      return std::pair{graph, weights.size()};
    };
    const auto [wrong, found] = exchange(*work.graph());
    QVERIFY(found >= 4);
    std::vector<std::unique_ptr<ReadyPlan>> plans;
    plans.push_back(work.make_plan("wrong", wrong, {}, {}));
    plans[0]->judged = [graph = exchange(*s.model->generate_with_logits()).first] { return graph; };
    QVERIFY(!differences_from(work, *baseline, plans, 0, {})[0].empty());
    const Verification v = verify(work, *plans[0], baseline.get(), verify_options(s), {});
    QVERIFY2(!v.passed, qPrintable(said(v)));
    for (const std::string& reason : v.reasons) QVERIFY2(!reason.starts_with("the baseline"), reason.c_str());
  }

  void batches_that_the_oracle_does_not_come_to_are_compared_with_the_baseline() {
    Opened opened(kSwitch, "random:24x7");
    ExperimentState& s = opened.state;
    Decoding work(s);
    const auto baseline = work.make_baseline({}), plan = work.make_plan("optimized", work.graph(), {}, {});
    for (int64_t b = 0; b < s.data->batch_count(); ++b) s.run_batch(*plan, s.data->batch(b), {});
    const auto verified = [&] { return verify(work, *plan, baseline.get(), {0, 3600}, {}); };
    const Verification right = verified();
    QVERIFY2(right.passed, qPrintable(said(right)));
    QCOMPARE(right.batches, int64_t{1});
    QCOMPARE(right.baseline_batches, int64_t{7});
    QCOMPARE(right.tokens->sequences, int64_t{3});  // the oracle's alone
    QVERIFY2(right.text.ends_with("(1 of 8 batches against the oracle, 7 more against the baseline)"),
             right.text.c_str());
    // The written text is wrong where no oracle looks.
    int32_t& token = plan->decoded.at(7).at(0);
    token = (token + 1) % 50;
    const QString text = said(verified());
    QVERIFY2(text.contains("beside the baseline: token 0 of sequence 21 is ") && text.contains("the baseline decodes"),
             qPrintable(text));
    QVERIFY(!verified().passed);
  }

  /// Behind the first 16 tokens, which are all that the oracle decodes, and within a page of states.
  void texts_are_compared_to_their_end() {
    Opened opened(kSwitch);
    ExperimentState& s = opened.state;
    constexpr int64_t kLong = 40;
    s.options.most_new_tokens = kLong;
    Decoding work(s);
    const auto baseline = work.make_baseline({}), plan = work.make_plan("optimized", work.graph(), {}, {});
    for (ReadyPlan* each : {baseline.get(), plan.get()})
      for (int64_t b = 0; b < s.data->batch_count(); ++b) s.run_batch(*each, s.data->batch(b), {});
    const auto verified = [&](ReadyPlan* beside) { return verify(work, *plan, beside, {0, 0}, {}); };
    const Verification right = verified(baseline.get());
    QVERIFY2(right.passed, qPrintable(said(right)));
    // 48 of 240 tokens are in the batch and in the turns that the oracle decodes; one batch is what its own logits say.
    QVERIFY2(right.text.find("the logits of 48 of 240 written tokens compared; each of 120 tokens of one batch what") !=
                 std::string::npos,
             right.text.c_str());
    const auto wrong_in = [&](ReadyPlan& of, int64_t batch, ReadyPlan* beside) {
      int32_t& token = of.decoded.at(batch).at(static_cast<size_t>(kLong) + 30);
      const int32_t was = std::exchange(token, (token + 2) % 50);
      const Verification found = verified(beside);
      token = was;
      return found.passed ? QString("passed") : said(found);
    };
    const QString own = wrong_in(*plan, 0, nullptr), last = wrong_in(*plan, 1, baseline.get()),
                  baseline_wrong = wrong_in(*baseline, 1, baseline.get());
    QVERIFY2(own.contains("; to the end of its text: token 30 of sequence 1 is ") && own.contains("its own logits say"),
             qPrintable(own));
    QVERIFY2(last.contains("; beside the baseline's text of batch 1: token 30 of sequence 4 is ") &&
                 last.contains("the baseline decodes"),
             qPrintable(last));
    QVERIFY2(
        baseline_wrong.contains("; beside the baseline's text of batch 1: the baseline: token 30 of sequence 4 is "),
        qPrintable(baseline_wrong));
  }

  /// An encoder-decoder's caches begin empty: rows of their second page, though there is time for one batch
  /// alone.
  void tokens_past_a_page_of_states_are_verified_whatever_time_there_is() {
    Opened opened(kSwitch);
    ExperimentState& s = opened.state;
    s.options.most_new_tokens = kPageRows + 6;
    Decoding work(s);
    const auto baseline = work.make_baseline({}), plan = work.make_plan("optimized", work.graph(), {}, {});
    for (ReadyPlan* each : {baseline.get(), plan.get()})
      for (int64_t b = 0; b < s.data->batch_count(); ++b) s.run_batch(*each, s.data->batch(b), {});
    const auto verified = [&] { return verify(work, *plan, baseline.get(), {0, 0}, {}); };
    const Verification right = verified();
    QVERIFY2(right.passed && right.text.find("; the first 66 tokens of one batch too") != std::string::npos,
             qPrintable(said(right)));
    QCOMPARE(right.tokens->tokens, int64_t{16});
    QCOMPARE(right.batches, int64_t{1});
    const auto wrong_in = [&](ReadyPlan& of) {
      int32_t& token = of.decoded.at(0).at(static_cast<size_t>(kPageRows) + 1);
      const int32_t was = std::exchange(token, (token + 2) % 50);
      const QString told = said(verified());
      token = was;
      return told;
    };
    const QString wrong = wrong_in(*plan), baseline_wrong = wrong_in(*baseline);
    QVERIFY2(wrong.contains("; in the first 66 tokens: token 65 of sequence 0 is "), qPrintable(wrong));
    QVERIFY2(baseline_wrong.contains("; the baseline: in the first 66 tokens: token 65 of sequence 0 is "),
             qPrintable(baseline_wrong));
  }

  void a_page_of_states_holds_the_prompt_too_data() {
    QTest::addColumn<QString>("data");
    QTest::addColumn<int>("tokens");
    QTest::addColumn<QString>("further");
    QTest::newRow("a prompt of seven") << "random:6x7" << 62 << "; the first 60 tokens of one batch too";
    QTest::newRow("no text reaches the second page") << "random:6x7" << 58 << "";
    QTest::newRow("prompts that fill a page") << "unlike" << 8 << "";
    QTest::newRow("one that nearly does, not in the first batch") << "random:6x60" << 20 << "";
  }
  void a_page_of_states_holds_the_prompt_too() {
    QFETCH(const QString, data);
    QFETCH(const int, tokens);
    QFETCH(const QString, further);
    const Scratch scratch;
    Opened opened(kMixtral, data == "unlike" ? unlike_prompts(scratch) : data.toStdString());
    ExperimentState& s = opened.state;
    s.options.most_new_tokens = tokens;
    Decoding work(s);
    const auto plan = work.make_baseline({});
    for (int64_t b = 0; b < s.data->batch_count(); ++b) s.run_batch(*plan, s.data->batch(b), {});
    const Verification v = verify(work, *plan, nullptr, {0, 0}, {});
    QVERIFY2(v.passed, qPrintable(said(v)));
    QCOMPARE(v.text.find(" of one batch too") != std::string::npos, !further.isEmpty());
    QVERIFY2(said(v).contains(further), qPrintable(said(v)));
  }

  /// A near tie falls the other way, and a text ends sooner: that is less work, and no speed.
  void a_plan_whose_texts_end_at_other_turns_has_no_speed_up() {
    const std::vector<int32_t> of_three = {5, 6, 7, -1, 8, -1, -1, -1}, alike = {5, 9, 9, -1, 8, 1, -1, -1},
                               of_four = {5, 6, 7, 4, 8, -1, -1, -1};
    QCOMPARE(unlike_turns({{0, of_three}, {3, of_three}}, {{0, of_three}, {1, of_four}, {3, alike}}, 4), std::string());
    QCOMPARE(unlike_turns({{0, of_three}, {3, of_three}}, {{0, of_three}, {3, of_four}}, 4),
             std::string("its texts of batch 3 end after 3 turns, the baseline's after 4, which is other work"));

    Opened opened(kMixtral);
    Decoding work(opened.state);
    const auto baseline = work.make_baseline({});
    const LoadProfile profile = opened.profile(*baseline, 1);
    Candidates c = make_candidates(work, profile, select_passes({}), OnTheirOwn::no, {});
    QVERIFY(c.final_plan != kNoPlan);
    QVERIFY(total_of(c, *baseline, {}).wrong.empty());
    for (const Contribution& own : contributions_of(c, *baseline, {})) QVERIFY(own.wrong.empty());
    c.unlike.at(c.final_plan) = "shorter";
    QCOMPARE(total_of(c, *baseline, {}).wrong, std::string("shorter"));
    QCOMPARE(contributions_of(c, *baseline, {}).back().wrong, std::string("shorter"));
    c.wrong.at(c.final_plan) = "wrong";
    QCOMPARE(c.no_speed(c.final_plan), std::string("wrong"));
  }

  void flips_name_the_sequence_and_the_turn_data() {
    QTest::addColumn<bool>("in_turns");
    QTest::newRow("a router of the prompt") << false;
    QTest::newRow("a router of the turns") << true;
  }
  void flips_name_the_sequence_and_the_turn() {
    QFETCH(const bool, in_turns);
    const Scratch scratch;
    Opened opened(kMixtral, unlike_prompts(scratch));
    ExperimentState& s = opened.state;
    Decoding work(s);
    // The last layer's router with the first one's weights, in the prompt's pass or in what is repeated.
    const auto changed = [&](const Graph& from) {
      auto graph = std::make_shared<Graph>(from);
      std::map<std::string, ValueId> weights;
      for (const Node& n : from.nodes)
        if (n.name.ends_with(".gate")) weights[n.name] = n.inputs[1];
      const std::string last = weights.rbegin()->first;
      const std::function<void(const std::vector<NodeId>&, bool)> visit = [&](const std::vector<NodeId>& nodes,
                                                                              bool inside) {
        for (const NodeId id : nodes) {
          Node& n = graph->node(id);
          if (inside == in_turns && n.name == last) n.inputs[1] = weights.begin()->second;
          for (const auto& body : n.bodies) visit(body.nodes, inside || n.op->name == std::string_view("repeat"));
        }
      };
      visit(from.top.nodes, false);
      return graph;
    };
    const auto plan = work.make_plan("wrong", changed(*work.graph()), {}, {});
    plan->judged = [&] { return changed(*s.model->generate_with_logits()); };
    const Verification v = verify(work, *plan, nullptr, verify_options(s), {});
    QVERIFY2(!v.passed && !v.listed.empty(), qPrintable(said(v)));
    std::set<int64_t> items;
    int judged = 0;
    for (const Flip& flip : v.listed) {
      if (flip.follows) continue;
      const Batch batch = s.data->batch(flip.batch);
      const int64_t length = batch.spaces[0].per_item, place = flip.turn < 0 ? flip.cell / length : flip.cell;
      const std::vector<int32_t>& real = batch.spaces[0].real;
      const auto of_prompt =
          static_cast<int64_t>(std::count(real.begin() + place * length, real.begin() + (place + 1) * length, 1));
      const QString what = QString("%1, turn %2, cell %3: position %4 of %5")
                               .arg(QString::fromStdString(flip.router))
                               .arg(flip.turn)
                               .arg(flip.cell)
                               .arg(flip.position)
                               .arg(flip.item);
      QVERIFY2((flip.turn >= 0) == in_turns, qPrintable(what));
      QVERIFY2(flip.item == batch.items[static_cast<size_t>(place)], qPrintable(what));
      QVERIFY2(flip.position == (in_turns ? of_prompt + flip.turn : flip.cell % length), qPrintable(what));
      QVERIFY2(flip.execution == flip.turn + 1, qPrintable(what));
      items.insert(flip.item), ++judged;
    }
    QVERIFY2(judged > 0 && items.size() > 1, qPrintable(QString("%1 of %2 sequences").arg(judged).arg(items.size())));
  }

  void a_profile_tells_the_prompt_from_turns() {
    for (const char* fixture : {kMixtral, kSwitch}) {
      Opened opened(fixture);
      Decoding work(opened.state);
      const auto baseline = work.make_baseline({});
      const LoadProfile profile = opened.profile(*baseline, opened.state.data->batch_count());
      QVERIFY(!profile.routers.empty());
      for (const auto& [name, load] : profile.routers) {
        // Each router of an encoder-decoder decides in one of them alone.
        QCOMPARE(load.prompt_and_turns.size(), fixture == kMixtral ? size_t{2} : size_t{0});
        if (load.prompt_and_turns.empty()) continue;
        const RouterLoad &prompt = load.prompt_and_turns[0], &turns = load.prompt_and_turns[1];
        QCOMPARE(prompt.cells, int64_t{6 * 7});
        QCOMPARE(prompt.batches, int64_t{2});
        QVERIFY(turns.batches > 0 && turns.cells == 3 * turns.batches);
        QCOMPARE(prompt.cells + turns.cells, load.cells);
        QCOMPARE(prompt.cells_real + turns.cells_real, load.cells_real);
        for (size_t b = 0; b < load.load.size(); ++b) {
          QCOMPARE(prompt.load[b] + turns.load[b], load.load[b]);
          QCOMPARE(prompt.load_real[b] + turns.load_real[b], load.load_real[b]);
        }
      }
    }
  }

  void pages_are_counted_by_the_sequences_own_lengths() {
    const Scratch scratch;
    Opened opened(kMixtral, unlike_prompts(scratch));
    ExperimentState& s = opened.state;
    Decoding work(s);
    const auto plan = work.make_baseline({});
    for (int64_t b = 0; b < s.data->batch_count(); ++b) s.run_batch(*plan, s.data->batch(b), {});
    int64_t page = 0;
    for (const SequenceState& state : plan->executor->states_key().states) page += state.page_bytes();
    const auto layers = static_cast<int64_t>(plan->executor->states_key().states.size());
    // Prompts of 5, 130, 1 and of 3, 70, 64 cells, with 7 more each: 1 + 3 + 1 and 1 + 2 + 2 pages of 64 rows.
    Latency latency;
    const PlanFigures f = plan_figures(work, *plan, latency, {}, {0, 1}, 1);
    QVERIFY(f.states.has_value());
    QCOMPARE(f.states->taken_bytes, 5 * page);
    QCOMPARE(f.states->taken_pages, 5 * layers);
    QCOMPARE(f.states->planned_bytes, 3 * 3 * page);
    ForwardPass forward(s);
    QVERIFY(!plan_figures(forward, *forward.make_baseline({}), latency, {}, {0, 1}, 1).states);
  }

  void figures_are_of_the_tokens_that_were_written() {
    Opened opened(kSwitch);
    ExperimentState& s = opened.state;
    Decoding work(s);
    const auto plan = work.make_baseline({});
    int64_t tokens = 0;
    for (int64_t b = 0; b < s.data->batch_count(); ++b) {
      s.run_batch(*plan, s.data->batch(b), {});
      for (const int32_t token : plan->decoded.at(b)) tokens += token >= 0;
    }
    QVERIFY(tokens >= 6);
    Latency latency;
    latency.mean = 10;
    const PlanFigures f = plan_figures(work, *plan, latency, {}, {0, 1}, 1);
    QVERIFY(f.tokens_per_s && *f.tokens_per_s == f.cells_per_s);
    QCOMPARE(f.cells_per_s, static_cast<double>(tokens) / 2 / 0.01);
    ForwardPass forward(s);
    QVERIFY(!plan_figures(forward, *forward.make_baseline({}), latency, {}, {0, 1}, 1).tokens_per_s);
  }

  void a_model_without_a_decoder_is_refused_before_anything_runs() {
    Opened opened("switch/encoder-only-16-experts-gelu");
    opened.state.options.model = "encoder";
    for (const char* phase : {"decode", "both"}) {
      opened.state.options.phase = phase;
      try {
        workloads(opened.state);
        QFAIL("was taken");
      } catch (const Error& e) {
        QVERIFY(e.kind() == ErrorKind::bad_input);
        QVERIFY2(std::string(e.what()).starts_with("encoder: this model cannot generate"), e.what());
      }
    }
    opened.state.options.phase = "forward";
    QCOMPARE(workloads(opened.state).size(), size_t{1});
  }

  void a_configuration_says_its_phase() {
    PlanConfig config;
    config.phase = WorkPhase::decode;
    QCOMPARE(parse_plan_config(to_json(config), "c").phase, WorkPhase::decode);
    QCOMPARE(parse_plan_config(R"({"schema": "stormcell.config/1", "passes": {}})", "c").phase, WorkPhase::forward);
    QVERIFY_THROWS_EXCEPTION(
        Error, parse_plan_config(R"({"schema": "stormcell.config/1", "phase": "prefill", "passes": {}})", "c"));
  }
};

STORMCELL_TEST(DecodingTest)

}  // namespace stormcell::testing::decoding_test

#include "decoding_test.moc"

// Decoding judged: right runs pass, and what is wrong is found though every token is the oracle's.
#include "core/verification/verify_decoded.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "core/cpu/cpu_device.h"
#include "core/models/model.h"
#include "core/verification/format_judge.h"
#include "core/verification/verify.h"
#include "tests/core/verification/verify_cases.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int64_t kTokens = 8;

/// A small model and data, opened as an experiment opens them; the plans read `weights`, the oracle the true ones.
struct Opened {
  ExperimentState state;
  explicit Opened(const std::string& fixture, const std::function<void(Tampered&)>& tamper = {}) {
    ExperimentState& s = state;
    s.model = open_model(reference_path(fixture));
    DataOptions options;
    options.vocabulary = s.model->vocabulary, options.inputs = s.model->inputs;
    options.batch = 3;
    s.data = Dataset::open("random:6x7", s.model->tokenizer, options);
    s.device = std::make_unique<cpu::CpuDevice>(2);
    auto weights = std::make_shared<Tampered>(s.model->weights);
    if (tamper) tamper(*weights);
    s.graph = s.model->forward, s.dtype = s.model->dtype;
    s.tolerance = s.dtype == DType::bf16 ? 2e-2 : 1e-4;
    s.options.verify_seconds = 60;
    s.options.most_new_tokens = kTokens;
    s.store = std::make_unique<WeightStore>(*s.device, weights);
    s.memory = std::make_shared<SharedMemory>(*s.device);
  }
  /// A plan without logits, which has decoded every batch; `change`: what it is said to have written.
  DecodedVerification verified(const std::function<void(ReadyPlan&)>& change = {}) {
    Decoding work(state);
    const auto plan = work.make_plan("generate", work.graph(), {}, {});
    for (int64_t b = 0; b < state.data->batch_count(); ++b) state.run_batch(*plan, state.data->batch(b), {});
    if (change) change(*plan);
    return decoded_verification(verify(work, *plan, nullptr, verify_options(state), {}));
  }
};

QString said(const DecodedVerification& v) {
  QString text = QString::fromStdString(v.text) + "; ";
  for (const std::string& reason : v.reasons) text += QString::fromStdString(reason) + "; ";
  return text;
}

const char* const kMixtral = "mixtral/top-2-of-8-grouped-heads";
const char* const kSwitch = "switch/encoder-decoder-8-experts";

/// Changes the model, and the oracle's: tokens 2n and 2n + 1 have the same logits.
void make_every_token_a_tie(ExperimentState& s) {
  const auto weights = std::make_shared<Tampered>(s.model->weights);
  weights->change("lm_head.weight", [](std::vector<float>& values, const std::vector<int64_t>& shape) {
    for (int64_t row = 1; row < shape[0]; row += 2)
      std::copy_n(values.begin() + (row - 1) * shape[1], shape[1], values.begin() + row * shape[1]);
  });
  const auto model = std::make_shared<Model>(*s.model);
  model->weights = weights;
  s.model = model;
  s.store = std::make_unique<WeightStore>(*s.device, weights);
}

/// Two sequences of two tokens over a vocabulary of three, by hand.
Observed by_hand(const std::vector<int32_t>& tokens, std::vector<float> logits) {
  Observed o;
  o.outputs = {{std::string(kGenerated), DType::i32, {4}, {}, tokens},
               {std::string(kLogits), DType::f32, {4, 3}, std::move(logits), {}}};
  return o;
}
Batch two_sequences() {
  Batch batch;
  batch.items = {10, 11};
  return batch;
}
/// One router over the first tokens of both sequences; the first of them lies at a near tie.
JudgedDecision turn(std::vector<int32_t> choice) {
  JudgedDecision d;
  d.router = "moe";
  d.shape = {2, 1, 2};
  d.weight = {0.5f, 0.5f};
  d.margin = {1e-6f, 1};
  d.score_columns = 2;
  d.scores = {1, 1 - 1e-6f, 1, 0};
  d.free_choice = choice;
  d.choice = std::move(choice);
  d.place = {0, 1};
  d.per_item = d.together = 1;
  return d;
}

const std::vector<float> kClear = {9, 1, 0, 1, 8, 0, 0, 1, 7, 6, 1, 0};  // tokens 0 1 | 2 0

}  // namespace

class VerifyDecodedTest : public QObject {
  Q_OBJECT
 private slots:
  void right_runs_pass_and_every_token_s_logits_are_compared_data() {
    QTest::addColumn<QString>("fixture");
    for (const char* fixture : {kMixtral, kSwitch, "mixtral/stored-bf16", "switch/stored-bf16"})
      QTest::newRow(fixture) << fixture;
  }
  void right_runs_pass_and_every_token_s_logits_are_compared() {
    QFETCH(const QString, fixture);
    Opened opened(fixture.toStdString());
    int64_t written = 0;
    const DecodedVerification v = opened.verified([&](const ReadyPlan& plan) {
      for (const auto& [batch, tokens] : plan.decoded)
        written += std::count_if(tokens.begin(), tokens.end(), [](int32_t t) { return t >= 0; });
    });
    QVERIFY2(v.passed, qPrintable(said(v)));
    QCOMPARE(v.sequences, int64_t{6});
    QCOMPARE(v.batches, int64_t{2});
    QVERIFY2(v.max_rel_diff > 0 && v.max_rel_diff <= v.tolerance, qPrintable(said(v)));
    if (v.equal == v.sequences) QCOMPARE(v.compared, written);
    QVERIFY(v.compared > 6);
  }

  void logits_that_differ_are_found_though_every_token_is_right() {
    // A factor changes no argmax.
    Opened opened(kMixtral, [](Tampered& w) { w.change("lm_head.weight", times(1.01f)); });
    const DecodedVerification v = opened.verified();
    QCOMPARE(v.equal, v.sequences);
    QVERIFY2(!v.passed && said(v).contains("output logits differs by 0.01"), qPrintable(said(v)));
  }

  void a_router_of_a_turn_that_differs_is_found_data() {
    QTest::addColumn<QString>("fixture");
    QTest::addColumn<QString>("weight");
    QTest::newRow("decoder alone") << kMixtral << "model.layers.1.block_sparse_moe.gate.weight";
    QTest::newRow("encoder and decoder") << kSwitch << "decoder.block.1.layer.2.mlp.router.classifier.weight";
  }
  void a_router_of_a_turn_that_differs_is_found() {
    QFETCH(const QString, fixture);
    QFETCH(const QString, weight);
    Opened opened(fixture.toStdString(), [&](Tampered& w) { w.change(weight.toStdString(), times(1.02f)); });
    QVERIFY(opened.state.store->source().find(weight.toStdString()));
    const DecodedVerification v = opened.verified();
    QVERIFY2(!v.passed && said(v).contains("the scores of router "), qPrintable(said(v)));
  }

  void two_experts_exchanged_are_found() {
    const std::string expert = "model.layers.2.block_sparse_moe.experts.";
    Opened opened(kMixtral, [&](Tampered& w) {
      for (int e = 0; e < 8; e += 2)
        w.exchange(expert + std::to_string(e) + ".w1.weight", expert + std::to_string(e + 1) + ".w1.weight");
    });
    const DecodedVerification v = opened.verified();
    QVERIFY2(!v.passed && said(v).contains("output logits differs"), qPrintable(said(v)));
  }

  void a_token_that_is_not_what_the_logits_say_is_found() {
    Opened opened(kMixtral);
    const DecodedVerification v = opened.verified([](ReadyPlan& plan) {
      int32_t& token = plan.decoded.at(1).at(1 * kTokens + 3);  // of the second sequence of the second batch of three
      token = (token + 1) % 50;
    });
    QCOMPARE(v.equal, v.sequences - 1);
    QVERIFY2(!v.passed && said(v).contains("token 3 of sequence 4 is ") && said(v).contains("no near tie"),
             qPrintable(said(v)));
  }

  void a_near_tie_may_fall_either_way_and_what_follows_is_not_compared() {
    std::vector<float> close = kClear;
    close[1] = 9 - 1e-6f;  // the first token of the first sequence
    const std::vector<int32_t> expected = {0, 1, 2, 0}, ours = {1, 2, 2, 0};
    DecodedJudge judge(1e-4, Arithmetic::f32, 2);
    judge.add(two_sequences(), by_hand(expected, close), by_hand(expected, close), by_hand(expected, close), ours);
    const DecodedVerification v = judge.verdict();
    QVERIFY2(v.passed && said(v).contains("1 token differs, a near tie"), qPrintable(said(v)));
    QCOMPARE(v.near_ties, int64_t{1});
    QCOMPARE(v.compared, int64_t{2});  // the first turn alone
    QCOMPARE(v.equal, int64_t{1});

    DecodedJudge far(1e-4, Arithmetic::f32, 2);
    far.add(two_sequences(), by_hand(expected, kClear), by_hand(expected, kClear), by_hand(expected, kClear), ours);
    QVERIFY2(said(far.verdict())
                 .contains("token 0 of sequence 10 is 1 where the oracle decodes 0, and their logits differ by 8"),
             qPrintable(said(far.verdict())));
  }

  /// Two sequences of eight tokens share a capacity: a near tie ends the comparison of both.
  void too_little_is_not_called_verified_data() {
    QTest::addColumn<int>("place");
    QTest::addColumn<bool>("enough");
    QTest::newRow("an eighth") << 0 << false;
    QTest::newRow("a quarter") << 1 << true;
    QTest::newRow("all but the last") << 6 << true;
  }
  void too_little_is_not_called_verified() {
    QFETCH(const int, place);
    QFETCH(const bool, enough);
    const std::vector<int32_t> expected(16, 0);
    std::vector<int32_t> ours = expected;
    std::vector<float> logits;
    for (int i = 0; i < 16; ++i) logits.insert(logits.end(), {9, i == place ? 9 - 1e-6f : 1, 0});
    ours[static_cast<size_t>(place)] = 1;
    Observed execution;
    execution.outputs = {{std::string(kGenerated), DType::i32, {16}, {}, expected},
                         {std::string(kLogits), DType::f32, {16, 3}, logits, {}}};
    DecodedJudge judge(1e-4, Arithmetic::f32, 8);
    judge.add(two_sequences(), execution, execution, execution, ours);
    Verification v = judge.verification();
    QVERIFY(v.passed && v.tokens->near_ties == 1);
    const std::string share = std::to_string(2 * (place + 1)) + " of 16 tokens";
    QVERIFY2(v.text.find("the logits of " + share + " compared") != std::string::npos, v.text.c_str());
    judge.refuse_too_little("", v);
    QCOMPARE(v.reasons.empty(), enough);
    QCOMPARE(v.what_to_do.empty(), enough);
    if (!enough)
      QVERIFY2(v.reasons[0].starts_with("inconclusive: " + share + " could be compared"), v.reasons[0].c_str());
  }

  void a_verification_of_too_little_does_not_pass() {
    // Logits a thousand times too large, and a tolerance that takes them: then every token is a near tie.
    Opened opened(kMixtral, [](Tampered& w) { w.change("lm_head.weight", times(1000)); });
    opened.state.tolerance = 1e6;
    const DecodedVerification all = opened.verified();
    QVERIFY2(all.passed && all.equal == 6, qPrintable(said(all)));
    const DecodedVerification first = opened.verified([](ReadyPlan& plan) {
      for (auto& [batch, tokens] : plan.decoded)
        for (size_t s = 0; s < 3; ++s) tokens.at(s * kTokens) = (tokens[s * kTokens] + 1) % 50;
    });
    QVERIFY2(!first.passed && first.reasons.size() == 1 && first.reasons[0].starts_with("inconclusive: 6 of "),
             qPrintable(said(first)));
    QCOMPARE(first.compared, int64_t{6});
    QVERIFY(first.what_to_do.find("--max-new-tokens") != std::string::npos);
  }

  /// The same where only the comparison with the baseline, or that past a page of states, is cut short.
  void too_little_beside_the_baseline_or_further_on_does_not_pass_data() {
    QTest::addColumn<bool>("baseline");
    QTest::newRow("beside the baseline") << true;
    QTest::newRow("past a page of states") << false;
  }
  void too_little_beside_the_baseline_or_further_on_does_not_pass() {
    QFETCH(const bool, baseline);
    Opened opened(kMixtral);
    ExperimentState& s = opened.state;
    make_every_token_a_tie(s);
    if (!baseline) s.options.most_new_tokens = kPageRows + 4;
    Decoding work(s);
    const auto plan = work.make_baseline({}), other = work.make_baseline({});
    for (int64_t b = 0; b < s.data->batch_count(); ++b) s.run_batch(*plan, s.data->batch(b), {});
    const auto verified = [&] {
      return verify(work, *plan, baseline ? other.get() : nullptr, {0, baseline ? 3600.0 : 0.0}, {});
    };
    const Verification whole = verified();
    QVERIFY2(whole.passed, qPrintable(said(decoded_verification(whole))));
    // In the second batch, where no oracle looks; in the first one behind what the 16 tokens that are always compared
    // take for enough.
    const int64_t tokens = work.new_tokens(), batch = baseline ? 1 : 0, place = baseline ? 0 : 8;
    for (int64_t i = 0; i < 3; ++i) {
      int32_t& token = plan->decoded.at(batch).at(static_cast<size_t>(i * tokens + place));
      if (token >= 0) token ^= 1;  // the other of the pair; behind the end of its text there is none
    }
    const Verification cut = verified();
    const std::string begin = baseline ? "beside the baseline: inconclusive: 3 of "
                                       : "in the first 60 tokens: inconclusive: 24 of 126 tokens could be compared";
    QVERIFY2(!cut.passed && cut.reasons.size() == 1 && cut.reasons[0].starts_with(begin),
             qPrintable(said(decoded_verification(cut))));
    QVERIFY(!cut.what_to_do.empty());
  }

  /// A near tie ends the comparison of its own sequence, and of no other that it cannot reach.
  void a_near_tie_hides_nothing_of_other_sequences_data() {
    QTest::addColumn<bool>("apart");
    QTest::newRow("sequences by themselves") << true;
    QTest::newRow("sequences that share a capacity") << false;
  }
  void a_near_tie_hides_nothing_of_other_sequences() {
    QFETCH(const bool, apart);
    std::vector<float> close = kClear, wrong = kClear;
    close[1] = wrong[1] = 9 - 1e-6f;  // the first token of the first sequence
    wrong[9] = 7;                     // the second of the second: 6 in the reference, and still the best one
    const std::vector<int32_t> expected = {0, 1, 2, 0}, ours = {1, 2, 2, 0};
    Observed reference = by_hand(expected, close), replayed = by_hand(expected, wrong), free = by_hand(expected, close);
    if (apart) reference.by_item = {std::string(kLogits)};
    JudgedDecision first = turn({0, 0}), second = turn({0, 0});
    second.execution = 1;
    reference.decisions = free.decisions = {first, second};
    // The second sequence's router says another branch in the second turn, far from a tie.
    second.free_choice = {0, 1};
    replayed.decisions = {first, second};
    DecodedJudge judge(1e-4, Arithmetic::f32, 2);
    judge.add(two_sequences(), reference, replayed, free, ours);
    const DecodedVerification v = judge.verdict();
    QCOMPARE(v.near_ties, int64_t{1});
    QCOMPARE(v.compared, int64_t{apart ? 3 : 2});
    QCOMPARE(v.passed, !apart);
    QCOMPARE(v.flips, int64_t{apart ? 1 : 0});
    if (apart)
      QVERIFY2(said(v).contains("output logits differs by ") && said(v).contains("without a near tie"),
               qPrintable(said(v)));
  }

  void behind_a_near_tie_each_token_is_still_what_its_own_logits_say() {
    std::vector<float> close = kClear;
    close[1] = 9 - 1e-6f;
    const std::vector<int32_t> expected = {0, 1, 2, 0}, ours = {1, 2, 2, 1};
    DecodedJudge judge(1e-4, Arithmetic::f32, 2);
    judge.add(two_sequences(), by_hand(expected, close), by_hand(expected, close), by_hand(expected, close), ours);
    const QString text = said(judge.verdict());
    QVERIFY2(text.contains("token 1 of sequence 11 is 1 where its own logits say 0, and those differ by 5"),
             qPrintable(text));
    // The same of an execution beside it: its logits say one thing, its token is another.
    DecodedJudge beside(1e-4, Arithmetic::f32, 2);
    beside.add(two_sequences(), by_hand(expected, close), by_hand(expected, close), by_hand({1, 1, 2, 1}, close),
               expected);
    QVERIFY2(said(beside.verdict()).contains("token 1 of sequence 11 is 1 where its own logits say 0"),
             qPrintable(said(beside.verdict())));
  }

  void a_flip_excuses_the_sequences_that_it_reaches_and_no_other_data() {
    QTest::addColumn<bool>("reached");
    QTest::newRow("its own") << true;
    QTest::newRow("the other") << false;
  }
  void a_flip_excuses_the_sequences_that_it_reaches_and_no_other() {
    QFETCH(const bool, reached);
    const std::vector<int32_t> expected = {0, 1, 2, 0},
                               other = reached ? std::vector<int32_t>{1, 2, 2, 0} : std::vector<int32_t>{0, 1, 0, 1};
    std::vector<float> logits = kClear;  // that say the other tokens
    for (size_t place = reached ? 0 : 2; place < (reached ? 2U : 4U); ++place) {
      std::fill_n(logits.begin() + static_cast<int64_t>(3 * place), 3, 0.0f);
      logits[3 * place + static_cast<size_t>(other[place])] = 9;
    }
    Observed reference = by_hand(expected, kClear), replayed = by_hand(expected, kClear), free = by_hand(other, logits);
    reference.by_item = {std::string(kLogits)};
    reference.decisions = {turn({0, 0})}, replayed.decisions = {turn({0, 0})}, free.decisions = {turn({1, 0})};
    replayed.decisions[0].free_choice = {1, 0};
    DecodedJudge judge(1e-4, Arithmetic::f32, 2);
    judge.add(two_sequences(), reference, replayed, free, other);
    const DecodedVerification v = judge.verdict();
    QCOMPARE(v.explained_flips, int64_t{1});
    QCOMPARE(v.passed, reached);
    if (!reached)
      QVERIFY2(said(v).contains("token 0 of sequence 11 is 0 where the oracle decodes 2"), qPrintable(said(v)));
    if (reached) QCOMPARE(v.follows, int64_t{1});
  }

  void sequences_of_a_decoding_graph_do_not_reach_each_other_data() {
    QTest::addColumn<QString>("fixture");
    for (const char* fixture : {kMixtral, kSwitch}) QTest::newRow(fixture) << fixture;
  }
  void sequences_of_a_decoding_graph_do_not_reach_each_other() {
    QFETCH(const QString, fixture);
    const auto model = open_model(reference_path(fixture.toStdString()));
    const auto graph = model->generate_with_logits();
    const CellReach reach = cell_reach(*graph, RepeatStop::ignored);
    QVERIFY(reach.by_item.contains(std::string(kLogits)));
    for (const auto& [router, relation] : reach.routers)
      QVERIFY2(relation.reach == CellRelation::Reach::cells, router.c_str());
    QVERIFY(!cell_reach(*graph).by_item.contains(std::string(kLogits)));
  }

  void a_text_that_goes_on_where_the_reference_s_has_ended_is_judged() {
    const std::vector<int32_t> ends = open_model(reference_path(kMixtral))->tokens.ends;
    // The plan never ends a text.
    Opened opened(kMixtral, [&](Tampered& w) {
      w.change("lm_head.weight", [&](std::vector<float>& values, const std::vector<int64_t>& shape) {
        for (const int32_t end : ends) std::fill_n(values.begin() + end * shape[1], shape[1], 0.0f);
      });
    });
    ExperimentState& s = opened.state;
    DataOptions options;
    options.vocabulary = s.model->vocabulary, options.inputs = s.model->inputs;
    options.batch = 1;
    s.data = Dataset::open("random:16x3", s.model->tokenizer, options);
    s.options.most_new_tokens = 16;
    const DecodedVerification v = opened.verified();
    QVERIFY2(!v.passed && v.equal < v.sequences, qPrintable(said(v)));
  }

  void a_format_costs_what_it_changes_up_to_the_first_token_that_differs() {
    // Two sequences of two tokens; the second one's first token differs where the plan runs freely.
    const std::vector<float> stored = {9, 1, 0, 1, 8, 0, 0, 1, 10, 6, 1, 0};
    std::vector<float> replayed = stored, free = stored;
    replayed[0] = 8.1f;  // of 9, a tenth
    free[6] = 12;        // token 0 of the second sequence: 2 became 0
    free[9] = 600;       // behind it: another text
    Observed reference = by_hand({0, 1, 2, 0}, stored), freely = by_hand({0, 1, 0, 0}, free);
    JudgedDecision first = turn({0, 1}), second = turn({0, 1});
    second.execution = 1;
    reference.decisions = {first, second};
    second.choice = {0, 0};  // the second sequence's, which does not count
    first.choice = {1, 1};
    freely.decisions = {first, second};
    FormatJudge judge;
    judge.add_decoded(reference, by_hand({0, 1, 2, 0}, replayed), freely, 2);
    Verification v;
    judge.judge(DType::bf16, 0.05, v);
    const FormatCost& cost = *v.format;
    QCOMPARE(cost.dtype, std::string("bf16"));
    QVERIFY2(std::fabs(cost.max_rel_diff - 0.1) < 0.011, qPrintable(QString::number(cost.max_rel_diff)));
    QVERIFY2(cost.free_max_rel_diff > 1 && cost.free_max_rel_diff < 2,
             qPrintable(QString::number(cost.free_max_rel_diff)));
    QCOMPARE(cost.sequences, int64_t{2});
    QCOMPARE(cost.equal_sequences, int64_t{1});
    QCOMPARE(cost.choices, int64_t{3});
    QCOMPARE(cost.differing_choices, int64_t{1});
    QVERIFY(!cost.passed && v.reasons.size() == 1);
    QVERIFY2(free_cost_text(cost).ends_with(
                 "1 of 2 sequences decode the tokens of the stored weights, the others count up to the first that "
                 "differs"),
             free_cost_text(cost).c_str());
  }

  void masked_tokens_make_no_near_ties() {
    // A logit of -1e9 bans its token; the others are as far apart as ever.
    std::vector<float> banned = kClear;
    for (const size_t i : {2, 5, 6, 11}) banned[i] = -1e9f;
    const std::vector<int32_t> expected = {0, 1, 2, 0};
    DecodedJudge judge(1e-4, Arithmetic::f32, 2);
    judge.add(two_sequences(), by_hand(expected, banned), by_hand(expected, banned), by_hand(expected, banned),
              {1, 1, 2, 0});
    QVERIFY2(said(judge.verdict()).contains("token 0 of sequence 10 is 1 where the oracle decodes 0"),
             qPrintable(said(judge.verdict())));
  }

  void a_sequence_that_ends_where_the_reference_goes_on_is_no_near_tie() {
    const std::vector<int32_t> expected = {0, 1, 2, 0};
    DecodedJudge judge(1e-4, Arithmetic::f32, 2);
    judge.add(two_sequences(), by_hand(expected, kClear), by_hand(expected, kClear), by_hand(expected, kClear),
              {0, 1, 2, -1});
    QVERIFY2(said(judge.verdict()).contains("token 1 of sequence 11 is -1"), qPrintable(said(judge.verdict())));
  }

  void a_text_that_goes_on_behind_its_end_is_no_near_tie() {
    // In all executions alike: the first sequence ends behind its first token, and the plan writes on what its logits
    // say.
    const std::vector<int32_t> expected = {0, -1, 2, 0}, ours = {0, 1, 2, 0};
    DecodedJudge judge(1e-4, Arithmetic::f32, 2);
    judge.add(two_sequences(), by_hand(expected, kClear), by_hand(ours, kClear), by_hand(ours, kClear), ours);
    const QString text = said(judge.verdict());
    QVERIFY2(!judge.verdict().passed &&
                 text.contains("token 1 of sequence 10 is 1 where the oracle's text has ended: no near tie"),
             qPrintable(text));
    // Nor does it follow from a routing choice: up to its end both texts are one.
    Observed reference = by_hand(expected, kClear), replayed = by_hand(expected, kClear), free = by_hand(ours, kClear);
    reference.decisions = {turn({0, 0})}, replayed.decisions = {turn({0, 0})}, free.decisions = {turn({1, 0})};
    replayed.decisions[0].free_choice = {1, 0};
    DecodedJudge flipped(1e-4, Arithmetic::f32, 2);
    flipped.add(two_sequences(), reference, replayed, free, ours);
    QVERIFY2(!flipped.verdict().passed && flipped.verdict().follows == 0 &&
                 said(flipped.verdict()).contains("text has ended"),
             qPrintable(said(flipped.verdict())));
  }

  void what_nobody_reads_behind_the_end_of_a_sequence_does_not_count() {
    const std::vector<int32_t> expected = {0, -1, 2, 0};
    std::vector<float> other = kClear;
    for (size_t i = 3; i < 6; ++i) other[i] = 100;  // of the sequence that has ended
    DecodedJudge judge(1e-4, Arithmetic::f32, 2);
    judge.add(two_sequences(), by_hand(expected, kClear), by_hand(expected, other), by_hand(expected, other), expected);
    QVERIFY2(judge.verdict().passed, qPrintable(said(judge.verdict())));
    QCOMPARE(judge.verdict().compared, int64_t{3});
  }
};

STORMCELL_TEST(VerifyDecodedTest)

}  // namespace stormcell::testing

#include "verify_decoded_test.moc"

// Padding that is not computed: real cells keep their answers, padding gives zeros, what cannot be left out is said.
#include "core/passes/unpad.h"

#include <cmath>

#include "core/cpu/cpu_device.h"
#include "core/graph/text.h"
#include "core/graph/verify.h"
#include "core/passes/pipeline.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/nested_capacity.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

using Masks = std::map<std::string, MaskFacts, std::less<>>;

const std::vector<int32_t>& integers_of(const CaseInputs& inputs, const std::string& name) {
  return std::get<std::vector<int32_t>>(inputs.at(name));
}

Masks masks_of(const RandomCase& c) {
  Masks masks;
  for (const Value& v : c.graph.values) {
    if (v.role != InputRole::mask) continue;
    const std::vector<int32_t>& flags = integers_of(c.inputs, v.name);
    const auto each = static_cast<size_t>(c.graph.space(v.type.space).per_parent.evaluate(c.bindings));
    MaskFacts& facts = masks[v.name];
    facts.cells = static_cast<int64_t>(flags.size());
    for (size_t p = 0; p < flags.size(); p += each) {
      int64_t ones = 0;
      for (size_t i = 0; i < each; ++i) {
        facts.padding_last = facts.padding_last && (flags[p + i] == 0 || ones == static_cast<int64_t>(i));
        ones += flags[p + i];
      }
      facts.real += ones;
      facts.some_in_each = facts.some_in_each && ones > 0;
    }
  }
  return masks;
}

PassInput input_with(const Graph& graph, const LoadProfile& profile, const Masks& masks) {
  return {graph, profile, nullptr, {}, masks};
}

/// Returns what differs in cells that count, of the same bits at all; cells that pad must be zeros. Empty: nothing.
std::string difference_of_real_cells(const RandomCase& c, const CaseInputs& inputs,
                                     const std::vector<OutputValue>& plain, const std::vector<OutputValue>& compacted,
                                     bool same_bits, bool zeros) {
  for (size_t o = 0; o < plain.size(); ++o) {
    const ValueId real = c.graph.outputs[o].real;
    const OutputValue &a = plain[o], &b = compacted[o];
    if (a.name != b.name || a.shape != b.shape) return "other outputs";
    const size_t rows = a.shape.empty() ? 1 : static_cast<size_t>(a.shape[0]),
                 n = std::max(a.reals.size(), a.integers.size());
    double scale = 0;
    for (const float x : a.reals) scale = std::max(scale, std::fabs(static_cast<double>(x)));
    for (size_t i = 0; i < n; ++i) {
      const bool counts = real == kNone || integers_of(inputs, c.graph.value(real).name)[i / (n / rows)] != 0;
      const double x = a.reals.empty() ? a.integers[i] : a.reals[i], y = a.reals.empty() ? b.integers[i] : b.reals[i];
      if (counts ? std::fabs(x - y) > (same_bits ? 0 : 1e-5 * scale) : zeros && y != 0)
        return a.name + ": " + std::to_string(x) + " and " + std::to_string(y) + " at " + std::to_string(i);
    }
  }
  return {};
}

QByteArray message(const RandomCase& c, const std::string& what) {
  return QByteArray::fromStdString(c.name + ": " + what);
}

/// Tokens, two of them padding at the end, one router.
RandomCase small_case(const Protocol& protocol, std::vector<int32_t> flags, bool masked = true, bool causal = false) {
  CaseBuilder b(5);
  const SpaceId sequences = b.root_space("sequences", b.bound_symbol("N", 2)),
                tokens = b.dense_space("tokens", sequences, 4);
  ValueId x = b.floats("x", tokens, {8});
  const ValueId mask = b.mask("mask", tokens, false);
  std::vector<ValueId> inputs{b.linear(x, 8, "q"), b.linear(x, 8, "k"), b.linear(x, 8, "v")};
  Attributes attributes{{"heads", int64_t{2}}, {"kv_heads", int64_t{2}}, {"causal", int64_t{causal}}};
  if (masked) {
    inputs.push_back(mask);
    attributes.set("extras", std::string("mask"));
  }
  x = b.add(x, b.value("attention", std::move(inputs), std::move(attributes), "mixed"));
  const ValueId d = b.route(b.linear(x, 3, "scores", "none", true, 2), protocol, "moe");
  std::vector<ValueId> parts = b.scatter(x, d, {0, 1, 2});
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = b.linear(parts[i], 8, "expert." + std::to_string(i));
  b.output("y", b.gather(parts, tokens, "weighted", kNone, "joined"), mask);
  RandomCase made = b.take("small");
  made.inputs["mask"] = std::move(flags);
  return made;
}

std::string reason(const RandomCase& c) {
  const LoadProfile none;
  return unpad(input_with(c.graph, none, masks_of(c))).reason;
}

}  // namespace

class UnpadTest : public QObject {
  Q_OBJECT
 private slots:
  void random_graphs_keep_the_answers_of_real_cells() {
    int applied = 0, padded = 0;
    for (uint64_t seed = 0; seed < drawn(1000) && !QTest::currentTestFailed(); ++seed) {
      const RandomCase c = make_random_case(seed);
      const Masks masks = masks_of(c);
      if (masks.empty()) continue;
      const LoadProfile profile = profile_of(c, {c.inputs});
      const PassResult result = unpad(input_with(c.graph, profile, masks));
      QVERIFY(!result.reason.empty());
      if (!result.applied) continue;
      ++applied;
      verify(result.graph);
      const std::string text = to_text(result.graph);
      QCOMPARE(to_text(parse_graph(text, "text")), text);
      const PipelineResult all = run_passes(input_with(c.graph, profile, masks), select_passes({}), OnTheirOwn::no);
      cpu::CpuDevice cpu(threads_for(static_cast<int64_t>(seed)));
      EmulatedDevice emulated(1);
      Plan plain(cpu, c.graph, c), compacted(cpu, result.graph, c), elsewhere(emulated, result.graph, c),
          everything(cpu, all.graph, c);
      for (const CaseInputs& inputs : {c.inputs, drawn_anew(c, 77)}) {
        const std::vector<OutputValue> expected = plain.run(inputs).outputs;
        const ExecutionResult& came = compacted.run(inputs);
        for (const ExecutedDecision& d : came.decisions)
          padded += d.ancestor.size() < static_cast<size_t>(masks.begin()->second.cells);
        if (const std::string why = difference_of_real_cells(c, inputs, expected, came.outputs, result.same_bits, true);
            !why.empty())
          QFAIL(message(c, why));
        if (const std::string why = difference(came.outputs, elsewhere.run(inputs).outputs); !why.empty())
          QFAIL(message(c, "emulated: " + why));
        const std::vector<OutputValue> of_all = everything.run(inputs).outputs;
        if (const std::string why = difference_of_real_cells(c, inputs, expected, of_all, result.same_bits, false);
            !why.empty())
          QFAIL(message(c, "all passes: " + why));
      }
    }
    QVERIFY2(applied > drawn(30), qPrintable(QString::number(applied)));
    QVERIFY(padded > drawn(60));
  }

  void padding_before_real_cells_makes_no_claim_of_the_last_bit() {
    const LoadProfile none;
    for (const bool last : {true, false}) {
      const RandomCase c = small_case({}, {last, last, !last, !last, 1, 1, 1, 0});
      const PassResult result = unpad(input_with(c.graph, none, masks_of(c)));
      QVERIFY2(result.applied, result.reason.c_str());
      QCOMPARE(result.same_bits, last);
    }
  }

  void choices_of_the_whole_plan_are_replayed_by_the_cells() {
    const RandomCase c = small_case({}, {1, 1, 0, 0, 1, 1, 1, 0});
    const LoadProfile none;
    const PassResult result = unpad(input_with(c.graph, none, masks_of(c)));
    QVERIFY2(result.applied, result.reason.c_str());
    cpu::CpuDevice cpu(2);
    Plan compacted(cpu, result.graph, c);
    ReplayedDecisions replayed{{{{2, 1, 0, 0, 0, 2, 1, 1}, {}}}};
    ExecuteOptions options;
    options.outputs = options.record = true;
    options.replayed = &replayed;
    ExecutionResult came;
    InputValues values;
    for (const auto& [name, given] : c.inputs) {
      if (const auto* ints = std::get_if<std::vector<int32_t>>(&given)) values.integers[name] = *ints;
      if (const auto* reals = std::get_if<std::vector<float>>(&given)) values.reals[name] = *reals;
    }
    compacted.executor().run(values, c.bindings, options, came);
    QCOMPARE(came.not_replayed.at(0), 0);
    QCOMPARE(came.ragged_cells.at(0), 5);
    QCOMPARE(came.decisions.at(0).choice, (std::vector<int32_t>{2, 1, 0, 2, 1}));
    QCOMPARE(came.decisions.at(0).ancestor, (std::vector<int32_t>{0, 1, 4, 5, 6}));
  }

  void it_says_what_it_leaves_out() {
    QCOMPARE(reason(small_case({}, {1, 1, 0, 0, 1, 1, 1, 0})),
             std::string("padding is not computed: 38 % of the cells of tokens"));
  }

  void it_says_why_not() {
    const std::vector<int32_t> behind{1, 1, 0, 0, 1, 1, 1, 0}, before{0, 1, 1, 1, 1, 1, 1, 0};
    Protocol capacity, priority;
    capacity.kind = ProtocolKind::switch_top1;
    capacity.capacity = 1;
    priority.kind = ProtocolKind::batch_prioritized;
    priority.capacity_factor = 1;
    const std::string not_tokens = "not applied to tokens: ";
    QVERIFY(reason(small_case(capacity, behind)).starts_with("padding is not computed"));
    QVERIFY(reason(small_case({}, before)).starts_with("padding is not computed"));
    QVERIFY(reason(small_case({}, behind, false, true)).starts_with("padding is not computed"));
    QVERIFY(reason(small_case(capacity, before)).ends_with("padding comes before real cells and could displace them"));
    QVERIFY(reason(small_case({}, before, false, true))
                .ends_with("padding comes before real cells and could displace them"));
    QVERIFY(reason(small_case(priority, behind))
                .ends_with("router moe gives its places by priority over the batch, padding included"));
    QVERIFY(reason(small_case({}, behind, false)).ends_with("attention \"mixed\" attends to padding"));
    QVERIFY(reason(small_case({}, {1, 1, 1, 1, 1, 1, 1, 1})).ends_with("the data has no padding"));
    QVERIFY(reason(small_case({}, {1, 1, 1, 1, 0, 0, 0, 0})).ends_with("some sequences have no real cell"));
    for (uint64_t seed = 0; seed < 5; ++seed) {
      RandomOptions decodes;
      decodes.states = true;
      QVERIFY(reason(make_random_case(seed, decodes)).ends_with("the model itself leaves padding out"));
    }
    QVERIFY(
        reason(nested_capacity()).ends_with("router inner counts its places over the whole batch, padding included"));
    RandomCase counted = small_case({}, behind);
    counted.graph.outputs[0].real = kNone;
    QVERIFY(reason(counted).ends_with("output y counts padding"));
  }
};

STORMCELL_TEST(UnpadTest)

#include "unpad_test.moc"

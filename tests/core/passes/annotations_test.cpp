// Annotations of nodes and values outlive rewriting: copies say it too, what is merged said the same, and what
// would be lost is left as it is, by name. And the pass that says something itself: bf16-storage.
#include "core/graph/annotation_rules.h"

#include <algorithm>
#include <charconv>

#include "core/base/error.h"
#include "core/cpu/cpu_device.h"
#include "core/cpu/kernels/isa.h"
#include "core/graph/roles.h"
#include "core/graph/text.h"
#include "core/graph/verify.h"
#include "core/passes/pipeline.h"
#include "core/runtime/lower.h"
#include "core/runtime/memory_plan.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/random_annotations.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// "x" of "x.12", the name of a copy.
std::string original_name(const std::string& name) {
  const size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot + 1 == name.size()) return name;
  int number = 0;
  const auto [end, error] = std::from_chars(name.data() + dot + 1, name.data() + name.size(), number);
  return error == std::errc() && end == name.data() + name.size() ? name.substr(0, dot) : name;
}

struct Kept {
  int values = 0, nodes = 0;
  std::string lost;  ///< the first that says something else than it did
};

std::string key_of(const Node& n) { return std::string(n.op->name) + " " + n.name; }

/// Every value and node that is there still, or a copy of one, says what that said.
Kept compare(const Graph& before, const Graph& after) {
  std::map<std::string, const Annotations*> values;
  std::multimap<std::string, const Annotations*> nodes;
  for (const Value& v : before.values) values[v.name] = &v.annotations;
  before.for_each_node([&](NodeId id, int) { nodes.emplace(key_of(before.node(id)), &before.node(id).annotations); });
  Kept kept;
  for (const Value& v : after.values) {
    auto at = values.find(v.name);
    // Copies of what a scatter gives are named after the scatter.
    const bool sent = v.producer != kNone && has_role(after.node(v.producer), Role::open);
    if (at == values.end() && !sent) at = values.find(original_name(v.name));
    if (at == values.end()) continue;
    if (*at->second != v.annotations && kept.lost.empty())
      kept.lost = "%" + v.name + ":" + to_text(*at->second) + " became" + to_text(v.annotations);
    kept.values += !v.annotations.empty();
  }
  after.for_each_node([&](NodeId id, int) {
    const Node& n = after.node(id);
    const auto [from, to] = nodes.equal_range(key_of(n));
    const bool known = std::any_of(from, to, [&](const auto& entry) { return *entry.second == n.annotations; });
    if (from != to && !known && kept.lost.empty()) kept.lost = node_text(n);
    kept.nodes += !n.annotations.empty();
  });
  return kept;
}

/// Two experts of three nodes in bf16, and a norm that the router and they read.
const char* const kExperts =
    "stormcell.graph/1\n"
    "symbols N\n"
    "space tokens = root N\n"
    "input %x : f32 tokens [8]\n"
    "weight %n : f32 [8]\n"
    "weight %q : bf16 [8,8]\n"
    "weight %r : bf16 [2,8]\n"
    "weight %u0 : bf16 [16,8]\n"
    "weight %u1 : bf16 [16,8]\n"
    "weight %d0 : bf16 [8,16]\n"
    "weight %d1 : bf16 [8,16]\n"
    "%normed : f32 tokens [8] = rms_norm(%x, %n) eps=1e-06\n"
    "%dense : f32 tokens [8] = linear(%normed, %q)\n"
    "%dense2 : f32 tokens [8] = linear(%normed, %q)\n"
    "%m : f32 tokens [8] = multiply(%dense, %dense2)\n"
    "%s : f32 tokens [2] = linear(%m, %r) precise=1\n"
    "%d : decision tokens 2x1 = route(%s) protocol=\"top-k\"\n"
    "space d/0 = tokens by %d branch 0 at most N\n"
    "space d/1 = tokens by %d branch 1 at most N\n"
    "%x0 : f32 d/0 [8], %x1 : f32 d/1 [8] = scatter(%m, %d) spaces=[@d/0,@d/1]\n"
    "%up0 : f32 d/0 [16] = linear(%x0, %u0)\n"
    "%act0 : f32 d/0 [16] = activation(%up0) kind=\"relu\"\n"
    "%down0 : f32 d/0 [8] = linear(%act0, %d0)\n"
    "%up1 : f32 d/1 [16] = linear(%x1, %u1)\n"
    "%act1 : f32 d/1 [16] = activation(%up1) kind=\"relu\"\n"
    "%down1 : f32 d/1 [8] = linear(%act1, %d1)\n"
    "%g : f32 tokens [8] = gather(%down0, %down1) mode=\"weighted\" space=@tokens\n"
    "output y = %g\n";

Graph experts(const std::vector<std::string>& annotations = {}) {
  Graph graph = parse_graph(kExperts, "experts");
  for (const std::string& text : annotations) annotate(graph, text, "--annotate");
  return graph;
}

PassResult apply(const char* id, const Graph& graph, const Bf16Rows* rows = nullptr,
                 const PassParameters& options = {}) {
  const LoadProfile none;
  return find_pass(id)->run({graph, none, nullptr, options, {}, rows});
}

std::vector<std::string> stored(const Graph& graph) {
  std::vector<std::string> names;
  for (const Value& v : graph.values)
    if (format_in_memory(v) == DType::bf16 && v.kind == ValueKind::result) names.push_back(v.name);
  return names;
}

const Bf16Rows& cpu_rows() {
  static const Bf16Rows rows = cpu::bf16_rows();
  return rows;
}

using Names = std::vector<std::string>;

}  // namespace

class AnnotationsInPassesTest : public QObject {
  Q_OBJECT
 private slots:
  void what_is_said_outlives_all_passes_and_the_answers_stay() {
    int values = 0, nodes = 0, applied = 0, fused = 0;
    for (uint64_t seed = 0; seed < drawn(150); ++seed) {
      RandomCase from = seed % 2 ? random_mixtures(seed) : make_random_case(seed);
      annotate_randomly(from.graph, cpu_rows(), seed);
      verify(from.graph);
      const LoadProfile profile = profile_of(from, {from.inputs});
      const PipelineResult result =
          run_passes(pass_input(from.graph, profile), select_passes({.disable = {"bf16-storage"}}), OnTheirOwn::no);
      for (const PassOutcome& outcome : result.outcomes) {
        applied += outcome.cumulative.applied;
        fused += outcome.cumulative.applied && outcome.pass->id == "horizontal-fusion";
        const std::string text = to_text(outcome.cumulative.graph);
        QCOMPARE(to_text(parse_graph(text, "text")), text);
      }
      const Kept kept = compare(from.graph, result.graph);
      QVERIFY2(kept.lost.empty(), qPrintable(QString::fromStdString(from.name + ": " + kept.lost)));
      values += kept.values, nodes += kept.nodes;
      cpu::CpuDevice cpu(threads_for(static_cast<int64_t>(seed)));
      EmulatedDevice emulated(1);
      Plan plain(cpu, from.graph, from), passed(cpu, result.graph, from), elsewhere(emulated, result.graph, from);
      for (const CaseInputs& inputs : {from.inputs, drawn_anew(from, seed)}) {
        const std::vector<OutputValue> expected = plain.run(inputs).outputs;
        const std::string why = difference(expected, passed.run(inputs).outputs);
        QVERIFY2(why.empty(), qPrintable(QString::fromStdString(from.name + ": " + why)));
        QCOMPARE(difference(expected, elsewhere.run(inputs).outputs), std::string());
      }
    }
    QVERIFY2(values > drawn(50) && nodes > drawn(20) && applied > drawn(60) && fused > drawn(5),
             qPrintable(QString("%1 %2 %3 %4").arg(values).arg(nodes).arg(applied).arg(fused)));
  }

  void branches_that_say_the_same_run_as_one_which_says_it() {
    const Graph graph = experts({"act*.storage=bf16"});
    const PassResult fused = apply("horizontal-fusion", graph);
    QVERIFY2(fused.applied, fused.reason.c_str());
    QCOMPARE(stored(fused.graph), Names{"act*"});
  }
  void branches_that_say_otherwise_stay_apart_and_the_reason_names_them() {
    const auto reason = [](const std::vector<std::string>& annotations) {
      const Graph graph = experts(annotations);
      const PassResult result = apply("horizontal-fusion", graph);
      return result.applied ? "applied" : result.reason;
    };
    QCOMPARE(reason({"act1.storage=bf16"}),
             std::string("not applied to d: branch 1: of %act1 is said @storage=bf16, of the first branch's nothing"));
    QCOMPARE(reason({"up1.kernel=linear.plain"}),
             std::string("not applied to d: branch 1: linear \"up1\" has a kernel that was chosen only for it"));
    QCOMPARE(reason({"u1.format=f32"}),
             std::string("not applied to d: branch 1 has linear \"up1\" with weights held in f32, branch 0 in bf16"));
    QCOMPARE(reason({"x0.storage=bf16", "x1.storage=bf16"}),
             std::string(
                 "not applied to d: rows that scatter \"x0\" sends have a format of their own, and would not be sent"));
  }
  void what_would_be_lost_is_not_folded_and_the_reason_names_it() {
    const Graph graph = experts({"up0.storage=f32", "act1.kernel=activation"});
    const PassResult folded = apply("vertical-fusion", graph);
    QVERIFY(folded.applied);
    QVERIFY2(folded.reason.ends_with("; not folded, because of their annotations: %up0 and activation \"act1\""),
             folded.reason.c_str());
    QCOMPARE(count_nodes(folded.graph, "activation"), size_t{2});
    // Nor does a node write a format that it may have no kernel for.
    const Graph written = experts({"act0.storage=bf16"});
    const PassResult apart = apply("vertical-fusion", written);
    QVERIFY2(apart.reason.ends_with("; not folded, because of their annotations: %act0"), apart.reason.c_str());
    QCOMPARE(count_nodes(apart.graph, "activation"), size_t{1});
    // For the product that takes another in it is still said which kernel runs it.
    const Graph forced = experts({"up0.kernel=linear.panels"});
    const PassResult kept = apply("vertical-fusion", forced);
    QVERIFY(to_text(kept.graph)
                .find("%act0 : f32 d/0 [16] = linear(%x0, %u0) activation=\"relu\" as \"up0\" @kernel=linear.panels") !=
            std::string::npos);
  }

  void what_only_products_in_bf16_read_lies_in_bf16() {
    const Graph graph = experts();
    const PassResult result = apply("bf16-storage", graph, &cpu_rows());
    QVERIFY2(result.applied, result.reason.c_str());
    // The norm's rows, both branches' rows on their way, and what lies between their products; not what the router
    // reads, nor what is multiplied or gathered.
    QCOMPARE(stored(result.graph), (Names{"normed", "x0", "x1", "act0", "act1"}));
    QCOMPARE(result.reason, std::string("5 values that only products in bf16 read are stored in bf16: 2 of activation, "
                                        "1 of rms_norm, 2 of scatter"));
    verify(result.graph);
    // Told again, it finds nothing more to say.
    QCOMPARE(apply("bf16-storage", result.graph, &cpu_rows()).reason,
             std::string("no value is read only by products in bf16"));
  }
  void what_is_said_already_is_not_said_otherwise() {
    const Graph graph = experts({"normed.storage=f32", "u0.format=f32", "up1.kernel=linear.panels"});
    QCOMPARE(stored(apply("bf16-storage", graph, &cpu_rows()).graph), (Names{"act0", "act1"}));
  }
  void it_says_why_it_does_nothing() {
    const Graph graph = experts();
    QCOMPARE(apply("bf16-storage", graph).reason, std::string("products of this device read activations in f32"));
    std::string text = kExperts;
    for (size_t at = text.find("bf16"); at != std::string::npos; at = text.find("bf16")) text.replace(at, 4, "f32");
    const Graph plain = parse_graph(text, "f32");
    const PassResult result = apply("bf16-storage", plain, &cpu_rows());
    QVERIFY(!result.applied);
    QCOMPARE(result.reason, std::string("no product has weights in bf16 (--dtype bf16 converts them)"));
  }
  void stored_so_the_answers_are_the_same_to_the_last_bit_in_less_memory() {
    if (cpu::available_isas().front() != cpu::Isa::avx512_bf16) QSKIP("this processor has no bf16 dot products");
    cpu::set_isa_for_test(cpu::Isa::avx512_bf16);
    int values = 0;
    int64_t plain_bytes = 0, bytes = 0;
    for (uint64_t seed = 0; seed < drawn(120) && !QTest::currentTestFailed(); ++seed) {
      RandomOptions options;
      options.ragged = seed % 3 == 2;
      const RandomCase from = make_random_case(seed, options);
      if (from.weight_dtype != DType::bf16) continue;
      const LoadProfile profile = profile_of(from, {from.inputs});
      for (const bool alone : {true, false}) {
        const PassSelection selection = alone ? PassSelection{.only = {"bf16-storage"}} : PassSelection{};
        const PassSelection without{.disable = {"bf16-storage"}};
        PassInput input = pass_input(from.graph, profile);
        input.bf16_rows = &cpu_rows();
        const Graph graph = run_passes(input, select_passes(selection), OnTheirOwn::no).graph;
        const Graph other = alone ? from.graph : run_passes(input, select_passes(without), OnTheirOwn::no).graph;
        values += static_cast<int>(stored(graph).size());
        bytes += plan_memory(lower(std::make_shared<Graph>(graph)), from.bindings).live_set_bytes;
        plain_bytes += plan_memory(lower(std::make_shared<Graph>(other)), from.bindings).live_set_bytes;
        cpu::CpuDevice cpu(threads_for(static_cast<int64_t>(seed)));
        EmulatedDevice emulated(1);
        Plan plain(cpu, from.graph, from), here(cpu, graph, from), there(emulated, graph, from);
        const std::vector<OutputValue> expected = plain.run(from.inputs).outputs;
        const std::string why = difference(expected, here.run(from.inputs).outputs);
        if (!why.empty()) QFAIL(qPrintable(QString::fromStdString(from.name + ": " + why)));
        if (!difference(expected, there.run(from.inputs).outputs).empty())
          QFAIL(qPrintable(QString::fromStdString(from.name)));
      }
    }
    cpu::set_isa_for_test({});
    QVERIFY2(values > (kSanitized ? 10 : 60), qPrintable(QString::number(values)));
    QVERIFY2(bytes < plain_bytes, qPrintable(QString("%1 of %2").arg(bytes).arg(plain_bytes)));
  }
};
STORMCELL_TEST(AnnotationsInPassesTest)
#include "annotations_test.moc"

// Proofs of plans in the field: right plans of random graphs are equal, wrong ones are found, and what does not fit is
// said to be unknown.
#include "core/proof/plan_proof.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/base/clock.h"
#include "core/base/listed_words.h"
#include "core/graph/builder.h"
#include "core/graph/roles.h"
#include "core/graph/text.h"
#include "core/models/model.h"
#include "core/passes/pipeline.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/wrong_plans.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// As large as the case's own inputs are, with ids that all its tables hold.
FieldExtents extents_of(const RandomCase& from) {
  FieldExtents extents;
  for (size_t i = 0; i < from.graph.symbols.size(); ++i)
    extents.fixed.emplace_back(from.graph.symbols[i], from.bindings[i]);
  for (const CellSpace& space : from.graph.spaces)
    if (space.kind == SpaceKind::root) {
      extents.items = std::max<int64_t>(1, space.count.evaluate(from.bindings));
      break;
    }
  extents.vocabulary = std::numeric_limits<int32_t>::max();
  for (const auto& [name, values] : from.inputs)
    if (const auto* ids = std::get_if<std::vector<int32_t>>(&values); ids && !ids->empty())
      extents.vocabulary = std::min<int64_t>(extents.vocabulary, 1 + *std::max_element(ids->begin(), ids->end()));
  return extents;
}

constexpr ProofLimits kAmple{600, int64_t{1} << 34, 1};

/// The plan that lossless passes make of a profile in which every branch of even number got cells. So guards are made.
Graph lossless_plan(const Graph& graph) {
  LoadProfile profile;
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    if (!is_route(node)) return;
    RouterLoad& load = profile.routers[node.name];
    for (int32_t branch = 0; branch < graph.value(node.outputs[0]).branches; ++branch)
      load.load.push_back(branch % 2 == 0 ? 1000 : 0), load.cells += branch % 2 == 0 ? 1000 : 0;
    load.batches = 10;
  });
  const PassInput input{graph, profile};
  return run_passes(input, select_passes({}), OnTheirOwn::no).graph;
}

ProofOutcome proved(const RandomCase& from, const Graph& plan, const ProofLimits& limits = kAmple) {
  const Progress unseen;
  return PlanProof(std::make_shared<Graph>(from.graph), *from.weights, extents_of(from), {}, limits, unseen)
      .prove(plan);
}

/// y = x, times a factor that is 1 or nearly so.
Graph scaled_by(const RandomCase& from, double factor) {
  GraphBuilder builder(from.graph);
  const ValueId y = from.graph.outputs[0].value;
  builder.graph().outputs[0].value = builder.value("scale", {y}, {{"factor", factor}}, "nearly.one");
  return builder.finish();
}

}  // namespace

class PlanProofTest : public QObject {
  Q_OBJECT
 private slots:
  void plans_of_random_graphs_are_equal() {
    int rewritten = 0;
    for (uint64_t seed = 0; seed < 30; ++seed) {
      const RandomCase from = make_random_case(seed);
      const Graph plan = lossless_plan(from.graph);
      rewritten += plan.nodes.size() != from.graph.nodes.size();
      const ProofOutcome outcome = proved(from, plan);
      QVERIFY2(outcome.equal == true, (from.name + ": " + outcome.difference + outcome.reason).c_str());
      QVERIFY(outcome.draws >= kLeastDraws && outcome.draws <= kMostDraws);
    }
    QVERIFY(rewritten > 10);
  }

  void plans_of_demos_are_equal_in_every_branch_data() {
    QTest::addColumn<QString>("demo");
    QTest::addColumn<int>("items");
    QTest::addColumn<int>("side");
    QTest::newRow("switch-names") << "switch-names" << 3 << 0;
    QTest::newRow("msdnet-digits") << "msdnet-digits" << 4 << 0;
    QTest::newRow("swinv2-moe-digits") << "swinv2-moe-digits" << 4 << 0;
    QTest::newRow("livesr-street") << "livesr-street" << 4 << 32;
    QTest::newRow("dynamic-routing-street") << "dynamic-routing-street" << 4 << 32;
  }
  void plans_of_demos_are_equal_in_every_branch() {
    QFETCH(const QString, demo);
    QFETCH(const int, items);
    QFETCH(const int, side);
    const std::shared_ptr<const Model> model = open_model(source_folder() + "/resources/demos/" + demo.toStdString());
    const std::shared_ptr<const Graph> graph = model->forward_for({side, side});
    FieldExtents extents;
    extents.items = items;
    extents.vocabulary = model->vocabulary;
    for (const Value& value : graph->values)
      if (value.kind == ValueKind::input && value.role == InputRole::mask) extents.padding[value.name].none = false;
    const Progress unseen;
    PlanProof proof(graph, *model->weights, extents, {}, kAmple, unseen);
    const Graph plan = lossless_plan(*graph);
    const double begin = seconds_now();
    const ProofOutcome outcome = proof.prove(plan);
    qInfo("%d draws in %.2f s, estimated %.2f s of the least", outcome.draws, seconds_now() - begin,
          outcome.needs.seconds);
    QVERIFY2(outcome.equal == true, (outcome.difference + outcome.reason).c_str());
    QCOMPARE(outcome.branches_without_cells, int64_t{0});
  }

  void planted_mistakes_are_found() {
    int planted = 0;
    std::string unfound;
    int missed = 0;
    for (uint64_t seed = 0; seed < 30; ++seed) {
      const RandomCase from = make_random_case(seed);
      const Progress unseen;
      PlanProof proof(std::make_shared<Graph>(from.graph), *from.weights, extents_of(from), {}, kAmple, unseen);
      const Graph plan = lossless_plan(from.graph);
      for (const WrongPlan& wrong : wrong_plans(plan)) {
        if (to_text(wrong.graph) == to_text(plan)) continue;  // no two weights of one shape
        ++planted;
        const ProofOutcome outcome = proof.prove(wrong.graph);
        if (outcome.equal == false) {
          QVERIFY(!outcome.difference.empty() && proof.differs_again(wrong.graph));
        } else {
          ++missed;
          add_to_list(unfound, from.name + ": " + wrong.mistake);
        }
      }
      QVERIFY(!proof.differs_again(from.graph));
    }
    // A mistake that no draw runs is not seen.
    if (missed > 0) qInfo("not found: %s", unfound.c_str());
    QVERIFY2(planted > 60 && missed * 10 <= planted, unfound.c_str());
  }

  void a_difference_below_every_tolerance_is_found() {
    int compared = 0;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      const RandomCase from = make_random_case(seed);
      if (from.graph.value(from.graph.outputs[0].value).type.dtype != DType::f32) continue;
      ++compared;
      QVERIFY(proved(from, scaled_by(from, 1)).equal == true);
      const ProofOutcome outcome = proved(from, scaled_by(from, 1 + 0x1p-40));
      QVERIFY(outcome.equal == false);
      QVERIFY2(outcome.difference.find("output " + from.graph.outputs[0].name) != std::string::npos &&
                   outcome.difference.ends_with(", in draw 1"),
               outcome.difference.c_str());
    }
    QVERIFY(compared > 0);
  }

  void a_proof_without_time_or_memory_says_what_it_needs() {
    const RandomCase from = make_random_case(1);
    const ProofOutcome late = proved(from, from.graph, {0, int64_t{1} << 34, 1});
    QVERIFY(!late.equal && late.draws == 0 && late.needs.seconds > 0);
    QVERIFY(late.reason.find("time") != std::string::npos);
    const ProofOutcome large = proved(from, from.graph, {600, 1, 1});
    QVERIFY(!large.equal && large.draws == 0 && large.needs.bytes > 1);
    QVERIFY(large.reason.find("memory") != std::string::npos);
  }

  void a_cancelled_proof_ends() {
    const RandomCase from = make_random_case(1);
    const Progress progress;
    progress.cancel.cancel();
    PlanProof proof(std::make_shared<Graph>(from.graph), *from.weights, extents_of(from), {}, kAmple, progress);
    QVERIFY_THROWS_EXCEPTION(Error, proof.prove(from.graph));
  }
};
STORMCELL_TEST(PlanProofTest)
#include "plan_proof_test.moc"

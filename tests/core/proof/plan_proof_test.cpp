// Proofs of plans in the field: right plans of random graphs are equal, wrong ones are found, and what does not fit is
// said to be unknown.
#include "core/proof/plan_proof.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "core/base/clock.h"
#include "core/base/listed_words.h"
#include "core/cell/protocol_row.h"
#include "core/graph/builder.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"
#include "core/graph/text.h"
#include "core/models/model.h"
#include "core/passes/pipeline.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"
#include "tests/testing/wrong_plans.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// A few pictures or sequences of some tokens, with ids that all tables of the case hold.
FieldExtents extents_of(const RandomCase& from) {
  FieldExtents extents;
  extents.items = 4;
  extents.vocabulary = std::numeric_limits<int32_t>::max();
  for (const auto& [name, values] : from.inputs)
    if (const auto* ids = std::get_if<std::vector<int32_t>>(&values); ids && !ids->empty())
      extents.vocabulary = std::min<int64_t>(extents.vocabulary, 1 + *std::max_element(ids->begin(), ids->end()));
  return extents;
}

constexpr ProofLimits kAmple{600, int64_t{1} << 34, 1};

/// The branches of even number, and as many others as a cell needs besides.
UsualBranches even_branches(const Graph& graph) {
  UsualBranches usual;
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    if (!is_route(node)) return;
    const Value& decision = graph.value(node.outputs[0]);
    const bool may_have_few = protocol_row(protocol_of(node.attributes).kind).fan_out == FanOut::all;
    std::vector<int32_t>& used = usual[node.name];
    used.clear();
    for (int32_t branch = 0; branch < decision.branches; branch += 2) used.push_back(branch);
    for (int32_t branch = 1; !may_have_few && std::ssize(used) < decision.fan_out; branch += 2) used.push_back(branch);
  });
  return usual;
}

/// The plan that lossless passes make of a profile in which only usual branches got cells. So guards are made.
Graph lossless_plan(const Graph& graph) {
  constexpr int64_t kCells = 1000;
  LoadProfile profile;
  const UsualBranches usual = even_branches(graph);
  graph.for_each_node([&](NodeId id, int) {
    const Node& node = graph.node(id);
    if (!is_route(node)) return;
    const Value& decision = graph.value(node.outputs[0]);
    const std::vector<int32_t>& used = usual.at(node.name);
    RouterLoad& load = profile.routers[node.name];
    load.load.assign(decision.branches, 0);
    for (const int32_t branch : used) load.load[branch] = kCells;
    // A cell has as many branches as it can.
    load.cells = kCells * std::ssize(used) / std::min<int64_t>(decision.fan_out, std::ssize(used));
    load.batches = 10;
  });
  const PassInput input{graph, profile};
  return run_passes(input, select_passes({}), OnTheirOwn::no).graph;
}

ProofOutcome proved(const RandomCase& from, const Graph& plan, const ProofLimits& limits = kAmple) {
  const Progress unseen;
  return PlanProof(std::make_shared<Graph>(from.graph), *from.weights, extents_of(from), even_branches(from.graph),
                   limits, unseen)
      .prove(plan);
}

/// All plans with one mistake.
std::vector<WrongPlan> all_wrong(const Graph& plan) {
  std::vector<WrongPlan> all = wrong_plans(plan);
  std::vector<WrongPlan> decisions = wrong_decisions(plan);
  std::move(decisions.begin(), decisions.end(), std::back_inserter(all));
  const std::string right = to_text(plan);
  std::erase_if(all, [&](const WrongPlan& wrong) { return to_text(wrong.graph) == right; });  // nothing to change
  return all;
}

/// Changes that no proof can find, since they change no result.
struct Unseen {
  const char* mistake;
  const char* reason;
};
constexpr const char* kNeverRuns = "every cell has all branches of the router, so this body of a guard never runs";
constexpr const char* kOverwritten = "every cell has a later branch too, whose row takes the place of this one";
constexpr const char* kNoWork = "the branch does no work, and gives what a cell without branches gets";
constexpr Unseen kWithoutEffect[] = {
    {"tokens, pooled, seed 45: two weights are swapped", kNeverRuns},
    {"tokens, pooled, seed 45: a guard asks for one branch less: encoder.0.mlp.dead.empty", kNoWork},
    {"tokens, causal, seed 46: two weights are swapped", kNeverRuns},
    {"images, seed 65: weights of choices are left out: conv.joined", kNeverRuns},
    {"encoder and decoder, seed 71: an activation is left out: encoder.0.mlp.expert.0.gate", kOverwritten},
    {"patches, seed 80: weights of choices are left out: conv.joined", kNeverRuns},
    {"patches, seed 87: weights of choices are left out: conv.joined", kNeverRuns},
    {"images, seed 89: weights of choices are left out: mlp.joined", kNeverRuns},
    {"images, seed 93: weights of choices are left out: conv.joined", kNeverRuns},
    {"tokens, causal, seed 100: an activation is left out: encoder.0.mlp.expert.0.up", kOverwritten},
};

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
      QCOMPARE(outcome.branches_without_cells, int64_t{0});
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
    PlanProof proof(graph, *model->weights, extents, even_branches(*graph), kAmple, unseen);
    const Graph plan = lossless_plan(*graph);
    const double begin = seconds_now();
    const ProofOutcome outcome = proof.prove(plan);
    qInfo("%d draws in %.2f s, estimated %.2f s of the least", outcome.draws, seconds_now() - begin,
          outcome.needs.seconds);
    QVERIFY2(outcome.equal == true, (outcome.difference + outcome.reason).c_str());
    QCOMPARE(outcome.branches_without_cells, int64_t{0});
    // A sanitizer looks at the code that each of them runs: every third is enough for it.
    const std::vector<WrongPlan> all = all_wrong(plan);
    for (size_t i = 0; i < all.size(); i += kSanitized ? 3 : 1)
      QVERIFY2(proof.prove(all[i].graph).equal == false, ("not found: " + all[i].mistake).c_str());
  }

  void planted_mistakes_are_found() {
    int found = 0;
    std::string unfound;
    // Compilers evaluate the arguments of draws in orders of their own, so in some builds a few of these have an effect.
    std::vector<std::string> without_effect;
    for (const Unseen& unseen : kWithoutEffect) without_effect.emplace_back(unseen.mistake);
    for (int seed = 0; seed < drawn(110); ++seed) {
      const RandomCase from = make_random_case(static_cast<uint64_t>(seed));
      const Progress unseen;
      PlanProof proof(std::make_shared<Graph>(from.graph), *from.weights, extents_of(from), even_branches(from.graph),
                      kAmple, unseen);
      for (const WrongPlan& wrong : all_wrong(lossless_plan(from.graph))) {
        const std::string name = from.name + ": " + wrong.mistake;
        const ProofOutcome outcome = proof.prove(wrong.graph);
        if (outcome.equal == false) {
          ++found;
          QVERIFY2(!outcome.difference.empty() && proof.differs_again(wrong.graph), name.c_str());
        } else if (std::erase(without_effect, name) == 0) {
          add_to_list(unfound, name);
        }
      }
      QVERIFY(!proof.differs_again(from.graph));
    }
    QVERIFY2(unfound.empty(), unfound.c_str());
    QVERIFY2(found >= (kSanitized ? 100 : 500), std::to_string(found).c_str());
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

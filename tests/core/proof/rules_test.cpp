// Rewrites as pairs of graphs (rules.txt, more_rules.txt): a proof accepts the right ones and refuses the wrong ones.
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/text.h"
#include "core/proof/plan_proof.h"
#include "core/weights/recipe_weights.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

struct RulePair {
  std::string name, left, right;
};

std::vector<RulePair> read_pairs(const std::string& path) {
  std::vector<RulePair> pairs;
  std::ifstream file(path);
  std::string* side = nullptr;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      pairs.push_back({line.substr(line.find_first_not_of("= ")), {}, {}});
      side = nullptr;
    } else if (line == "left") {
      side = &pairs.back().left;
    } else if (line == "right") {
      side = &pairs.back().right;
    } else if (side) {
      *side += line + "\n";
    }
  }
  return pairs;
}

/// The stored tensors of both graphs: the same numbers for a name on either side.
std::shared_ptr<const WeightSource> drawn_weights(const Graph& left, const Graph& right) {
  const auto stored = std::make_shared<MemoryWeights>();
  std::map<std::string, bool> added;
  Random random(7);
  for (const Graph* graph : {&left, &right})
    for (const Value& value : graph->values) {
      if (value.kind != ValueKind::weight || !value.recipe.empty() || !added.emplace(value.name, true).second) continue;
      std::vector<int64_t> shape;
      int64_t elements = 1;
      for (const Dim& extent : value.type.content) shape.push_back(extent.constant()), elements *= shape.back();
      std::vector<float> numbers;
      for (int64_t i = 0; i < elements; ++i) numbers.push_back(static_cast<float>(random.normal()));
      stored->add(value.name, DType::f32, shape, numbers);
    }
  return make_recipe_weights(stored);
}

bool says(const std::string& text, std::string_view words) { return text.find(words) != std::string::npos; }

}  // namespace

class RulesTest : public QObject {
  Q_OBJECT
 private slots:
  void right_rules_are_accepted_and_wrong_ones_refused_data() {
    QTest::addColumn<QString>("file");
    QTest::addColumn<int>("right");
    QTest::addColumn<int>("wrong");
    QTest::newRow("rules") << "rules.txt" << 20 << 12;
    QTest::newRow("more rules") << "more_rules.txt" << 30 << 30;
  }
  void right_rules_are_accepted_and_wrong_ones_refused() {
    QFETCH(const QString, file);
    QFETCH(const int, right);
    QFETCH(const int, wrong);
    const std::vector<RulePair> pairs = read_pairs(source_folder() + "/tests/core/proof/" + file.toStdString());
    int accepted = 0, refused = 0;
    for (const RulePair& pair : pairs) {
      const auto left = std::make_shared<Graph>(parse_graph(pair.left, pair.name + " left"));
      const Graph rewritten = parse_graph(pair.right, pair.name + " right");
      const std::shared_ptr<const WeightSource> weights = drawn_weights(*left, rewritten);
      bool equal = true;
      std::string why;
      for (const int64_t items : {5, 1, 3}) {
        FieldExtents extents;
        extents.items = items;
        const Progress unseen;
        PlanProof proof(left, *weights, extents, {}, {600, int64_t{1} << 34, 1}, unseen);
        const ProofOutcome outcome = proof.prove(rewritten);
        QVERIFY2(outcome.equal.has_value(), (pair.name + ": " + outcome.reason).c_str());
        if (*outcome.equal) continue;
        equal = false;
        why = outcome.difference;
      }
      // The field's order is not that of numbers, so a rule that needs a ReLU to be monotone does not hold in it.
      const bool must_fail = says(pair.name, "must fail") || says(pair.name, "max pool behind a ReLU");
      QVERIFY2(equal != must_fail, (pair.name + ": " + (equal ? "accepted" : why)).c_str());
      ++(equal ? accepted : refused);
    }
    QCOMPARE(accepted, right);
    QCOMPARE(refused, wrong);
  }
};
STORMCELL_TEST(RulesTest)
#include "rules_test.moc"

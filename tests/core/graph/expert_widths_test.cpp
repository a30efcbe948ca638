// Widths of experts by their matrices, of graphs as models make them.
#include "core/graph/expert_widths.h"

#include "core/models/model.h"
#include "tests/testing/counts.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// Two experts of these widths over tokens of width 4.
Graph experts(const std::vector<int64_t>& first, const std::vector<int64_t>& second) {
  CaseBuilder b(1);
  const SpaceId tokens =
      b.dense_space("tokens", b.root_space("sequences", b.bound_symbol("N", 2)), b.bound_symbol("T", 3));
  const ValueId x = b.floats("x", tokens, {4});
  Protocol best;
  best.k = 1;
  const ValueId decision = b.route(b.linear(x, 2, "scores"), best, "router");
  std::vector<ValueId> parts = b.scatter(x, decision, {0, 1});
  const std::vector<int64_t>* widths[] = {&first, &second};
  for (size_t e = 0; e < 2; ++e)
    for (size_t i = 0; i < widths[e]->size(); ++i)
      parts[e] = b.linear(parts[e], (*widths[e])[i], "expert" + std::to_string(e) + "." + std::to_string(i));
  b.output("y", b.gather(parts, tokens, "weighted", kNone, "joined"));
  return b.take("experts").graph;
}

}  // namespace

class ExpertWidthsTest : public QObject {
  Q_OBJECT
 private slots:
  void two_matrices_take_a_width_there_and_back() {
    QVERIFY(expert_widths(experts({6, 4}, {6, 4})) == (ExpertWidths{4, 6, 2}));
    QVERIFY(!expert_widths(experts({6, 4}, {8, 4})));        // unlike experts
    QVERIFY(!expert_widths(experts({4}, {4})));              // one matrix is none of these
    QVERIFY(!expert_widths(experts({6, 5, 4}, {6, 5, 4})));  // a chain of three is not gated
  }

  void models_say_theirs() {
    QVERIFY(expert_widths(*open_model("preset:switch-base-8")->forward) == (ExpertWidths{768, 3072, 2}));
    const auto gated = open_model(reference_path("mixtral/all-of-2-one-token"));
    QVERIFY(expert_widths(*gated->forward) == (ExpertWidths{12, 10, 3}));
  }
};

STORMCELL_TEST(ExpertWidthsTest)

#include "expert_widths_test.moc"

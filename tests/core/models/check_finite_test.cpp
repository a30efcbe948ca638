// Numbers that are not finite are found in every format of weights, at the element where they are.
#include <limits>

#include "core/graph/text.h"
#include "core/models/model.h"
#include "tests/testing/complaint.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/q8_0.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

Graph product_graph(const std::string& format) {
  return parse_graph("stormcell.graph/1\nsymbols N\nspace tokens = root N\ninput %x : f32 tokens [64]\nweight %w : " +
                         format + " [3,64]\n%y : f32 tokens [3] = linear(%x, %w)\noutput y = %y\n",
                     "graph");
}

std::vector<std::string> found_in(const Graph& graph, const MemoryWeights& weights) {
  return check_finite(graph, weights, true, {});
}

}  // namespace

class CheckFiniteTest : public QObject {
  Q_OBJECT
 private slots:
  void a_number_that_is_not_finite_is_named_by_its_place() {
    const float infinity = std::numeric_limits<float>::infinity();
    for (const DType format : {DType::f32, DType::f16, DType::bf16}) {
      const Graph graph = product_graph(std::string(to_text(format)));
      for (const auto& [value, word] :
           {std::pair<float, std::string>(infinity, "infinity"), std::pair<float, std::string>(-infinity, "-infinity"),
            std::pair<float, std::string>(std::numeric_limits<float>::quiet_NaN(), "NaN")}) {
        MemoryWeights weights;
        std::vector<float> values(192, 1.5f);
        weights.add("w", format, {3, 64}, values);
        QVERIFY(found_in(graph, weights).empty());
        values[2 * 64 + 5] = value;
        weights.add("w", format, {3, 64}, values);
        QCOMPARE(found_in(graph, weights),
                 std::vector<std::string>{"the weight \"w\" holds " + word + " at element [2, 5] of shape [3, 64]"});
      }
    }
  }

  void of_blocks_the_scale_is_looked_at() {
    const Graph graph = product_graph("q8_0");
    const std::pair<uint16_t, std::string> scales[] = {
        {0x7c00, "infinity"}, {0xfc00, "-infinity"}, {0x7e01, "NaN"}, {0x7bff, ""}};
    for (const auto& [scale, word] : scales) {
      // Bytes of elements may hold any bits.
      std::vector<std::byte> stored;
      for (int block = 0; block < 6; ++block) {
        const std::vector<std::byte> one =
            q8_0_block(block == 3 ? scale : uint16_t{0x2000}, std::vector<int>(32, block % 2 == 0 ? 0x7f : -1));
        stored.insert(stored.end(), one.begin(), one.end());
      }
      MemoryWeights weights;
      weights.add_stored("w", DType::q8_0, {3, 64}, stored);
      const std::vector<std::string> found = found_in(graph, weights);
      if (word.empty()) {
        QVERIFY(found.empty());
      } else {
        QCOMPARE(found,
                 std::vector<std::string>{"the weight \"w\" holds " + word + " at element [1, 32] of shape [3, 64]"});
        QCOMPARE(bad_input_complaint([&] { check_finite(graph, weights, false, {}, "model"); }),
                 "model: " + found[0] + " (use --allow-nonfinite to run it all the same)");
      }
    }
  }
};

STORMCELL_TEST(CheckFiniteTest)

}  // namespace stormcell::testing
#include "check_finite_test.moc"

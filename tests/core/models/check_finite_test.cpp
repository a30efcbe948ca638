// Numbers that are not finite are found in every format of weights, at the element where they are.
#include <limits>

#include "core/base/number_format.h"
#include "core/graph/text.h"
#include "core/models/model.h"
#include "tests/testing/blocks.h"
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

  void each_scale_of_each_format_is_looked_at() {
    for (const DType type : kBlockFormats) {
      const NumberFormat& format = format_of(type);
      const Graph graph =
          parse_graph("stormcell.graph/1\nsymbols N\nspace tokens = root N\ninput %x : f32 tokens [512]\nweight %w : " +
                          std::string(format.name) + " [3,512]\n%y : f32 tokens [3] = linear(%x, %w)\noutput y = %y\n",
                      "graph");
      Random random(1);
      const std::vector<std::byte> stored = drawn_blocks([&] { return random.next(); }, type, 3 * 512, Scales::finite);
      MemoryWeights weights;
      weights.add_stored("w", type, {3, 512}, stored);
      QVERIFY2(found_in(graph, weights).empty(), format.name.data());
      const int64_t blocks = 3 * 512 / format.block_elements, bad = blocks - 1;
      for (int32_t scale = 0; scale < format.scales; ++scale) {
        std::vector<std::byte> changed = stored;
        const int64_t at = bad * format.block_bytes + format.scales_at + scale * format.scale_bytes();
        for (int32_t byte = 0; byte < format.scale_bytes(); ++byte)
          changed[static_cast<size_t>(at + byte)] = std::byte{0xff};
        weights.add_stored("w", type, {3, 512}, changed);
        QCOMPARE(found_in(graph, weights),
                 std::vector<std::string>{"the weight \"w\" holds NaN at element [2, " +
                                          std::to_string(512 - format.block_elements) + "] of shape [3, 512]"});
      }
    }
  }
};

STORMCELL_TEST(CheckFiniteTest)

}  // namespace stormcell::testing
#include "check_finite_test.moc"

// The oracle's reading of stored numbers, against bytes that were computed by hand.
#include "core/oracle/stored_formats.h"

#include <cmath>

#include "core/base/number_format.h"
#include "core/graph/text.h"
#include "core/oracle/recipe_reader.h"
#include "tests/testing/complaint.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/q8_0.h"
#include "core/oracle/residue_oracle.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

std::vector<float> read_stored(DType format, const std::vector<std::byte>& stored, int64_t first, int64_t n) {
  std::vector<float> values(static_cast<size_t>(n), -7.0f);
  reference::stored_format(format).read(stored.data(), first, n, values.data());
  return values;
}

/// Element i is i - 16.
std::vector<int> rising() {
  std::vector<int> elements;
  for (int i = 0; i < 32; ++i) elements.push_back(i - 16);
  return elements;
}

}  // namespace

class StoredFormatsTest : public QObject {
  Q_OBJECT
 private slots:
  void every_format_of_weights_can_be_read() {
    for (const NumberFormat& row : number_formats())
      if (row.multiplies) QVERIFY2(reference::stored_format(row.type).read, row.name.data());
    QCOMPARE(complaint([] { reference::stored_format(DType::i32); }),
             std::string("oracle: no weight is stored in i32"));
  }

  void blocks_of_q8_0_are_scales_times_signed_bytes() {
    // Two blocks: of 0.5, and of the smallest subnormal, negative.
    std::vector<std::byte> stored = q8_0_block(0x3800, rising());
    const std::vector<std::byte> second = q8_0_block(0x8001, rising());
    stored.insert(stored.end(), second.begin(), second.end());
    const std::vector<float> values = read_stored(DType::q8_0, stored, 0, 64);
    for (int i = 0; i < 32; ++i) {
      QCOMPARE(values[static_cast<size_t>(i)], 0.5f * static_cast<float>(i - 16));
      QCOMPARE(values[static_cast<size_t>(32 + i)], -0x1p-24f * static_cast<float>(i - 16));
    }
    // From within one block into the next.
    QCOMPARE(read_stored(DType::q8_0, stored, 31, 2), (std::vector<float>{7.5f, 16 * 0x1p-24f}));
    QCOMPARE(read_stored(DType::q8_0, stored, 17, 1), std::vector<float>{0.5f});
    QVERIFY(read_stored(DType::q8_0, stored, 64, 0).empty());
  }

  void the_ends_of_a_signed_byte_are_read() {
    std::vector<int> elements(32, 0);
    elements[0] = -128, elements[1] = 127, elements[31] = -1;
    const std::vector<float> values = read_stored(DType::q8_0, q8_0_block(0xc000, elements), 0, 32);  // -2
    QCOMPARE(values[0], 256.0f);
    QCOMPARE(values[1], -254.0f);
    QCOMPARE(values[31], 2.0f);
  }

  void every_scale_is_the_half_that_it_says() {
    std::vector<int> ones(32, 1);
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
      const float expected = f16_to_f32(static_cast<uint16_t>(bits));
      const float value = read_stored(DType::q8_0, q8_0_block(static_cast<uint16_t>(bits), ones), 0, 1)[0];
      QVERIFY2(std::isnan(expected) ? std::isnan(value) : value == expected, qPrintable(QString::number(bits, 16)));
    }
  }

  void a_row_of_a_stored_tensor_is_read_from_any_place() {
    MemoryWeights weights;
    std::vector<std::byte> stored;
    for (const uint16_t scale :
         {uint16_t{0x3c00}, uint16_t{0x4000}, uint16_t{0x4200}, uint16_t{0x4400}}) {  // 1, 2, 3, 4
      const std::vector<std::byte> block = q8_0_block(scale, rising());
      stored.insert(stored.end(), block.begin(), block.end());
    }
    weights.add_stored("w", DType::q8_0, {2, 64}, stored);
    const auto reader = reference::make_recipe_reader(tensor_recipe("w"), weights);
    QCOMPARE(reader->element({0, 0}), -16.0);
    QCOMPARE(reader->element({0, 63}), 30.0);
    QCOMPARE(reader->element({1, 16}), 0.0);
    QCOMPARE(reader->element({1, 33}), -60.0);
    std::vector<double> all(128);
    reader->read_flat(0, 128, all.data());
    for (int i = 0; i < 128; ++i) QCOMPARE(all[static_cast<size_t>(i)], (i / 32 + 1.0) * (i % 32 - 16));
  }

  void the_oracle_in_a_field_multiplies_by_the_same_numbers() {
    std::vector<std::byte> stored;
    for (const uint16_t scale : {uint16_t{0x3555}, uint16_t{0x8001}, uint16_t{0xc000}, uint16_t{0x7bff}}) {
      const std::vector<std::byte> block = q8_0_block(scale, rising());
      stored.insert(stored.end(), block.begin(), block.end());
    }
    MemoryWeights weights;
    weights.add_stored("w", DType::q8_0, {2, 64}, stored);
    const Graph graph = parse_graph(
        "stormcell.graph/1\nsymbols N\nspace tokens = root N\ninput %x : f32 tokens [64]\nweight %w : q8_0 [2,64]\n"
        "%y : f32 tokens [2] = linear(%x, %w)\noutput y = %y\n",
        "graph");
    Random random(1);
    std::vector<Residue> x;
    for (int i = 0; i < 64; ++i) x.push_back(Residue::of_bits(random.next()));
    OracleInputs<Residue> inputs;
    inputs["x"].reals = x;
    const std::vector<Residue> y = Oracle<Residue>(graph, weights).run(inputs, {1}).output("y").reals;
    const std::vector<float> w = read_stored(DType::q8_0, stored, 0, 128);
    QCOMPARE(y.size(), size_t{2});
    for (size_t row = 0; row < 2; ++row) {
      Residue sum;
      for (size_t i = 0; i < 64; ++i) sum += x[i] * Residue(w[64 * row + i]);
      QVERIFY(y[row] == sum);
    }
  }
};

STORMCELL_TEST(StoredFormatsTest)

}  // namespace stormcell::testing
#include "stored_formats_test.moc"

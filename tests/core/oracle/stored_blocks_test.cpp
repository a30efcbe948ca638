// The oracle's reading of numbers in blocks and in 8 bits: blocks computed by hand, and random ones as the `gguf`
// package expands them.
#include <cmath>
#include <cstring>
#include <limits>

#include "core/formats/safetensors.h"
#include "core/graph/text.h"
#include "core/oracle/residue_oracle.h"
#include "core/oracle/stored_formats.h"
#include "tests/testing/blocks.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int64_t kDrawnBlocks = 100'000;

std::vector<float> elements_of_blocks(DType format, const std::vector<std::byte>& stored, int64_t first, int64_t n) {
  std::vector<float> values(static_cast<size_t>(n), -7.0f);
  reference::stored_format(format).read(stored.data(), first, n, values.data());
  return values;
}
std::string hex_of(uint64_t number) {
  std::string text = QString::number(static_cast<qulonglong>(number), 16).toStdString();
  return std::string(16 - text.size(), '0') + text;
}

}  // namespace

class StoredBlocksTest : public QObject {
  Q_OBJECT

  static void formats() {
    QTest::addColumn<int>("number");
    for (size_t i = 0; i < kBlockFormats.size(); ++i)
      QTest::newRow(std::string(to_text(kBlockFormats[i])).c_str()) << static_cast<int>(i);
  }

 private slots:
  void blocks_computed_by_hand_are_read() {
    for (const KnownBlock& block : known_blocks()) {
      const auto n = static_cast<int64_t>(block.elements.size());
      QCOMPARE(row_bytes(block.format, n), static_cast<int64_t>(block.bytes.size()));
      QVERIFY2(elements_of_blocks(block.format, block.bytes, 0, n) == block.elements, to_text(block.format).data());
      // From any element on, and into the next block.
      std::vector<std::byte> two = block.bytes;
      two.insert(two.end(), block.bytes.begin(), block.bytes.end());
      std::vector<float> twice = block.elements;
      twice.insert(twice.end(), block.elements.begin(), block.elements.end());
      for (const int64_t first : {int64_t{1}, n / 2 + 3, n - 1, n})
        QVERIFY2(elements_of_blocks(block.format, two, first, n) ==
                     std::vector<float>(twice.begin() + first, twice.begin() + first + n),
                 to_text(block.format).data());
    }
  }

  void first_blocks_are_those_of_the_package_data() { formats(); }
  void first_blocks_are_those_of_the_package() {
    QFETCH(const int, number);
    const DType format = kBlockFormats[static_cast<size_t>(number)];
    const std::string name(to_text(format));
    const auto file = SafetensorsFile::open(reference_path("blocks/blocks.safetensors"));
    const StoredTensor *blocks = file->find(name + ".blocks"), *expected = file->find(name + ".elements");
    QVERIFY(blocks && expected && blocks->shape[1] == format_of(format).block_bytes &&
            expected->shape[1] == format_of(format).block_elements);
    const int64_t n = expected->elements();
    std::vector<float> values(static_cast<size_t>(n));
    std::memcpy(values.data(), expected->bytes.data(), expected->bytes.size());
    const std::vector<std::byte> stored(blocks->bytes.begin(), blocks->bytes.end());
    // -0 is 0.
    QVERIFY(elements_of_blocks(format, stored, 0, n) == values);
    // The blocks that the digest is of.
    Random random(static_cast<uint64_t>(number) + 1);
    const std::vector<std::byte> drawn = drawn_blocks([&] { return random.next(); }, format,
                                                      kDrawnBlocks * format_of(format).block_elements, Scales::finite);
    QVERIFY(std::equal(stored.begin(), stored.end(), drawn.begin()));
  }

  void a_hundred_thousand_blocks_are_those_of_the_package_data() { formats(); }
  void a_hundred_thousand_blocks_are_those_of_the_package() {
    QFETCH(const int, number);
    const DType format = kBlockFormats[static_cast<size_t>(number)];
    const NumberFormat& facts = format_of(format);
    const auto file = SafetensorsFile::open(reference_path("blocks/blocks.safetensors"));
    Random random(static_cast<uint64_t>(number) + 1);
    const std::vector<std::byte> stored =
        drawn_blocks([&] { return random.next(); }, format, kDrawnBlocks * facts.block_elements, Scales::finite);
    ElementDigest digest;
    constexpr int64_t kBlocks = 1000;
    for (int64_t first = 0; first < kDrawnBlocks; first += kBlocks)
      digest.add(elements_of_blocks(format, stored, first * facts.block_elements, kBlocks * facts.block_elements));
    QCOMPARE(hex_of(digest.sum()), file->metadata().at(std::string(to_text(format))));
  }

  void a_digest_depends_on_each_element_and_on_its_place() {
    const auto digest_of = [](const std::vector<float>& values) {
      ElementDigest digest;
      digest.add(values);
      return digest.sum();
    };
    QVERIFY(digest_of({1, 2, 3}) != digest_of({1, 3, 2}) && digest_of({1, 2, 3}) != digest_of({1, 2, 3.0000002f}));
    QVERIFY(digest_of({1, 0, 3}) == digest_of({1, -0.0f, 3}));
  }

  void a_scale_that_is_no_number_makes_none() {
    for (const DType format : kBlockFormats) {
      const NumberFormat& facts = format_of(format);
      Random random(1);
      std::vector<std::byte> stored =
          drawn_blocks([&] { return random.next(); }, format, facts.block_elements, Scales::alike);
      for (int32_t byte = 0; byte < facts.scale_bytes(); ++byte)
        stored[static_cast<size_t>(facts.scales_at + byte)] = std::byte{0xff};
      for (const float v : elements_of_blocks(format, stored, 0, facts.block_elements)) QVERIFY(std::isnan(v));
    }
  }

  void numbers_of_8_bits_are_those_of_the_specification() {
    const auto value = [](DType format, uint8_t bits) {
      return elements_of_blocks(format, {static_cast<std::byte>(bits)}, 0, 1)[0];
    };
    // Table 1 of OCP's 8-bit floating point specification.
    QCOMPARE(value(DType::f8_e4m3, 0x7e), 448.0f);
    QCOMPARE(value(DType::f8_e4m3, 0x08), 0x1p-6f);
    QCOMPARE(value(DType::f8_e4m3, 0x07), 0.875f * 0x1p-6f);
    QCOMPARE(value(DType::f8_e4m3, 0x01), 0x1p-9f);
    QCOMPARE(value(DType::f8_e4m3, 0xb8), -1.0f);
    QCOMPARE(value(DType::f8_e5m2, 0x7b), 57344.0f);
    QCOMPARE(value(DType::f8_e5m2, 0x04), 0x1p-14f);
    QCOMPARE(value(DType::f8_e5m2, 0x03), 0.75f * 0x1p-14f);
    QCOMPARE(value(DType::f8_e5m2, 0x01), 0x1p-16f);
    QVERIFY(std::isnan(value(DType::f8_e4m3, 0x7f)) && std::isnan(value(DType::f8_e4m3, 0xff)));
    QVERIFY(value(DType::f8_e5m2, 0xfc) == -std::numeric_limits<float>::infinity());
    QVERIFY(std::isnan(value(DType::f8_e5m2, 0x7d)) && std::isnan(value(DType::f8_e5m2, 0xff)));
    // All of them as the ml_dtypes package has them. Conversions of the engine are other code.
    const auto file = SafetensorsFile::open(reference_path("blocks/blocks.safetensors"));
    for (const DType format : {DType::f8_e4m3, DType::f8_e5m2}) {
      const StoredTensor* all = file->find(std::string(to_text(format)) + ".elements");
      QVERIFY(all && all->elements() == 256);
      for (int bits = 0; bits < 256; ++bits) {
        const auto byte = static_cast<uint8_t>(bits);
        float expected = 0, converted = 0;
        std::memcpy(&expected, all->bytes.data() + sizeof expected * byte, sizeof expected);
        to_f32(&byte, format, &converted, 1);
        const float read = value(format, byte);
        QVERIFY2(std::isnan(expected) ? std::isnan(read) && std::isnan(converted)
                                      : read == expected && converted == expected,
                 QByteArray::number(bits).constData());
      }
    }
  }

  void the_oracle_in_a_field_multiplies_by_what_it_reads() {
    for (const DType format : kBlockFormats) {
      Random random(7);
      const std::string name(to_text(format));
      const std::vector<std::byte> stored = drawn_blocks([&] { return random.next(); }, format, 2 * 256, Scales::alike);
      MemoryWeights weights;
      weights.add_stored("w", format, {2, 256}, stored);
      const Graph graph = parse_graph(
          "stormcell.graph/1\nsymbols N\nspace tokens = root N\ninput %x : f32 tokens [256]\nweight %w : " + name +
              " [2,256]\n%y : f32 tokens [2] = linear(%x, %w)\noutput y = %y\n",
          "graph");
      std::vector<Residue> x;
      for (int i = 0; i < 256; ++i) x.push_back(Residue::of_bits(random.next()));
      OracleInputs<Residue> inputs;
      inputs["x"].reals = x;
      const std::vector<Residue> y = Oracle<Residue>(graph, weights).run(inputs, {1}).output("y").reals;
      const std::vector<float> w = elements_of_blocks(format, stored, 0, 512);
      for (size_t row = 0; row < 2; ++row) {
        Residue sum;
        for (size_t i = 0; i < 256; ++i) sum += x[i] * Residue(w[256 * row + i]);
        QVERIFY2(y[row] == sum, name.c_str());
      }
    }
  }
};

STORMCELL_TEST(StoredBlocksTest)

}  // namespace stormcell::testing
#include "stored_blocks_test.moc"

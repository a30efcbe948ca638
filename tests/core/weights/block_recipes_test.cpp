// Recipes over weights in blocks, and those that make weights of the codes and scales of MXFP4 and FP8 files.
#include <cmath>
#include <limits>
#include <random>

#include "core/oracle/recipe_reader.h"
#include "core/oracle/stored_formats.h"
#include "tests/core/weights/held_tensors.h"
#include "tests/testing/blocks.h"
#include "tests/testing/complaint.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

using testing::canonical;
using testing::drawn_blocks;
using testing::HeldTensors;
using testing::kBlockFormats;
using testing::Scales;

std::vector<std::byte> bytes_of_all(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (const int v : values) bytes.push_back(static_cast<std::byte>(v));
  return bytes;
}

/// The elements that a source makes, as the oracle reads its format.
std::vector<float> made_values(const WeightSource& source, const std::string& text) {
  const WeightInfo info = *source.find(text);
  std::vector<float> values(static_cast<size_t>(info.elements()));
  reference::stored_format(info.dtype).read(source.bytes(text).get(), 0, info.elements(), values.data());
  return values;
}
/// The elements that the oracle reads of the recipe itself.
std::vector<float> read_values(const WeightSource& stored, const std::string& text) {
  const auto reader = reference::make_recipe_reader(parse_recipe(text, "recipe"), stored);
  std::vector<double> values(static_cast<size_t>(reader->elements()));
  reader->read_flat(0, reader->elements(), values.data());
  return {values.begin(), values.end()};
}

std::string refusal(const HeldTensors& held, const std::string& text) {
  return testing::bad_input_complaint(
      [&] { info_of(parse_recipe(text, "recipe"), [&](std::string_view n) { return held.find(n); }); });
}

}  // namespace

class BlockRecipesTest : public QObject {
  Q_OBJECT
 private slots:
  void blocks_are_cut_between_them_and_joined() {
    for (const DType format : kBlockFormats) {
      const int64_t block = format_of(format).block_elements;
      auto held = std::make_shared<HeldTensors>();
      testing::Drawn<std::mt19937_64> random(1);
      for (const char* name : {"q", "r"})
        held->add_stored(name, format, {3, 4, 3 * block},
                         drawn_blocks([&] { return random(); }, format, 36 * block, Scales::alike));
      const auto source = make_recipe_weights(held);
      const std::string one = std::to_string(block), two = std::to_string(2 * block);
      const std::string cases[] = {R"(index("q", 1))",
                                   R"(index(index("q", 2), 3))",
                                   R"(slice("q", 1, 3))",
                                   R"(slice("q", 1, 3, axis=1))",
                                   R"(slice("q", )" + one + ", " + two + ", axis=2)",
                                   R"(slice(index(index("q", 2), 3), )" + one + ", " + two + ")",
                                   R"(stack("q", "r"))",
                                   R"(concat("q", "r"))",
                                   R"(concat("q", "r", axis=1))",
                                   R"(concat("q", slice("r", 0, )" + one + ", axis=2), axis=2)"};
      for (const std::string& text : cases) {
        QCOMPARE(canonical(text), text);
        const WeightInfo info = *source->find(text);
        QCOMPARE(info.dtype, format);
        QVERIFY2(made_values(*source, text) == read_values(*held, text), text.c_str());
        // Copied into memory that is there, whole and in parts.
        const std::shared_ptr<const std::byte> whole = source->bytes(text);
        std::vector<std::byte> copy(static_cast<size_t>(info.bytes()));
        source->copy(text, 0, copy);
        QVERIFY2(std::equal(copy.begin(), copy.end(), whole.get()), text.c_str());
        std::vector<std::byte> part(copy.size() - 5);
        source->copy(text, 3, part);
        QVERIFY2(std::equal(part.begin(), part.end(), whole.get() + 3), text.c_str());
      }
    }
  }

  void an_expert_of_a_stack_is_read_without_the_others() {
    auto held = std::make_shared<HeldTensors>();
    held->add_stored("q", DType::q4_k, {8, 2, 512}, std::vector<std::byte>(8 * 2 * 288));
    const auto source = make_recipe_weights(held);
    std::vector<std::byte> copy(2 * 288);
    source->copy(R"(index("q", 5))", 0, copy);
    QCOMPARE(held->bytes_read.load(), int64_t{2 * 288});
  }

  void steps_that_would_cut_a_block_are_refused() {
    HeldTensors held;
    held.add_stored("q", DType::q8_0, {2, 64}, std::vector<std::byte>(2 * 68));
    held.add_stored("row", DType::q8_0, {64}, std::vector<std::byte>(68));
    held.add_stored("k", DType::q4_k, {2, 256}, std::vector<std::byte>(2 * 144));
    QCOMPARE(refusal(held, "\"q\""), std::string());
    QCOMPARE(refusal(held, R"(transpose("q"))"),
             std::string("weight transpose(\"q\"): expected an operand in a format of single elements, got q8_0, which "
                         "is stored in blocks"));
    QCOMPARE(refusal(held, R"(slice("q", 0, 48, axis=1))"),
             std::string("weight slice(\"q\", 0, 48, axis=1): expected a range of whole blocks of 32 elements of q8_0, "
                         "got 0 to 48"));
    QVERIFY(refusal(held, R"(slice("q", 16, 48, axis=1))").find("whole blocks of 32") != std::string::npos);
    QVERIFY(refusal(held, R"(slice("row", 1, 33))").find("whole blocks of 32") != std::string::npos);
    QVERIFY(refusal(held, R"(index("row", 1))").find("got one row in q8_0, which is stored in blocks") !=
            std::string::npos);
    QVERIFY(refusal(held, R"(concat("q", "k"))").find("expected operands of one format") != std::string::npos);
    QVERIFY(refusal(held, R"(scale("q", "row"))").find("expected an operand in f32, f16 or bf16, got q8_0") !=
            std::string::npos);
    QVERIFY(refusal(held, R"(convert("q", bf16))").find("expected an operand in f32, f16 or bf16, got q8_0") !=
            std::string::npos);
    QVERIFY(refusal(held, R"(convert("q", q8_0))").find("expected f32, f16 or bf16, got \"q8_0\"") !=
            std::string::npos);
  }

  void a_weight_in_blocks_is_handed_through_as_it_is_stored() {
    auto stored = std::make_shared<HeldTensors>();
    stored->add_stored("q", DType::q8_0, {2, 64}, std::vector<std::byte>(2 * 68, std::byte{5}));
    const auto source = make_recipe_weights(stored);
    QCOMPARE(source->find("q")->bytes(), int64_t{2 * 68});
    QVERIFY(source->bytes("q").get()[135] == std::byte{5});
  }

  void codes_and_scales_of_mxfp4_become_blocks() {
    auto held = std::make_shared<HeldTensors>();
    // Byte i of a block is elements 2 i, the lower half, and 2 i + 1. Two rows of one block: scales 2 and a quarter.
    std::vector<std::byte> codes;
    for (int i = 0; i < 16; ++i) codes.push_back(static_cast<std::byte>(i | (15 - i) << 4));
    for (int i = 0; i < 16; ++i) codes.push_back(static_cast<std::byte>(0x32));
    held->add_stored("codes", DType::u8, {2, 1, 16}, codes);
    held->add_stored("scales", DType::u8, {2, 1}, bytes_of_all({128, 125}));
    const auto source = make_recipe_weights(held);
    const std::string text = R"(mxfp4("codes", "scales"))";
    QCOMPARE(canonical(text), text);
    const WeightInfo info = *source->find(text);
    QVERIFY(info.dtype == DType::mxfp4 && info.shape == (std::vector<int64_t>{2, 32}) && info.bytes() == 34);
    const float numbers[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6, 0, -0.5f, -1, -1.5f, -2, -3, -4, -6};
    std::vector<float> expected;
    for (size_t i = 0; i < 16; ++i) expected.push_back(2 * numbers[i]), expected.push_back(2 * numbers[15 - i]);
    for (size_t i = 0; i < 16; ++i) expected.push_back(0.25f), expected.push_back(0.375f);
    QVERIFY(made_values(*source, text) == expected && read_values(*held, text) == expected);
    // The second row alone, from the second rows of both.
    const std::string row = R"(mxfp4(index("codes", 1), index("scales", 1)))";
    QVERIFY(made_values(*source, row) == std::vector<float>(expected.begin() + 32, expected.end()));
    // A scale that is no number is one in the blocks, where the check of weights finds it.
    held->add_stored("scales", DType::u8, {2, 1}, bytes_of_all({255, 0}));
    const std::vector<float> values = made_values(*source, text), read = read_values(*held, text);
    QVERIFY(std::isnan(values[0]) && std::isnan(read[31]) && values[32] == 1 * 0x1p-127f && read[32] == values[32]);
  }

  void what_are_no_codes_and_scales_is_refused() {
    HeldTensors held;
    held.add_stored("codes", DType::u8, {2, 3, 16}, std::vector<std::byte>(96));
    held.add_stored("scales", DType::u8, {2, 3}, std::vector<std::byte>(6));
    held.add_stored("few", DType::u8, {2, 2}, std::vector<std::byte>(4));
    held.add_stored("short", DType::u8, {2, 3, 8}, std::vector<std::byte>(48));
    held.add_stored("signed", DType::i8, {2, 3}, std::vector<std::byte>(6));
    QCOMPARE(refusal(held, R"(mxfp4("codes", "scales"))"), std::string());
    QCOMPARE(refusal(held, R"(mxfp4("codes", "few"))"),
             std::string("weight mxfp4(\"codes\", \"few\"): expected codes [..., blocks, 16] and scales [..., blocks], "
                         "got [2, 3, 16] and [2, 2]"));
    QVERIFY(refusal(held, R"(mxfp4("short", "scales"))").find("got [2, 3, 8] and [2, 3]") != std::string::npos);
    QVERIFY(refusal(held, R"(mxfp4("scales", "scales"))").find("got [2, 3] and [2, 3]") != std::string::npos);
    QVERIFY(refusal(held, R"(mxfp4("codes", "signed"))").find("expected codes and scales in u8, got u8 and i8") !=
            std::string::npos);
    QVERIFY(refusal(held, R"(mxfp4("codes", "none"))").find("there is no such tensor") != std::string::npos);
  }

  void weights_of_8_bits_are_scaled_block_by_block() {
    auto held = std::make_shared<HeldTensors>();
    // 1, 1.5, 448, -0.5, 2^-9; 2, 3, 4, 5, 6; 7, 8, 9, 10, -11: blocks of 2 x 2 whose last ones are short.
    held->add_stored("w", DType::f8_e4m3, {3, 5},
                     bytes_of_all({0x38, 0x3c, 0x7e, 0xb0, 0x01, 0x40, 0x44, 0x48,  //
                                   0x4a, 0x4c, 0x4e, 0x50, 0x51, 0x52, 0xd3}));
    held->add("s", DType::f32, {2, 3}, {2, 0.5f, 10, 3, -1, 100});
    held->add("half", DType::bf16, {2, 3}, {2, 0.5f, 10, 3, -1, 100});
    const auto source = make_recipe_weights(held);
    const std::vector<float> expected = {2, 3, 224, -0.25f, 10 * 0x1p-9f, 4, 6, 2, 2.5f, 60, 21, 24, -9, -10, -1100};
    for (const char* scales : {"s", "half"}) {
      const std::string text = "block_scale(\"w\", \"" + std::string(scales) + "\", height=2, width=2)";
      QCOMPARE(canonical(text), text);
      QVERIFY(source->find(text)->dtype == DType::f32);
      QVERIFY2(made_values(*source, text) == expected && read_values(*held, text) == expected, scales);
    }
    QCOMPARE(canonical(R"(block_scale("w", "s"))"), std::string(R"(block_scale("w", "s", height=128, width=128))"));
    // A scale a row, and E5M2.
    held->add_stored("v", DType::f8_e5m2, {2, 2}, bytes_of_all({0x3c, 0x40, 0xc0, 0x7b}));
    held->add("rows", DType::f32, {2, 1}, {3, 0.25f});
    const std::string rows = R"(block_scale("v", "rows", height=1, width=2))";
    const std::vector<float> by_row = {3, 6, -0.5f, 14336};
    QVERIFY(made_values(*source, rows) == by_row && read_values(*held, rows) == by_row);
    // Numbers that are not finite stay so.
    held->add("nan", DType::f32, {2, 1}, {std::numeric_limits<float>::quiet_NaN(), 1});
    const std::vector<float> values = made_values(*source, R"(block_scale("v", "nan", height=1, width=2))");
    QVERIFY(std::isnan(values[0]) && std::isnan(values[1]) && values[2] == -2);
  }

  void scales_that_do_not_fit_are_refused() {
    HeldTensors held;
    held.add_stored("w", DType::f8_e4m3, {300, 200}, std::vector<std::byte>(60'000));
    held.add_stored("codes", DType::u8, {300, 200}, std::vector<std::byte>(60'000));
    held.add("s", DType::f32, {3, 2}, std::vector<float>(6, 1));
    held.add("t", DType::f32, {2, 2}, std::vector<float>(4, 1));
    held.add("u", DType::f32, {6}, std::vector<float>(6, 1));
    QCOMPARE(refusal(held, R"(block_scale("w", "s"))"), std::string());
    QCOMPARE(
        refusal(held, R"(block_scale("w", "t"))"),
        std::string("weight block_scale(\"w\", \"t\", height=128, width=128): expected weights [n, k] and a factor "
                    "for each block of 128 x 128, got [300, 200] and [2, 2]"));
    QVERIFY(refusal(held, R"(block_scale("w", "u"))").find("got [300, 200] and [6]") != std::string::npos);
    QVERIFY(refusal(held, R"(block_scale("u", "u"))").find("got [6] and [6]") != std::string::npos);
    QVERIFY(refusal(held, R"(block_scale("codes", "s"))")
                .find("expected weights in f8_e4m3, f8_e5m2, f32, f16 or bf16, got u8") != std::string::npos);
    QVERIFY(refusal(held, R"(block_scale("w", "s", height=0))").find("expected height from 1 to 1048576, got 0") !=
            std::string::npos);
  }
};

STORMCELL_TEST(BlockRecipesTest)

}  // namespace stormcell
#include "block_recipes_test.moc"

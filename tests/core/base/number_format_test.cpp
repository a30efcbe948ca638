// The table of number formats: every type has its row, rows of a matrix are whole blocks, and a user can ask for what
// is offered alone.
#include "core/base/number_format.h"

#include <limits>
#include <utility>

#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

using namespace stormcell;

class NumberFormatTest : public QObject {
  Q_OBJECT
 private slots:
  void every_type_has_its_row() {
    for (size_t i = 0; i < number_formats().size(); ++i) {
      const NumberFormat& row = number_formats()[i];
      QCOMPARE(static_cast<size_t>(row.type), i);
      QCOMPARE(format_of(row.type).name, row.name);
      QCOMPARE(to_text(row.type), row.name);
      QVERIFY(parse_dtype(row.name) == row.type);
      QVERIFY(row.block_elements >= 1 && row.block_bytes >= 1);
    }
    QCOMPARE(number_formats().size(), static_cast<size_t>(DType::mxfp4) + 1);
  }

  void a_format_of_single_elements_has_their_size() {
    const std::pair<DType, size_t> sizes[] = {
        {DType::f32, 4}, {DType::f16, 2}, {DType::bf16, 2}, {DType::f64, 8},     {DType::f8_e4m3, 1},
        {DType::i8, 1},  {DType::u8, 1},  {DType::i16, 2},  {DType::u16, 2},     {DType::i32, 4},
        {DType::u32, 4}, {DType::i64, 8}, {DType::u64, 8},  {DType::boolean, 1}, {DType::f8_e5m2, 1}};
    for (const auto& [type, size] : sizes) {
      QCOMPARE(element_size(type), size);
      QCOMPARE(row_bytes(type, 7), static_cast<int64_t>(7 * size));
    }
    ErrorKind kind = ErrorKind::bad_input;
    const std::string refused = testing::complaint([] { element_size(DType::q8_0); }, &kind);
    QCOMPARE(refused,
             std::string("number format q8_0: its elements have no size of their own, they are stored in blocks"));
    QVERIFY(kind == ErrorKind::failed);
  }

  void a_row_is_whole_blocks() {
    const std::pair<int64_t, int64_t> rows[] = {{0, 0}, {32, 34}, {64, 68}, {4096, 4352}};
    for (const auto& [n, bytes] : rows) {
      QVERIFY(is_whole_blocks(DType::q8_0, n));
      QCOMPARE(row_bytes(DType::q8_0, n), bytes);
    }
    for (const int64_t n : {int64_t{1}, int64_t{31}, int64_t{33}, int64_t{-32}, std::numeric_limits<int64_t>::max()}) {
      QVERIFY(!is_whole_blocks(DType::q8_0, n));
      QCOMPARE(testing::bad_input_complaint([&] { row_bytes(DType::q8_0, n); }),
               "number format q8_0: expected rows of whole blocks of 32 elements, got a row of " + std::to_string(n));
    }
    QVERIFY(is_whole_blocks(DType::bf16, 33) && !is_whole_blocks(DType::f32, -1));
  }

  void blocks_have_the_sizes_of_their_definitions() {
    struct Blocks {
      DType type;
      int elements, bytes, scales_at, scales, scale_bytes;
    };
    for (const Blocks& of : {Blocks{DType::q8_0, 32, 34, 0, 1, 2}, Blocks{DType::q4_0, 32, 18, 0, 1, 2},
                             Blocks{DType::q4_k, 256, 144, 0, 2, 2}, Blocks{DType::q5_k, 256, 176, 0, 2, 2},
                             Blocks{DType::q6_k, 256, 210, 208, 1, 2}, Blocks{DType::mxfp4, 32, 17, 0, 1, 1}}) {
      const NumberFormat& row = format_of(of.type);
      QVERIFY2(row.is_blocks() && row.block_elements == of.elements && row.block_bytes == of.bytes, row.name.data());
      QVERIFY2(row.scales_at == of.scales_at && row.scales == of.scales && row.scale_bytes() == of.scale_bytes,
               row.name.data());
      QVERIFY(!row.offered && !row.converts);
    }
    QCOMPARE(format_of(DType::f32).scale_bytes(), 4);
    QCOMPARE(format_of(DType::bf16).scale_bytes(), 2);
  }

  void a_tensor_is_its_rows() {
    const auto bytes = [](DType type, const std::vector<int64_t>& shape) { return tensor_bytes(type, shape); };
    QCOMPARE(bytes(DType::f32, {}), int64_t{4});
    QCOMPARE(bytes(DType::f32, {3, 5}), int64_t{60});
    QCOMPARE(bytes(DType::bf16, {2, 3, 5}), int64_t{60});
    QCOMPARE(bytes(DType::i32, {0, 5}), int64_t{0});
    QCOMPARE(bytes(DType::f32, {5, 0}), int64_t{0});
    QCOMPARE(bytes(DType::f32, {0, int64_t{1} << 62}), int64_t{0});
    QCOMPARE(
        testing::bad_input_complaint([] { row_bytes(DType::f32, int64_t{1} << 62); }),
        std::string("number format f32: expected rows of fewer than 2^63 bytes, got a row of 4611686018427387904"));
    QCOMPARE(bytes(DType::q8_0, {4, 64}), int64_t{4 * 68});
    QCOMPARE(bytes(DType::q8_0, {2, 3, 32}), int64_t{6 * 34});
    // 64 elements are two blocks, but no row of four of them is whole blocks.
    const std::vector<std::vector<int64_t>> broken = {{}, {4, 33}, {64, 1}, {16, 4}};
    for (const std::vector<int64_t>& shape : broken)
      QVERIFY(testing::bad_input_complaint([&] {
                bytes(DType::q8_0, shape);
              }).starts_with("number format q8_0: expected rows of whole "));
  }

  void what_a_user_can_ask_for_is_what_is_offered() {
    QCOMPARE(offered_formats(), (std::vector<std::string>{"f32", "bf16"}));
    QCOMPARE(row_formats(), (std::vector<std::string>{"f32", "bf16"}));
    QVERIFY(smallest_offered_format().type == DType::bf16);
    QVERIFY(!format_of(DType::q8_0).offered && !is_engine_float(DType::q8_0));
  }

  void what_products_and_states_do_follows_from_the_row() {
    for (const NumberFormat& row : number_formats()) {
      const bool is_bf16 = row.type == DType::bf16;
      QCOMPARE(row.own_products, is_bf16);
      QCOMPARE(row.rounds_rows, is_bf16);
      QVERIFY(state_format(row.type) == (is_bf16 ? DType::bf16 : DType::f32));
      QCOMPARE(row.product_tolerance, is_bf16 ? 2e-2 : 1e-4);
      QCOMPARE(is_engine_float(row.type), is_bf16 || row.type == DType::f32 || row.type == DType::f16);
      QCOMPARE(row.multiplies, is_engine_float(row.type) || row.is_blocks());
      QCOMPARE(row.scaled_by_blocks, row.type == DType::f8_e4m3 || row.type == DType::f8_e5m2);
    }
    QCOMPARE(engine_float_names(), std::string("f32, f16 or bf16"));
    QCOMPARE(product_format_names(), std::string("f32, f16, bf16, q8_0, q4_0, q4_k, q5_k, q6_k or mxfp4"));
    QCOMPARE(format_of(DType::f32).conversion_tolerance, 1e-4);
    QCOMPARE(format_of(DType::f16).conversion_tolerance, 1e-4);
    QCOMPARE(format_of(DType::bf16).conversion_tolerance, 5e-2);
  }
};

STORMCELL_TEST(NumberFormatTest)

#include "number_format_test.moc"

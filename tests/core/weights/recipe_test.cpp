// Recipes: one text for one meaning, shapes checked, values as the oracle's own reading of the text has them.
#include "core/weights/recipe.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "core/base/error.h"
#include "core/oracle/recipe_reader.h"
#include "core/weights/recipe_weights.h"
#include "tests/core/weights/held_tensors.h"
#include "tests/testing/complaint.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

using testing::canonical;
using testing::HeldTensors;
using testing::made;

}  // namespace

class RecipeTest : public QObject {
  Q_OBJECT
 private slots:
  void one_meaning_has_one_text() {
    QCOMPARE(canonical(R"(  stack( slice("a",0,64),transpose( "b" ) ) )"),
             std::string(R"(stack(slice("a", 0, 64), transpose("b")))"));
    QCOMPARE(canonical(R"("a b")"), std::string(R"("a b")"));
    QCOMPARE(canonical(R"(slice(slice("a", 10, 50), 5, 9))"), std::string(R"(slice("a", 15, 19))"));
    QCOMPARE(canonical(R"(slice(slice("a", 10, 50, axis=1), 5, 9, axis=0))"),
             std::string(R"(slice(slice("a", 10, 50, axis=1), 5, 9))"));
    QCOMPARE(canonical(R"(transpose(transpose("a")))"), std::string(R"("a")"));
    QCOMPARE(canonical(R"(transpose(transpose("a", 2, 0, 1), 2, 0, 1))"), std::string(R"(transpose("a", 1, 2, 0))"));
    QCOMPARE(canonical(R"(transpose("a", 1, 0))"), std::string(R"(transpose("a"))"));
    QCOMPARE(canonical(R"(concat(concat("a", "b"), "c"))"), std::string(R"(concat("a", "b", "c"))"));
    QCOMPARE(canonical(R"(concat(concat("a", "b", axis=1), "c"))"),
             std::string(R"(concat(concat("a", "b", axis=1), "c"))"));
    QCOMPARE(canonical(R"(concat("a"))"), std::string(R"("a")"));
    QCOMPARE(canonical(R"(convert(convert("a", bf16), bf16))"), std::string(R"(convert("a", bf16))"));
    QCOMPARE(canonical(R"(quantise("a"))"), std::string(R"(quantise("a", bits=8, block=32))"));
    QCOMPARE(canonical(R"(scale("w", batch_norm_scale("g", "v", eps=0.00001)))"),
             std::string(R"(scale("w", batch_norm_scale("g", "v", eps=1e-05)))"));
    QCOMPARE(canonical(R"(batch_norm_shift("b","m","g","v","c",eps=1))"),
             std::string(R"(batch_norm_shift("b", "m", "g", "v", "c", eps=1))"));
  }

  void a_text_that_is_no_recipe_is_refused() {
    const auto why = [](std::string_view text) {
      return QString::fromStdString(testing::bad_input_complaint([&] { canonical(text); }));
    };
    QVERIFY(why("").contains("expected the name of a tensor in quotes, or one of index, slice, transpose, stack"));
    QVERIFY(why("twist(\"a\")").contains("got \"twist"));
    QVERIFY(why(R"(slice("a", 5, 5))").contains("expected a range that holds something, got 5 to 5"));
    QVERIFY(why(R"(slice("a", -1, 5))").contains("range"));
    QVERIFY(why(R"(slice("a", 1))").contains("expected \",\""));
    QVERIFY(why(R"(slice("a", 1, 2, axis=9))").contains("expected axis from 0 to 7, got 9"));
    QVERIFY(why(R"(transpose("a", 0, 2))").contains("expected each of the extents 0 to 1 once"));
    QVERIFY(why(R"(scale("a"))").contains("expected 2 operands of scale, got 1"));
    QVERIFY(why(R"(convert("a", i8))").contains("expected f32, f16 or bf16, got \"i8\""));
    QVERIFY(why(R"(batch_norm_scale("a", "b", eps=-1))").contains("not negative"));
    QVERIFY(why(R"(batch_norm_scale("a", "b", eps=nan))").contains("not negative"));
    QVERIFY(why(R"(quantise("a", bits=1))").contains("expected bits from 2 to 8"));
    QVERIFY(why(R"("a" "b")").contains("expected the end of the recipe"));
    std::string deep;
    for (int i = 0; i < 1000; ++i) deep += "stack(";
    QVERIFY(why(deep).contains("at most 64 deep"));
  }

  void what_does_not_fit_its_tensors_is_refused() {
    HeldTensors held;
    testing::Drawn<std::mt19937> random(1);
    held.add_random("a", DType::f32, {6, 4}, random);
    held.add_random("b", DType::bf16, {6, 4}, random);
    held.add_random("c", DType::f32, {6}, random);
    held.add("i", DType::i32, {0}, {});
    held.add("huge", DType::f32, {0, int64_t{1} << 62}, {});
    const auto why = [&](const std::string& text) {
      return QString::fromStdString(testing::bad_input_complaint(
          [&] { info_of(parse_recipe(text, "recipe"), [&](std::string_view n) { return held.find(n); }); }));
    };
    QVERIFY(why("\"x\"").contains("there is no such tensor"));
    QVERIFY(why(R"(stack("a", transpose("x")))")
                .contains(R"(weight stack("a", transpose("x")): "x": there is no such tensor)"));
    QVERIFY(why(R"(index("c", 6))").contains("expected a number below the first extent, got 6 of [6]"));
    QVERIFY(
        why(R"(slice("a", 2, 7))").contains("expected a range within the extents, got 2 to 7 along axis 0 of [6, 4]"));
    QVERIFY(why(R"(slice("a", 0, 1, axis=2))").contains("along axis 2 of [6, 4]"));
    QVERIFY(why(R"(transpose("a", 0, 2, 1))").contains("expected an operand of 3 extents, got [6, 4]"));
    QVERIFY(why(R"(stack("a", "b"))").contains("[6, 4] f32 and [6, 4] bf16"));
    QVERIFY(why(R"(stack("a", transpose("a")))").contains("[6, 4] f32 and [4, 6] f32"));
    QVERIFY(why(R"(concat("a", transpose("a")))").contains("differ along axis 0 alone, got [6, 4] and [4, 6]"));
    QVERIFY(why(R"(concat("c", "c", axis=1))").contains("expected an operand with axis 1, got [6]"));
    QVERIFY(why(R"(concat("huge", "huge", "huge", axis=1))").contains("fewer than 2^63 elements along the axis"));
    QVERIFY(why(R"(scale(transpose("a"), "c"))")
                .contains("expected a factor for each of the first extent, got [4, 6] and [6]"));
    QVERIFY(why(R"(batch_norm_scale("a", "c", eps=0))").contains("expected a number for each channel"));
    QVERIFY(why(R"(position_bias("a", "a", height=2, width=2))")
                .contains("[hidden, 2] and [heads, hidden], got [6, 4] and [6, 4]"));
    QVERIFY(why(R"(convert("i", bf16))").contains("expected an operand in f32, f16 or bf16, got i32"));
  }

  void a_folded_norm_is_the_norm_of_the_product() {
    const auto shared = std::make_shared<HeldTensors>();
    HeldTensors& held = *shared;
    testing::Drawn<std::mt19937> random(3);
    held.add_random("w", DType::f32, {5, 3}, random);
    for (const char* name : {"gamma", "beta", "mean", "bias"}) held.add_random(name, DType::f32, {5}, random);
    held.add_random("variance", DType::f32, {5}, random, true);
    const auto source = make_recipe_weights(shared);
    const std::vector<float> w = made(held, "w"),
                             folded = made(*source, R"(scale("w", batch_norm_scale("gamma", "variance", eps=0.001)))"),
                             shift =
                                 made(*source,
                                      R"(batch_norm_shift("beta", "mean", "gamma", "variance", "bias", eps=0.001))");
    const std::vector<float> gamma = made(held, "gamma"), beta = made(held, "beta"), mean = made(held, "mean"),
                             bias = made(held, "bias"), variance = made(held, "variance");
    const std::array<double, 3> x = {0.5, -1.25, 2};
    for (size_t i = 0; i < 5; ++i) {
      double plain = bias[i], with = shift[i];
      for (size_t k = 0; k < 3; ++k) plain += w[i * 3 + k] * x[k], with += folded[i * 3 + k] * x[k];
      const double normed = (plain - mean[i]) / std::sqrt(variance[i] + 0.001) * gamma[i] + beta[i];
      QVERIFY(std::fabs(normed - with) < 1e-5);
    }
    // The oracle leaves the factor beside the weight.
    const reference::UnfoldedWeight unfolded = reference::unfolded_weight(
        parse_recipe(R"(scale("w", batch_norm_scale("gamma", "variance", eps=0.001)))", "recipe"), held);
    QVERIFY(unfolded.factor && unfolded.factor->shape() == std::vector<int64_t>{5});
    std::vector<double> elements(w.size());
    unfolded.elements->read_flat(0, static_cast<int64_t>(w.size()), elements.data());
    for (size_t i = 0; i < w.size(); ++i) QCOMPARE(elements[i], static_cast<double>(w[i]));
  }

  void a_bias_by_relative_place_is_an_mlp_of_its_coordinates() {
    HeldTensors held;
    // Hidden 0 sees the row, 1 the column turned round; head 0 their sum, head 1 the row with a bias.
    held.add("w", DType::f32, {2, 2}, {1, 0, 0, -1});
    held.add("v", DType::f32, {2, 2}, {1, 1, 2, 0});
    held.add("b", DType::f32, {2}, {0.5F, 0});
    held.add("d", DType::f32, {2}, {0, -3});
    const double log9 = std::log2(9.0) / 3, log5 = std::log2(5.0) / 3;
    const auto places = [&](const char* text, int64_t place) {
      const auto reader = reference::make_recipe_reader(parse_recipe(text, "recipe"), held);
      return std::pair{reader->element({place, 0}), reader->element({place, 1})};
    };
    const auto expect = [](std::pair<double, double> came, double first, double second) {
      QVERIFY(std::fabs(came.first - first) < 1e-6 && std::fabs(came.second - second) < 1e-6);
    };
    // Windows of 2 x 3: rows from -1 to 1, columns from -2 to 2. Place 14 is (1, 2), 0 is (-1, -2), 6 is (0, -1).
    expect(places(R"(position_bias("w", "v", height=2, width=3))", 14), log9, 2 * log9);
    expect(places(R"(position_bias("w", "v", height=2, width=3))", 0), log9, 0);
    expect(places(R"(position_bias("w", "v", height=2, width=3, turned=1))", 0), log9, 2 * log9);
    expect(places(R"(position_bias("w", "v", "b", height=2, width=3))", 6), 0.5 + log5, 1);
    expect(places(R"(position_bias("w", "v", "b", "d", height=2, width=3))", 6), 0.5 + log5, -2);
    expect(places(R"(position_bias("w", "v", "b", "d", height=2, width=3, limit=16))", 6),
           16 / (1 + std::exp(-0.5 - log5)), 16 / (1 + std::exp(2)));
    expect(places(R"(position_bias("w", "v", height=1, width=1))", 0), 0, 0);
  }

  void a_bias_by_relative_place_is_what_the_oracle_reads() {
    const auto held = std::make_shared<HeldTensors>();
    testing::Drawn<std::mt19937> random(9);
    held->add_random("w", DType::f32, {7, 2}, random);
    held->add_random("v", DType::bf16, {3, 7}, random);
    held->add_random("b", DType::f16, {7}, random);
    held->add_random("d", DType::f32, {3}, random);
    const auto source = make_recipe_weights(held);
    for (const char* operands : {R"("w", "v")", R"("w", "v", "b")", R"("w", "v", "b", "d")"})
      for (const char* keys : {"height=1, width=4", "height=3, width=2, turned=1", "height=5, width=5, limit=16"}) {
        const std::string text = std::string("position_bias(") + operands + ", " + keys + ")";
        QCOMPARE(canonical(text), text);
        const std::vector<float> came = made(*source, text);
        std::vector<double> expected(came.size());
        const auto reader = reference::make_recipe_reader(parse_recipe(text, "recipe"), *source);
        QCOMPARE(static_cast<int64_t>(came.size()), reader->elements());
        QCOMPARE(reader->shape(), source->find(text)->shape);
        reader->read_flat(0, reader->elements(), expected.data());
        for (size_t i = 0; i < came.size(); ++i) QVERIFY(std::fabs(static_cast<double>(came[i]) - expected[i]) < 1e-5);
      }
  }

  void the_oracle_reads_one_expert_of_a_stack_alone() {
    HeldTensors held;
    testing::Drawn<std::mt19937> random(6);
    held.add_random("e", DType::bf16, {3, 6, 5}, random);
    std::vector<double> all(90);
    reference::make_recipe_reader(tensor_recipe("e"), held)->read_flat(0, 90, all.data());
    for (const auto& [text, first, count] :
         {std::tuple{R"(index("e", 1))", 30, 30}, std::tuple{R"(slice(index("e", 2), 1, 4))", 65, 15},
          std::tuple{R"(index(slice("e", 1, 3), 1))", 60, 30}}) {
      held.bytes_read = 0;
      const auto reader = reference::make_recipe_reader(parse_recipe(text, "recipe"), held);
      std::vector<double> came(static_cast<size_t>(count));
      reader->read_flat(0, count, came.data());
      QCOMPARE(held.bytes_read.load(), int64_t{count} * 2);
      QVERIFY2(std::equal(came.begin(), came.end(), all.begin() + first), text);
    }
  }

  void a_slice_of_rows_copies_nothing() {
    auto held = std::make_shared<HeldTensors>();
    testing::Drawn<std::mt19937> random(4);
    held->add_random("a", DType::bf16, {8, 4}, random);
    const auto source = make_recipe_weights(held);
    QVERIFY(source->bytes(R"(slice("a", 3, 5))").get() == held->bytes("a").get() + size_t{3 * 4 * 2});
    QVERIFY(source->bytes("a").get() == held->bytes("a").get());
    // One of many experts in one tensor is read without the others.
    held->add_random("e", DType::bf16, {3, 6, 5}, random);
    held->bytes_read = 0;
    QVERIFY(source->bytes(R"(slice(index("e", 1), 2, 4))").get() - held->bytes("e").get() == (1 * 30 + 2 * 5) * 2);
    QCOMPARE(held->bytes_read.load(), int64_t{2 * 5 * 2 + 3 * 6 * 5 * 2});
    held->bytes_read = 0;
    QVERIFY(source->bytes(R"(slice(slice("e", 2, 3), 1, 3, axis=1))").get() - held->bytes("e").get() ==
            (2 * 30 + 1 * 5) * 2);
    QCOMPARE(held->bytes_read.load(), int64_t{2 * 5 * 2 + 3 * 6 * 5 * 2});
    QVERIFY(source->range("a", 8, 4).get() == held->bytes("a").get() + 8);
    QCOMPARE(
        std::memcmp(source->range(R"(transpose("a"))", 6, 4).get(), source->bytes(R"(transpose("a"))").get() + 6, 4),
        0);
    QVERIFY(source->find("no such") == nullptr);
    QVERIFY(source->find("slice(odd") == nullptr);
    QVERIFY_THROWS_EXCEPTION(Error, source->find("slice(odd)"));
  }

  // Eight times as much costs 8 times the time where it is linear, 64 where it is quadratic; 24 lies between.
  void a_stack_of_eight_times_the_tensors_takes_about_eight_times_as_long() {
    const auto seconds = [](int tensors) {
      auto held = std::make_shared<HeldTensors>();
      Recipe stack = stack_recipe({});
      for (int i = 0; i < tensors; ++i) {
        held->add("expert." + std::to_string(i), DType::f32, {2, 1}, {1, static_cast<float>(i)});
        stack.of.push_back(transpose_recipe(tensor_recipe("expert." + std::to_string(i))));
      }
      const std::string text = to_text(stack);
      double least = 1e9;
      for (int turn = 0; turn < 3; ++turn) {
        const auto begin = std::chrono::steady_clock::now();
        const auto source = make_recipe_weights(held);
        if (source->find(text)->elements() != 2 * tensors ||
            made(*source, text).back() != static_cast<float>(tensors - 1) ||
            tensors_of(parse_recipe(text, "recipe")).size() != static_cast<size_t>(tensors))
          return std::nan("");
        least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      }
      return least;
    };
    const double some = seconds(2000), many = seconds(16000);
    // Pairs of them would take 64 times as long; a busy machine alone made it 25.
    QVERIFY2(many < 48 * some, qPrintable(QString("%1 s and %2 s").arg(some).arg(many)));
  }

  void a_row_that_is_not_whole_blocks_has_no_bytes() {
    const WeightInfo info{"q", DType::q8_0, {4, 40}};
    QCOMPARE(testing::bad_input_complaint([&] { (void)info.bytes(); }),
             std::string("number format q8_0: expected rows of whole blocks of 32 elements, got a row of 40"));
  }

  void many_threads_ask_at_once() {
    auto held = std::make_shared<HeldTensors>();
    testing::Drawn<std::mt19937> random(5);
    held->add_random("a", DType::f32, {64, 32}, random);
    const auto source = make_recipe_weights(held);
    const auto text = [](int i) {
      return "transpose(slice(\"a\", " + std::to_string(i) + ", " + std::to_string(i + 32) + "))";
    };
    const std::vector<float> a = made(*held, "a");
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (int i = 0; i < 32; ++i) {
          const std::vector<float> came = made(*source, text(i));
          for (size_t k = 0; k < 32; ++k)
            for (size_t j = 0; j < 32; ++j) wrong += came[k * 32 + j] != a[(static_cast<size_t>(i) + j) * 32 + k];
        }
      });
    for (std::thread& t : threads) t.join();
    QCOMPARE(wrong.load(), 0);
  }

  void a_stored_name_that_looks_like_a_recipe_is_quoted() {
    auto held = std::make_shared<HeldTensors>();
    held->add("a", DType::f32, {2, 1}, {1, 2});
    held->add(R"(transpose("a"))", DType::f32, {3}, {7, 8, 9});
    const auto source = make_recipe_weights(held);
    QCOMPARE(made(*source, R"(transpose("a"))"), (std::vector<float>{1, 2}));
    QCOMPARE(weight_text(tensor_recipe(R"(transpose("a"))")), std::string("\"transpose(\\\"a\\\")\""));
    QCOMPARE(made(*source, weight_text(tensor_recipe(R"(transpose("a"))"))), (std::vector<float>{7, 8, 9}));
    QCOMPARE(weight_text(tensor_recipe("block.0 (old)")), std::string("block.0 (old)"));
  }
};

STORMCELL_TEST(RecipeTest)

}  // namespace stormcell
#include "recipe_test.moc"

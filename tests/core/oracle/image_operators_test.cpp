// Operators on maps, on patches and on the weights of choices, by hand.
#include <array>

#include "tests/core/oracle/hand.h"

using namespace stormcell;
using namespace stormcell::testing;

class ImageOperatorsTest : public QObject {
  Q_OBJECT
 private slots:
  void a_choice_s_weight_is_a_value() {
    for (const bool all_slots : {false, true}) {
      Hand h;
      const SpaceId s = h.root_space("s", h.bound("N", 2));
      const ValueId x = h.reals("x", s, {2}, {1, 2, 3, 4});
      Protocol rule;
      rule.kind = ProtocolKind::threshold;
      rule.threshold = 0.5f;
      // Cell 0 goes to branches 0 and 2, cell 1 to branch 1; their scores are the weights.
      const ValueId d = h.route(h.reals("scores", s, {3}, {2, 0, 4, 0.25, 8, 0.25}), rule, "router");
      const std::vector<int32_t> branches =
          all_slots ? std::vector<int32_t>{kAllBranches} : std::vector<int32_t>{0, 1, 2};
      std::vector<ValueId> parts = h.scatter(x, d, branches);
      for (ValueId& part : parts) {
        const SpaceId space = h.graph().value(part).type.space;
        part = h.value("multiply", {part, h.value("choice_weight", {d}, {{"space", int64_t{space}}})});
      }
      compare(h.result(h.gather(parts, s, "sum")).reals, {6, 12, 24, 32});
    }
  }
  void a_sum_multiplies_rows_by_their_factors() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2));
    Protocol rule;
    rule.kind = ProtocolKind::threshold;
    rule.threshold = 0.5f;
    const ValueId d = h.route(h.reals("scores", s, {3}, {2, 0, 4, 0.25, 8, 0.25}), rule, "router");
    std::vector<ValueId> inputs = h.scatter(h.reals("x", s, {2}, {1, 2, 3, 4}), d, {0, 1, 2});
    const SpaceId last = h.graph().value(inputs[2]).type.space;
    inputs.push_back(h.value("choice_weight", {d}, {{"space", int64_t{last}}}));
    const Attributes attributes{
        {"space", int64_t{s}}, {"mode", std::string("sum")}, {"factors", std::vector<int64_t>{2}}};
    // Cell 0 goes to branches 0 and 2, of which the last counts four times; cell 1 to branch 1.
    compare(h.result(h.value("gather", inputs, attributes)).reals, {5, 10, 3, 4});
  }
  void a_choice_s_weight_is_told_of_all_cells() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 3));
    Protocol rule;
    rule.kind = ProtocolKind::threshold;
    rule.threshold = 0.5f;
    const ValueId d = h.route(h.reals("scores", s, {2}, {2, 4, 0, 8, 0.25, 0}), rule, "router");
    const auto of = [&](int64_t branch) {
      return h.value("choice_weight", {d}, {{"space", int64_t{s}}, {"branch", branch}});
    };
    const ValueId both = h.value("multiply", {h.reals("x", s, {1}, {1, 10, 100}), of(0)});
    compare(h.result(h.value("add", {both, h.value("multiply", {h.reals("y", s, {1}, {3, 30, 300}), of(1)})})).reals,
            {14, 240, 0});
  }
  void zeros_for_each_cell() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2));
    const ValueId z = h.value("zeros", {}, {{"space", int64_t{s}}, {"shape", std::vector<int64_t>{1, 2}}});
    compare(h.result(h.value("add", {z, h.reals("x", s, {1, 2}, {1, -2, 3, 4})})).reals, {1, -2, 3, 4});
  }
  void weights_of_routers_within_branches_multiply() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2));
    const ValueId x = h.reals("x", s, {1}, {10, 100});
    Protocol rule;
    rule.kind = ProtocolKind::threshold;
    rule.threshold = 0.5f;
    const ValueId outer = h.route(h.reals("outer", s, {2}, {2, 0, 3, 4}), rule, "o");
    const std::vector<ValueId> parts = h.scatter(x, outer, {0, 1});
    const ValueId inner = h.route(h.scatter(h.reals("inner", s, {2}, {5, 0, 0, 7}), outer, {0})[0], rule, "i");
    std::vector<ValueId> inside = h.scatter(parts[0], inner, {0, 1});
    std::vector<ValueId> weighed;
    const auto weigh = [&](ValueId v, ValueId decision) {
      return h.value("multiply",
                     {v, h.value("choice_weight", {decision}, {{"space", int64_t{h.graph().value(v).type.space}}})});
    };
    // Rows of grandchildren, by the weights of both decisions: the outer one's is scattered as any value is.
    const ValueId of_outer =
        h.value("choice_weight", {outer}, {{"space", int64_t{h.graph().value(parts[0]).type.space}}});
    const std::vector<ValueId> passed = h.scatter(of_outer, inner, {0, 1});
    for (size_t i = 0; i < 2; ++i) weighed.push_back(h.value("multiply", {weigh(inside[i], inner), passed[i]}));
    weighed.push_back(weigh(parts[1], outer));
    compare(h.result(h.gather(weighed, s, "sum")).reals, {10 * 2 * 5, 100 * 3 * 7 + 100 * 4});
  }
  void a_row_times_its_number() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2));
    const ValueId y =
        h.value("multiply", {h.reals("x", s, {1, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8}), h.reals("f", s, {}, {10, -1})});
    compare(h.result(y).reals, {10, 20, 30, 40, -5, -6, -7, -8});
  }
  void a_row_times_the_one_number_of_another_row() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2));
    const ValueId y = h.value("multiply", {h.reals("x", s, {2}, {1, 2, 3, 4}), h.reals("f", s, {1}, {10, -1})});
    compare(h.result(y).reals, {10, 20, -3, -4});
  }
  void one_number_a_cell_is_the_score_of_one_branch() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 3));
    Protocol rule;
    rule.kind = ProtocolKind::threshold;
    rule.threshold = 0.5f;
    const ValueId d = h.route(h.reals("came", s, {}, {2, 0, 1}), rule, "router");
    compare(h.result(h.gather(h.scatter(h.reals("x", s, {1}, {3, 5, 7}), d, {0}), s, "sum")).reals, {3, 0, 7});
  }

  void a_norm_stands_beside_its_product() {
    // Factors 2 / sqrt(4) and 6 / sqrt(4); shifts 1 + (0 - 5) * 1 and 1 + (2 - 9) * 3.
    for (const bool maps : {false, true}) {
      Hand h;
      h.weights->add("gamma", DType::f32, {2}, {2, 6});
      h.weights->add("variance", DType::f32, {2}, {4, 4});
      h.weights->add("beta", DType::f32, {2}, {1, 1});
      h.weights->add("mean", DType::f32, {2}, {5, 9});
      h.weights->add("bias", DType::f32, {2}, {0, 2});
      const std::vector<int64_t> shape = maps ? std::vector<int64_t>{2, 1, 1, 2} : std::vector<int64_t>{2, 2};
      h.weights->add("w", DType::f32, shape, {1, 2, 3, 4});
      const ValueId w = h.made(R"(scale("w", batch_norm_scale("gamma", "variance", eps=0)))", DType::f32, shape),
                    shift = h.made(R"(batch_norm_shift("beta", "mean", "gamma", "variance", "bias", eps=0))",
                                   DType::f32, {2});
      const SpaceId s = h.root_space("s", h.bound("N", 1));
      const ValueId x = maps ? h.reals("x", s, {1, 2, 2}, {1, 2, 10, 20}) : h.reals("x", s, {2}, {1, 2});
      const ValueId y = h.value(maps ? "conv2d" : "linear", {x, w, shift}, {{"extras", std::string("bias")}});
      compare(h.result(y).reals, maps ? std::vector<double>{1, 13, 46, 310} : std::vector<double>{1, 13});
    }
  }
  void weights_are_read_in_the_format_that_their_recipe_says() {
    const auto product = [](const char* recipe, DType dtype) {
      Hand h;
      h.weights->add("w", DType::f32, {2, 1}, {1 + 0x1p-9f, 1 + 0x1p-12f});
      const ValueId x = h.reals("x", h.root_space("s", h.bound("N", 1)), {1}, {1});
      return h.result(h.value("linear", {x, h.made(recipe, dtype, {2, 1})})).reals;
    };
    QCOMPARE(product("\"w\"", DType::f32), (std::vector<double>{1 + 0x1p-9, 1 + 0x1p-12}));
    QCOMPARE(product("convert(\"w\", f16)", DType::f16), (std::vector<double>{1 + 0x1p-9, 1}));
    QCOMPARE(product("convert(\"w\", bf16)", DType::bf16), (std::vector<double>{1, 1}));
    QCOMPARE(product("convert(slice(\"w\", 0, 2), bf16)", DType::bf16), (std::vector<double>{1, 1}));
  }

  void resizing_between_the_middles_of_pixels_data() {
    QTest::addColumn<QString>("mode");
    QTest::addColumn<int>("from");
    QTest::addColumn<int>("to");
    QTest::addColumn<QList<double>>("expected");
    QTest::newRow("nearest, up") << "nearest" << 2 << 5 << QList<double>{1, 1, 1, 2, 2};
    QTest::newRow("nearest, down") << "nearest" << 5 << 2 << QList<double>{1, 3};
    QTest::newRow("bilinear, twice") << "bilinear" << 2 << 4 << QList<double>{1, 1.25, 1.75, 2};
    QTest::newRow("bilinear, half") << "bilinear" << 4 << 2 << QList<double>{1.5, 3.5};
    QTest::newRow("bilinear, the same") << "bilinear" << 3 << 3 << QList<double>{1, 2, 3};
    QTest::newRow("bilinear, three of two") << "bilinear" << 2 << 3 << QList<double>{1, 1.5, 2};
    QTest::newRow("bilinear, of one") << "bilinear" << 1 << 3 << QList<double>{1, 1, 1};
  }
  void resizing_between_the_middles_of_pixels() {
    QFETCH(QString, mode);
    QFETCH(int, from);
    QFETCH(int, to);
    QFETCH(QList<double>, expected);
    std::vector<double> line;
    for (int i = 0; i < from; ++i) line.push_back(i + 1);
    const std::vector<double> wanted(expected.begin(), expected.end());
    for (const bool down : {false, true}) {
      Hand h;
      const SpaceId s = h.root_space("s", h.bound("N", 1));
      const ValueId x = h.reals("x", s, down ? std::vector<Dim>{from, 1, 1} : std::vector<Dim>{1, from, 1}, line);
      const ValueId y = h.value(
          "resize", {x},
          {{"height", int64_t{down ? to : 1}}, {"width", int64_t{down ? 1 : to}}, {"mode", mode.toStdString()}});
      compare(h.result(y).reals, wanted);
    }
  }
  void resizing_both_sides_keeps_channels_apart() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1));
    const ValueId x = h.reals("x", s, {2, 2, 2}, {0, 100, 4, 104, 8, 108, 12, 112});
    const ValueId y =
        h.value("resize", {x}, {{"height", int64_t{1}}, {"width", int64_t{4}}, {"mode", std::string("bilinear")}});
    compare(h.result(y).reals, {4, 104, 5, 105, 7, 107, 8, 108});
  }

  void patches_are_cells_and_the_last_are_shifted_back() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2)), patches = h.dense_space("patches", s, 6);
    std::vector<double> pixels;
    for (int i = 0; i < 2 * 3 * 5; ++i) pixels.push_back(i);
    const ValueId x = h.reals("x", s, {3, 5, 1}, pixels);
    const ValueId y =
        h.value("unfold", {x},
                {{"space", int64_t{patches}}, {"height", int64_t{2}}, {"width", int64_t{2}}, {"stride", int64_t{2}}});
    std::vector<double> expected;
    for (const int first : {0, 15})
      for (const int at : {0, 2, 3, 5, 7, 8})  // rows 0 and 1, columns 0, 2 and 3
        for (const int pixel : {0, 1, 5, 6}) expected.push_back(first + at + pixel);
    compare(h.result(y).reals, expected);
  }
  void pixels_behind_the_last_whole_step_may_be_cut() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1)), patches = h.dense_space("patches", s, 2);
    std::vector<double> pixels;
    for (int i = 0; i < 3 * 5; ++i) pixels.push_back(i);
    const ValueId x = h.reals("x", s, {3, 5, 1}, pixels);
    const ValueId y = h.value("unfold", {x},
                              {{"space", int64_t{patches}},
                               {"height", int64_t{2}},
                               {"width", int64_t{2}},
                               {"stride", int64_t{2}},
                               {"border", std::string("cut")}});
    compare(h.result(y).reals, {0, 1, 5, 6, 2, 3, 7, 8});
  }
  void folding_what_was_unfolded_gives_the_picture() {
    for (const auto& [height, width, patch_h, patch_w, stride] :
         {std::array<int64_t, 5>{3, 5, 2, 2, 2}, {7, 4, 3, 2, 1}, {6, 6, 6, 6, 6}, {5, 5, 3, 4, 3}, {9, 8, 4, 3, 2}}) {
      Hand h;
      const auto steps = [&, &stride = stride](int64_t extent, int64_t patch) {
        return (extent - patch + stride - 1) / stride + 1;
      };
      const SpaceId s = h.root_space("s", h.bound("N", 2)),
                    patches = h.dense_space("patches", s, steps(height, patch_h) * steps(width, patch_w));
      std::vector<double> pixels;
      for (int64_t i = 0; i < 2 * height * width * 3; ++i) pixels.push_back(std::sin(static_cast<double>(i)));
      const ValueId x = h.reals("x", s, {height, width, 3}, pixels);
      const ValueId cut = h.value(
          "unfold", {x}, {{"space", int64_t{patches}}, {"height", patch_h}, {"width", patch_w}, {"stride", stride}});
      compare(h.result(h.value("fold", {cut}, {{"height", height}, {"width", width}, {"stride", stride}})).reals,
              pixels);
    }
  }
  void where_patches_overlap_their_mean_stands() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1)), patches = h.dense_space("patches", s, 3);
    // Three patches of two columns in a row of four: they begin at 0, 1 and 2.
    const ValueId y = h.reals("y", patches, {1, 2, 1}, {1, 2, 3, 4, 5, 6});
    compare(
        h.result(h.value("fold", {y}, {{"height", int64_t{1}}, {"width", int64_t{4}}, {"stride", int64_t{1}}})).reals,
        {1, 2.5, 4.5, 6});
  }

  void pixels_are_shuffled_out_of_channels() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1));
    // One row of two pixels, two channels of 2 x 2 each.
    const ValueId x = h.reals("x", s, {1, 2, 8}, {0, 1, 2, 3, 10, 11, 12, 13, 4, 5, 6, 7, 14, 15, 16, 17});
    compare(h.result(h.value("pixel_shuffle", {x}, {{"factor", int64_t{2}}})).reals,
            {0, 10, 1, 11, 4, 14, 5, 15, 2, 12, 3, 13, 6, 16, 7, 17});
  }
  void a_convolution_adds_its_residual_behind_the_activation() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1));
    const ValueId x = h.reals("x", s, {1, 2, 1}, {1, -1}), r = h.reals("r", s, {1, 2, 2}, {10, 20, 30, 40});
    const ValueId y = h.value("conv2d", {x, h.held("w", {2, 1, 1, 1}, {2, -3}), h.held("b", {2}, {0.5, 0.25}), r},
                              {{"extras", std::string("bias+residual")}, {"activation", std::string("relu")}});
    compare(h.result(y).reals, {12.5, 20, 30, 43.25});
  }
  void a_convolution_adds_its_residual_before_the_activation() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1));
    const ValueId x = h.reals("x", s, {1, 2, 1}, {1, -1}), r = h.reals("r", s, {1, 2, 2}, {-1, 4, 1, -3});
    // 2.5 - 1, -2.75 + 4, -1.5 + 1, 3.25 - 3.
    const ValueId y = h.value("conv2d", {x, h.held("w", {2, 1, 1, 1}, {2, -3}), h.held("b", {2}, {0.5, 0.25}), r},
                              {{"extras", std::string("bias+residual")},
                               {"activation", std::string("relu")},
                               {"residual_first", int64_t{1}}});
    compare(h.result(y).reals, {1.5, 1.25, 0, 0.25});
  }
  void a_separable_convolution_is_one_of_each_channel_and_one_of_each_pixel() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1));
    // Channels 1, 2, 3 and 10, 20, 30 by (1, 2, 3) and (1, 0, -1): 8, 14, 8 and -20, -20, 20; then a - b and -a.
    const ValueId x = h.reals("x", s, {1, 3, 2}, {1, 10, 2, 20, 3, 30}),
                  r = h.reals("r", s, {1, 3, 2}, {1, 2, 3, 4, 5, 6});
    const ValueId w = h.held("w", {2, 3, 3, 1}, {0, 0, 0, 1, 2, 3, 0, 0, 0, 0, 0, 0, 1, 0, -1, 0, 0, 0});
    const ValueId y = h.value(
        "separable_conv2d", {x, w, h.held("v", {2, 1, 1, 2}, {1, -1, -1, 0}), h.held("b", {2}, {0.5, 10}), r},
        {{"padding", int64_t{1}}, {"extras", std::string("bias+residual")}, {"activation", std::string("relu")}});
    compare(h.result(y).reals, {29.5, 4, 37.5, 4, 5, 8});
  }
  void channels_are_joined() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1));
    const ValueId a = h.reals("a", s, {2, 1}, {1, 2}), b = h.reals("b", s, {2, 2}, {3, 4, 5, 6});
    compare(h.result(h.value("concat", {a, b, a})).reals, {1, 3, 4, 1, 2, 5, 6, 2});
  }
  void channels_are_standardized() {
    for (const bool maps : {false, true}) {
      Hand h;
      const SpaceId s = h.root_space("s", h.bound("N", maps ? 1 : 3));
      const ValueId x = h.reals("x", s, maps ? std::vector<Dim>{3, 1, 2} : std::vector<Dim>{2}, {1, 10, 2, 20, 4, -5});
      const ValueId y = h.value("standardize", {x, h.held("mean", {2}, {2, 10}), h.held("deviation", {2}, {0.5, 5})});
      compare(h.result(y).reals, {-2, 0, 0, 2, 4, -3});
    }
  }
  void rows_are_scored_by_their_distance_to_centres() {
    for (const bool reciprocal : {false, true}) {
      Hand h;
      const SpaceId s = h.root_space("s", h.bound("N", 2));
      const ValueId x = h.reals("x", s, {2}, {1, 2, -1, 0});
      const ValueId centres = h.held("centres", {3, 2}, {1, 2, 4, 6, -1, 2});
      // The first row stands in the first centre: its score is the largest that there is.
      compare(h.result(h.value("squared_distance", {x, centres}, {{"reciprocal", int64_t{reciprocal}}})).reals,
              reciprocal ? std::vector<double>{1e30, 1.0 / 25, 1.0 / 4, 1.0 / 8, 1.0 / 61, 1.0 / 4}
                         : std::vector<double>{0, 25, 4, 8, 61, 4});
    }
  }
  void layers_are_normed_around_their_mean() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2));
    const ValueId x = h.reals("x", s, {2}, {1, 3, 10, 2});
    const ValueId y =
        h.value("layer_norm", {x, h.held("gain", {2}, {2, 3}), h.held("bias", {2}, {1, -1})}, {{"eps", 0.0}});
    compare(h.result(y).reals, {-1, 2, 3, -4});
  }
  void squares_of_cells_become_one() {
    for (const bool by_rows : {false, true}) {
      Hand h;
      const SpaceId s = h.root_space("s", h.bound("N", 2)), cells = h.dense_space("cells", s, 8),
                    fewer = h.dense_space("fewer", s, 2);
      const ValueId x = h.reals("x", cells, {1}, {0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17});
      Attributes grid{{"space", int64_t{fewer}}, {"height", int64_t{2}}, {"width", int64_t{4}}};
      if (by_rows) grid.set("order", std::string("rows"));
      compare(h.result(h.value("merge_cells", {x}, std::move(grid))).reals,
              by_rows ? std::vector<double>{0, 1, 4, 5, 2, 3, 6, 7, 10, 11, 14, 15, 12, 13, 16, 17}
                      : std::vector<double>{0, 4, 1, 5, 2, 6, 3, 7, 10, 14, 11, 15, 12, 16, 13, 17});
    }
  }
  void flat_patches_are_the_same_numbers() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1)), cells = h.dense_space("cells", s, 2);
    const ValueId x = h.reals("x", s, {2, 2, 1}, {1, 2, 3, 4});
    const ValueId y = h.value("unfold", {x},
                              {{"space", int64_t{cells}},
                               {"height", int64_t{2}},
                               {"width", int64_t{1}},
                               {"stride", int64_t{1}},
                               {"flat", int64_t{true}}});
    QCOMPARE(h.graph().value(y).type.content, std::vector<Dim>{2});
    compare(h.result(y).reals, {1, 3, 2, 4});
  }
  /// Scores are alike: a cell gets the mean of those that it sees.
  void shifted_windows_do_not_join_the_ends_of_the_grid() {
    for (const int64_t shift : {0, 1}) {
      Hand h;
      const SpaceId s = h.root_space("s", h.bound("N", 2)), cells = h.dense_space("cells", s, 8);
      const ValueId q = h.reals("q", cells, {1}, std::vector<double>(16, 0)),
                    v = h.reals("v", cells, {1}, {0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17});
      const ValueId y = h.value("window_attention", {q, q, v},
                                {{"heads", int64_t{1}},
                                 {"height", int64_t{2}},
                                 {"width", int64_t{4}},
                                 {"window_height", int64_t{2}},
                                 {"window_width", int64_t{2}},
                                 {"shift_width", shift}});
      compare(h.result(y).reals,
              shift == 1 ? std::vector<double>{2, 3.5, 3.5, 5, 2, 3.5, 3.5, 5, 12, 13.5, 13.5, 15, 12, 13.5, 13.5, 15}
                         : std::vector<double>{2.5, 2.5, 4.5, 4.5, 2.5, 2.5, 4.5, 4.5, 12.5, 12.5, 14.5, 14.5, 12.5,
                                               12.5, 14.5, 14.5});
    }
  }
  void windows_add_a_bias_by_the_query_s_place_less_the_key_s() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1)), cells = h.dense_space("cells", s, 2);
    const ValueId q = h.reals("q", cells, {1}, {0, 0}), v = h.reals("v", cells, {1}, {1, 5});
    const ValueId bias = h.held("bias", {3, 1}, {std::log(3.0F), 0, std::log(7.0F)});
    const ValueId y = h.value("window_attention", {q, q, v, bias},
                              {{"heads", int64_t{1}},
                               {"height", int64_t{1}},
                               {"width", int64_t{2}},
                               {"window_height", int64_t{1}},
                               {"window_width", int64_t{2}},
                               {"extras", std::string("bias")}});
    compare(h.result(y).reals, {(1 + 3 * 5) / 4.0, (7 * 1 + 5) / 8.0});
  }
  void cosine_scores_know_directions_alone() {
    for (const float largest : {std::log(2.0F), 50.0F}) {
      Hand h;
      const SpaceId s = h.root_space("s", h.bound("N", 1)), cells = h.dense_space("cells", s, 2);
      const ValueId q = h.reals("q", cells, {2}, {3, 0, 0, 0.5}), k = h.reals("k", cells, {2}, {0, 2, 5, 0}),
                    v = h.reals("v", cells, {1}, {0, 1});
      const ValueId y = h.value("window_attention", {q, k, v, h.held("scales", {1}, {largest})},
                                {{"heads", int64_t{1}},
                                 {"height", int64_t{2}},
                                 {"width", int64_t{1}},
                                 {"window_height", int64_t{2}},
                                 {"window_width", int64_t{1}},
                                 {"cosine", int64_t{true}},
                                 {"extras", std::string("scales")}});
      const double factor = std::exp(largest < 1 ? 2.0 : 100.0);
      compare(h.result(y).reals, {1 / (1 + 1 / factor), 1 / (1 + factor)});
    }
  }
  void residual_blocks_add_to_what_came() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1));
    const ValueId x = h.reals("x", s, {1, 2, 1}, {1, -1});
    const auto w = [&](const char* name, float value) { return h.held(name, {1, 1, 1, 1}, {value}); };
    const auto b = [&](const char* name, float value) { return h.held(name, {1}, {value}); };
    // 1 + 3 relu(2 + 0.5) + 0.25 and -1 + 3 relu(-2 + 0.5) + 0.25; then x + relu(-x).
    const ValueId y = h.value("residual_blocks", {x, w("w", 2), b("b", 0.5), w("v", 3), b("d", 0.25), w("w2", -1),
                                                  b("b2", 0), w("v2", 1), b("d2", 0)});
    compare(h.result(y).reals, {8.75, 0});
  }
  void maps_of_all_branches_meet_their_own_weights() {
    for (const bool blocks : {false, true}) {
      Hand h;
      const SpaceId s = h.root_space("s", h.bound("N", 3));
      const ValueId x = h.reals("x", s, {1, 2, 1}, {1, -1, 2, 3, 4, 5});
      Protocol by_label;
      by_label.kind = ProtocolKind::label;
      // Map 1 goes to branch 0, maps 0 and 2 to branch 2; branch 1 is absent.
      const ValueId d = h.route(h.integers("labels", s, {2, 0, 2}), by_label, "d", 3);
      const SpaceId all = h.routed_space(d, kAllBranches);
      const auto w = [&](const char* name, float value) { return h.held(name, {1, 1, 1, 1}, {value}); };
      const auto b = [&](const char* name, float value) { return h.held(name, {1}, {value}); };
      const Attributes of{{"branches", std::vector<int64_t>{0, 2}}, {"slots", int64_t{all}}};
      Attributes of_conv = of;
      of_conv.set("biases", int64_t{1});
      of_conv.set("activation", std::string("relu"));
      const ValueId y =
          blocks ? h.value("grouped_residual_blocks",
                           {x, d, w("w0", 2), w("w2", -1), b("b0", 0.5), b("b2", 1), w("v0", 3), w("v2", 1),
                            b("d0", 0.25), b("d2", 0)},
                           of)
                 : h.value("grouped_conv2d", {x, d, w("w0", 10), w("w2", 2), b("b0", 1), b("b2", 0)}, of_conv);
      // relu(10 x + 1) and relu(2 x); x + 3 relu(2 x + 0.5) + 0.25 and x + relu(1 - x).
      compare(h.result(h.gather({y}, s, "sum")).reals,
              blocks ? std::vector<double>{1, 1, 2 + 13.5 + 0.25, 3 + 19.5 + 0.25, 4, 5}
                     : std::vector<double>{2, 0, 21, 31, 8, 10});
    }
  }
  void rows_of_all_branches_meet_their_own_norms() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 3));
    const ValueId x = h.reals("x", s, {2}, {1, 3, 5, 4, 0, 8});
    Protocol by_label;
    by_label.kind = ProtocolKind::label;
    const ValueId d = h.route(h.integers("labels", s, {1, 0, 0}), by_label, "d", 2);
    const auto two = [&](const char* name, float first, float second) { return h.held(name, {2}, {first, second}); };
    const ValueId y = h.value(
        "grouped_layer_norm", {x, d, two("g0", 2, 3), two("g1", 10, 20), two("b0", 0.5, 0), two("b1", 0, 1)},
        {{"branches", std::vector<int64_t>{0, 1}}, {"slots", int64_t{h.routed_space(d, kAllBranches)}}, {"eps", 0.0}});
    // Each row is -1, 1 or 1, -1 of its own mean and deviation.
    compare(h.result(h.gather({y}, s, "sum")).reals, {-10, 21, 2.5, -3, -1.5, 3});
  }
  void residual_blocks_see_their_neighbours() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1));
    const ValueId x = h.reals("x", s, {1, 3, 1}, {1, 2, 3});
    const ValueId ones = h.held("w", {1, 3, 3, 1}, std::vector<float>(9, 1)), none = h.held("b", {1}, {0});
    // Sums of neighbours: 3 6 5, and of those: 9 14 11.
    compare(h.result(h.value("residual_blocks", {x, ones, none, ones, none})).reals, {10, 16, 14});
  }
  void padding_never_wins_and_counts_as_zeros() {
    for (const bool most : {true, false}) {
      Hand h;
      const SpaceId s = h.root_space("s", h.bound("N", 1));
      const ValueId x = h.reals("x", s, {2, 2, 1}, {-1, -2, -3, -4});
      const ValueId y = h.value("pool", {x},
                                {{"kind", std::string(most ? "max" : "average")},
                                 {"size", int64_t{2}},
                                 {"stride", int64_t{1}},
                                 {"padding", int64_t{1}}});
      compare(h.result(y).reals, most ? std::vector<double>{-1, -1, -2, -1, -1, -2, -3, -3, -4}
                                      : std::vector<double>{-0.25, -0.75, -0.5, -1, -2.5, -1.5, -0.75, -1.75, -1});
    }
  }
};
STORMCELL_TEST(ImageOperatorsTest)
#include "image_operators_test.moc"

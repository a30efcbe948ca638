// Task quality: intervals, what is right of a batch, two plans item by item, and labels that do not match.
#include <cmath>
#include <limits>

#include "core/formats/safetensors_writer.h"
#include "core/quality/interval.h"
#include "core/quality/quality_meter.h"
#include "core/quality/task.h"
#include "core/summary/quality_text.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/complaint.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

Model classifier(std::vector<std::string> names = {}) {
  Model model;
  model.classes = std::move(names);
  model.answer = {Task::classification, "logits", 3};
  return model;
}

/// Pictures of one pixel, in batches of two.
std::shared_ptr<const Dataset> pictures(const std::string& spec, const Model& model) {
  DataOptions options;
  options.batch = 2;
  options.classes = model.classes;
  options.inputs = {{"pixels", DType::f32, InputRole::pixels, "picture", "", 1, {1, 1, 1}, 0}};
  return Dataset::open(spec, nullptr, options);
}

std::string labelled(const Scratch& scratch, const std::vector<int32_t>& labels) {
  const std::vector<float> pixels(labels.size(), 0.5F);
  const auto items = static_cast<int64_t>(labels.size());
  write_safetensors(scratch.path("x.safetensors"),
                    std::vector<TensorToWrite>{{"pixels", DType::f32, {items, 1, 1, 1}, pixels.data()},
                                               {"labels", DType::i32, {items}, labels.data()}});
  return scratch.path("x.safetensors");
}

/// The batches from `from` up to `end`, each once, with these answers of the items.
void answer_from(int64_t from, int64_t end, QualityMeter& meter, JudgedAs plan, const Dataset& data,
                 const std::vector<int32_t>& classes) {
  for (int64_t b = from; b < end; ++b) {
    const Batch batch = data.batch(b);
    OutputValue logits{"logits", DType::f32, {batch.size(), 3}, {}, {}};
    for (const int64_t item : batch.items)
      for (int32_t c = 0; c < 3; ++c) logits.reals.push_back(c == classes[static_cast<size_t>(item)] ? 2.0F : 0.5F);
    meter.add(plan, batch, {{"other", DType::f32, {1}, {9.0F}, {}}, logits});
  }
}

/// Every batch once.
void answer(QualityMeter& meter, JudgedAs plan, const Dataset& data, const std::vector<int32_t>& classes) {
  answer_from(0, data.batch_count(), meter, plan, data, classes);
}

}  // namespace

class QualityTest : public QObject {
  Q_OBJECT
 private slots:
  /// By the formula, in double precision; 989 of 1,000 is the demo's.
  void wilson_s_interval_is_that_of_the_formula() {
    const auto near = [](int64_t right, int64_t of, double low, double high) {
      const auto [a, b] = *wilson_interval(right, of);
      return std::fabs(a - low) < 1e-6 && std::fabs(b - high) < 1e-6;
    };
    QVERIFY(near(989, 1000, 0.9804106, 0.9938468));
    QVERIFY(near(5, 10, 0.2365931, 0.7634069));
    QVERIFY(near(0, 10, 0, 0.2775328));
    QVERIFY(near(10, 10, 0.7224672, 1));
    QVERIFY(!wilson_interval(0, 0));
  }

  void two_plans_are_counted_and_compared_item_by_item() {
    const Scratch scratch;
    const Model model = classifier({"cat", "dog", "owl"});
    const auto data = pictures(labelled(scratch, {0, 1, 2, 2, 1}), model);
    QualityMeter meter(model, *data);
    QVERIFY(meter.open());
    answer(meter, JudgedAs::baseline, *data, {0, 1, 2, 0, 0});
    answer(meter, JudgedAs::optimized, *data, {0, 1, 0, 2, 1});
    std::vector<std::string> warnings;
    const QualityFigures q = meter.figures(warnings).value();
    QVERIFY(warnings.empty());
    QCOMPARE(q.measure, std::string("accuracy"));
    QCOMPARE(q.items, int64_t{5});
    QCOMPARE(q.not_judged, int64_t{0});
    QCOMPARE(q.baseline->value, 0.6);
    QCOMPARE(q.baseline->counted.value(), int64_t{3});
    QCOMPARE(q.optimized->value, 0.8);
    QVERIFY(q.optimized->value_ci95 == wilson_interval(4, 5));
    QCOMPARE(q.better.value(), int64_t{2});
    QCOMPARE(q.worse.value(), int64_t{1});
    QCOMPARE(q.groups.size(), size_t{3});
    QCOMPARE(q.groups[1].name, std::string("dog"));
    QCOMPARE(q.groups[1].items, int64_t{2});
    QCOMPARE(q.groups[1].baseline.value(), 0.5);
    QCOMPARE(q.groups[1].optimized.value(), 1.0);
    QCOMPARE(q.wrong.size(), size_t{2});
    QVERIFY(q.wrong[0].item == 3 && q.wrong[0].answer == "cat" && q.wrong[1].item == 4 && q.wrong[1].answer == "cat");
    QCOMPARE(quality_sentence(q, *q.baseline), std::string("60.0 % [23.1, 88.2], 3 of 5 pictures right"));
    QCOMPARE(quality_change_text(q),
             std::string("the optimised plan answers 2 pictures better than the baseline and 1 worse"));
    QCOMPARE(quality_source_text(q), std::string("over all batches, each once; 95 % interval by Wilson"));
  }

  /// A time limit can leave one picture, of which nothing follows for others.
  void a_single_item_is_not_judged_and_a_claim_names_how_many_it_is_of() {
    QualityFigures q;
    q.measure = "accuracy", q.unit = "share", q.counts = "right", q.item = "picture";
    q.items = 1, q.better = q.worse = 0;
    q.baseline = q.optimized = PlanQuality{1, {}, 1, 1};
    QCOMPARE(quality_sentence(q, *q.optimized), std::string("not judged (1 picture)"));
    QCOMPARE(plan_quality_text(q, *q.optimized), std::string("not judged"));
    QVERIFY(quality_change_text(q).empty());
    q.items = 60;
    QCOMPARE(quality_change_text(q),
             std::string("the optimised plan answers each of the 60 pictures as well as the baseline"));
  }

  /// A time limit ends the optimised plan after some batches. Both plans are judged on those; the baseline is not
  /// judged on all.
  void plans_that_ran_unlike_batches_are_judged_on_those_that_both_ran() {
    struct Row {
      const char* name;
      int64_t from, end;  // of the optimised plan
      int64_t items, right_before, right_after, better, worse;
      const char* source;
    };
    // Correct pictures of the baseline: 0, 1 and 4. Correct pictures of the optimised plan: 0, 2, 4 and 5.
    const std::vector<Row> rows = {{"the first two of three", 0, 2, 4, 2, 2, 1, 1,
                                    "over the 2 batches that both plans ran before the time was up, each once"},
                                   {"the first alone", 0, 1, 2, 2, 1, 0, 1,
                                    "over the 1 batch that both plans ran before the time was up, each once"},
                                   {"the last two", 1, 3, 4, 1, 3, 2, 0,
                                    "over the 2 batches that both plans ran before the time was up, each once"},
                                   {"all", 0, 3, 6, 3, 4, 2, 1, "over all batches, each once"}};
    const Scratch scratch;
    const Model model = classifier();
    const auto data = pictures(labelled(scratch, {0, 1, 2, 2, 1, 0}), model);
    for (const Row& row : rows) {
      QualityMeter meter(model, *data);
      answer(meter, JudgedAs::baseline, *data, {0, 1, 0, 0, 1, 2});
      answer_from(row.from, row.end, meter, JudgedAs::optimized, *data, {0, 0, 2, 0, 1, 0});
      std::vector<std::string> warnings;
      const QualityFigures q = meter.figures(warnings).value();
      QVERIFY2(q.items == row.items && q.baseline->items == row.items && q.optimized->items == row.items, row.name);
      QVERIFY2(q.baseline->counted == row.right_before && q.optimized->counted == row.right_after, row.name);
      QVERIFY2(q.better == row.better && q.worse == row.worse && q.not_judged == 0, row.name);
      QVERIFY2(q.batches.has_value() == (row.items < 6) && quality_source_text(q).starts_with(row.source), row.name);
      int64_t of_groups = 0;
      for (const GroupQuality& g : q.groups) of_groups += g.items;
      QVERIFY2(of_groups == row.items, row.name);
      QVERIFY2(static_cast<int64_t>(q.wrong.size()) == row.items - row.right_before, row.name);
    }
  }

  void labels_that_are_no_class_are_left_out_and_said() {
    const Scratch scratch;
    const Model model = classifier();
    const auto data = pictures(labelled(scratch, {0, 7, -1, 2}), model);
    QualityMeter meter(model, *data);
    answer(meter, JudgedAs::baseline, *data, {0, 1, 2, 2});
    std::vector<std::string> warnings;
    const QualityFigures q = meter.figures(warnings).value();
    QCOMPARE(q.items, int64_t{2});
    QCOMPARE(q.not_judged, int64_t{2});
    QCOMPARE(q.baseline->value, 1.0);
    QVERIFY(!q.optimized && !q.better);
    QCOMPARE(q.groups.size(), size_t{2});
    QCOMPARE(q.groups[1].name, std::string("2"));
    QCOMPARE(warnings.size(), size_t{1});
    QVERIFY2(warnings[0].find("2 labels are not classes of the model, which has 3; the first is \"7\", of picture 1") !=
                 std::string::npos,
             warnings[0].c_str());
    QCOMPARE(quality_source_text(q), std::string("over all batches, each once; 95 % interval by Wilson; of 2 pictures "
                                                 "more the data do not say what is right"));
  }

  void answers_that_are_no_numbers_are_wrong() {
    constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kLowest = -std::numeric_limits<float>::infinity();
    const float of_equal[] = {1, 2, 2}, broken[] = {1, kNan, 2}, none[] = {kLowest, kLowest, kLowest},
                some[] = {kLowest, -3, kLowest};
    QCOMPARE(largest_class(of_equal, 3), 1);
    QCOMPARE(largest_class(broken, 3), -1);
    QCOMPARE(largest_class(none, 3), -1);
    QCOMPARE(largest_class(some, 3), 1);
    const Scratch scratch;
    const Model model = classifier();
    const auto data = pictures(labelled(scratch, {0, 0, 1, 2}), model);
    QualityMeter meter(model, *data);
    for (int64_t b = 0; b < data->batch_count(); ++b) {
      const Batch batch = data->batch(b);
      OutputValue logits{"logits", DType::f32, {batch.size(), 3}, {}, {}};
      for (const int64_t item : batch.items)
        for (const float value : item == 0 ? broken : item == 1 ? none : of_equal) logits.reals.push_back(value);
      meter.add(JudgedAs::baseline, batch, {logits});
    }
    std::vector<std::string> warnings;
    const QualityFigures q = meter.figures(warnings).value();
    QCOMPARE(q.items, int64_t{4});
    QCOMPARE(q.baseline->value, 0.25);
    QCOMPARE(warnings.size(), size_t{1});
    QVERIFY2(warnings[0].ends_with("2 answers hold values that are not numbers, and count as wrong"),
             warnings[0].c_str());
  }

  void answers_of_more_or_fewer_classes_than_the_model_has_are_an_error() {
    const Scratch scratch;
    const Model model = classifier();
    const auto data = pictures(labelled(scratch, {0, 1}), model);
    QualityMeter meter(model, *data);
    for (const size_t values : {size_t{0}, size_t{4}, size_t{8}}) {
      const OutputValue logits{"logits", DType::f32, {}, std::vector<float>(values, 0.5F), {}};
      const std::string said = complaint([&] { meter.add(JudgedAs::baseline, data->batch(0), {logits}); });
      const std::string expected =
          "the answers to batch 0 hold " + std::to_string(values) + " values, the classes of its items 6";
      QVERIFY2(said.find(expected) != std::string::npos, said.c_str());
    }
  }

  void folders_name_the_classes_of_a_model_that_names_none() {
    const Scratch scratch;
    const float pixel = 0.5F;
    for (const char* file : {"ant/1.npy", "bee/1.npy", "bee/2.npy", "cow/1.npy"})
      scratch.write(file, npy_of("(1, 1, 1)", "<f4", std::vector<float>{pixel}));
    const Model model = classifier();
    const auto data = pictures(scratch.path(""), model);
    QualityMeter meter(model, *data);
    // By turns: a bee, the ant, the cow, the other bee.
    answer(meter, JudgedAs::baseline, *data, {1, 0, 2, 2});
    std::vector<std::string> warnings;
    const QualityFigures q = meter.figures(warnings).value();
    QCOMPARE(q.baseline->counted.value(), int64_t{3});
    QCOMPARE(q.groups[1].name, std::string("bee"));
    QVERIFY2(warnings.at(0).find("\"ant\" is class 0") != std::string::npos, warnings[0].c_str());
    // Fewer folders than classes have no order that could be known.
    scratch.write("few/ant/1.npy", npy_of("(1, 1, 1)", "<f4", std::vector<float>{pixel}));
    const QualityMeter few(model, *pictures(scratch.path("few"), model));
    QVERIFY(!few.open());
    std::vector<std::string> said;
    QVERIFY(!few.figures(said));
    QVERIFY2(said.at(0).find("the folders name 1 class, the model has 3") != std::string::npos, said[0].c_str());
  }

  /// If all folders are needed, an empty one is a class that the data have no picture of.
  void an_empty_folder_is_a_class_only_where_one_is_missing() {
    const Scratch scratch;
    for (const char* file : {"d/ant/1.npy", "d/bee/1.npy"})
      scratch.write(file, npy_of("(1, 1, 1)", "<f4", std::vector<float>{0.5F}));
    std::filesystem::create_directories(scratch.path("d/ape"));
    const Model model = classifier();
    const auto judged = [&](std::vector<std::string>& warnings) {
      const auto data = pictures(scratch.path("d"), model);
      QualityMeter meter(model, *data);
      answer(meter, JudgedAs::baseline, *data, std::vector<int32_t>(static_cast<size_t>(data->items()), 2));
      return meter.figures(warnings).value().baseline->counted.value();
    };
    std::vector<std::string> of_three, of_four;
    QCOMPARE(judged(of_three), int64_t{1});  // ant, ape, bee
    QCOMPARE(of_three.size(), size_t{1});
    scratch.write("d/cow/1.npy", npy_of("(1, 1, 1)", "<f4", std::vector<float>{0.5F}));
    QCOMPARE(judged(of_four), int64_t{1});  // ant, bee, cow
    QCOMPARE(of_four.size(), size_t{2});
    QVERIFY2(
        of_four[0].ends_with(
            "\"ape\" is not taken for a class: the folders that hold pictures are as many as the model's classes, 3"),
        of_four[0].c_str());
  }

  void without_labels_or_a_task_there_is_no_quality() {
    const Scratch scratch;
    const Model model = classifier();
    const auto plain = pictures("random:3", model);
    QVERIFY(!QualityMeter(model, *plain).open());
    Model other = classifier();
    other.answer = {};
    QVERIFY(!QualityMeter(other, *pictures(labelled(scratch, {0, 1}), other)).open());
    std::vector<std::string> warnings;
    QVERIFY(!QualityMeter().figures(warnings));
    QVERIFY(warnings.empty());
  }
};

STORMCELL_TEST(QualityTest)

}  // namespace stormcell::testing

#include "quality_test.moc"

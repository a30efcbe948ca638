// Maps of classes against what pixels show: IoU by hand, pixels that do not count, two plans, and targets that do not
// fit.
#include <cmath>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/formats/safetensors_writer.h"
#include "core/graph/builder.h"
#include "core/quality/quality_meter.h"
#include "core/summary/quality_text.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::segmentation_test {
namespace {

constexpr int64_t kSide = 2, kPixels = kSide * kSide, kClasses = 3, kPictures = 3;

/// Pixels of three channels are the logits of three classes.
Model segmenter(Task task = Task::segmentation) {
  GraphBuilder b;
  const SpaceId pictures = b.root_space("picture", b.symbol("N"));
  const ValueId pixels =
      b.input("pixels", DType::f32, pictures, {Dim(kSide), Dim(kSide), Dim(kClasses)}, InputRole::pixels);
  b.output("logits", b.value("scale", {pixels}, {{"factor", 1.0}}, "logits"));
  Model model;
  model.forward = std::make_shared<Graph>(b.finish());
  model.picture = {kSide, kSide};
  model.answer = {task, "logits", kClasses};
  model.classes = {"road", "tree"};  // the third has no name
  return model;
}

std::shared_ptr<const Dataset> pictures(const std::string& file) {
  DataOptions options;
  options.batch = 2;
  options.inputs = {{"pixels", DType::f32, InputRole::pixels, "picture", "", 1, {kSide, kSide, kClasses}, 0}};
  return Dataset::open(file, nullptr, options);
}

void write(const std::string& path, const std::vector<TensorToWrite>& tensors) { write_safetensors(path, tensors); }

using Map = std::vector<int32_t>;  // classes of the pixels of all pictures
std::string written(const Scratch& scratch, const Map& targets, std::vector<uint8_t> judged = {},
                    std::vector<int64_t> shape = {kPictures, kSide, kSide}) {
  const std::vector<float> pixels(kPictures * kPixels * kClasses, 0.5F);
  std::vector<TensorToWrite> tensors = {{"pixels", DType::f32, {kPictures, kSide, kSide, kClasses}, pixels.data()},
                                        {"targets", DType::i32, std::move(shape), targets.data()}};
  if (!judged.empty()) tensors.push_back({"judged", DType::u8, {kPictures, kSide, kSide}, judged.data()});
  write_safetensors(scratch.path("x.safetensors"), tensors);
  return scratch.path("x.safetensors");
}

/// A map of which every pixel's largest logit is that of its class.
void answer(QualityMeter& meter, JudgedAs plan, const Dataset& data, const Map& classes) {
  for (int64_t b = 0; b < data.batch_count(); ++b) {
    const Batch batch = data.batch(b);
    OutputValue out{"logits", DType::f32, {batch.size(), kSide, kSide, kClasses}, {}, {}};
    for (const int64_t item : batch.items)
      for (int64_t p = 0; p < kPixels; ++p)
        for (int32_t c = 0; c < kClasses; ++c)
          out.reals.push_back(classes[static_cast<size_t>(item * kPixels + p)] == c ? 1.0F : -1.0F);
    meter.add(plan, batch, {out});
  }
}

bool near(double a, double b) { return std::fabs(a - b) < 1e-9; }
bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const Map kShown = {0, 0, 1, 1, 0, 0, 0, 0, 2, 1, 1, 1};

}  // namespace

class SegmentationTest : public QObject {
  Q_OBJECT
 private slots:
  void each_class_is_what_both_have_of_what_either_has_and_the_measure_is_their_mean() {
    const Scratch scratch;
    const Model model = segmenter();
    const auto data = pictures(written(scratch, kShown));
    QualityMeter meter(model, *data);
    QVERIFY(meter.open());
    answer(meter, JudgedAs::baseline, *data, {0, 0, 1, 0, 0, 0, 0, 2, 1, 1, 1, 2});
    std::vector<std::string> warnings;
    const QualityFigures q = meter.figures(warnings).value();
    QVERIFY(warnings.empty());
    QVERIFY(q.task == "segmentation" && q.measure == "mean IoU" && q.unit == "share" && q.interval == "bootstrap");
    // Class 0: in pictures 0 and 1 both have 2 + 3 pixels, either has 3 + 4. Class 1: 1 + 2 of 2 + 4. Class 2: none of
    // 1 + 2.
    QCOMPARE(q.groups.size(), size_t{3});
    QVERIFY(q.groups[0].name == "road" && q.groups[1].name == "tree" && q.groups[2].name == "2");
    QVERIFY(near(*q.groups[0].baseline, 5.0 / 7) && near(*q.groups[1].baseline, 3.0 / 6) &&
            near(*q.groups[2].baseline, 0));
    QVERIFY(q.groups[0].items == 2 && q.groups[1].items == 2 && q.groups[2].items == 2);
    QVERIFY(near(q.baseline->value, (5.0 / 7 + 3.0 / 6) / 3));
    QVERIFY((*q.baseline->value_ci95)[0] <= q.baseline->value && q.baseline->value <= (*q.baseline->value_ci95)[1]);
    QVERIFY(q.items == kPictures && q.not_judged == 0 && !q.baseline->counted);
    QVERIFY2(quality_sentence(q, *q.baseline).starts_with("40.5 % ["), quality_sentence(q, *q.baseline).c_str());
    QVERIFY(quality_sentence(q, *q.baseline).ends_with("over 3 pictures"));
    QCOMPARE(quality_classes_text(q, &GroupQuality::baseline), std::string("road 71.4 %, tree 50.0 %, 2 0.0 %"));
    QVERIFY(quality_classes_text(q, &GroupQuality::optimized).empty());
  }

  /// A class that neither has is no class of the mean.
  void what_is_all_right_is_1_and_plans_are_compared_picture_by_picture() {
    const Scratch scratch;
    const Model model = segmenter();
    const Map shown = {0, 0, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1};
    const auto data = pictures(written(scratch, shown));
    QualityMeter meter(model, *data);
    Map before = shown, after = shown;
    before[0] = 1, before[11] = 0, after[5] = 1;
    answer(meter, JudgedAs::baseline, *data, before);
    answer(meter, JudgedAs::optimized, *data, after);
    std::vector<std::string> warnings;
    const QualityFigures q = meter.figures(warnings).value();
    QCOMPARE(q.groups.size(), size_t{2});
    QVERIFY(q.better == 2 && q.worse == 1);
    QualityMeter right(model, *data);
    answer(right, JudgedAs::baseline, *data, shown);
    QVERIFY(near(right.figures(warnings)->baseline->value, 1));
    QVERIFY(*right.figures(warnings)->baseline->value_ci95 == (std::array<double, 2>{1, 1}));
  }

  void pixels_that_do_not_count_are_left_out_and_so_are_pictures_without_any_that_do() {
    const Scratch scratch;
    const Model model = segmenter();
    Map shown = kShown;
    shown[3] = -1, shown[7] = -1;  // would be wrong
    std::vector<uint8_t> judged(kPictures * kPixels, 1);
    std::fill_n(judged.begin() + 2 * kPixels, kPixels, uint8_t{0});
    const auto data = pictures(written(scratch, shown, judged));
    QualityMeter meter(model, *data);
    answer(meter, JudgedAs::baseline, *data, {0, 0, 1, 0, 0, 0, 0, 2, 1, 1, 1, 2});
    std::vector<std::string> warnings;
    const QualityFigures q = meter.figures(warnings).value();
    QVERIFY(near(q.baseline->value, 1));
    QVERIFY(q.items == 2 && q.not_judged == 1 && q.groups.size() == 2);
    QVERIFY(q.judged_share && *q.judged_share > 0 && *q.judged_share < 1);
  }

  void bytes_are_classes_and_255_does_not_count() {
    const Scratch scratch;
    const Model model = segmenter();
    const std::vector<float> pixels(kPictures * kPixels * kClasses, 0.5F);
    const std::vector<uint8_t> targets = {0, 0, 1, 255, 0, 0, 0, 255, 2, 1, 1, 1};
    write(scratch.path("x.safetensors"), {{"pixels", DType::f32, {kPictures, kSide, kSide, kClasses}, pixels.data()},
                                          {"targets", DType::u8, {kPictures, kSide, kSide}, targets.data()}});
    const auto data = pictures(scratch.path("x.safetensors"));
    QCOMPARE(data->target_classes(0).classes, (std::vector<int32_t>{0, 0, 1, kNotJudged}));
    QualityMeter meter(model, *data);
    answer(meter, JudgedAs::baseline, *data, {0, 0, 1, 0, 0, 0, 0, 2, 2, 1, 1, 1});
    std::vector<std::string> warnings;
    QVERIFY(near(meter.figures(warnings)->baseline->value, 1));
  }

  void targets_that_do_not_fit_are_refused() {
    const Scratch scratch;
    const Model model = segmenter();
    const auto judge = [&](const std::string& file) {
      return bad_input_complaint([&] { QualityMeter(model, *pictures(file)); });
    };
    std::string said = judge(written(scratch, Map(3 * 6, 0), {}, {3, 2, 3}));
    QVERIFY2(says(said, "the target of picture 0 is [2, 3], the picture is [2, 2]"), said.c_str());
    said = judge(written(scratch, Map(2 * kPixels, 0), {}, {2, kSide, kSide}));
    QVERIFY2(says(said, "targets has the shape [2, 2, 2], the pictures are 3"), said.c_str());
    said = judge(written(scratch, Map(3 * 2 * kPixels, 0), std::vector<uint8_t>(3 * kPixels, 1), {3, kSide, 4}));
    QVERIFY2(says(said, "judged holds u8 [3, 2, 2], the targets are [3, 2, 4]"), said.c_str());
    Map stranger = kShown;
    stranger[5] = 7;
    const auto data = pictures(written(scratch, stranger));
    QualityMeter meter(model, *data);
    said = bad_input_complaint([&] { answer(meter, JudgedAs::baseline, *data, kShown); });
    QVERIFY2(says(said, "the target of picture 1 has class 7, the model has 3"), said.c_str());
  }

  void targets_of_another_task_are_refused() {
    const Scratch scratch;
    const Model classes = segmenter(), enlarger = segmenter(Task::super_resolution);
    const std::vector<float> pixels(kPictures * kPixels * kClasses, 0.5F);
    const auto judge = [&](const Model& model, const std::string& file) {
      return bad_input_complaint([&] { QualityMeter(model, *pictures(file)); });
    };
    std::string said = judge(enlarger, written(scratch, kShown));
    QVERIFY2(says(said, "targets are classes of pixels, the model answers pictures"), said.c_str());
    const std::vector<int64_t> shape = {kPictures, kSide, kSide, kClasses};
    write(scratch.path("p.safetensors"),
          {{"pixels", DType::f32, shape, pixels.data()}, {"targets", DType::f32, shape, pixels.data()}});
    said = judge(classes, scratch.path("p.safetensors"));
    QVERIFY2(says(said, "targets are pictures, the model answers a class of each pixel"), said.c_str());
    write(scratch.path("f.safetensors"), {{"pixels", DType::f32, shape, pixels.data()},
                                          {"targets", DType::f32, {kPictures, kSide, kSide}, pixels.data()}});
    said = judge(classes, scratch.path("f.safetensors"));
    QVERIFY2(says(said, "holds f32, classes are integers"), said.c_str());
  }

  void answers_of_another_size_are_a_fault_of_the_plan() {
    const Scratch scratch;
    const Model model = segmenter();
    const auto data = pictures(written(scratch, kShown));
    QualityMeter meter(model, *data);
    const Batch batch = data->batch(0);
    QVERIFY_THROWS_EXCEPTION(
        Error, meter.add(JudgedAs::baseline, batch, {{"logits", DType::f32, {}, std::vector<float>(7), {}}}));
  }

  void without_targets_there_is_no_quality() {
    const Model model = segmenter();
    QVERIFY(!QualityMeter(model, *pictures("random:3")).open());
  }
};

STORMCELL_TEST(SegmentationTest)

}  // namespace stormcell::testing::segmentation_test

#include "segmentation_test.moc"

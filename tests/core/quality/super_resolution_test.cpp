// Pictures against what they should become: PSNR by hand, pixels that do not count, two plans, and targets that do not
// fit.
#include <cmath>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/formats/safetensors_writer.h"
#include "core/graph/builder.h"
#include "core/quality/interval.h"
#include "core/quality/quality_meter.h"
#include "core/summary/quality_text.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/complaint.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::super_resolution_test {
namespace {

constexpr int64_t kSide = 2, kValues = kSide * kSide;

/// Answers as many pixels as it takes, of one channel.
Model enlarger() {
  GraphBuilder b;
  const SpaceId pictures = b.root_space("picture", b.symbol("N"));
  const ValueId pixels = b.input("pixels", DType::f32, pictures, {Dim(kSide), Dim(kSide), Dim(1)}, InputRole::pixels);
  b.output("picture", b.value("scale", {pixels}, {{"factor", 1.0}}, "picture"));
  Model model;
  model.forward = std::make_shared<Graph>(b.finish());
  model.picture = {kSide, kSide};
  model.answer = {Task::super_resolution, "picture", 0};
  return model;
}

std::shared_ptr<const Dataset> pictures(const std::string& file) {
  DataOptions options;
  options.batch = 2;
  options.inputs = {{"pixels", DType::f32, InputRole::pixels, "picture", "", 1, {kSide, kSide, 1}, 0}};
  return Dataset::open(file, nullptr, options);
}

struct Targets {
  std::vector<float> values;
  std::vector<uint8_t> judged;
};
std::string written(const Scratch& scratch, const Targets& t, std::vector<int64_t> shape = {3, kSide, kSide, 1}) {
  const std::vector<float> pixels(3 * kValues, 0.5F);
  std::vector<TensorToWrite> tensors = {{"pixels", DType::f32, {3, kSide, kSide, 1}, pixels.data()},
                                        {"targets", DType::f32, std::move(shape), t.values.data()}};
  if (!t.judged.empty()) tensors.push_back({"judged", DType::u8, {3, kSide, kSide}, t.judged.data()});
  write_safetensors(scratch.path("x.safetensors"), tensors);
  return scratch.path("x.safetensors");
}

/// Every pixel of picture i is answered with values[i].
void answer(QualityMeter& meter, JudgedAs plan, const Dataset& data, const std::vector<float>& values) {
  for (int64_t b = 0; b < data.batch_count(); ++b) {
    const Batch batch = data.batch(b);
    OutputValue out{"picture", DType::f32, {batch.size(), kSide, kSide, 1}, {}, {}};
    for (const int64_t item : batch.items)
      out.reals.insert(out.reals.end(), kValues, values[static_cast<size_t>(item)]);
    meter.add(plan, batch, {out});
  }
}

bool near(double a, double b) { return std::fabs(a - b) < 1e-5; }

}  // namespace

class SuperResolutionTest : public QObject {
  Q_OBJECT
 private slots:
  void pictures_are_averaged_in_decibels_and_compared_one_by_one() {
    const Scratch scratch;
    const Model model = enlarger();
    const auto data = pictures(written(scratch, {std::vector<float>(3 * kValues, 0.5F), {}}));
    QualityMeter meter(model, *data);
    QVERIFY(meter.open());
    // Errors 0.1, 0.01 and none: 20, 40 and, by what equal pictures count as, 100 dB.
    answer(meter, JudgedAs::baseline, *data, {0.6F, 0.49F, 0.5F});
    answer(meter, JudgedAs::optimized, *data, {0.51F, 0.49001F, 0.5F});
    std::vector<std::string> warnings;
    const QualityFigures q = meter.figures(warnings).value();
    QVERIFY(warnings.empty());
    QCOMPARE(q.measure, std::string("PSNR"));
    QVERIFY(near(q.baseline->value, 160.0 / 3));
    QCOMPARE(q.items, int64_t{3});
    QVERIFY(!q.baseline->counted);
    QCOMPARE(q.better.value(), int64_t{1});
    QCOMPARE(q.worse.value(), int64_t{0});  // a thousandth of the error is rounding
    QVERIFY2(quality_sentence(q, *q.baseline).starts_with("53.33 dB [20.00, "),
             quality_sentence(q, *q.baseline).c_str());
    QVERIFY(quality_sentence(q, *q.baseline).ends_with("over 3 pictures"));
  }

  void answers_are_cut_to_what_pixels_can_be() {
    const Scratch scratch;
    const Model model = enlarger();
    const auto data = pictures(written(scratch, {std::vector<float>(3 * kValues, 0.9F), {}}));
    QualityMeter meter(model, *data);
    answer(meter, JudgedAs::baseline, *data, {7.0F, 1.0F, -3.0F});
    std::vector<std::string> warnings;
    QVERIFY(near(meter.figures(warnings)->baseline->value, (20 + 20 - 20 * std::log10(0.9)) / 3));
  }

  void pixels_that_do_not_count_are_left_out_and_so_are_pictures_without_any_that_do() {
    const Scratch scratch;
    const Model model = enlarger();
    std::vector<float> targets(3 * kValues, 0.5F);
    targets[0] = 0;  // would be seen
    std::vector<uint8_t> judged(3 * kValues, 1);
    judged[0] = 0;
    std::fill_n(judged.begin() + kValues, kValues, uint8_t{0});
    const auto data = pictures(written(scratch, {targets, judged}));
    QualityMeter meter(model, *data);
    answer(meter, JudgedAs::baseline, *data, {0.6F, 0.6F, 0.6F});
    std::vector<std::string> warnings;
    const QualityFigures q = meter.figures(warnings).value();
    QVERIFY(near(q.baseline->value, 20));
    QCOMPARE(q.items, int64_t{2});
    QCOMPARE(q.not_judged, int64_t{1});
    QCOMPARE(q.judged_share, std::optional(7.0 / 12));
    QVERIFY2(quality_source_text(q).ends_with("58.3 % of the values are judged, of 1 picture none"),
             quality_source_text(q).c_str());
    QVERIFY(warnings.empty());
  }

  void targets_that_say_nothing_or_are_bytes_are_told() {
    const auto warning = [](const Targets& targets) {
      const Scratch scratch;
      const Model model = enlarger();
      const auto data = pictures(written(scratch, targets));
      QualityMeter meter(model, *data);
      for (int turn = 0; turn < 2; ++turn) answer(meter, JudgedAs::baseline, *data, {0.6F, 0.6F, 0.6F});
      std::vector<std::string> warnings;
      meter.figures(warnings);
      return warnings.size() == 1 ? warnings[0] : std::string();
    };
    const std::vector<float> grey(3 * kValues, 0.5F);
    const std::string nothing = warning({grey, std::vector<uint8_t>(3 * kValues, 0)});
    QVERIFY2(nothing.ends_with("no pixel of the targets is to be judged, so there is no PSNR"), nothing.c_str());
    std::vector<float> bytes = grey;
    std::fill(bytes.begin() + kValues, bytes.end(), 200.0F);
    const std::string scaled = warning({bytes, {}});
    QVERIFY2(scaled.find("2 targets hold values far from 0 to 1") != std::string::npos &&
                 scaled.ends_with("that of picture 1"),
             scaled.c_str());
  }

  void targets_that_do_not_fit_are_refused() {
    const Scratch scratch;
    const Model model = enlarger();
    const auto judge = [&](const std::string& file) {
      return bad_input_complaint([&] { QualityMeter(model, *pictures(file)); });
    };
    const auto says = [](const std::string& text, const std::string& part) {
      return text.find(part) != std::string::npos;
    };
    std::string said = judge(written(scratch, {std::vector<float>(3 * 6, 0.5F), {}}, {3, 2, 3, 1}));
    QVERIFY2(says(said, "the target of picture 0 is [2, 3, 1], the model answers [2, 2, 1]"), said.c_str());
    said = judge(written(scratch, {std::vector<float>(2 * kValues, 0.5F), {}}, {2, kSide, kSide, 1}));
    QVERIFY2(says(said, "targets has the shape [2, 2, 2, 1], the pictures are 3"), said.c_str());
    said = judge(written(scratch, {std::vector<float>(3 * 2 * kValues, 0.5F), std::vector<uint8_t>(3 * kValues, 1)},
                         {3, kSide, 4, 1}));
    QVERIFY2(says(said, "judged holds u8 [3, 2, 2], the targets are [3, 2, 4, 1]"), said.c_str());
    const auto broken = pictures(written(scratch, {std::vector<float>(3 * kValues, NAN), {}}));
    said = bad_input_complaint([&] { broken->target_picture(1); });
    QVERIFY2(says(said, "the target of picture 1 holds values that are not finite"), said.c_str());
  }

  void targets_are_part_of_what_data_are_known_by() {
    const Scratch scratch;
    std::vector<float> values(3 * kValues, 0.5F);
    std::vector<uint8_t> judged(3 * kValues, 1);
    const auto known_by = [&](const Targets& t) { return pictures(written(scratch, t))->fingerprint(); };
    const std::string of_these = known_by({values, judged}), of_all = known_by({values, {}});
    QCOMPARE(known_by({values, judged}), of_these);
    QVERIFY(of_all != of_these);
    judged.back() = 0;
    QVERIFY(known_by({values, judged}) != of_these);
    values.back() = 0.25F;
    QVERIFY(known_by({values, {}}) != of_all);
    // Without targets data are known by their pictures alone: as an array, which has no place for any.
    const std::vector<TensorToWrite> alone = {{"pixels", DType::f32, {3, kSide, kSide, 1}, values.data()}};
    write_safetensors(scratch.path("x.safetensors"), alone);
    scratch.write("x.npy", npy_of("(3, 2, 2, 1)", "<f4", values));
    QCOMPARE(pictures(scratch.path("x.safetensors"))->fingerprint(), pictures(scratch.path("x.npy"))->fingerprint());
  }

  void answers_of_another_size_than_the_targets_are_an_error() {
    const Scratch scratch;
    const Model model = enlarger();
    const auto data = pictures(written(scratch, {std::vector<float>(3 * kValues, 0.5F), {}}));
    QualityMeter meter(model, *data);
    for (const size_t values : {size_t{0}, size_t{7}, size_t{9}}) {
      const OutputValue out{"picture", DType::f32, {}, std::vector<float>(values, 0.5F), {}};
      std::string said;
      try {
        meter.add(JudgedAs::baseline, data->batch(0), {out});
      } catch (const Error& error) {
        said = error.what();
      }
      QVERIFY2(said.find("the answers to batch 0 hold " + std::to_string(values) +
                         " values, the targets of its pictures 8") != std::string::npos,
               said.c_str());
    }
  }

  void a_folder_of_targets_is_judged_like_a_tensor() {
    const Scratch scratch;
    const Model model = enlarger();
    const auto picture = [&](const std::string& name, float value) {
      scratch.write(name, npy_of("(2, 2, 1)", "<f4", std::vector<float>(kValues, value)));
    };
    for (const char* name : {"a", "b", "c"})
      picture(std::string("d/inputs/") + name, 0.5F), picture(std::string("d/targets/") + name, 0.5F);
    const auto data = pictures(scratch.path("d"));
    QualityMeter meter(model, *data);
    answer(meter, JudgedAs::baseline, *data, {0.6F, 0.6F, 0.6F});
    std::vector<std::string> warnings;
    QVERIFY(near(meter.figures(warnings)->baseline->value, 20));
    scratch.write("d/targets/b", npy_of("(2, 3, 1)", "<f4", std::vector<float>(6, 0.5F)));
    const std::string said = bad_input_complaint([&] { QualityMeter(model, *pictures(scratch.path("d"))); });
    QVERIFY2(said.find("the target of inputs/b is [2, 3, 1], the model answers [2, 2, 1]") != std::string::npos,
             said.c_str());
  }

  void without_targets_there_is_no_quality() {
    const Model model = enlarger();
    QVERIFY(!QualityMeter(model, *pictures("random:3")).open());
  }

  /// For normal values the bootstrap's interval of the mean is about 1.96 standard errors wide on either side.
  void the_bootstrap_is_about_as_wide_as_the_normal_interval() {
    std::vector<double> values(200);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i % 10);
    const auto [low, high] = *bootstrap_interval(values);
    const double error = 1.959964 * std::sqrt(8.25 / 200);
    QVERIFY(std::fabs(low - (4.5 - error)) < 0.1 * error && std::fabs(high - (4.5 + error)) < 0.1 * error);
    QVERIFY(!bootstrap_interval(std::vector<double>{1.0}));
    QVERIFY(bootstrap_interval(values) == bootstrap_interval(values));
  }
};

STORMCELL_TEST(SuperResolutionTest)

}  // namespace stormcell::testing::super_resolution_test

#include "super_resolution_test.moc"

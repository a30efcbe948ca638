// The trained network of windows and experts on digits of our own, held to what PyTorch answers: logits, the expert of
// each cell, which cells have none, accuracy.
#include <algorithm>
#include <cmath>

#include "tests/contract/models.h"
#include "tests/testing/counts.h"
#include "tests/testing/relative_difference.h"
#include "tests/testing/stored_values.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::digit_experts_test {
namespace {
using Json = nlohmann::json;

constexpr const char* kModel = "demo:swinv2-moe-digits";
constexpr const char* kSample = "demo:swinv2-moe-digits-sample";  // the digits of demo:msdnet-digits-sample
constexpr size_t kDigits = 60, kClasses = 10, kBatch = 12, kBatches = kDigits / kBatch;
constexpr const char* kRouters[] = {"stages.0.blocks.1.mlp", "stages.1.blocks.1.mlp"};

/// Returns what tests/reference/make_swinv2_moe_digits.py left.
std::shared_ptr<const SafetensorsFile> reference() {
  return SafetensorsFile::open(reference_path("swinv2-moe-digits/digits.safetensors"));
}

/// A tensor of all batches, one after the other.
template <class T>
std::vector<T> of_all_batches(const SafetensorsFile& file, const std::string& name) {
  std::vector<T> all;
  for (size_t b = 0; b < kBatches; ++b) {
    const std::vector<T> some = values_of<T>(file, "b" + std::to_string(b) + "." + name);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

int64_t right_of(const std::vector<float>& logits) {
  const auto sample = SafetensorsFile::open(source_folder() + "/resources/sample/digits.safetensors");
  const std::vector<int32_t> labels = values_of<int32_t>(*sample, "labels");
  int64_t right = 0;
  for (size_t d = 0; d < labels.size(); ++d) {
    const auto first = logits.begin() + static_cast<std::ptrdiff_t>(d * kClasses);
    right += std::max_element(first, first + kClasses) - first == labels[d];
  }
  return right;
}

Arguments quick(const std::string& verb, const Arguments& more) {
  Arguments all = short_run(verb, kModel, kSample, {"--batch", std::to_string(kBatch)});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

class DigitExpertsTest : public QObject {
  Q_OBJECT
 private slots:
  void the_reference_has_something_of_everything() {
    const auto expected = reference();
    QCOMPARE(of_all_batches<float>(*expected, "logits").size(), kDigits * kClasses);
    for (const char* router : kRouters) {
      const std::vector<int32_t> branch = of_all_batches<int32_t>(*expected, std::string(router) + ".branch");
      for (int32_t expert = -1; expert < 8; ++expert)
        QVERIFY2(std::count(branch.begin(), branch.end(), expert) > 0,
                 qPrintable(QString("%1: %2").arg(router).arg(expert)));
    }
  }

  void answers_and_experts_are_those_of_pytorch() {
    const auto expected = reference();
    const Scratch scratch;
    const Arguments run = quick("run", {"--outputs", scratch.path("o.safetensors")});
    VERIFY_DONE(run_program(run), run);
    const auto outputs = SafetensorsFile::open(scratch.path("o.safetensors"));
    for (const char* router : kRouters)
      QCOMPARE(of_all_batches<int32_t>(*outputs, std::string(router) + ".branch"),
               of_all_batches<int32_t>(*expected, std::string(router) + ".branch"));
    const float difference =
        relative_difference(of_all_batches<float>(*outputs, "logits"), of_all_batches<float>(*expected, "logits"));
    QVERIFY2(difference <= 1e-4F, qPrintable(QString::number(static_cast<double>(difference))));
  }

  void accuracy_is_that_of_pytorch_of_every_plan() {
    const int64_t right = right_of(of_all_batches<float>(*reference(), "logits"));
    const Arguments optimize = quick("optimize", {"--json", "-"});
    const Ended optimized = run_program(optimize);
    VERIFY_DONE(optimized, optimize);
    const Json j = optimized.json(), quality = j["quality"];
    QVERIFY2(j["verified"]["passed"] == true, optimized.out.c_str());
    QVERIFY(quality["task"] == "classification" && quality["items"] == kDigits && quality["not_judged"] == 0);
    QVERIFY2(quality["baseline"]["counted"] == right, quality.dump().c_str());
    if (!j["optimized"].is_null()) QVERIFY(quality["optimized"] == quality["baseline"]);
    QCOMPARE(j["routing"].size(), std::size(kRouters));
    int64_t cells = 0, without_place = 0;
    for (const char* router : kRouters) {
      const std::vector<int32_t> branch = of_all_batches<int32_t>(*reference(), std::string(router) + ".branch");
      cells += static_cast<int64_t>(branch.size()), without_place += std::count(branch.begin(), branch.end(), -1);
    }
    const double served = static_cast<double>(cells - without_place) / static_cast<double>(cells);
    QVERIFY2(std::fabs(j["item_costs"]["served"].get<double>() - served) < 1e-12, j["item_costs"].dump().c_str());
    for (size_t r = 0; r < std::size(kRouters); ++r)
      QVERIFY(j["routing"][r]["router"] == kRouters[r] && j["routing"][r]["dropped"] > 0);
  }

  /// Held out in the model card; who has the data can do it again.
  void the_card_s_quality_is_what_training_left() {
    const Json figures =
        Json::parse(Scratch::read(source_folder() + "/resources/demos/swinv2-moe-digits/expected.json"));
    const double share = figures["right"].get<double>() / figures["held_out"].get<double>();
    QVERIFY2(share >= 0.96, qPrintable(QString::number(share)));
    const std::string card = Scratch::read(source_folder() + "/resources/demos/swinv2-moe-digits/README.md"),
                      said = QString::number(100 * share, 'f', 1).toStdString();
    QVERIFY2(card.find("**" + said + " %**") != std::string::npos, said.c_str());
  }
};

STORMCELL_TEST(DigitExpertsTest)

}  // namespace stormcell::testing::digit_experts_test

#include "digit_experts_test.moc"

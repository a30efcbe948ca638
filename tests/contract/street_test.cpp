// The trained super-resolution network on pictures of our own, held to what PyTorch makes of them: pixels, networks,
// PSNR.
#include <algorithm>
#include <cmath>

#include "tests/contract/models.h"
#include "tests/testing/counts.h"
#include "tests/testing/relative_difference.h"
#include "tests/testing/stored_values.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::street_test {
namespace {
using Json = nlohmann::json;

constexpr const char* kModel = "demo:livesr-street";
constexpr const char* kSample = "demo:livesr-street-sample";
constexpr size_t kPictures = 3, kNetworks = 4;

/// Holds what tests/reference/make_livesr_street.py left.
struct Expected {
  std::vector<float> picture, psnr;
  std::vector<int32_t> network;

  double mean_psnr() const { return (static_cast<double>(psnr[0]) + psnr[1] + psnr[2]) / kPictures; }
};
Expected expected() {
  const auto file = SafetensorsFile::open(reference_path("livesr-street/street.safetensors"));
  return {values_of<float>(*file, "picture"), values_of<float>(*file, "psnr"), values_of<int32_t>(*file, "network")};
}

}  // namespace

class StreetTest : public QObject {
  Q_OBJECT
 private slots:
  void the_reference_has_something_of_everything() {
    const Expected e = expected();
    QCOMPARE(e.psnr.size(), kPictures);
    for (size_t k = 0; k < kNetworks; ++k)
      QVERIFY(std::count(e.network.begin(), e.network.end(), static_cast<int32_t>(k)) > 0);
  }

  void pictures_and_networks_are_those_of_pytorch() {
    const Expected e = expected();
    const Scratch scratch;
    const Arguments run =
        short_run("run", kModel, kSample, {"--batch", "3", "--outputs", scratch.path("o.safetensors")});
    VERIFY_DONE(run_program(run), run);
    const auto outputs = SafetensorsFile::open(scratch.path("o.safetensors"));
    const std::vector<float> picture = values_of<float>(*outputs, "b0.picture");
    QCOMPARE(picture.size(), e.picture.size());
    const float difference = relative_difference(picture, e.picture);
    QVERIFY2(difference <= 1e-4F, qPrintable(QString::number(static_cast<double>(difference))));
    QCOMPARE(values_of<int32_t>(*outputs, "b0.router.branch"), e.network);
  }

  void quality_is_that_of_pytorch_over_the_pixels_that_are_judged() {
    const Expected e = expected();
    const Arguments optimize = short_run("optimize", kModel, kSample, {"--batch", "1", "--json", "-"});
    const Ended optimized = run_program(optimize);
    VERIFY_DONE(optimized, optimize);
    const Json j = optimized.json(), quality = j["quality"];
    QVERIFY2(j["verified"]["passed"] == true, optimized.out.c_str());
    QVERIFY(quality["task"] == "super-resolution" && quality["measure"] == "PSNR" && quality["unit"] == "dB");
    QVERIFY(quality["interval"] == "bootstrap" && quality["items"] == kPictures && quality["not_judged"] == 0);
    const double value = quality["baseline"]["value"].get<double>();
    QVERIFY2(std::fabs(value - e.mean_psnr()) < 1e-3, quality.dump().c_str());
    QVERIFY(quality["baseline"]["value_ci95"][0] < value && value < quality["baseline"]["value_ci95"][1]);
    QVERIFY(quality["baseline"]["counted"].is_null());
    // As the card counts multiplications: of the classifier, and of each network.
    constexpr double kClassifier = 2.9, kNetwork[kNetworks] = {2.5, 6.4, 18.9, 42.3};
    double taken = 0;
    for (const int32_t network : e.network) taken += kClassifier + kNetwork[network];
    const double all = kClassifier + kNetwork[0] + kNetwork[1] + kNetwork[2] + kNetwork[3];
    const double share = j["item_costs"]["share"].get<double>(),
                 by_card = taken / (all * static_cast<double>(e.network.size()));
    QVERIFY2(std::fabs(share / by_card - 1) < 0.03, qPrintable(QString("%1, by the card %2").arg(share).arg(by_card)));
    QVERIFY(j["item_costs"]["groups"].empty() && j["item_costs"]["served"].is_null() &&
            j["item_costs"]["parts"].is_null());
    if (!j["optimized"].is_null()) QVERIFY(quality["better"] == 0 && quality["worse"] == 0);
  }

  void inspect_says_what_its_operations_assume() {
    const std::string told = run_program({"inspect", kModel}).out,
                      head = told.substr(std::min(told.size(), told.find("\n" + std::string(kModel) + ": ")));
    QVERIFY2(head.find(" MFLOP a cell where each cell takes as many branches as it may and all branches get equally "
                       "many cells\n") != std::string::npos,
             told.c_str());
  }

  /// Held out in the model card; who has the data can do it again.
  void the_card_s_quality_is_what_training_left() {
    std::string text = Scratch::read(source_folder() + "/resources/demos/livesr-street/expected.json");
    const Json figures = Json::parse(text);
    QVERIFY(figures["gain"].get<double>() - figures["gain_interval"].get<double>() >
            0.3);  // dB beside the bicubic filter
    const std::string card = Scratch::read(source_folder() + "/resources/demos/livesr-street/README.md");
    const QString ours = QString::number(figures["psnr_moving"].get<double>(), 'f', 2),
                  bicubic = QString::number(figures["psnr_moving_bicubic"].get<double>(), 'f', 2);
    QVERIFY2(card.find("**" + ours.toStdString() + "**") != std::string::npos, qPrintable(ours));
    QVERIFY2(card.find("| " + bicubic.toStdString() + " [") != std::string::npos, qPrintable(bicubic));
  }
};

STORMCELL_TEST(StreetTest)

}  // namespace stormcell::testing::street_test

#include "street_test.moc"

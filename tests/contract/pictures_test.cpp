// A model of pictures through every verb, on data of one size and of several.
#include <filesystem>
#include <fstream>
#include <limits>

#include "tests/contract/models.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {
using Json = nlohmann::json;

constexpr const char* kModel = "preset:patch-mixture";

std::string picture(int height, int width, int channels = 3, float first = 0.5F) {
  std::vector<float> pixels(static_cast<size_t>(height * width * channels));
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 7 % 31) / 31;
  if (!pixels.empty()) pixels[0] = first;
  return npy_of("(" + std::to_string(height) + ", " + std::to_string(width) + ", " + std::to_string(channels) + ")", "<f4", pixels);
}

/// Five sizes, three pictures each.
std::string folder_of_pictures(const Scratch& scratch) {
  for (int i = 0; i < 15; ++i)
    scratch.write("pictures/" + std::string(i < 10 ? "0" : "") + std::to_string(i) + ".npy", picture(16 + 5 * (i % 5), 40 - 3 * (i % 5)));
  return scratch.path("pictures");
}

Arguments quick(const std::string& verb, const std::string& data, const Arguments& more = {}) {
  Arguments all = short_run(verb, kModel, data, {"--json", "-", "--batch", "2"});
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

class PicturesTest : public QObject {
  Q_OBJECT
 private slots:
  void inspect_tells_which_pictures_a_model_takes() {
    const Json j = run_program({"inspect", kModel, "--json", "-"}).json();
    QVERIFY(j["family"] == "patch_mixture");
    QVERIFY(j["picture"] == (Json{{"height", 64}, {"width", 64}, {"channels", 3}, {"least", 16}, {"most", 8192}}));
    QCOMPARE(j["routers"].size(), size_t{1});
    QVERIFY(j["routers"][0]["cell_space"] == "patch");
    const Json other = run_program({"inspect", kModel, "--size", "48x80", "--json", "-"}).json();
    QVERIFY(other["picture"]["height"] == 48);
    QVERIFY(other["picture"]["width"] == 80);
    QVERIFY(other["parameters"] == j["parameters"]);
    QVERIFY(run_program({"inspect", switch_model(), "--json", "-"}).json()["picture"].is_null());
    const Ended text = run_program({"inspect", kModel});
    QVERIFY2(text.out.find("pictures of 64 x 64 pixels, 3 channels; other heights and widths of 16 to 8192 too") != std::string::npos,
             text.out.c_str());
    VERIFY_REFUSED((Arguments{"inspect", kModel, "--size", "8x64"}), kModel, "it takes heights and widths of 16 to 8192 pixels");
    VERIFY_REFUSED((Arguments{"inspect", kModel, "--size", "64"}), "--size", "48x64");
    VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--size", "64x64"}), switch_model(), "takes no pictures");
  }

  void runs_and_optimises_on_pictures_of_several_sizes() {
    const Scratch scratch;
    const std::string data = folder_of_pictures(scratch), session = scratch.path("x.storm"), config = scratch.path("c.json");
    const Arguments optimize = quick("optimize", data, {"-o", session, "--config-out", config});
    const Ended optimized = run_program(optimize);
    VERIFY_DONE(optimized, optimize);
    const Json j = optimized.json();
    QVERIFY(j["verified"]["passed"] == true);
    QVERIFY(j["dataset"]["batches"] == 10);
    QCOMPARE(j["dataset"]["sizes"].size(), size_t{5});
    QVERIFY(j["dataset"]["sizes"][0] == (Json{{"height", 16}, {"width", 40}, {"items", 3}, {"batches", 2}}));
    QVERIFY(j["baseline"]["latency_ms"]["median"].get<double>() > 0);
    const Arguments run = quick("run", data, {"--config", config, "--outputs", scratch.path("o.safetensors")});
    const Ended replayed = run_program(run);
    VERIFY_DONE(replayed, run);
    QVERIFY(replayed.json()["verified"]["passed"] == true);
    QVERIFY(replayed.json()["verified"]["batches"] == 10);
    const Arguments profile = quick("profile", data, {"-o", session});
    VERIFY_DONE(run_program(profile), profile);
    for (const Arguments& read : {Arguments{"analyze", session}, Arguments{"report", session, "-o", scratch.path("r.html")},
                                  Arguments{"export", session, "--format", "csv", "--what", "decisions", "-o", scratch.path("d.csv")},
                                  Arguments{"inspect", session}})
      VERIFY_DONE(run_program(read), read);
  }

  void random_pictures_have_any_size_that_fits() {
    for (const auto& [data, height] : {std::pair{"random:4", 64}, {"random:4x20x70", 20}}) {
      const Arguments run = quick("run", data);
      const Ended ended = run_program(run);
      VERIFY_DONE(ended, run);
      QVERIFY(ended.json()["dataset"]["sizes"][0]["height"] == height);
      QVERIFY(ended.json()["verified"]["passed"] == true);
    }
    VERIFY_REFUSED(quick("run", "random:4x20x8"), "random:4x20x8", "heights and widths of 16 to 8192 pixels");
    VERIFY_REFUSED(quick("run", "random:4x20x70x1"), "random:4x20x70x1", "another size than the model takes");
  }

  void what_does_not_fit_is_one_line_that_names_the_file() {
    const Scratch scratch;
    const std::string data = folder_of_pictures(scratch), bad = scratch.path("pictures/07.npy");
    const std::string good = Scratch::read(bad);
    const auto refused = [&](const std::string& content, const std::string& where, const std::string& words) {
      scratch.write("pictures/07.npy", content);
      VERIFY_REFUSED(quick("run", data), where, words);
    };
    refused(picture(12, 40), bad,
            "is a picture of [12, 40, 3], the model takes [height, width, 3], heights and widths of 16 to 8192 pixels");
    refused(picture(20, 40, 1), bad, "is a picture of [20, 40, 1]");
    refused(picture(20, 40, 3, std::numeric_limits<float>::quiet_NaN()), data, "07.npy holds pixels that are not finite");
    refused(good.substr(0, good.size() - 5), bad, "");
    refused("{}", bad, "");
    scratch.write("pictures/07.npy", good);
    scratch.write("pictures/x.txt", "a");
    VERIFY_REFUSED(quick("run", data), data, "holds \"x.txt\"");
    VERIFY_REFUSED(quick("run", scratch.path("nothing")), scratch.path("nothing"), "");
    VERIFY_REFUSED(quick("run", scratch.write("t.txt", "a\n")), scratch.path("t.txt"), "the model takes pictures");
    VERIFY_REFUSED((Arguments{"generate", kModel, "--data", "random:2"}), kModel, "");
  }
};

STORMCELL_TEST(PicturesTest)

}  // namespace stormcell::testing

#include "pictures_test.moc"

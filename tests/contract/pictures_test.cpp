// A model of pictures through every verb, on data of one size and of several.
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>

#include "core/cell/thumbnail.h"
#include "core/formats/picture_formats.h"
#include "core/formats/safetensors.h"
#include "core/formats/safetensors_writer.h"
#include "core/formats/video.h"
#include "core/session/session_reader.h"
#include "tests/contract/models.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/picture_files.h"
#include "tests/testing/testing.h"
#include "tests/testing/video_files.h"

namespace stormcell::testing::pictures_test {
namespace {
using Json = nlohmann::json;

constexpr const char* kModel = "preset:patch-mixture";

std::string picture(int height, int width, int channels = 3, float first = 0.5F) {
  std::vector<float> pixels(static_cast<size_t>(height * width * channels));
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 7 % 31) / 31;
  if (!pixels.empty()) pixels[0] = first;
  return npy_of("(" + std::to_string(height) + ", " + std::to_string(width) + ", " + std::to_string(channels) + ")",
                "<f4", pixels);
}

/// Five sizes, three pictures each.
std::string folder_of_pictures(const Scratch& scratch) {
  for (int i = 0; i < 15; ++i)
    scratch.write("pictures/" + std::string(i < 10 ? "0" : "") + std::to_string(i) + ".npy",
                  picture(16 + 5 * (i % 5), 40 - 3 * (i % 5)));
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
    QVERIFY2(text.out.find("pictures of 64 x 64 pixels, 3 channels; other heights and widths of 16 to 8192 too") !=
                 std::string::npos,
             text.out.c_str());
    // 48 x 80 in patches of 16 x 16, 12 apart.
    QVERIFY(other["grids"] ==
            (Json::parse(
                R"([{"cell_space":"patch","rows":4,"columns":7,"patch_height":16,"patch_width":16,"stride":12}])")));
    QVERIFY(other["inputs"] ==
            Json::parse(R"([{"name":"pixels","role":"pixels","cell_space":"picture","content":[48,80,3]}])"));
    const Ended sized = run_program({"inspect", kModel, "--size", "48x80"});
    QVERIFY2(
        sized.out.find("each is cut into 4 rows of 7 cells (patch), 16 x 16 pixels, 12 apart") != std::string::npos,
        sized.out.c_str());
    QVERIFY2(sized.out.find("[picture, 48, 80, 3]") != std::string::npos, sized.out.c_str());
    VERIFY_REFUSED((Arguments{"inspect", kModel, "--size", "8x64"}), kModel,
                   "it takes heights and widths of 16 to 8192 pixels");
    VERIFY_REFUSED((Arguments{"inspect", kModel, "--size", "64"}), "--size", "48x64");
    VERIFY_REFUSED((Arguments{"inspect", switch_model(), "--size", "64x64"}), switch_model(), "takes no pictures");
  }

  void runs_and_optimises_on_pictures_of_several_sizes() {
    const Scratch scratch;
    const std::string data = folder_of_pictures(scratch), session = scratch.path("x.storm"),
                      config = scratch.path("c.json");
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
    for (const Arguments& read :
         {Arguments{"analyze", session}, Arguments{"report", session, "-o", scratch.path("r.html")},
          Arguments{"export", session, "--format", "csv", "--what", "decisions", "-o", scratch.path("d.csv")},
          Arguments{"inspect", session}})
      VERIFY_DONE(run_program(read), read);
  }

  void exports_keep_the_grid_of_patches() {
    const Scratch scratch;
    const std::string session = scratch.path("x.storm"), trace = scratch.path("t.safetensors"),
                      back = scratch.path("y.storm");
    const Arguments profile = quick("profile", "random:2x40x64", {"-o", session});
    VERIFY_DONE(run_program(profile), profile);
    const Arguments native = {"export", session, "--format", "native", "-o", trace};
    VERIFY_DONE(run_program(native), native);
    const Arguments import = {"import", trace, "-o", back};
    VERIFY_DONE(run_program(import), import);
    // Patches of 16 x 16, 12 apart: 3 rows of 5.
    for (const std::string& of : {session, back}) {
      const Arguments csv = {"export", of, "--format", "csv", "--what", "decisions"};
      const Ended ended = run_program(csv);
      VERIFY_DONE(ended, csv);
      std::vector<std::string> lines;
      std::istringstream text(ended.out);
      for (std::string line; std::getline(text, line);) lines.push_back(line);
      QCOMPARE(lines.size(), size_t{2 + 2 * 15});
      QVERIFY2(lines[1].ends_with(",dropped,weight,grid_row,grid_column"), lines[1].c_str());
      QVERIFY2(lines[2].ends_with(",0,0") && lines[8].ends_with(",1,1") && lines[16].ends_with(",2,4"),
               lines[16].c_str());
    }
    const auto file = SafetensorsFile::open(trace);
    const StoredTensor* columns = file->find("cell.columns");
    QVERIFY(columns && columns->elements() == 30);
    for (int64_t c = 0; c < 30; ++c) QCOMPARE(reinterpret_cast<const int32_t*>(columns->bytes.data())[c], 5);
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

  void pictures_are_counted_and_called_pictures() {
    const Scratch scratch;
    const std::string data = folder_of_pictures(scratch), session = scratch.path("x.storm");
    // One picture a batch where nobody asks for more.
    const Arguments run = short_run("run", kModel, data, {"-o", session, "--json", scratch.path("run.json")});
    const Ended ended = run_program(run);
    VERIFY_DONE(ended, run);
    const Json j = Json::parse(Scratch::read(scratch.path("run.json")));
    QVERIFY(j["dataset"]["batches"] == 15);
    QVERIFY(j["dataset"]["cells"] == 15 && j["dataset"]["unit"] == "picture");
    const std::string sizes = ": 3 of 16x40, 3 of 21x37, 3 of 26x34, 3 of 31x31, 3 of 36x28";
    QVERIFY2(ended.out.find(": 15 pictures in 15 batches" + sizes) != std::string::npos, ended.out.c_str());
    QVERIFY2(ended.out.find("pictures a second") != std::string::npos &&
                 ended.out.find("cells a second") == std::string::npos,
             ended.out.c_str());
    // Pictures that --batches leaves out are named, and counted nowhere.
    const Arguments some = short_run("run", kModel, data, {"-o", session, "--batch", "2", "--batches", "3"});
    const Ended three = run_program(some);
    VERIFY_DONE(three, some);
    QVERIFY2(three.err.find("--batches 3 leaves out") != std::string::npos, three.err.c_str());
    const Ended listed = run_program({"inspect", session});
    QVERIFY2(listed.out.find(", 15 pictures" + sizes) != std::string::npos, listed.out.c_str());
    QVERIFY2(listed.out.find("sequence") == std::string::npos, listed.out.c_str());
    const Json runs = run_program({"inspect", session, "--json", "-"}).json()["runs"];
    QVERIFY(runs[0]["sequences"] == 15 && runs[0]["sizes"].size() == 5);
    int64_t kept = 0;
    for (const Json& size : runs[1]["sizes"]) kept += size["items"].get<int64_t>();
    QCOMPARE(runs[1]["sequences"].get<int64_t>(), kept);
    QVERIFY(kept < 6);
    const std::string page = scratch.path("r.html");
    const Arguments report = {"report", session + "#1", "-o", page};
    VERIFY_DONE(run_program(report), report);
    const std::string html = Scratch::read(page);
    QVERIFY(html.find(": 15 pictures in 15 batches" + sizes) != std::string::npos &&
            html.find("pictures a second") != std::string::npos);
    const std::string help = run_program({"--help"}).out, of_run = run_program({"run", "--help"}).out;
    QVERIFY2(help.find("random:N[xHxW]") != std::string::npos, help.c_str());
    QVERIFY2(of_run.find("random:N[xHxW]") != std::string::npos, of_run.c_str());
  }

  void labels_of_pictures_are_counted_by_branch() {
    const Scratch scratch;
    std::vector<float> pixels(size_t{4 * 20 * 20 * 3});
    for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<float>(i * 7 % 31) / 31;
    const std::vector<int64_t> labels{3, 1, 3, 3};
    const std::string file = scratch.path("x.safetensors"), session = scratch.path("x.storm");
    write_safetensors(file, std::vector<TensorToWrite>{{"pixels", DType::f32, {4, 20, 20, 3}, pixels.data()},
                                                       {"labels", DType::i64, {4}, labels.data()}});
    const Arguments profile = quick("profile", file, {"-o", session});
    const Ended ended = run_program(profile);
    VERIFY_DONE(ended, profile);
    QVERIFY2(ended.err.empty() || ended.err.find("pixels") == std::string::npos, ended.err.c_str());
    const Arguments csv = {"export", session, "--format", "csv", "--what", "labels"};
    const Ended table = run_program(csv);
    VERIFY_DONE(table, csv);
    // 20 x 20 is cut into 2 x 2 patches.
    std::map<std::string, int64_t> cells;
    std::istringstream text(table.out);
    std::string line;
    std::getline(text, line), std::getline(text, line);
    while (std::getline(text, line)) cells[line.substr(7, 1)] += std::stoll(line.substr(line.rfind(',') + 1));
    QVERIFY2((cells == std::map<std::string, int64_t>{{"1", 4}, {"3", 12}}), table.out.c_str());
    write_safetensors(file, std::vector<TensorToWrite>{{"pixels", DType::f32, {4, 20, 20, 3}, pixels.data()},
                                                       {"labels", DType::i64, {3}, labels.data()}});
    VERIFY_REFUSED(quick("run", file), file, "labels has the shape [3], the items are 4");
    for (float& p : pixels) p *= 255;
    write_safetensors(file, std::vector<TensorToWrite>{{"pixels", DType::f32, {4, 20, 20, 3}, pixels.data()}});
    const Arguments bright = quick("run", file);
    const Ended warned = run_program(bright);
    VERIFY_DONE(warned, bright);
    QVERIFY2(warned.err.find("stormcell: warning: " + file + ": 4 of 4 pictures hold pixels far from 0 to 1") !=
                 std::string::npos,
             warned.err.c_str());
  }

  void what_means_nothing_to_pictures_is_refused() {
    for (const Arguments& option :
         {Arguments{"--length", "7"}, Arguments{"--truncate"}, Arguments{"--bucket-by-length"},
          Arguments{"--field", "x"}, Arguments{"--label-field", "x"}})
      VERIFY_REFUSED(quick("run", "random:2", option), option[0], "has no meaning for pictures");
  }

  void pictures_are_kept_small_where_inputs_are_asked_for() {
    const Scratch scratch;
    for (const bool inputs : {false, true}) {
      const std::string session = scratch.path(inputs ? "with.storm" : "without.storm");
      Arguments more{"-o", session};
      if (inputs) more.emplace_back("--record-inputs");
      const Arguments profiled = quick("profile", "random:3", more);
      VERIFY_DONE(run_program(profiled), profiled);
      const SessionReader reader(session);
      QCOMPARE(reader.thumbnail_count(1), int64_t{inputs ? 3 : 0});
      reader.check();
    }
    const std::string session = scratch.path("with.storm"), copy = scratch.path("copy.storm");
    const Arguments shared{"export", session, "--format", "session", "--no-pictures", "-o", copy};
    VERIFY_DONE(run_program(shared), shared);
    QCOMPARE(SessionReader(copy).thumbnail_count(1), int64_t{0});
    VERIFY_REFUSED((Arguments{"export", session, "--format", "csv", "--what", "loads", "--no-pictures"}),
                   "--no-pictures", "works with --format session only");
  }

  /// FFmpeg's libraries are loaded with the first video.
  void a_machine_without_the_libraries_of_video_is_told() {
    if (!lacked_for_video().empty()) QSKIP(lacked_for_video().c_str());
    const Scratch scratch;
    VideoToWrite video;
    video.container = "mp4", video.greys = {0, 50};
    const std::string file = scratch.path("v.mp4");
    write_video(file, video);
    // In the place of the library, for the program alone.
    for (const std::string& name : video_libraries()) scratch.write("libraries/" + name, "no library");
    Surroundings surroundings;
    surroundings.environment = {{"LD_LIBRARY_PATH", scratch.path("libraries")}};
    const Ended refused = run_program(quick("profile", file), surroundings);
    QCOMPARE(refused.exit, 2);
    QVERIFY2(refused.err.find(file) != std::string::npos && refused.err.find("no video is read: ") != std::string::npos,
             refused.err.c_str());
    const Ended doctor = run_program({"doctor", "--json", "-"}, surroundings);
    QVERIFY2(doctor.exit == 0 && doctor.out.find("no video is read: ") != std::string::npos, doctor.out.c_str());
  }

  /// From the file to the session: each frame is an item with its picture and the branches of its patches.
  void frames_of_a_video_are_recorded_as_pictures() {
    const std::string lacked = lacked_for_video();
    if (!lacked.empty()) QSKIP(lacked.c_str());
    const Scratch scratch;
    const std::string file = scratch.path("v.mp4"), session = scratch.path("v.storm");
    VideoToWrite video;
    video.container = "mp4", video.greys = {0, 50, 100, 150, 200};
    write_video(file, video);
    const Arguments profile = quick("profile", file, {"--record-inputs", "-o", session});
    const Ended profiled = run_program(profile);
    VERIFY_DONE(profiled, profile);
    const Json j = profiled.json();
    QVERIFY2(j["dataset"]["cells"] == 5 && j["dataset"]["batches"] == 3 && j["dataset"]["unit"] == "picture",
             j["dataset"].dump().c_str());
    QVERIFY(j["dataset"]["sizes"] == Json::parse(R"([{"height":32,"width":48,"items":5,"batches":3}])"));
    QVERIFY(j["verified"]["passed"] == true);
    const SessionReader reader(session);
    reader.check();
    const std::map<int64_t, Thumbnail> small = reader.thumbnails(1);
    QCOMPARE(small.size(), video.greys.size());
    for (const auto& [item, picture] : small) {
      QVERIFY(picture.size == (PictureSize{32, 48}) && picture.channels == 3);
      QVERIFY(std::abs(int{picture.pixels[(48 * 16 + 6) * 3]} - int{video.greys.at(static_cast<size_t>(item))}) <= 5);
    }
    const Arguments csv = {"export", session, "--format", "csv", "--what", "decisions"};
    const Ended table = run_program(csv);
    VERIFY_DONE(table, csv);
    // Patches of 16 x 16, 12 apart: 3 rows of 4 of each frame, behind the origin and the names of the columns.
    QCOMPARE(std::count(table.out.begin(), table.out.end(), '\n'), std::ptrdiff_t{2 + 5 * 12});
  }

  void a_folder_goes_on_past_files_that_cannot_be_fed() {
    const Scratch scratch;
    const std::string data = folder_of_pictures(scratch);
    scratch.write("pictures/03.npy", picture(12, 40));
    scratch.write("pictures/07.npy", picture(20, 40, 3, std::numeric_limits<float>::quiet_NaN()));
    scratch.write("pictures/x.txt", "a");
    const Arguments run = short_run("run", kModel, data, {"--json", scratch.path("run.json")});
    const Ended ended = run_program(run);
    VERIFY_DONE(ended, run);
    const std::string said =
        data +
        ": 3 of 16 files are skipped: \"03.npy\" is a picture of [12, 40, 3], the model takes [height, width, 3], "
        "heights "
        "and widths of 16 to 8192 pixels (resize what does not fit); \"07.npy\" it holds pixels that are not finite";
    QVERIFY2(ended.err.find("stormcell: warning: " + said) != std::string::npos, ended.err.c_str());
    QVERIFY2(
        ended.out.find("13 pictures") != std::string::npos && ended.out.find("3 files skipped") != std::string::npos,
        ended.out.c_str());
    const Json j = Json::parse(Scratch::read(scratch.path("run.json")))["dataset"];
    QVERIFY(j["cells"] == 13 && j["batches"] == 13 && j["skipped"] == 3);
    QCOMPARE(j["skipped_items"].size(), size_t{3});
    QVERIFY(j["skipped_items"][2]["name"] == "x.txt");
    QVERIFY2(j["skipped_items"][2]["reason"].get<std::string>().find("is not a picture that this version reads") == 0,
             j.dump().c_str());
  }

  /// A folder may hold anything: pictures that can be fed are, whatever lies beside it.
  void a_folder_of_every_kind_of_picture() {
    if (!picture_formats()[0].lacked.empty() || !picture_formats()[1].lacked.empty()) return;
    using Kind = PngToWrite::Kind;
    const Scratch scratch;
    const auto png = [&](const std::string& name, PngToWrite picture, size_t channels, uint16_t sample) {
      picture.samples.assign(static_cast<size_t>(picture.height * picture.width) * channels, sample);
      return scratch.write("p/" + name, png_of(picture));
    };
    const auto jpeg = [&](JpegToWrite picture) {
      picture.height = 20, picture.width = 40;
      picture.bytes.assign(20 * 40 * 3, 128);
      return jpeg_of(picture);
    };
    png("16-bits.png", {20, 40, Kind::colours, 16}, 3, 30000);
    png("clear.png", {20, 40, Kind::colours_and_opacity}, 4, 100);
    png("grey.png", {20, 40, Kind::grey}, 1, 100);
    png("huge.png", {3, 40, Kind::grey}, 1, 100);
    scratch.write("p/huge.png",
                  Scratch::read(scratch.path("p/huge.png")).replace(16, 4, std::string("\x7f\xff\xff\xff", 4)));
    png("one-pixel.png", {1, 1, Kind::colours}, 3, 100);
    png("opaque.png", {20, 40, Kind::colours_and_opacity}, 4, 255);
    scratch.write("p/plain.jpg", jpeg({}));
    scratch.write("p/rotated.jpg", jpeg({.exif = tiff_of_orientation(6)}));
    scratch.write("p/truncated.jpg", jpeg({}).substr(0, 300));
    scratch.write("p/truncated.ppm", "P6 40 20 255 abc");
    scratch.write("p/undecodable.png", "\x89PNG\r\n\x1a\n" + std::string(100, 'x'));
    const Arguments run = quick("run", scratch.path("p"));
    const Ended ended = run_program(run);
    VERIFY_DONE(ended, run);
    const Json j = ended.json(), data = j["dataset"];
    QVERIFY(j["verified"]["passed"] == true);
    // 16 bits, grey, opaque, plain; and the one that lies on its side.
    QVERIFY2(
        data["sizes"] ==
            Json::parse(
                R"([{"height":20,"width":40,"items":4,"batches":2},{"height":40,"width":20,"items":1,"batches":1}])"),
        data["sizes"].dump().c_str());
    QVERIFY(data["skipped"] == 6);
    std::map<std::string, std::string> reasons;
    for (const Json& item : data["skipped_items"]) reasons[item["name"]] = item["reason"];
    for (const auto& [name, words] : {std::pair{"clear.png", "can be seen through"},
                                      {"huge.png", "at most 67,108,864"},
                                      {"one-pixel.png", "is a picture of [1, 1, 3]"},
                                      {"truncated.jpg", "is truncated"},
                                      {"truncated.ppm", "is truncated"},
                                      {"undecodable.png", "is "}})
      QVERIFY2(reasons[name].find(words) != std::string::npos, (std::string(name) + ": " + reasons[name]).c_str());
  }

  void what_does_not_fit_is_one_line_that_names_the_file() {
    const Scratch scratch;
    const auto refused = [&](const std::string& content, const std::string& words) {
      scratch.write("one/07.npy", content);
      VERIFY_REFUSED(quick("run", scratch.path("one")), scratch.path("one"), words);
    };
    refused(picture(12, 40), "\"07.npy\", is a picture of [12, 40, 3], the model takes [height, width, 3]");
    refused(picture(20, 40, 1), "is a picture of [20, 40, 1]");
    refused(picture(20, 40, 3, std::numeric_limits<float>::quiet_NaN()), "it holds pixels that are not finite");
    const std::string good = picture(20, 40);
    refused(good.substr(0, good.size() - 5), "holds no picture that can be fed, of 1 file; the first, \"07.npy\", ");
    refused("{}", "is not a picture that this version reads");
    VERIFY_REFUSED(quick("run", scratch.path("nothing")), scratch.path("nothing"), "");
    VERIFY_REFUSED(quick("run", scratch.write("t.txt", "a\n")), scratch.path("t.txt"), "the model takes pictures");
    VERIFY_REFUSED((Arguments{"generate", kModel, "--data", "random:2"}), kModel, "");
  }
};

STORMCELL_TEST(PicturesTest)

}  // namespace stormcell::testing::pictures_test

#include "pictures_test.moc"

// A folder in which some files cannot be fed: the rest goes on, counted and labelled as if they were not there.
#include <algorithm>
#include <filesystem>
#include <limits>

#include "core/base/error.h"
#include "core/data/dataset.h"
#include "core/formats/picture_formats.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/address_limit.h"
#include "tests/testing/complaint.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/picture_files.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Texts = std::vector<std::string>;

class SkippedPicturesTest : public QObject {
  Q_OBJECT

  static DataOptions options(int64_t channels, int64_t batches = -1) {
    DataOptions options;
    options.batch = 2, options.batches = batches;
    options.inputs = {
        {"pixels", DType::f32, InputRole::pixels, "picture", "", 1, {4, 4, channels}, 0, PictureSizes{3, 20}}};
    return options;
  }
  static std::shared_ptr<const Dataset> opened(const std::string& folder, int64_t channels = 3, int64_t batches = -1) {
    return Dataset::open(folder, nullptr, options(channels, batches));
  }
  /// A PPM of 4 x 4, all bytes alike.
  static void ppm(const Scratch& scratch, const std::string& name, int byte) {
    scratch.write(name, "P6 4 4 255 " + std::string(48, static_cast<char>(byte)));
  }
  static std::string npy(int height, int width, int channels, float value = 0.5F) {
    return npy_of("(" + std::to_string(height) + ", " + std::to_string(width) + ", " + std::to_string(channels) + ")",
                  "<f4", std::vector<float>(static_cast<size_t>(height * width * channels), value));
  }

 private slots:
  void each_reason_is_said_and_the_rest_goes_on_data() {
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QString>("reason");
    const auto row = [](const char* name, const std::string& content, const char* reason) {
      QTest::newRow(name) << QByteArray::fromStdString(content) << reason;
    };
    row("too small", npy(2, 4, 3),
        "is a picture of [2, 4, 3], the model takes [height, width, 3], heights and widths of 3 to 20 pixels (");
    row("too large", npy(4, 21, 3), "is a picture of [4, 21, 3]");
    row("channels", npy(4, 4, 2), "is a picture of [4, 4, 2]");
    row("an array of one channel is not repeated", npy(4, 4, 1), "is a picture of [4, 4, 1]");
    row("no pixel", npy(0, 4, 3), "is a picture of [0, 4, 3]");
    row("not finite", npy(4, 4, 3, std::numeric_limits<float>::infinity()), "it holds pixels that are not finite (");
    row("no picture", "no array", "is not a picture that this version reads (it reads ");
    row("empty", "", "is empty, not a picture that this version reads (");
    row("two extents", npy_of("(4, 4)", "<f4", std::vector<float>(16)), "the array has the shape [4, 4]");
    row("integers", npy_of("(4, 4, 3)", "<i4", std::vector<int32_t>(48)), "the array holds i32");
    row("an array that ends early", npy_of("(4, 4, 3)", "<f4", std::vector<float>(47)), "");
    row("a PPM that ends early", "P6 4 4 255 abc", "is truncated: 3 bytes of pixels");
  }
  void each_reason_is_said_and_the_rest_goes_on() {
    QFETCH(QByteArray, content);
    QFETCH(QString, reason);
    const Scratch scratch;
    ppm(scratch, "p/a.ppm", 51), ppm(scratch, "p/z.ppm", 102);
    scratch.write("p/m.png", content.toStdString());
    const auto data = opened(scratch.path("p"));
    QCOMPARE(data->items(), int64_t{2});
    QCOMPARE(data->cells().cells, int64_t{2});
    QCOMPARE(data->batch(0).find_input("pixels")->reals[48], 0.4F);
    QCOMPARE(data->skipped().size(), size_t{1});
    QCOMPARE(data->skipped()[0].name, std::string("m.png"));
    QVERIFY2(data->skipped()[0].reason.starts_with(reason.toStdString()), data->skipped()[0].reason.c_str());
    QCOMPARE(data->warnings(),
             Texts{scratch.path("p") + ": 1 of 3 files is skipped: \"m.png\" " + data->skipped()[0].reason});
    // The same data as without it.
    std::filesystem::remove(scratch.path("p/m.png"));
    QCOMPARE(opened(scratch.path("p"))->fingerprint(), data->fingerprint());
  }

  void three_are_named_and_all_are_listed() {
    const Scratch scratch;
    ppm(scratch, "p/good.ppm", 51);
    for (const char* name : {"a", "b", "c", "x", "y"}) scratch.write(std::string("p/") + name, "?");
    const auto data = opened(scratch.path("p"));
    QCOMPARE(data->skipped().size(), size_t{5});
    const std::string said = data->warnings().at(0);
    QVERIFY2(said.find(": 5 of 6 files are skipped: \"a\" is not a picture") != std::string::npos, said.c_str());
    QVERIFY2(said.find("; \"c\" is") != std::string::npos && said.ends_with("; and 2 others"), said.c_str());
  }

  void nothing_left_is_an_error() {
    const Scratch scratch;
    scratch.write("p/a", "?"), scratch.write("p/b", "");
    VERIFY_BAD_INPUT(
        opened(scratch.path("p")), scratch.path("p"),
        "holds no picture that can be fed, of 2 files; the first, \"a\", is not a picture that this version reads");
    std::filesystem::create_directory(scratch.path("empty"));
    VERIFY_BAD_INPUT(opened(scratch.path("empty")), scratch.path("empty"), "holds no picture");
    ppm(scratch, "q/a.ppm", 1), ppm(scratch, "q/deeper.ppm/x.ppm", 1);
    VERIFY_BAD_INPUT(opened(scratch.path("q")), scratch.path("q"), "holds \"deeper.ppm\", which is not a picture");
  }

  void labels_go_with_their_pictures() {
    const Scratch scratch;
    ppm(scratch, "p/a.ppm", 1), scratch.write("p/b.ppm", "?"), ppm(scratch, "p/c.ppm", 1);
    scratch.write("p/labels.csv", "a.ppm,0\nb.ppm,1\nc.ppm,2\n");
    const auto data = opened(scratch.path("p"));
    QCOMPARE(data->batch(0).labels, (Texts{"0", "2"}));
    QCOMPARE(data->warnings().size(), size_t{1});  // a line of what was skipped is not one without a picture
    ppm(scratch, "d/cat/a.ppm", 1), scratch.write("d/cat/b.ppm", "?"), ppm(scratch, "d/owl/a.ppm", 1);
    const auto classes = opened(scratch.path("d"));
    QCOMPARE(classes->batch(0).labels, (Texts{"cat", "owl"}));
    QCOMPARE(classes->skipped().at(0).name, std::string("cat/b.ppm"));
  }

  void no_more_files_are_looked_at_than_batches_need() {
    const Scratch scratch;
    scratch.write("p/0", "?");
    for (const char* name : {"a", "b", "c", "d"}) ppm(scratch, std::string("p/") + name, 1);
    scratch.write("p/e", "?");
    const auto data = opened(scratch.path("p"), 3, 1);
    QCOMPARE(data->items(), int64_t{2});
    QVERIFY2(data->warnings().at(0).find(": 1 of 3 files is skipped") != std::string::npos,
             data->warnings()[0].c_str());
    QCOMPARE(opened(scratch.path("p"), 3, 9)->skipped().size(), size_t{2});
  }

  void opening_a_folder_can_be_told_to_stop() {
    const Scratch scratch;
    ppm(scratch, "p/a.ppm", 51);
    DataOptions stopped = options(3);
    stopped.cancel.cancel();
    ErrorKind kind = ErrorKind::failed;
    QVERIFY(!complaint([&] { Dataset::open(scratch.path("p"), nullptr, stopped); }, &kind).empty());
    QVERIFY(kind == ErrorKind::interrupted);
  }

  /// 8192 x 8192 bytes of grey, of which a model of colours wants 800 MB of numbers: a hole in the file, which takes no
  /// disk.
  void a_picture_too_large_for_memory_is_skipped_like_a_bad_one() {
    if (!AddressLimit::limits_hold()) return;
    const Scratch scratch;
    ppm(scratch, "p/a.ppm", 51);
    const std::string header = "P5 8192 8192 255 ", large = scratch.write("p/large.pgm", header);
    std::filesystem::resize_file(large, header.size() + (size_t{1} << 26));
    DataOptions any = options(3);
    any.inputs[0].sizes = PictureSizes{1, 8192};
    const AddressLimit limit(size_t{200} << 20);
    const auto data = Dataset::open(scratch.path("p"), nullptr, any);
    QCOMPARE(data->items(), int64_t{1});
    QCOMPARE(data->skipped().at(0).name, std::string("large.pgm"));
    QCOMPARE(data->skipped()[0].reason, std::string("takes more memory to read than there is (resize it)"));
  }

  void png_and_jpeg_are_pictures_like_others() {
    if (!picture_formats()[0].lacked.empty() || !picture_formats()[1].lacked.empty()) return;
    const Scratch scratch;
    PngToWrite grey{.height = 4, .width = 4, .kind = PngToWrite::Kind::grey};
    grey.samples.assign(16, 51);
    scratch.write("p/a.dat", png_of(grey));
    PngToWrite clear{.height = 4, .width = 4, .kind = PngToWrite::Kind::colours_and_opacity};
    clear.samples.assign(64, 102);
    scratch.write("p/b.png", png_of(clear));
    JpegToWrite white{.height = 4, .width = 4};
    white.bytes.assign(48, 255);
    scratch.write("p/c.jpg", jpeg_of(white));
    scratch.write("p/d.jpg", jpeg_of(white).substr(0, 300));
    ppm(scratch, "p/e.ppm", 102);
    const auto data = opened(scratch.path("p"));
    QCOMPARE(data->items(), int64_t{3});
    QCOMPARE(data->skipped().size(), size_t{2});
    QVERIFY2(data->skipped()[0].reason.starts_with("16 pixels of it can be seen through"),
             data->skipped()[0].reason.c_str());
    QVERIFY2(data->skipped()[1].reason.starts_with("is truncated"), data->skipped()[1].reason.c_str());
    const std::vector<float> two = data->batch(0).find_input("pixels")->reals;
    QCOMPARE(two, [] {
      std::vector<float> expected(48, 0.2F);
      expected.resize(96, 1);
      return expected;
    }());
    // With one channel grey fits, colours do not.
    const auto of_grey = opened(scratch.path("p"), 1);
    QCOMPARE(of_grey->items(), int64_t{1});
    const auto skips = of_grey->skipped();
    const auto says = [&](const char* words) {
      return std::any_of(skips.begin(), skips.end(),
                         [&](const SkippedItem& s) { return s.reason.find(words) != std::string::npos; });
    };
    QVERIFY(says("is a colour picture, the model takes grey ones of 1 channel (convert it to grey)") &&
            says("is a colour picture with opacity, the model takes grey ones"));
    QCOMPARE(of_grey->batch(0).find_input("pixels")->reals, std::vector<float>(16, 0.2F));
    QVERIFY(opened(scratch.path("p"), 4)->items() == 1);
    // A picture that changes after the opening is an error of the run.
    scratch.write("p/a.dat", "?");
    VERIFY_BAD_INPUT(data->batch(0), scratch.path("p/a.dat"), "is not a picture");
  }
};
STORMCELL_TEST(SkippedPicturesTest)
#include "skipped_pictures_test.moc"

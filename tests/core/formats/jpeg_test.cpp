// JPEG: which pixels come out, how Exif turns them, and each thing that is wrong.
#include "core/formats/jpeg.h"

#include <cmath>

#include "core/formats/exif.h"
#include "core/formats/picture_formats.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/picture_files.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Reals = std::vector<float>;

class JpegTest : public QObject {
  Q_OBJECT

  static bool is_read() { return picture_formats()[1].lacked.empty(); }
  static PictureFile opened(const Scratch& scratch, const std::string& content) {
    return open_picture(scratch.write("x", content));
  }
  /// 16 x 24, each block of 8 x 8 of one grey: 0, 40, 80 above 120, 160, 200.
  static JpegToWrite blocks(int channels = 1) {
    JpegToWrite picture{.height = 16, .width = 24, .channels = channels};
    for (int y = 0; y < 16; ++y)
      for (int x = 0; x < 24; ++x)
        picture.bytes.insert(picture.bytes.end(), static_cast<size_t>(channels),
                             static_cast<uint8_t>(40 * (y / 8 * 3 + x / 8)));
    return picture;
  }
  /// The greys of the blocks, row by row, as they are shown.
  static std::vector<int> greys(const PictureFile& file) {
    const Reals pixels = file.decode();
    std::vector<int> greys;
    for (int64_t y = 4; y < file.header.height; y += 8)
      for (int64_t x = 4; x < file.header.width; x += 8)
        greys.push_back(static_cast<int>(
            std::lround(pixels[static_cast<size_t>((y * file.header.width + x) * file.header.channels)] * 255 / 40)));
    return greys;
  }

 private slots:
  void what_the_build_lacks_is_said() {
    const Scratch scratch;
    const std::string file = scratch.write("x.jpg", "\xff\xd8\xff\xe0");
    if (is_read())
      VERIFY_BAD_INPUT(open_picture(file), file, "is truncated");
    else
      VERIFY_BAD_INPUT(
          open_picture(file), file,
          "is a JPEG, and this build reads none: libjpeg was not there when it was made (install libjpeg62-turbo-dev");
  }

  void grey_and_colours_progressive_or_not() {
    if (!is_read()) return;
    const Scratch scratch;
    for (const int channels : {1, 3})
      for (const bool progressive : {false, true}) {
        JpegToWrite picture = blocks(channels);
        picture.progressive = progressive;
        const PictureFile file = opened(scratch, jpeg_of(picture));
        QVERIFY((file.header == PictureHeader{16, 24, channels}));
        QCOMPARE(greys(file), (std::vector<int>{0, 1, 2, 3, 4, 5}));
      }
    JpegToWrite red{.height = 1, .width = 1, .bytes = {255, 0, 0}};
    const Reals pixel = opened(scratch, jpeg_of(red)).decode();
    QCOMPARE(pixel.size(), size_t{3});
    QVERIFY(pixel[0] > 0.98F && pixel[1] < 0.02F && pixel[2] < 0.02F);
  }

  void a_picture_is_turned_as_exif_says_data() {
    QTest::addColumn<int>("orientation");
    QTest::addColumn<std::vector<int>>("shown");
    const auto row = [](const char* name, int orientation, const std::vector<int>& shown) {
      QTest::newRow(name) << orientation << shown;
    };
    row("as stored", 1, {0, 1, 2, 3, 4, 5});
    row("mirrored", 2, {2, 1, 0, 5, 4, 3});
    row("half a turn", 3, {5, 4, 3, 2, 1, 0});
    row("flipped", 4, {3, 4, 5, 0, 1, 2});
    row("transposed", 5, {0, 3, 1, 4, 2, 5});
    row("to the right", 6, {3, 0, 4, 1, 5, 2});
    row("transversed", 7, {5, 2, 4, 1, 3, 0});
    row("to the left", 8, {2, 5, 1, 4, 0, 3});
    row("a number that Exif does not have", 9, {0, 1, 2, 3, 4, 5});
  }
  void a_picture_is_turned_as_exif_says() {
    if (!is_read()) return;
    QFETCH(int, orientation);
    QFETCH(std::vector<int>, shown);
    const Scratch scratch;
    for (const int channels : {1, 3})
      for (const bool big_endian : {false, true}) {
        JpegToWrite picture = blocks(channels);
        picture.exif = tiff_of_orientation(orientation, big_endian);
        const PictureFile file = opened(scratch, jpeg_of(picture));
        const bool lies = orientation < 5 || orientation > 8;
        QVERIFY((file.header == PictureHeader{lies ? 16 : 24, lies ? 24 : 16, channels}));
        QCOMPARE(greys(file), shown);
      }
  }

  void what_is_no_exif_turns_nothing() {
    const auto of = [](const std::string& tiff) { return orientation_in(std::as_bytes(std::span(tiff))); };
    const std::string whole = tiff_of_orientation(6);
    QVERIFY(of(whole) == Orientation::turn_right);
    for (size_t kept = 0; kept < 34; ++kept) QVERIFY(of(whole.substr(0, kept)) == Orientation::as_stored);
    QVERIFY(of("MX" + whole.substr(2)) == Orientation::as_stored);
    QVERIFY(of(std::string("II*\0\xff\xff\xff\xff", 8) + whole) == Orientation::as_stored);
  }

  void what_is_wrong_is_said() {
    if (!is_read()) return;
    const Scratch scratch;
    const std::string whole = jpeg_of(blocks(3)), file = scratch.path("x");
    const auto refused = [&](const std::string& content, const std::string& words) {
      scratch.write("x", content);
      VERIFY_BAD_INPUT(open_picture(file).decode(), file, words);
    };
    for (const size_t kept : {size_t{3}, size_t{20}, whole.size() / 2, whole.size() - 2})
      refused(whole.substr(0, kept), "is truncated");
    refused("\xff\xd8\xff" + std::string(40, 'x'), "is not a whole JPEG: ");
    std::string two = whole;
    two.resize(whole.size() - 2);
    refused(two + std::string("\xff\xd8", 2), "is not a whole JPEG: ");
    refused(
        whole + whole,
        "holds several JPEG pictures one after the other (split it into a file for each, or put them into a video: ");
    // A photograph whose file says that it has more, such as a map of gains, is one.
    const std::string more = whole.substr(0, 2) + std::string("\xff\xe2\0\x08MPF\0xx", 10) + whole.substr(2) + whole;
    QVERIFY(opened(scratch, more).decode() == opened(scratch, whole).decode());
    JpegToWrite printed{.channels = 4};
    printed.bytes.assign(8 * 8 * 4, 7);
    refused(jpeg_of(printed), "is a JPEG for printing, in CMYK (convert it to RGB)");
    // The frame header says how many pixels there are: FF C0, length, bits, height, width.
    const size_t frame = whole.find("\xff\xc0");
    QVERIFY(frame != std::string::npos);
    refused(std::string(whole).replace(frame + 5, 4, "\xff\xdc\xff\xdc"),
            "is a picture of 65500 x 65500 pixels, this version reads at most 67,108,864");
    refused(std::string(whole).replace(frame + 5, 4, "\x1f\xff\x1f\xff"), "cannot hold 8191 x 8191 pixels");
  }
};
STORMCELL_TEST(JpegTest)
#include "jpeg_test.moc"

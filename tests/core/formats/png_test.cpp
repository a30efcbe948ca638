// PNG of every kind: which pixels come out, and each thing that is wrong.
#include "core/formats/png.h"

#include "core/formats/picture_formats.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/address_limit.h"
#include "tests/testing/picture_files.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Kind = PngToWrite::Kind;
using Reals = std::vector<float>;

class PngTest : public QObject {
  Q_OBJECT

  static bool is_read() { return picture_formats()[0].lacked.empty(); }
  static PictureFile opened(const Scratch& scratch, const std::string& content) {
    return open_picture(scratch.write("x", content));
  }
  /// Two colours in 5 x 7, so that all seven passes of an interlaced one have pixels.
  static PngToWrite colours(bool interlaced) {
    PngToWrite picture{.height = 5, .width = 7, .kind = Kind::colours, .interlaced = interlaced};
    for (int i = 0; i < 5 * 7 * 3; ++i) picture.samples.push_back(static_cast<uint16_t>(i * 37 % 256));
    return picture;
  }
  /// CRC-32 of the chunk IHDR, which begins the file, set right.
  static std::string with_checksum_of_header(std::string png) {
    uint32_t sum = 0xFFFFFFFF;
    for (size_t i = 12; i < 29; ++i) {
      sum ^= static_cast<uint8_t>(png[i]);
      for (int bit = 0; bit < 8; ++bit) sum = sum >> 1 ^ (sum & 1 ? 0xEDB88320 : 0);
    }
    for (size_t i = 0; i < 4; ++i) png[29 + i] = static_cast<char>(~sum >> (24 - 8 * i));
    return png;
  }
  /// Bytes that the process ever had in memory at once.
  static int64_t most_memory() {
    rusage usage{};
    ::getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * int64_t{1024};
  }
  static std::string with_width(std::string png, const std::string& four_bytes) {
    return png.replace(16, 4, four_bytes);
  }

 private slots:
  void what_the_build_lacks_is_said() {
    const Scratch scratch;
    const std::string file = scratch.write("x.png", "\x89PNG\r\n\x1a\n");
    if (is_read())
      VERIFY_BAD_INPUT(open_picture(file), file, "is truncated");
    else
      VERIFY_BAD_INPUT(open_picture(file), file,
                       "is a PNG, which this build cannot read: it was made without libpng (install libpng-dev");
  }

  void every_kind_gives_its_pixels_data() {
    QTest::addColumn<PngToWrite>("picture");
    QTest::addColumn<int>("channels");
    QTest::addColumn<Reals>("pixels");
    const auto row = [](const char* name, const PngToWrite& picture, int channels, const Reals& pixels) {
      QTest::newRow(name) << picture << channels << pixels;
    };
    row("grey", {1, 2, Kind::grey, 8, false, {51, 255}}, 1, {0.2F, 1});
    row("one bit", {2, 3, Kind::grey, 1, false, {0, 1, 0, 1, 1, 0}}, 1, {0, 1, 0, 1, 1, 0});
    row("four bits", {1, 3, Kind::grey, 4, false, {0, 3, 15}}, 1, {0, 0.2F, 1});
    row("16 bits", {1, 3, Kind::grey, 16, false, {1, 13107, 65535}}, 1, {1 / 65535.0F, 0.2F, 1});
    row("colours of 16 bits", {1, 1, Kind::colours, 16, false, {256, 13107, 0}}, 3, {256 / 65535.0F, 0.2F, 0});
    row("grey and opacity", {1, 2, Kind::grey_and_opacity, 8, false, {51, 255, 102, 0}}, 2, {0.2F, 1, 0.4F, 0});
    row("colours and opacity", {1, 1, Kind::colours_and_opacity, 8, false, {51, 102, 153, 204}}, 4,
        {0.2F, 0.4F, 0.6F, 0.8F});
    row("a palette", {1, 3, Kind::palette, 2, false, {2, 0, 1}, {0, 0, 0, 51, 51, 51, 255, 102, 0}}, 3,
        {1, 0.4F, 0, 0, 0, 0, 0.2F, 0.2F, 0.2F});
    row("a palette with a clear entry", {1, 2, Kind::palette, 8, false, {1, 0}, {51, 51, 51, 255, 0, 0}, {0}}, 4,
        {1, 0, 0, 1, 0.2F, 0.2F, 0.2F, 0});
    row("a clear grey", {1, 2, Kind::grey, 8, false, {51, 102}, {}, {}, {102}}, 2, {0.2F, 1, 0.4F, 0});
    row("one pixel", {1, 1, Kind::colours, 8, true, {255, 0, 255}}, 3, {1, 0, 1});
  }
  void every_kind_gives_its_pixels() {
    if (!is_read()) return;
    QFETCH(PngToWrite, picture);
    QFETCH(int, channels);
    QFETCH(Reals, pixels);
    const Scratch scratch;
    for (const bool interlaced : {false, true}) {
      picture.interlaced = interlaced;
      const PictureFile file = opened(scratch, png_of(picture));
      QVERIFY((file.header == PictureHeader{picture.height, picture.width, channels}));
      QVERIFY(!file.is_array);
      QCOMPARE(file.decode(), pixels);
    }
  }

  void seven_passes_give_what_rows_give() {
    if (!is_read()) return;
    const Scratch scratch;
    const Reals rows = opened(scratch, png_of(colours(false))).decode();
    QCOMPARE(opened(scratch, png_of(colours(true))).decode(), rows);
    QCOMPARE(rows[1], 37 / 255.0F);
  }

  void what_is_wrong_is_said_without_memory_for_it() {
    if (!is_read()) return;
    const Scratch scratch;
    const std::string whole = png_of(colours(true)), file = scratch.path("x");
    const auto refused = [&](const std::string& content, const std::string& words) {
      scratch.write("x", content);
      VERIFY_BAD_INPUT(open_picture(file).decode(), file, words);
    };
    for (const size_t kept : {size_t{9}, size_t{20}, size_t{30}, whole.size() - 30, whole.size() - 1})
      refused(whole.substr(0, kept), "is truncated");
    // The size is looked at before anything else: checksums are not.
    refused(with_width(whole, std::string("\x7f\xff\xff\xff", 4)),
            "is a picture of 5 x 2147483647 pixels, this version reads at most 67,108,864");
    refused(with_width(whole, std::string("\0\0\0\0", 4)), "is a picture of 5 x 0 pixels");
    std::string damaged = whole;
    damaged[whole.size() - 20] = static_cast<char>(damaged[whole.size() - 20] ^ 1);
    refused(damaged, "is not a whole PNG: ");
    refused(std::string("\x89PNG\r\n\x1a\n") + std::string(100, '\xff'),
            "is a picture of 4294967295 x 4294967295 pixels");
  }

  /// 6000 x 6000 in the header and nothing behind it: 36 million pixels are no more than a promise.
  void a_promise_of_pixels_takes_no_memory() {
    if (!is_read()) return;
    const Scratch scratch;
    PngToWrite large{.height = 6000, .width = 6000, .kind = Kind::grey, .bits = 1};
    large.samples.assign(size_t{6000} * 6000, 1);
    const std::string whole = png_of(large);
    scratch.write("x", whole.substr(0, 64));
    VERIFY_BAD_INPUT(open_picture(scratch.path("x")), scratch.path("x"),
                     "is truncated: its 64 bytes cannot hold 6000 x 6000 pixels");
    QCOMPARE(opened(scratch, whole).header.height, int64_t{6000});
    // A row of 64 million pixels of 8 bytes each, in seven passes: not even that row.
    PngToWrite one{.height = 1,
                   .width = 1,
                   .kind = Kind::colours_and_opacity,
                   .bits = 16,
                   .interlaced = true,
                   .samples = {1, 2, 3, 4}};
    std::string wide = with_width(png_of(one), std::string("\4\0\0\0", 4));
    scratch.write("x", with_checksum_of_header(wide));
    if (!AddressLimit::limits_hold()) return;
    const AddressLimit limit(size_t{64} << 20);
    VERIFY_BAD_INPUT(open_picture(scratch.path("x")), scratch.path("x"), "bytes cannot hold 1 x 67108864 pixels");
  }

  void words_beside_the_pixels_are_not_inflated() {
    if (!is_read() || !AddressLimit::limits_hold()) return;
    const Scratch scratch;
    PngToWrite one{.height = 1, .width = 1, .kind = Kind::grey, .samples = {51}, .texts = 30};
    const std::string file = png_of(one);
    QVERIFY2(file.size() < 400'000, std::to_string(file.size()).c_str());
    const int64_t before = most_memory();
    QCOMPARE(opened(scratch, file).decode(), Reals{0.2F});
    QVERIFY2(most_memory() - before < 30'000'000, std::to_string(most_memory() - before).c_str());
  }
};
STORMCELL_TEST(PngTest)
#include "png_test.moc"

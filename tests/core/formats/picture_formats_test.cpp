// The registry of readers, and how the channels of a picture become those of a model.
#include "core/formats/picture_formats.h"

#include "tests/core/formats/scratch.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/picture_files.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;
using Reals = std::vector<float>;

class PictureFormatsTest : public QObject {
  Q_OBJECT
 private slots:
  void a_file_is_known_by_its_content() {
    const Scratch scratch;
    const PictureFile colours = open_picture(scratch.write("x.png", "P6 1 2 255 abcdef")),
                      grey = open_picture(scratch.write("x", "P5 1 2 255 ab"));
    QVERIFY((colours.header == PictureHeader{2, 1, 3}) && !colours.is_array && !colours.decode);
    QVERIFY((grey.header == PictureHeader{2, 1, 1}));
    const PictureFile array = open_picture(scratch.write("y.jpg", npy_of("(1, 2, 5)", "<f4", Reals(10, 0.5F))));
    QVERIFY((array.header == PictureHeader{1, 2, 5}) && array.is_array && array.type == DType::f32);
    const std::string text = scratch.write("notes.png", "a text"), empty = scratch.write("empty.png", "");
    VERIFY_BAD_INPUT(open_picture(text), text, "is not a picture that this version reads (it reads ");
    VERIFY_BAD_INPUT(open_picture(empty), empty, "is empty");
    VERIFY_BAD_INPUT(open_picture(scratch.folder()), scratch.folder(), "");
    using namespace std::string_literals;
    for (const auto& [name, head] : {std::pair{"WebP", "RIFF\x24\0\0\0WEBPVP8 "s},
                                     {"GIF", "GIF89a"s},
                                     {"TIFF", "II*\0\x08\0\0\0"s},
                                     {"TIFF", "MM\0*"s},
                                     {"BMP", "BM\x3a\0\0\0\0\0\0\0"s}}) {
      const std::string other = scratch.write("other.png", head);
      VERIFY_BAD_INPUT(open_picture(other), other,
                       "is a "s + name + " picture, not a picture that this version reads (convert it to PNG or JPEG)");
    }
    const std::string words = scratch.write("BM.txt", "BM and more text");
    VERIFY_BAD_INPUT(open_picture(words), words, "is not a picture that this version reads (it reads ");
  }

  void a_size_beyond_the_limit_is_refused() {
    check_picture_size("x", 8192, 8192);
    check_picture_size("x", 1, kMostPixels);
    VERIFY_BAD_INPUT(check_picture_size("x", 8192, 8193), "x",
                     "is a picture of 8192 x 8193 pixels, this version reads at most 67,108,864");
    VERIFY_BAD_INPUT(check_picture_size("x", int64_t{1} << 40, int64_t{1} << 40), "x", "this version reads at most");
    VERIFY_BAD_INPUT(check_picture_size("x", 0, 5), "x", "is a picture of 0 x 5 pixels");
    const Scratch scratch;
    const std::string netpbm = scratch.write("x", "P5 100000000 0 255 ");
    VERIFY_BAD_INPUT(open_picture(netpbm), netpbm, "is a picture of 0 x 100000000 pixels");
  }

  void channels_become_those_of_the_model() {
    QCOMPARE(in_channels({0.5F, 1}, 1, 3, "x"), (Reals{0.5F, 0.5F, 0.5F, 1, 1, 1}));
    QCOMPARE(in_channels({0.5F, 1, 0.25F, 1}, 2, 3, "x"), (Reals{0.5F, 0.5F, 0.5F, 0.25F, 0.25F, 0.25F}));
    QCOMPARE(in_channels({0.5F, 1, 0.25F, 1}, 2, 1, "x"), (Reals{0.5F, 0.25F}));
    QCOMPARE(in_channels({1, 2, 3, 1}, 4, 3, "x"), (Reals{1, 2, 3}));
    QCOMPARE(in_channels({1, 2, 3, 0}, 4, 4, "x"), (Reals{1, 2, 3, 0}));
    VERIFY_BAD_INPUT(in_channels({1, 2, 3, 0.5F, 1, 2, 3, 1}, 4, 3, "x"), "x",
                     "1 pixel of it can be seen through, and nothing");
    VERIFY_BAD_INPUT(in_channels({1, 0, 1, 0}, 2, 1, "x"), "x",
                     "2 pixels of it can be seen through, and nothing says what is behind");
    std::string fits;
    for (int64_t came = 1; came <= 5; ++came)
      for (int64_t wanted = 1; wanted <= 5; ++wanted)
        if (fits_channels(came, wanted)) fits += std::to_string(came) + std::to_string(wanted) + " ";
    QCOMPARE(fits, std::string("11 13 21 22 23 33 43 44 55 "));
  }
};
STORMCELL_TEST(PictureFormatsTest)
#include "picture_formats_test.moc"

// Pictures made small: means of what they stand for, and which of a run are kept.
#include "core/cell/thumbnail.h"

#include "tests/testing/testing.h"

using namespace stormcell;

class ThumbnailTest : public QObject {
  Q_OBJECT

 private slots:
  void the_longer_side_is_bounded_and_nothing_grows() {
    QVERIFY((thumbnail_size({20, 20}) == PictureSize{20, 20}));
    QVERIFY((thumbnail_size({1024, 2048}) == PictureSize{48, 96}));
    QVERIFY((thumbnail_size({8192, 1}) == PictureSize{96, 1}));
    QVERIFY((thumbnail_size({97, 96}) == PictureSize{96, 95}));
  }

  void small_pictures_keep_their_pixels() {
    const std::vector<float> pixels{0, 1, 0.5F, -3, 7, 0.2F};
    const Thumbnail grey = thumbnail_of(pixels, {2, 3}, 1);
    QCOMPARE(grey.pixels, (std::vector<uint8_t>{0, 255, 128, 0, 255, 51}));
    QVERIFY((grey.size == PictureSize{2, 3}) && grey.channels == 1);
    QCOMPARE(thumbnail_of(pixels, {1, 2}, 3).pixels, (std::vector<uint8_t>{0, 255, 128, 0, 255, 51}));
  }

  void large_ones_are_means_of_what_their_pixels_stand_for() {
    // 192 x 288 in two colours, left and right: every pixel stands for three columns, two or three rows.
    std::vector<float> pixels;
    for (int i = 0; i < 192 * 288; ++i)
      for (int c = 0; c < 3; ++c) pixels.push_back(i % 288 < 144 ? 0.2F : c == 0 ? 1.0F : 0.0F);
    const Thumbnail t = thumbnail_of(pixels, {192, 288}, 3);
    QVERIFY((t.size == PictureSize{64, 96}));
    for (int64_t i = 0; i < t.size.pixels(); ++i)
      QCOMPARE(t.pixels[static_cast<size_t>(3 * i)], static_cast<uint8_t>(i % 96 < 48 ? 51 : 255));
    // A line between two pixels belongs to both.
    std::vector<float> stripes(97);
    for (size_t i = 0; i < stripes.size(); i += 2) stripes[i] = 1;
    QCOMPARE(thumbnail_of(stripes, {1, 97}, 1).pixels.size(), size_t{96});
  }

  void what_is_no_picture_of_colours_has_none() {
    QVERIFY(thumbnail_of(std::vector<float>(8), {2, 2}, 2).empty());
    QVERIFY(thumbnail_of(std::vector<float>(3), {2, 2}, 1).empty());
    QVERIFY(thumbnail_of({}, {}, 3).empty());
  }
};
STORMCELL_TEST(ThumbnailTest)
#include "thumbnail_test.moc"

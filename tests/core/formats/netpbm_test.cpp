// PPM and PGM: what a header may look like, and each thing that is wrong.
#include "core/formats/netpbm.h"

#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class NetpbmTest : public QObject {
  Q_OBJECT
 private slots:
  void headers_with_white_space_and_comments_are_read_data() {
    QTest::addColumn<QByteArray>("head");
    QTest::addColumn<int>("channels");
    QTest::newRow("plain") << QByteArray("P6\n2 3\n255\n") << 3;
    QTest::newRow("grey") << QByteArray("P5 2 3 255 ") << 1;
    QTest::newRow("comments") << QByteArray("P6 # a picture\n#of two\n2\t# wide\n 3\r\n255\n") << 3;
  }
  void headers_with_white_space_and_comments_are_read() {
    QFETCH(QByteArray, head);
    QFETCH(int, channels);
    const Scratch scratch;
    std::string pixels;
    for (int i = 0; i < 6 * channels; ++i) pixels.push_back(static_cast<char>(i == 0 ? '#' : i));
    scratch.write("x.ppm", head.toStdString() + pixels);
    const NetpbmPicture picture = open_netpbm(scratch.path("x.ppm"));
    QCOMPARE(picture.width, int64_t{2});
    QCOMPARE(picture.height, int64_t{3});
    QCOMPARE(picture.channels, int64_t{channels});
    std::string came(picture.bytes.size(), '\0');
    picture.bytes.read(0, std::as_writable_bytes(std::span(came)));
    QCOMPARE(came, pixels);
  }

  void what_is_wrong_is_said_data() {
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QString>("says");
    const auto row = [](const char* name, const QByteArray& file, const char* says) {
      QTest::newRow(name) << file << says;
    };
    row("nothing", "", "is empty");
    row("another format", "\x89PNG....", "is not a picture of the formats P5 and P6");
    row("text pixels", "P3 1 1 255 1 2 3", "is not a picture of the formats P5 and P6");
    row("no number", "P6 2 x 255 ", "its header is not that of a PPM or PGM");
    row("no end", "P6 2 3 255", "its header is not that of a PPM or PGM");
    row("a comment without end", "P6 2 3 # 255", "its header is not that of a PPM or PGM");
    row("a number that is too long", "P6 2000000000 3 255 ", "its header is not that of a PPM or PGM");
    row("16 bits", "P5 1 1 65535 ab", "its largest value is 65535, expected 255");
    row("truncated", "P6 999999999 999999999 255 abc", "is truncated: 3 bytes of pixels");
    row("a pixel short", "P5 2 2 255 abc", "is truncated: 3 bytes of pixels, 2 x 2 are 4");
    row("two pictures", "P5 1 1 255 aP5 1 1 255 b", "holds 12 bytes behind its 1 x 1 pixels");
  }
  void what_is_wrong_is_said() {
    QFETCH(QByteArray, file);
    QFETCH(QString, says);
    const Scratch scratch;
    scratch.write("x.ppm", file.toStdString());
    VERIFY_BAD_INPUT(open_netpbm(scratch.path("x.ppm")), scratch.path("x.ppm"), says.toStdString());
  }
};
STORMCELL_TEST(NetpbmTest)
#include "netpbm_test.moc"

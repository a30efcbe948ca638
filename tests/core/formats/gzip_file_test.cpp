// Files packed with gzip are read like their contents. Those that are cut, padded or too large are refused by name.
#include "core/formats/gzip_file.h"

#include <filesystem>

#include "tests/core/formats/scratch.h"
#include "tests/testing/gzip_bytes.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// 100,000 zero bytes as `gzip -9 -n` packs them.
std::string many_zeros() {
  std::string file("\x1f\x8b\x08\0\0\0\0\0\x02\x03\xed\xc1\x31\x01\0\0\0\xc2\xa0\xf5\x4f\x6d\x0d\x0f\xa0", 25);
  file += std::string(96, '\0');
  return file + std::string("\x80\x57\x03\x7d\x95\x11\xd4\xa0\x86\x01\0", 11);
}

}  // namespace

class GzipFileTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

 private slots:
  void what_is_packed_is_read() {
    const std::string long_text(300'000, 'x');
    for (const std::string& text : {std::string(), std::string("a"), "lines\n" + long_text + "\n"}) {
      QCOMPARE(read_unpacked_text(scratch_.write("a.gz", gzip_of(text)), 1 << 20), text);
      QCOMPARE(read_unpacked_text(scratch_.write("plain", text), 1 << 20), text);
      // Files that were joined.
      QCOMPARE(read_unpacked_text(scratch_.write("joined.gz", gzip_of(text) + gzip_of("") + gzip_of("b")), 1 << 20),
               text + "b");
    }
    QVERIFY(read_unpacked_text(scratch_.write("zeros.gz", many_zeros()), 1 << 20) == std::string(100'000, '\0'));
  }

  void the_name_stays_and_nothing_is_left_behind() {
    qputenv("TMPDIR", scratch_.write("tmp/none", "").substr(0, scratch_.path("tmp").size()).c_str());
    const std::string packed = scratch_.write("trace.csv.gz", gzip_of("1,2\n"));
    const OpenFile file = open_unpacked(packed);
    QCOMPARE(file.path(), packed);
    QCOMPARE(file.size(), size_t{4});
    // tmp/none, made by the test
    QCOMPARE(std::distance(std::filesystem::directory_iterator(scratch_.path("tmp")), {}), std::ptrdiff_t{1});
    QVERIFY(file.change().empty());
    qunsetenv("TMPDIR");
    QCOMPARE(unpacked_name(packed), scratch_.path("trace.csv"));
    QCOMPARE(unpacked_name(scratch_.write("named.gz", "plain")), scratch_.path("named.gz"));
    QCOMPARE(unpacked_name(scratch_.path("absent.gz")), scratch_.path("absent.gz"));
  }

  void what_is_damaged_is_refused_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const std::string& bytes, const char* words) {
      QTest::newRow(name) << QByteArray(bytes.data(), static_cast<qsizetype>(bytes.size())) << words;
    };
    const std::string good = gzip_of("some text\n");
    row("cut in its header", good.substr(0, 2), "is packed with gzip and ends in the middle: it was cut");
    row("cut in its data", good.substr(0, 18), "ends in the middle");
    row("cut in its checksum", good.substr(0, good.size() - 3), "ends in the middle");
    row("the second member is cut", good + good.substr(0, 12), "ends in the middle");
    row("text behind", good + "more", "has 4 bytes after its end that are not packed");
    row("one byte behind", good + "\x1f", "has 1 byte after its end that");
    row("padded with zeros", good + std::string(512, '\0'), "has 512 bytes after its end");
    row("padded by more than is held", good + std::string(700'000, '\0'), "has 700,000 bytes after its end");
    std::string wrong = good;
    wrong[wrong.size() - 6] ^= 1;
    row("another checksum", wrong, "is damaged near byte");
    wrong = good, wrong[10] = 6;
    row("no blocks", wrong, "is damaged near byte");
    wrong = good, wrong[2] = 7;
    row("another method", wrong, "is damaged near byte");
    row("for ever the same", many_zeros().substr(0, 100), "ends in the middle");
  }
  void what_is_damaged_is_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QString, words);
    const std::string file = scratch_.write("damaged.gz", bytes.toStdString());
    VERIFY_BAD_INPUT(open_unpacked(file), file, words.toStdString());
  }

  void how_much_comes_of_it_has_limits() {
    const std::string zeros = scratch_.write("zeros.gz", many_zeros());
    QCOMPARE(open_unpacked(zeros, {}, {.bytes = 100'000}).size(), size_t{100'000});
    VERIFY_BAD_INPUT(open_unpacked(zeros, {}, {.bytes = 99'999}), zeros, "unpacks to more than 97.7 KiB");
    VERIFY_BAD_INPUT(open_unpacked(zeros, {}, {.times = 700}), zeros, "unpacks to more than 700 times its size");
    VERIFY_BAD_INPUT(read_unpacked_text(zeros, 99'999), zeros, "is larger than 97.7 KiB");
  }

  void unpacking_can_be_stopped() {
    Progress progress;
    progress.cancel.cancel();
    try {
      open_unpacked(scratch_.write("a.gz", gzip_of("text")), progress);
      QFAIL("it was not stopped");
    } catch (const Error& error) {
      QVERIFY(error.kind() == ErrorKind::interrupted);
    }
  }
};

STORMCELL_TEST(GzipFileTest)
#include "gzip_file_test.moc"

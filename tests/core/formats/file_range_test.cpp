// Reading parts of a file, and what it says when the file is another one by then.
#include "core/formats/file_range.h"

#include <filesystem>
#include <fstream>
#include <numeric>
#include <stdexcept>

#include "core/formats/open_file.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/complaint.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class FileRangeTest : public QObject {
  Q_OBJECT

  static std::string text_of(const FileRange& range, size_t first, size_t bytes) {
    std::string text(bytes, '?');
    range.read(first, std::as_writable_bytes(std::span(text)));
    return text;
  }
  /// Returns what the Error(failed) says that reading `range` must end with.
  static std::string refusal(const FileRange& range) {
    ErrorKind kind = ErrorKind::failed;
    const std::string said = complaint([&] { text_of(range, 0, range.size()); }, &kind);
    return kind == ErrorKind::failed ? said : "another kind of error: " + said;
  }

 private slots:
  void parts_are_read() {
    const Scratch scratch;
    const FileRange whole = FileRange::whole(scratch.write("x", "0123456789")), part = whole.part(3, 5),
                    inner = part.part(1, 2);
    QCOMPARE(whole.size(), size_t{10});
    QCOMPARE(text_of(whole, 0, 10), std::string("0123456789"));
    QCOMPARE(text_of(part, 2, 3), std::string("567"));
    QCOMPARE(text_of(inner, 0, 2), std::string("45"));
    QCOMPARE(text_of(inner, 2, 0), std::string());
  }

  void nothing_beyond_its_end_is_read() {
    const Scratch scratch;
    const FileRange part = FileRange::whole(scratch.write("x", "0123456789")).part(3, 5);
    QVERIFY_THROWS_EXCEPTION(std::out_of_range, text_of(part, 5, 1));
    QVERIFY_THROWS_EXCEPTION(std::out_of_range, text_of(part, 6, 0));
    QVERIFY_THROWS_EXCEPTION(std::out_of_range, part.part(1, 5));
  }

  void pieces_are_all_of_it_in_order() {
    const Scratch scratch;
    std::string content((size_t{2} << 20) + 5, ' ');
    for (size_t i = 0; i < content.size(); ++i) content[i] = static_cast<char>(i * 7 + i / 1000);
    std::string read;
    int pieces = 0;
    FileRange::whole(scratch.write("x", content)).visit_pieces([&](std::span<const std::byte> piece) {
      read.append(reinterpret_cast<const char*>(piece.data()), piece.size());
      ++pieces;
    });
    QVERIFY(read == content);
    QCOMPARE(pieces, 3);
  }

  void a_file_that_becomes_shorter_is_named() {
    const Scratch scratch;
    const std::string path = scratch.write("x", "0123456789");
    const FileRange range = FileRange::whole(path);
    std::filesystem::resize_file(path, 4);
    const std::string said = refusal(range);
    QVERIFY2(said.starts_with(path + ": has become shorter while it was used: it had 10 bytes and has 4 now ("),
             said.c_str());
    // The file that is still there is not the one that was opened either.
    const std::string part = refusal(range.part(0, 2));
    QVERIFY2(part.starts_with(path + ": was written to while it was used: it had 10 bytes and has 4 now ("),
             part.c_str());
  }

  void a_file_that_is_written_to_is_named() {
    const Scratch scratch;
    const std::string path = scratch.write("x", "0123456789");
    const FileRange range = FileRange::whole(path);
    // Later than the file by more than the clock of any file system counts.
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(3));
    const std::string said = refusal(range);
    QVERIFY2(said.starts_with(path + ": was written to while it was used ("), said.c_str());
  }

  void a_file_whose_name_is_gone_stays_readable() {
    const Scratch scratch;
    const std::string path = scratch.write("x", "0123456789");
    const FileRange range = FileRange::whole(path);
    std::filesystem::remove(path);
    QCOMPARE(text_of(range, 0, 10), std::string("0123456789"));
  }

  // A regular file by its kind whose first page the system cannot read, as a broken disk: nothing is mapped at the
  // address 0.
  void what_the_system_cannot_read_is_named() {
    const FileRange range(std::shared_ptr<const OpenFile>(new OpenFile(OpenFile::open_regular("/proc/self/mem"))), 0,
                          16);
    const std::string said = refusal(range);
    QVERIFY2(said.starts_with("/proc/self/mem: cannot be read: Input/output error ("), said.c_str());
  }
};

STORMCELL_TEST(FileRangeTest)
#include "file_range_test.moc"

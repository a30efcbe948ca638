#include "core/base/error.h"

#include <string>

#include "core/base/blocking.h"
#include "core/base/numbers.h"
#include "tests/testing/testing.h"

using namespace stormcell;

class ErrorTest : public QObject {
  Q_OBJECT

 private slots:
  void a_message_names_the_place_and_what_to_do() {
    QCOMPARE(Error(ErrorKind::bad_input, "x.npy", "is empty", "save it again").what(),
             "x.npy: is empty (save it again)");
    QCOMPARE(Error(ErrorKind::failed, "", "interrupted").what(), "interrupted");
  }

  void a_message_is_one_line_whatever_it_quotes() {
    const std::string text = Error(ErrorKind::failed, "a\nb", "c\r\x1b[31md\x7f", "e\tf").what();
    for (const char c : text) QVERIFY(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    QVERIFY(text.starts_with("a b: c"));
  }

  void each_kind_has_its_exit_code() {
    const std::pair<ErrorKind, int> codes[] = {
        {ErrorKind::failed, 1}, {ErrorKind::bad_input, 2}, {ErrorKind::interrupted, 130}, {ErrorKind::terminated, 143}};
    for (const auto& [kind, code] : codes) QCOMPARE(Error(kind, "", "").exit_code(), code);
  }

  void a_thread_that_must_not_wait_is_told() {
    may_block("here nothing is forbidden");
    forbid_blocking_here();
    QVERIFY_THROWS_EXCEPTION(std::logic_error, may_block("reading"));
    {
      const AllowBlocking now;
      may_block("reading");
    }
    QVERIFY_THROWS_EXCEPTION(std::logic_error, may_block("reading"));
  }

  void bytes_are_told_in_the_unit_that_fits() {
    QCOMPARE(to_text(Bytes(0)), std::string("0 B"));
    QCOMPARE(to_text(Bytes(1023)), std::string("1023 B"));
    QCOMPARE(to_text(Bytes(1536)), std::string("1.5 KiB"));
    QCOMPARE(to_text(Bytes(int64_t{3} << 40)), std::string("3.0 TiB"));
    QCOMPARE(to_text(Bytes(int64_t{5000} << 40)), std::string("5000.0 TiB"));
  }
};

STORMCELL_TEST(ErrorTest)

#include "error_test.moc"

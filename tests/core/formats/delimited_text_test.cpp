// Tables as editors and spreadsheets write them: equal readings, and refusals with line and column.
#include "core/formats/delimited_text.h"

#include <array>

#include "core/formats/table_number.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

constexpr std::array<std::string_view, 3> kKnown = {"id", "us", "note"};

QByteArray bytes_of(std::string_view text) { return {text.data(), static_cast<qsizetype>(text.size())}; }

/// "ID:US" of each row, the number of empty lines, and the warning of comments.
std::string read_all(std::string_view text) {
  DelimitedText table(text, "F", TableComments::hash, "mend it");
  if (!table.next_row()) return "nothing";
  table.read_names(kKnown, std::span(kKnown).first(2));
  std::string all;
  std::vector<NumberPlace> places(table.names().size());
  int64_t id = 0;
  float us = 0;
  places[static_cast<size_t>(table.column("id"))].whole = &id;
  places[static_cast<size_t>(table.column("us"))].real = &us;
  while (table.next_row()) {
    table.numbers(places);
    all += std::to_string(id) + ":" + QString::number(us).toStdString() + " ";
  }
  const std::string warning = table.warning_of_comments();
  return all + "e" + std::to_string(table.lines().empty_lines().count) + (warning.empty() ? "" : " " + warning);
}

}  // namespace

class DelimitedTextTest : public QObject {
  Q_OBJECT
 private slots:
  void one_table_in_many_hands_is_one_table_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("read");
    const auto row = [](const char* name, std::string_view text, const char* read) {
      QTest::newRow(name) << bytes_of(text) << read;
    };
    row("plain", "id,us\n7,1.5\n8,2\n", "7:1.5 8:2 e0");
    row("no last line end", "id,us\n7,1.5\n8,2", "7:1.5 8:2 e0");
    row("byte order mark", "\xEF\xBB\xBFid,us\n7,1.5\n8,2\n", "7:1.5 8:2 e0");
    row("CRLF", "id,us\r\n7,1.5\r\n8,2\r\n", "7:1.5 8:2 e0");
    row("CR alone", "id,us\r7,1.5\r8,2\r", "7:1.5 8:2 e0");
    row("semicolons", "id;us\n7;1.5\n8;2\n", "7:1.5 8:2 e0");
    row("tabs", "id\tus\n7\t1.5\n8\t2\n", "7:1.5 8:2 e0");
    row("quoted names", "\"id\",\"us\"\n7,1.5\n8,2\n", "7:1.5 8:2 e0");
    row("quoted names and semicolons", "\"id\";\"us\"\n\"7\";\"1.5\"\n8;2\n", "7:1.5 8:2 e0");
    row("blanks", "id, us\n 7 , 1.5 \n8,\t2\n", "7:1.5 8:2 e0");
    row("scientific", "id,us\n7.0,1.5E+00\n0.8e1,2\n", "7:1.5 8:2 e0");
    row("whole numbers with a fraction of 0", "id,us\n7.000,1.5\n+8,+2.0\n", "7:1.5 8:2 e0");
    row("other order", "us,id\n1.5,7\n2,8\n", "7:1.5 8:2 e0");
    row("empty lines", "\n\nid,us\n\n7,1.5\n  \t\n8,2\n\n", "7:1.5 8:2 e5");
    row("empty rows of a spreadsheet", "id,us\n7,1.5\n,\n8,2\n,\n", "7:1.5 8:2 e2");
    row("empty fields behind", "id,us,,\n7,1.5,,\n8,2,,,,\n", "7:1.5 8:2 e0");
    row("comments", "# a, b\nid,us\n7,1.5\n# between\n8,2\n", "7:1.5 8:2 e0");
    row("quoted comment", "\"# a, \"\"b\"\"\",\nid,us\n7,1.5\n8,2\n", "7:1.5 8:2 e0");
    row("comments with commas", "id,us\n# a, b, c\n7,1.5\n# between\n8,2\n\"# a, b\",\n# of a sheet,,\n",
        "7:1.5 8:2 e0");
    row("ids with #", "id,us\n7,1.5\n#1,3\n8,2\n#2,4\n",
        "7:1.5 8:2 e0 F: 2 comments have as many fields as the line of names; the first is line 3: begin it with "
        "another character than '#' if it is a row");
    row("an id with # and empty fields after it", "id;us\n#1;3;;\n8;2\n",
        "8:2 e0 F: 1 comment has as many fields as the line of names; the first is line 2: begin it with another "
        "character than '#' if it is a row");
    row("a column nobody reads", "id,more,us\n7,\"a, b\",1.5\n8,nan,2\n", "7:1.5 8:2 e0");
    row("a field over two lines", "id,note,us\n7,\"a\nb\",1.5\n8,c,2\n", "7:1.5 8:2 e0");
    row("a quote twice", "id,note,us\n7,\"a \"\"b\"\"\",1.5\n8,5\" wide,2\n", "7:1.5 8:2 e0");
    row("a comma in a text between semicolons", "id;note;us\n7;a, b;1.5\n8;c;2\n", "7:1.5 8:2 e0");
    row("nothing", "", "nothing");
    row("comments alone", "# nothing\n\n", "nothing");
  }
  void one_table_in_many_hands_is_one_table() {
    QFETCH(QByteArray, text);
    QFETCH(QString, read);
    QCOMPARE(QString::fromStdString(read_all(text.toStdString())), read);
  }

  void what_nobody_could_know_is_refused_by_line_and_column_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, std::string_view text, const char* words) {
      QTest::newRow(name) << bytes_of(text) << words;
    };
    row("decimal comma", "id;us\n7;1\n8;1,5\n",
        "line 3, column 2: us is \"1,5\", with a comma in a number (write a point");
    row("decimal comma in quotes", "id,us\n7,\"1,5\"\n", "line 2, column 2: us is \"1,5\", with a comma in a number");
    row("decimal comma between commas", "id,us\n7,1,5\n",
        "line 2: has 3 fields, the line of names has 2 (write a point for decimals");
    row("thousands", "id,us\n7,\"1,084.5\"\n", "line 2, column 2: us is \"1,084.5\", with a comma in a number");
    row("thousands with blanks", "id,us\n1 084,5\n",
        "line 2, column 1: id is \"1 084\", with a character between its digits");
    row("thousands with apostrophes", "id,us\n1'084,5\n",
        "line 2, column 1: id is \"1'084\", with a character between its digits");
    row("thousands with hard blanks",
        "id,us\n1\xC2\xA0"
        "084,5\n",
        "line 2, column 1: id is \"1\xC2\xA0"
        "084\", with a character between its digits");
    row("half an id", "id,us\n12.5,1\n", "line 2, column 1: id is \"12.5\", not a whole number");
    row("an id beyond 2^53 in floating point", "id,us\n1e300,1\n",
        "line 2, column 1: id is \"1e300\", not a whole number");
    row("NaN", "id,us\n7,NaN\n", "line 2, column 2: us is \"NaN\", not a finite number");
    row("infinite", "id,us\n7,-Infinity\n", "line 2, column 2: us is \"-Infinity\", not a finite number");
    row("nothing", "id,us\n7,\n", "line 2, column 2: us is empty");
    row("a word", "id,us\n7,fast\n", "line 2, column 2: us is \"fast\", not a number");
    row("hexadecimal", "id,us\n0x7,1\n", "line 2, column 1: id is \"0x7\", not a whole number");
    row("a percentage", "id,us\n7,50%\n", "line 2, column 2: us is \"50%\", not a number");
    row("an error of the spreadsheet", "id,us\n#N/A,1\n", "line 2, column 1: is \"#N/A\", an error of the spreadsheet");
    row("a cut row", "id,us\n7,1\n8",
        "line 3: has 1 field, the line of names has 2 (the file may be cut; get it again)");
    row("an open quote", "id,us\n7,\"1\n8,2\n", "line 2: a quote is not closed");
    row("text behind a quote", "id,us\n7,\"1\"0\n", "line 2, column 2: has text after its closing quote");
    row("a name twice", "id,us,id\n", "line 1, column 3: the column \"id\" occurs twice");
    row("a name that is missing", "id,ms\n", "line 1: has no column us; the first columns are \"id, ms\"");
    row("behind a field over two lines", "id,note,us\n7,\"a\nb\",1\n8,c,x\n", "line 4, column 3: us is \"x\"");
    row("in a row over two lines", "id,note,us\n7,\"a\nb\",x\n", "line 2, column 3: us is \"x\"");
    row("UTF-16", std::string_view("\xFF\xFEi\0d\0", 6),
        "is text in UTF-16 (save it as UTF-8: iconv -f UTF-16 -t UTF-8 F > NEW)");
    row("UTF-16 of the other end", std::string_view("\xFE\xFF\0i\0d", 6), "is text in UTF-16");
    row("UTF-16 without a mark", std::string_view("i\0d\0,\0u\0s\0\n\0", 12), "is text in UTF-16");
    row("UTF-32", std::string_view("\xFF\xFE\0\0i\0\0\0", 8), "is text in UTF-32");
  }
  void what_nobody_could_know_is_refused_by_line_and_column() {
    QFETCH(QByteArray, text);
    QFETCH(QString, words);
    VERIFY_BAD_INPUT(read_all(text.toStdString()), "F", words.toStdString());
  }

  void numbers_of_spreadsheets() {
    QCOMPARE(whole_in("9007199254740993").value(), int64_t{9007199254740993});
    QCOMPARE(whole_in("1.4336E+04").value(), int64_t{14336});
    QCOMPARE(whole_in("-0.0").value(), int64_t{0});
    QCOMPARE(real_in("7.5E-01").value(), 0.75);
    for (const char* text : {"", ".", "-", "+", "+-1", "1e", "1.5", "9223372036854775808", "1 "})
      QVERIFY2(!whole_in(text), text);
  }
};

STORMCELL_TEST(DelimitedTextTest)
#include "delimited_text_test.moc"

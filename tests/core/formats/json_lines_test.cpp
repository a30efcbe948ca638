// Values of JSON one after another, as servers append them and as editors leave them.
#include "core/formats/json_lines.h"

#include <nlohmann/json.hpp>

#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/gzip_bytes.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// "LINE:VALUE" of each, and how many lines were empty.
std::string told(JsonLines& lines) {
  std::string all;
  for (nlohmann::json value; lines.next(value);) all += std::to_string(lines.line()) + ":" + shown_json(value) + " ";
  return all + "e" + std::to_string(lines.lines().empty_lines().count);
}

}  // namespace

class JsonLinesTest : public QObject {
  Q_OBJECT
  Scratch scratch_;

 private slots:
  void values_are_read_whatever_stands_between_them_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("read");
    const auto row = [](const char* name, const char* text, const char* read) { QTest::newRow(name) << text << read; };
    row("a line each", "{\"a\":1}\n{\"b\":2}\n", "1:{\"a\":1} 2:{\"b\":2} e0");
    row("no last line end", "{\"a\":1}\n{\"b\":2}", "1:{\"a\":1} 2:{\"b\":2} e0");
    row("byte order mark", "\xEF\xBB\xBF{\"a\":1}\n", "1:{\"a\":1} e0");
    row("CRLF", "{\"a\":1}\r\n{\"b\":2}\r\n", "1:{\"a\":1} 2:{\"b\":2} e0");
    row("empty lines", "\n{\"a\":1}\n\n \t\n{\"b\":2}\n\n", "2:{\"a\":1} 5:{\"b\":2} e4");
    row("over lines", "{\n \"a\": [\n  1,\n\n  2\n ]\n}\n{}\n", "1:{\"a\":[1,2]} 8:{} e0");
    row("several on a line", "{} [] \"a\\\"}\" 12 null\n", "1:{} 1:[] 1:\"a\\\"}\" 1:12 1:null e0");
    row("an array", "[{\"a\":1},\n {\"b\":2}\n\n]\n", "1:{\"a\":1} 2:{\"b\":2} e0");
    row("an empty array", "[ ]\n", "e0");
    row("nothing", "", "e0");
    row("brackets in texts", "{\"a\":\"}]\\\\\"}\n{\"b\":\"[\"}\n", "1:{\"a\":\"}]\\\\\"} 2:{\"b\":\"[\"} e0");
    row("a comma behind each line", "{\"a\":1},\n{\"b\":2} , \n[3],\n", "1:{\"a\":1} 2:{\"b\":2} 3:[3] e0");
    row("a comma behind a value over lines", "{\n\"a\":1\n},\n{}", "1:{\"a\":1} 4:{} e0");
    row("what Python writes", "NaN\n-Infinity\n", "1:NaN 2:-Infinity e0");
  }
  void values_are_read_whatever_stands_between_them() {
    QFETCH(QString, text);
    QFETCH(QString, read);
    const std::string bytes = text.toStdString();
    JsonLines lines(bytes, "F");
    const std::string all = told(lines);
    QCOMPARE(QString::fromStdString(all), read);
    // The same for a file, packed or not.
    for (const std::string& content : {bytes, gzip_of(bytes)}) {
      JsonLines of_file(scratch_.write("lines.jsonl", content), size_t{1} << 20, {});
      QCOMPARE(told(of_file), all);
    }
  }

  void what_is_wrong_is_said_with_its_line_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("words");
    const auto row = [](const char* name, const char* text, const char* words) {
      QTest::newRow(name) << text << words;
    };
    row("a cut last line", "{\"a\":1}\n{\"b\":[1,2",
        "line 2: the file ends in the middle of the JSON that begins here (the file may be cut");
    row("cut in a text", "{\"a\":1}\n{\"b", "line 2: the line ends in the middle of a text of its JSON");
    row("a line cut in a text", "{\"a\":\"x\n{\"b\":1}\n", "line 1: the line ends in the middle of a text of its JSON");
    row("no JSON", "{\"a\":1}\n\nnope\n", "not valid JSON at line 3, column 2");
    row("no JSON in a value over lines", "{}\n{\n \"a\":\n nope }\n", "not valid JSON at line 4");
    row("a comma between values of a line", "{\"a\":1}, {\"b\":2}\n", "not valid JSON at line 1");
    row("two commas behind a line", "{\"a\":1},,\n", "not valid JSON at line 1");
    row("a comma before a line", "{\"a\":1}\n,{\"b\":2}\n", "not valid JSON at line 2");
    row("a cut array", "[{\"a\":1},\n{\"b\":2}", "line 2: the file ends within its array");
    row("no comma in an array", "[{}\n{}]", "line 2: expected ',' between values");
    row("text behind an array", "[{}]\nx", "line 2: has more text after its array: \"x\"");
    row("nested deeper", "{}\n[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
        "nested deeper than 64 levels");
  }
  void what_is_wrong_is_said_with_its_line() {
    QFETCH(QString, text);
    QFETCH(QString, words);
    const std::string bytes = text.toStdString();
    JsonLines lines(bytes, "F");
    VERIFY_BAD_INPUT(told(lines), "F", words.toStdString());
  }

  void a_line_of_a_file_has_a_limit() {
    const std::string file = scratch_.write("long.jsonl", "{}\n\"" + std::string(5000, 'x') + "\"\n{}\n");
    JsonLines lines(file, 4096, {});
    VERIFY_BAD_INPUT(told(lines), file, "line 2: has more than 4.0 KiB");
  }

  void lines_are_read_piece_by_piece() {
    // Lines of all lengths up to 380 kB, so that pieces of 1 MiB end anywhere in them.
    std::string text, expected;
    for (int i = 0; i < 40; ++i) {
      const std::string value =
          "\"" + std::string(static_cast<size_t>(i * i) * 250, static_cast<char>('a' + i % 26)) + "\"";
      text += value + (i % 3 == 0 ? "\r\n" : "\n");
      expected += std::to_string(i + 1) + ":" + value + " ";
    }
    JsonLines lines(scratch_.write("pieces.jsonl", text), size_t{16} << 20, {});
    QVERIFY(told(lines) == expected + "e0");
  }

  void numbers_that_python_alone_writes_are_refused_where_they_are_read() {
    const std::string text = "{\"a\": NaN, \"b\": [1, -Infinity, Infinity], \"c\": \"NaN\", \"d\": 2}";
    const nlohmann::json value = parse_json_text(text, "config.json");
    QVERIFY(is_not_finite(value["a"]) && is_not_finite(value["b"][1]) && is_not_finite(value["b"][2]));
    QVERIFY(!value["a"].is_number() && !value["a"].is_string() && !value["a"].is_null());
    QVERIFY(value["c"] == "NaN" && value["d"] == 2 && value["b"][0] == 1);
    QCOMPARE(shown_json(value["b"][1]), std::string("-Infinity"));
    // The text does not depend on the file's path: fingerprints of models are made from it.
    QCOMPARE(canonical_json(value), std::string(R"({"a":"NaN","b":[1,"-Infinity","Infinity"],"c":"NaN","d":2})"));
    QCOMPARE(whole_at(value, "d"), int64_t{2});
    VERIFY_BAD_INPUT(real_at(value, "a"), "config.json", "a is NaN, not a finite number");
    VERIFY_BAD_INPUT(whole_at(value, "a"), "config.json", "a is NaN, not a finite number");
    for (const char* wrong :
         {"{NaN: 1}", "{\"a\": NaNs}", "{\"a\": -NaN}", "[NaN NaN]", "{\"a\": nan}", "[infinity]", "[+Infinity]"})
      VERIFY_BAD_INPUT(parse_json_text(wrong, "F"), "F", "not valid JSON at line 1, column ");
    VERIFY_BAD_INPUT(parse_json_text(std::string_view("\xFF\xFE{\0}\0", 6), "F"), "F", "is text in UTF-16");
  }
};

STORMCELL_TEST(JsonLinesTest)
#include "json_lines_test.moc"

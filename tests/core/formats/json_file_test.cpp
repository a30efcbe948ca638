#include "core/formats/json_file.h"

#include <nlohmann/json.hpp>

#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class JsonFileTest : public QObject {
  Q_OBJECT
 private slots:
  void values_are_read() {
    const nlohmann::json value = parse_json_text(R"( {"a":[1,-2,3.5,true,null,"ü\u00fc\ud83d\ude00"],"b":{},"c":[]} )", "test");
    QCOMPARE(value["a"][0].get<int>(), 1);
    QVERIFY(value["a"][0].is_number_unsigned());
    QCOMPARE(value["a"][1].get<int>(), -2);
    QCOMPARE(value["a"][2].get<double>(), 3.5);
    QVERIFY(value["a"][3].get<bool>() && value["a"][4].is_null());
    QCOMPARE(value["a"][5].get<std::string>(), std::string("üü😀"));
    QVERIFY(value["b"].is_object() && value["b"].empty() && value["c"].is_array());
    QCOMPARE(parse_json_text("18446744073709551615", "test").get<uint64_t>(), UINT64_MAX);
  }

  void what_is_not_json_is_refused_data() {
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("words");
    const auto row = [](const char* name, const std::string& text, const char* words) {
      QTest::newRow(name) << QByteArray(text.data(), static_cast<qsizetype>(text.size())) << QByteArray(words);
    };
    row("empty", "", "line 1, column 0");
    row("place", "{\n  \"a\": 1,\n  \"b\": x\n}", "line 3, column 8");
    row("trailing comma", "[1,]", "line 1, column 4");
    row("two values", "1 2", "column 3");
    row("comment", "// no\n1", "line 1");
    row("single quotes", "{'a':1}", "line 1");
    row("NaN", "[NaN]", "line 1");
    row("infinite number", "[1e999]", "line 1");
    row("duplicate key", "{\"a\":1,\n\"a\":2}", "line 2, column 3: the key \"a\" occurs twice");
    row("duplicate key by escape", R"({"a":1,"\u0061":2})", "occurs twice");
    row("duplicate key deep inside", R"([{"x":{"a":1,"b":2,"a":3}}])", "occurs twice");
    row("invalid UTF-8", "[\"\xc3\x28\"]", "invalid");
    row("overlong UTF-8", "[\"\xc0\xaf\"]", "invalid");
    row("lone surrogate", R"(["\ud800"])", "surrogate");
    row("control character", "[\"a\nb\"]", "control character");
    row("zero byte", std::string("[1]\0", 4), "column 4: a zero byte");
    row("truncated", R"({"a":[1,2)", "unexpected end of input");
    row("deep list", std::string(65, '[') + std::string(65, ']'), "nested deeper than 64");
    row("very deep list", std::string(10'000'000, '['), "nested deeper than 64");
    row(
        "deep object",
        [] {
          std::string text;
          for (int i = 0; i < 100; ++i) text += "{\"a\":";
          return text;
        }(),
        "nested deeper than 64");
    row("long key", "{\"" + std::string(100000, 'k') + "\":1,\"" + std::string(100000, 'k') + "\":1}", "occurs twice");
    row("long wrong word", std::string(100000, 'w'), "line 1");
  }
  void what_is_not_json_is_refused() {
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, words);
    VERIFY_BAD_INPUT(parse_json_text(std::string_view(text.constData(), static_cast<size_t>(text.size())), "test"), "test",
                     words.toStdString());
  }

  void sixty_four_levels_are_enough() { QVERIFY(parse_json_text(std::string(64, '[') + std::string(64, ']'), "test").is_array()); }

  void files_are_read_within_their_limit() {
    const Scratch scratch;
    const std::string path = scratch.write("x.json", "[1, 2]");
    QCOMPARE(read_json_file(path).size(), size_t{2});
    VERIFY_BAD_INPUT(read_json_file(path, {.bytes = 5}), path, "larger than 5 B");
    VERIFY_BAD_INPUT(parse_json_text("[1, 2]", "test", {.bytes = 5}), "test", "larger than 5 B");
    VERIFY_BAD_INPUT(read_json_file(scratch.path("none.json")), scratch.path("none.json"), "No such file");
    VERIFY_BAD_INPUT(read_json_file(scratch.folder()), scratch.folder(), "is a folder");
  }
};

STORMCELL_TEST(JsonFileTest)
#include "json_file_test.moc"

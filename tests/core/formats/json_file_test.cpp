#include "core/formats/json_file.h"

#include <cstdint>
#include <nlohmann/json.hpp>

#include "tests/core/formats/scratch.h"
#include "tests/testing/damaged_files.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class JsonFileTest : public QObject {
  Q_OBJECT
 private slots:
  void values_are_read() {
    const nlohmann::json value =
        parse_json_text(R"( {"a":[1,-2,3.5,true,null,"ü\u00fc\ud83d\ude00"],"b":{},"c":[]} )", "test");
    QCOMPARE(value["a"][0].get<int>(), 1);
    QVERIFY(value["a"][0].is_number_unsigned());
    QCOMPARE(value["a"][1].get<int>(), -2);
    QCOMPARE(value["a"][2].get<double>(), 3.5);
    QVERIFY(value["a"][3].get<bool>() && value["a"][4].is_null());
    QCOMPARE(value["a"][5].get<std::string>(), std::string("üü😀"));
    QVERIFY(value["b"].is_object() && value["b"].empty() && value["c"].is_array());
    QCOMPARE(parse_json_text("18446744073709551615", "test").get<uint64_t>(), UINT64_MAX);
  }

  void what_is_not_json_is_refused_data() { add_rows(damaged_json()); }
  void what_is_not_json_is_refused() {
    QFETCH(QByteArray, bytes);
    QFETCH(QByteArray, words);
    VERIFY_BAD_INPUT(parse_json_text(std::string_view(bytes.constData(), static_cast<size_t>(bytes.size())), "test"),
                     "test", words.toStdString());
  }

  void sixty_four_levels_are_enough() {
    QVERIFY(parse_json_text(std::string(64, '[') + std::string(64, ']'), "test").is_array());
  }

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

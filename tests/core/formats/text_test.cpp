// Characters, cut names, base64.
#include "core/formats/base64.h"
#include "core/formats/charsmap.h"
#include "core/formats/file_text.h"
#include "core/formats/unicode.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class TextTest : public QObject {
  Q_OBJECT
 private slots:
  void invalid_utf8_is_found_at_its_byte() {
    QCOMPARE(find_invalid_utf8("aäあ😀\u00ff\U0010FFFF"), std::string_view::npos);
    QCOMPARE(find_invalid_utf8(""), std::string_view::npos);
    QCOMPARE(find_invalid_utf8(std::string_view("\0", 1)), std::string_view::npos);
    for (const char* bad : {"\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc3", "\xc3\x28", "\xe0\x9f\xbf", "\xed\xa0\x80",
                            "\xef\xbf", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
      QCOMPARE(find_invalid_utf8(std::string("ab") + bad), size_t{2});
  }
  void long_names_are_cut_between_characters() {
    QCOMPARE(in_quotes("x"), std::string("\"x\""));
    const std::string text = in_quotes(std::string(79, 'x') + "äää");
    QCOMPARE(text, "\"" + std::string(79, 'x') + "...\"");
  }
  void graphemes_hold_their_marks() {
    QCOMPARE(grapheme_size("ab"), size_t{1});
    QCOMPARE(grapheme_size("\r\n"), size_t{2});
    QCOMPARE(grapheme_size("e\u0301x"), size_t{3});
    QCOMPARE(grapheme_size("a\u0301\u0323"), size_t{5});
    QCOMPARE(grapheme_size("\u0928\u093cx"), size_t{6});
    QCOMPARE(grapheme_size("\n\u0301"), size_t{1});
    QCOMPARE(grapheme_size("\u0600a"), size_t{3});
  }
  void white_space_is_trimmed() {
    QCOMPARE(trim_left("\u3000\t a b "), std::string_view("a b "));
    QCOMPARE(trim_right(" a b \u00a0\n"), std::string_view(" a b"));
    QCOMPARE(trim_right("\u2003"), std::string_view(""));
  }
  void base64_is_decoded() {
    QCOMPARE(*decode_base64("TWFu"), std::string("Man"));
    QCOMPARE(*decode_base64("TWE="), std::string("Ma"));
    QCOMPARE(*decode_base64("TQ=="), std::string("M"));
    QCOMPARE(*decode_base64(""), std::string());
    QVERIFY(!decode_base64("TWF") && !decode_base64("T===") && !decode_base64("TW u") && !decode_base64("TW=u"));
  }
  void a_table_without_rules_matches_nothing() {
    const CharsMap map(CharsMap::without_rules(), "test");
    for (int byte = 0; byte < 256; ++byte) QVERIFY(!map.shortest_match(std::string(1, static_cast<char>(byte))));
  }
  void a_file_is_read_whole_or_refused() {
    const Scratch scratch;
    const std::string path = scratch.write("x", std::string(100'000, 'x'));
    QCOMPARE(read_file_text(path, 100'000).size(), size_t{100'000});
    VERIFY_BAD_INPUT(read_file_text(path, 99'999), path, "is larger than");
    QCOMPARE(read_file_text(scratch.write("empty", ""), 10).size(), size_t{0});
  }
};

STORMCELL_TEST(TextTest)
#include "text_test.moc"

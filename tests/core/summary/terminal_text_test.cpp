// Text of a model on a terminal.
#include "core/summary/terminal_text.h"

#include "tests/testing/testing.h"

using namespace stormcell;

class TerminalTextTest : public QObject {
  Q_OBJECT
 private slots:
  void control_characters_do_not_reach_a_terminal() {
    QCOMPARE(terminal_text("a\tb\nc", false), std::string("a\tb\nc"));
    QCOMPARE(terminal_text("\x1b[2J\x07x\r\x7f", false), std::string("\uFFFD[2J\uFFFDx\uFFFD\uFFFD"));
    QCOMPARE(terminal_text("\u009b1m", false), std::string("\uFFFD1m"));  // a C1 control in UTF-8
    QCOMPARE(terminal_text("na\u00efve \u4f60", false), std::string("na\u00efve \u4f60"));
  }
  void a_terminal_without_utf8_gets_ascii() {
    QCOMPARE(terminal_text("na\u00efve \u4f60.\x1b!", true), std::string("na?ve ?.?!"));
  }
  void a_locale_names_its_character_set() {
    QCOMPARE(charset_of_locale("de_DE.UTF-8"), std::string("UTF-8"));
    QCOMPARE(charset_of_locale("de_DE.utf8@euro"), std::string("UTF8"));
    QCOMPARE(charset_of_locale("de_DE.ISO-8859-15@euro"), std::string("ISO-8859-15"));
    for (const char* plain : {"C", "POSIX", "", "de_DE", "de_DE."})
      QCOMPARE(charset_of_locale(plain), std::string("ASCII"));
    QVERIFY(is_utf8_charset("UTF-8") && is_utf8_charset("UTF8") && !is_utf8_charset("ASCII"));
  }
};
STORMCELL_TEST(TerminalTextTest)
#include "terminal_text_test.moc"

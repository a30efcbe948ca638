#include "core/base/listed_words.h"

#include <array>
#include <vector>

#include "tests/testing/testing.h"

namespace stormcell {

class ListedWordsTest : public QObject {
  Q_OBJECT
 private slots:
  void words_are_parted_and_nothing_else_is() {
    QCOMPARE(joined(std::vector<std::string>{}), std::string());
    QCOMPARE(joined(std::vector<std::string>{"a"}), std::string("a"));
    QCOMPARE(joined(std::array<std::string_view, 3>{"a", "b", "c"}), std::string("a, b, c"));
    QCOMPARE(joined(std::array{"a", "b"}, "; "), std::string("a; b"));
    QCOMPARE(either(std::vector<std::string>{}), std::string());
    QCOMPARE(either(std::array{"a"}), std::string("a"));
    QCOMPARE(either(std::array{"a", "b", "c"}), std::string("a, b or c"));
    std::string list;
    for (const char* word : {"x", "y"}) add_to_list(list, word, " ");
    QCOMPARE(list, std::string("x y"));
  }
};

STORMCELL_TEST(ListedWordsTest)

}  // namespace stormcell

#include "listed_words_test.moc"

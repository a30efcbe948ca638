#include "core/base/enum_words.h"

#include <cstdint>

#include "tests/testing/testing.h"

namespace stormcell {
namespace {

enum class Fruit : uint8_t { apple, pear, wild_cherry };
constexpr std::string_view kFruits[] = {"apple", "pear", "wild cherry"};
std::string_view to_text(Fruit fruit) { return kFruits[static_cast<size_t>(fruit)]; }

}  // namespace

class EnumWordsTest : public QObject {
  Q_OBJECT
 private slots:
  void each_word_comes_back_as_its_value() {
    for (const Fruit fruit : {Fruit::apple, Fruit::pear, Fruit::wild_cherry})
      QCOMPARE(value_of_word<Fruit>(kFruits, to_text(fruit)), std::optional(fruit));
  }
  void a_word_that_the_table_lacks_has_no_value() {
    for (const char* word : {"", "app", "apples", "Apple", "wild_cherry"})
      QVERIFY(!value_of_word<Fruit>(kFruits, word));
  }
  void a_file_without_the_word_means_the_usual_value_and_an_unknown_word_means_none() {
    QCOMPARE(file_word<Fruit>(kFruits, "pear").or_usual(Fruit::apple), std::optional(Fruit::pear));
    QCOMPARE(file_word<Fruit>(kFruits, "").or_usual(Fruit::apple), std::optional(Fruit::apple));
    QVERIFY(!file_word<Fruit>(kFruits, "quince").or_usual(Fruit::apple));
  }
  void no_value_has_the_empty_text() {
    QCOMPARE(text_or_empty(std::optional(Fruit::wild_cherry)), std::string("wild cherry"));
    QCOMPARE(text_or_empty(std::optional<Fruit>()), std::string());
  }
};

STORMCELL_TEST(EnumWordsTest)

}  // namespace stormcell

#include "enum_words_test.moc"

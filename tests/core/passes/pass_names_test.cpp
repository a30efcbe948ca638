// The names of the passes: one for each pass of the pipeline, in its order, and a sentence each.
#include <algorithm>
#include <cctype>
#include <set>

#include "core/base/pass_names.h"
#include "core/passes/pass.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class PassNamesTest : public QObject {
  Q_OBJECT
 private slots:
  void each_pass_has_one_in_the_order_of_the_pipeline() {
    const std::span<const Pass> all = standard_passes();
    QCOMPARE(all.size(), kPassNames.size());
    for (size_t i = 0; i < all.size(); ++i) {
      QCOMPARE(all[i].id, kPassNames[i].id);
      QCOMPARE(all[i].summary, kPassNames[i].sentence);
    }
  }

  void names_differ_and_sentences_are_sentences() {
    std::set<std::string_view> names;
    for (const PassName& pass : kPassNames) {
      QVERIFY2(names.insert(pass.name).second && pass.name != pass.id, pass.name.data());
      QVERIFY2(pass.name.size() <= 20, pass.name.data());  // the room of the report's chart
      QVERIFY2(std::isupper(static_cast<unsigned char>(pass.sentence[0])) && pass.sentence.ends_with('.'),
               pass.sentence.data());
      QVERIFY2(std::count(pass.sentence.begin(), pass.sentence.end(), '.') == 1, pass.sentence.data());
    }
  }

  void a_pass_of_another_version_is_called_by_its_id() {
    QCOMPARE(pass_name("dead-path"), std::string("Skip unused branches"));
    QCOMPARE(pass_name("quantize-int8"), std::string("quantize-int8"));
    QVERIFY((names_of_passes({"unpad", "x"}) == std::vector<std::string>{"Skip padding", "x"}));
  }
};

STORMCELL_TEST(PassNamesTest)

}  // namespace stormcell::testing

#include "pass_names_test.moc"

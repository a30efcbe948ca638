#include "core/base/nearest_words.h"

#include "tests/testing/testing.h"

using namespace stormcell;
using Words = std::vector<std::string>;

namespace {

const Words kVerbs = {"inspect", "run",       "generate", "profile", "optimize", "import",  "merge", "analyze",
                      "place",   "calibrate", "simulate", "export",  "report",   "compare", "batch", "doctor"};
const Words kClusters = {"2x8-h100", "4x8-h100", "8x-a100", "8x-h100", "8x-h200", "nvl72"};

}  // namespace

class NearestWordsTest : public QObject {
  Q_OBJECT
 private slots:
  void the_nearest_comes_first_data() {
    QTest::addColumn<QString>("word");
    QTest::addColumn<bool>("of_verbs");
    QTest::addColumn<QString>("first");
    const auto row = [](const char* word, bool of_verbs, const char* first) {
      QTest::newRow(word) << word << of_verbs << first;
    };
    row("optimise", true, "optimize");  // one letter changed
    row("simulte", true, "simulate");   // one left out
    row("reports", true, "report");     // one added
    row("comapre", true, "compare");    // two swapped
    row("Analyze", true, "analyze");    // another case
    row("calib", true, "calibrate");    // a begin
    row("imports", true, "import");
    row("exprot", true, "export");
    row("rn", true, "run");
    row("insepct", true, "inspect");
    row("8x_h100", false, "8x-h100");  // another hyphen
    row("h100-8x", false, "8x-h100");  // the parts in another order
    row("8x-h10", false, "8x-h100");
    row("a100", false, "8x-a100");  // a part
    row("nvl-72", false, "nvl72");
    row("NVL72", false, "nvl72");
  }
  void the_nearest_comes_first() {
    QFETCH(QString, word);
    QFETCH(bool, of_verbs);
    QFETCH(QString, first);
    const Words near = nearest_words(word.toStdString(), of_verbs ? kVerbs : kClusters);
    QVERIFY(!near.empty() && near.size() <= 3);
    QCOMPARE(QString::fromStdString(near.front()), first);
  }

  /// An option is near if its words are, whatever hyphens it begins with.
  void a_part_of_an_option_is_near() {
    const Words options = {"--measure-seconds", "--time-limit", "--batch", "--verify-seconds"};
    QCOMPARE(nearest_words("--seconds", options), (Words{"--verify-seconds", "--measure-seconds"}));
    QCOMPARE(nearest_words("--limit", options), (Words{"--time-limit"}));
    QCOMPARE(nearest_words("--moon", options), Words());
  }

  void what_is_far_off_has_no_neighbour() {
    for (const char* word : {"", "?", "moon", "x", "quantize-it-all", "zzzzzzzz"})
      QCOMPARE(nearest_words(word, kVerbs), Words());
    QCOMPARE(nearest_words("tpu", kClusters), Words());
    QCOMPARE(nearest_words(std::string(100000, 'r'), kVerbs), Words());
  }

  void the_advice_names_the_nearest_or_all() {
    QCOMPARE(advice_on_word("comapre", kVerbs), std::string("did you mean compare?"));
    QCOMPARE(advice_on_word("moon", {"eplb", "load"}), std::string("one of eplb, load"));
    QCOMPARE(advice_on_word("moon", {"f32", "bf16", "f16"}, ""), std::string("f32, bf16 or f16"));
    QCOMPARE(advice_on_word("8x-h1", kClusters).substr(0, 20), std::string("did you mean 8x-h100"));
    const std::vector<int> rows = {10, 200};
    QCOMPARE(advice_on_word("201", rows, [](int v) { return std::to_string(v); }), std::string("did you mean 200?"));
  }
};

STORMCELL_TEST(NearestWordsTest)

#include "nearest_words_test.moc"

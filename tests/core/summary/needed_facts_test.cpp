// Facts that a text names: those that the asked question depends on.
#include "core/summary/needed_facts.h"

#include "tests/testing/testing.h"

namespace stormcell {

class NeededFactsTest : public QObject {
  Q_OBJECT
 private slots:
  void each_question_has_its_facts() {
    const std::vector<std::string> lacks = {"homes",     "steps",        "positions", "weights",
                                            "residency", "branch_bytes", "timings"};
    QCOMPARE(needed_facts(Question::routing, lacks), (std::vector<std::string>{"steps", "positions", "weights"}));
    QCOMPARE(needed_facts(Question::caches, lacks),
             (std::vector<std::string>{"steps", "positions", "weights", "residency", "branch_bytes"}));
    QCOMPARE(needed_facts(Question::steps, lacks), (std::vector<std::string>{"homes", "steps"}));
    QVERIFY(needed_facts(Question::steps, {}).empty());
  }

  void a_fact_of_a_later_version_is_named() {
    for (const Question question : {Question::routing, Question::caches, Question::steps})
      QVERIFY(is_needed(question, "something-new"));
  }
};
STORMCELL_TEST(NeededFactsTest)

}  // namespace stormcell
#include "needed_facts_test.moc"

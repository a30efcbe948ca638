#include "core/base/run_kind.h"

#include <string>

#include "tests/testing/testing.h"

namespace stormcell {

class RunKindTest : public QObject {
  Q_OBJECT
 private slots:
  void words_come_back_and_others_are_unknown() {
    for (int i = 0; i <= static_cast<int>(RunKind::unknown); ++i)
      QCOMPARE(run_kind(to_text(static_cast<RunKind>(i))), static_cast<RunKind>(i));
    for (int i = 0; i <= static_cast<int>(WorkPhase::unknown); ++i)
      QCOMPARE(work_phase(to_text(static_cast<WorkPhase>(i))), static_cast<WorkPhase>(i));
    QCOMPARE(run_kind("baseline"), RunKind::unknown);
    QCOMPARE(work_phase(""), WorkPhase::unknown);
    QCOMPARE(work_phase("prefill"), WorkPhase::unknown);
  }
  void statuses_have_the_words_of_sessions() {
    QCOMPARE(std::string(to_text(RunStatus::running)), std::string("running"));
    QCOMPARE(std::string(to_text(RunStatus::finished)), std::string("finished"));
    QCOMPARE(std::string(to_text(RunStatus::interrupted)), std::string("interrupted"));
    QCOMPARE(std::string(to_text(RunStatus::failed)), std::string("failed"));
  }
  void decoding_is_said_where_the_kind_does_not() {
    QVERIFY(says_decoding("decode", "optimize") && says_decoding("decode", "profile"));
    QVERIFY(!says_decoding("decode", "generate") && !says_decoding("forward", "optimize") &&
            !says_decoding("", "import"));
  }
};

STORMCELL_TEST(RunKindTest)

}  // namespace stormcell

#include "run_kind_test.moc"

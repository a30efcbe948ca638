#include "core/base/step_terms.h"

#include <span>
#include <string>

#include "core/base/enum_words.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

/// The words of a table, read back as values and written again.
template <class Enum>
std::string written_again(std::span<const std::string_view> words) {
  std::string text;
  for (const std::string_view word : words)
    text += std::string(to_text(value_of_word<Enum>(words, word).value())) + ";";
  return text;
}

}  // namespace

/// Sessions and JSON have these words: a word that changes makes old files unreadable.
class StepTermsTest : public QObject {
  Q_OBJECT
 private slots:
  void words_are_those_of_files_and_come_back() {
    QCOMPARE(written_again<ReplicaRule>(kReplicaRules), std::string("even;nearest;"));
    QCOMPARE(written_again<Residence>(kResidences), std::string("home;follow;"));
    QCOMPARE(written_again<Overlap>(kOverlaps), std::string("none;two-batch;"));
    QCOMPARE(written_again<StepSource>(kStepSources), std::string("recorded;filled up;drawn;"));
    QCOMPARE(written_again<StepStatistic>(kStepStatistics), std::string("mean;p95;"));
    QCOMPARE(written_again<SplitUnit>(kSplitUnits), std::string("steps;tokens;"));
    QCOMPARE(written_again<HeldOutBy>(kHeldOutBy), std::string("requests;time;"));
    QCOMPARE(written_again<LayoutRole>(kLayoutRoles), std::string("contiguous;eplb;result;from;tried;"));
  }
  void each_value_has_its_own_word() {
    QCOMPARE(to_text(ReplicaRule::nearest), std::string_view("nearest"));
    QCOMPARE(to_text(Residence::follow), std::string_view("follow"));
    QCOMPARE(to_text(Overlap::two_batch), std::string_view("two-batch"));
    QCOMPARE(to_text(StepSource::filled_up), std::string_view("filled up"));
    QCOMPARE(to_text(StepStatistic::p95), std::string_view("p95"));
    QCOMPARE(to_text(SplitUnit::tokens), std::string_view("tokens"));
    QCOMPARE(to_text(HeldOutBy::time), std::string_view("time"));
    QCOMPARE(to_text(LayoutRole::from), std::string_view("from"));
  }
};

STORMCELL_TEST(StepTermsTest)

}  // namespace stormcell

#include "step_terms_test.moc"

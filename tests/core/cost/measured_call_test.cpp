#include "core/cost/measured_call.h"

#include <iterator>
#include <string>

#include "core/base/enum_words.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {

class MeasuredCallTest : public QObject {
  Q_OBJECT
 private slots:
  void operations_have_the_words_of_files() {
    for (const std::string_view word : kCallKinds) {
      MeasuredCall call;
      call.op = word;
      for (const std::string_view other : kCallKinds)
        QCOMPARE(call.is(*value_of_word<CallKind>(kCallKinds, other)), word == other);
    }
    QVERIFY(to_text(CallKind::all_reduce) == "all_reduce" && to_text(CallKind::grouped) == "grouped" &&
            std::size(kCallKinds) == 7);
  }
  void another_operation_is_none_of_them_and_keeps_its_word() {
    MeasuredCall broadcast, scatter;
    broadcast.op = "broadcast", scatter.op = "scatter";
    for (size_t k = 0; k < std::size(kCallKinds); ++k) QVERIFY(!broadcast.is(static_cast<CallKind>(k)));
    QVERIFY(!broadcast.has_weights() && same_series(broadcast, broadcast) && !same_series(broadcast, scatter));
  }
};

STORMCELL_TEST(MeasuredCallTest)

}  // namespace stormcell::testing

#include "measured_call_test.moc"

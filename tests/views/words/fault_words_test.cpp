// Faults of verbs in a view: without the command line's words.
#include <QTest>

#include "tests/testing/testing.h"
#include "views/words/fault_words.h"

namespace stormcell::views {

class FaultWordsTest : public QObject {
  Q_OBJECT

 private slots:
  void options_are_left_out() {
    QCOMPARE(
        without_options(
            "--cluster: 128 experts do not divide among 72 GPUs (--placement of one (of 144 slots), made by place)"),
        QString("128 experts do not divide among 72 GPUs"));
    QCOMPARE(without_options("s.storm: says no sizes (--hidden N)"), QString("s.storm: says no sizes"));
    QCOMPARE(without_options("cal.json: is not a calibration (stormcell calibrate writes one)"),
             QString("cal.json: is not a calibration (stormcell calibrate writes one)"));
    QCOMPARE(without_options("a--b.json: cannot be read (another)"), QString("a--b.json: cannot be read (another)"));
    QCOMPARE(without_options("odd)"), QString("odd)"));
    QCOMPARE(without_options(""), QString());
  }
};
STORMCELL_TEST(FaultWordsTest)

}  // namespace stormcell::views
#include "fault_words_test.moc"

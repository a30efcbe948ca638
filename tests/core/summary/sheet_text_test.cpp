// The sheet of a model in words.
#include "core/summary/sheet_text.h"

#include "tests/testing/testing.h"

namespace stormcell {

class SheetTextTest : public QObject {
  Q_OBJECT
 private slots:
  void a_kind_of_files_is_named_in_words_data() {
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("words");
    QTest::newRow("a kind of files") << "gguf"
                                     << "a GGUF model";
    QTest::newRow("a folder") << "model-folder"
                              << "a folder of a model";
    QTest::newRow("of a later version") << "something-new"
                                        << "something-new";
  }
  void a_kind_of_files_is_named_in_words() {
    QFETCH(QString, kind);
    QFETCH(QString, words);
    ModelSheet sheet;
    sheet.kind = kind.toStdString();
    QCOMPARE(QString::fromStdString(kind_text(sheet)), words);
  }
};
STORMCELL_TEST(SheetTextTest)

}  // namespace stormcell
#include "sheet_text_test.moc"

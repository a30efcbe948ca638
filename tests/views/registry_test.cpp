// The list of views, and what users are told of each.
#include "views/registry.h"

#include <QFile>
#include <QSet>

#include "tests/testing/testing.h"

namespace stormcell::views {

class RegistryTest : public QObject {
  Q_OBJECT
 private slots:
  void every_view_has_names_of_its_own_and_a_section_on_the_page() {
    QFile file(QString::fromStdString(testing::source_folder()) + "/docs/reference/views.md");
    QVERIFY(file.open(QIODevice::ReadOnly));
    const QStringList lines = QString::fromUtf8(file.readAll()).split('\n');
    QSet<QString> names;
    for (const ViewEntry& entry : all_views()) {
      for (const char* name : {entry.id, entry.title}) {
        QVERIFY2(*name && !names.contains(name), name);
        names.insert(name);
      }
      QVERIFY2(*entry.help, entry.id);
      QVERIFY2(lines.contains(QString("## ") + entry.id), entry.id);
    }
  }
};
STORMCELL_TEST(RegistryTest)

}  // namespace stormcell::views
#include "registry_test.moc"

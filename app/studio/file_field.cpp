#include "app/studio/file_field.h"

#include <QCoreApplication>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QToolButton>

namespace stormcell::studio {

QWidget* make_file_field(QLineEdit* line, const QString& filter) {
  auto* row = new QWidget();
  auto* columns = new QHBoxLayout(row);
  columns->setContentsMargins(0, 0, 0, 0);
  auto* choose = new QToolButton(row);
  choose->setText("...");
  choose->setAccessibleName(QCoreApplication::translate("FileField", "Choose: %1").arg(line->accessibleName()));
  choose->setToolTip(choose->accessibleName());
  columns->addWidget(line, 1);
  columns->addWidget(choose);
  QObject::connect(choose, &QToolButton::clicked, line, [line, filter] {
    if (!line->isEnabled()) return;
    auto* dialog = new QFileDialog(line->window(), line->accessibleName(), QFileInfo(line->text()).path(), filter);
    dialog->setObjectName("file-field-dialog");
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    QObject::connect(dialog, &QFileDialog::fileSelected, line, [line](const QString& file) {
      line->setText(file);
      emit line->editingFinished();
    });
    dialog->open();
  });
  return row;
}

}  // namespace stormcell::studio

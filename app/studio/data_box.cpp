#include "app/studio/data_box.h"

#include <QKeyEvent>
#include <QMimeData>
#include <QUrl>

namespace stormcell::studio {

DataBox::DataBox(QWidget* parent) : QPlainTextEdit(parent) {
  setTabChangesFocus(true);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);  // long lines wrap
  setAccessibleName(tr("Data"));
}

bool DataBox::canInsertFromMimeData(const QMimeData* source) const {
  return source->hasUrls() || QPlainTextEdit::canInsertFromMimeData(source);
}

void DataBox::insertFromMimeData(const QMimeData* source) {
  for (const QUrl& url : source->urls())
    if (url.isLocalFile()) return setPlainText(url.toLocalFile());
  QPlainTextEdit::insertFromMimeData(source);
}

void DataBox::keyPressEvent(QKeyEvent* event) {
  const bool enter = event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter;
  if (enter && event->modifiers().testFlag(Qt::ControlModifier)) return emit run_wanted();
  QPlainTextEdit::keyPressEvent(event);
}

}  // namespace stormcell::studio

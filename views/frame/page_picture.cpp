#include "views/frame/page_picture.h"

#include <QHelpEvent>
#include <QToolTip>

namespace stormcell::views {

bool PagePicture::event(QEvent* event) {
  if (event->type() != QEvent::ToolTip) return QWidget::event(event);
  const auto* help = static_cast<QHelpEvent*>(event);
  if (const QString text = tip(help->pos()); text.isEmpty())
    QToolTip::hideText();
  else
    QToolTip::showText(help->globalPos(), text, this);
  return true;
}

void PagePicture::resizeEvent(QResizeEvent*) { forget_layout(); }

void PagePicture::changeEvent(QEvent* event) {
  if (event->type() == QEvent::FontChange) {
    forget_layout();
    updateGeometry();
  }
  QWidget::changeEvent(event);
}

}  // namespace stormcell::views

#include "app/studio/fault_line.h"

#include <QEvent>

namespace stormcell::studio {

FaultLine::FaultLine(QWidget* parent) : QLabel(parent) {
  setWordWrap(true);
  setTextFormat(Qt::PlainText);
  setAccessibleName(tr("Why it cannot be tried"));
  setAlignment(Qt::AlignTop | Qt::AlignLeft);
  reserve_room();
}

void FaultLine::show_fault(const QString& message) {
  setText(message);
  setToolTip(message);
}

void FaultLine::changeEvent(QEvent* event) {
  QLabel::changeEvent(event);
  if (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange) reserve_room();
}

void FaultLine::reserve_room() {
  constexpr int kLines = 3;
  setFixedHeight(kLines * fontMetrics().lineSpacing());
}

}  // namespace stormcell::studio

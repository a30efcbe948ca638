#include "app/studio/notice_bar.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QStyle>
#include <QToolButton>

namespace stormcell::studio {

NoticeBar::NoticeBar(QWidget* parent) : QFrame(parent) {
  setFrameShape(QFrame::StyledPanel);
  setAutoFillBackground(true);
  setBackgroundRole(QPalette::ToolTipBase);
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 6, 8, 6);
  sign_ = new QLabel(this);
  row->addWidget(sign_);
  text_ = new QLabel(this);
  text_->setAccessibleName(tr("Message"));
  text_->setForegroundRole(QPalette::ToolTipText);
  text_->setWordWrap(true);
  text_->setTextFormat(Qt::PlainText);
  text_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  row->addWidget(text_, 1);
  auto* close = new QToolButton(this);
  close->setText(QString(QChar(0x00D7)));
  close->setAutoRaise(true);
  close->setToolTip(tr("Closes this message, which stays in the log"));
  close->setAccessibleName(tr("Put this message away"));
  connect(close, &QToolButton::clicked, this, &QWidget::hide);
  row->addWidget(close);
  hide();
}

void NoticeBar::show_fault(const QString& message) { show_text(message, QStyle::SP_MessageBoxWarning); }
void NoticeBar::show_fact(const QString& message) { show_text(message, QStyle::SP_MessageBoxInformation); }

void NoticeBar::show_text(const QString& message, int icon) {
  const int size = fontMetrics().height() + 4;
  sign_->setPixmap(style()->standardIcon(static_cast<QStyle::StandardPixmap>(icon)).pixmap(size, size));
  text_->setText(message);
  text_->setAccessibleName(message);
  show();
}

QString NoticeBar::message() const { return isHidden() ? QString() : text_->text(); }

}  // namespace stormcell::studio

#include "app/studio/welcome_page.h"

#include <QCommandLinkButton>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QVBoxLayout>

namespace stormcell::studio {
namespace {

/// Draws a frame around a button at rest: the style draws one only below the mouse.
class WayButton : public QCommandLinkButton {
 public:
  using QCommandLinkButton::QCommandLinkButton;

 protected:
  void paintEvent(QPaintEvent* event) override {
    QPainter p(this);
    p.setRenderHint(QPainter::Antialiasing);
    p.setPen(palette().color(hasFocus() ? QPalette::Highlight : QPalette::Mid));
    p.setBrush(palette().base());
    p.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    p.end();
    QCommandLinkButton::paintEvent(event);
  }
};

}  // namespace

WelcomePage::WelcomePage(Actions& actions, const QStringList& ways, QWidget* parent) : QWidget(parent) {
  auto* outer = new QVBoxLayout(this);
  outer->addStretch(1);
  auto* middle = new QHBoxLayout();
  middle->addStretch(1);
  auto* body = new QVBoxLayout();
  body->setSpacing(4);
  auto* title = new QLabel(tr("Stormcell Studio"), this);
  QFont large = font();
  large.setPointSizeF(large.pointSizeF() * 2);
  title->setFont(large);
  body->addWidget(title);
  auto* what = new QLabel(
      tr("See where a model with experts sends its data, make it faster, and prove that the result is the same."),
      this);
  what->setWordWrap(true);
  body->addWidget(what);
  body->addSpacing(18);
  auto* below = new QHBoxLayout();
  body->addLayout(below);
  auto* column = new QVBoxLayout();
  column->setSpacing(8);
  for (const QString& id : ways) {
    QAction* action = actions.action(id);
    if (!action) continue;
    QString text = action->text();
    text.remove('&').remove("...");
    auto* button = new WayButton(text, action->statusTip(), this);
    button->setEnabled(action->isEnabled());
    button->setIcon({});
    button->setMinimumWidth(420);
    connect(button, &QPushButton::clicked, &actions, [&actions, id] { actions.trigger(id); });
    connect(action, &QAction::changed, button, [action, button] {
      button->setEnabled(action->isEnabled());
      button->setDescription(action->statusTip());
    });
    column->addWidget(button);
  }
  below->addLayout(column);
  below->addSpacing(48);
  auto* side = new QVBoxLayout();
  auto* heading = new QLabel(tr("Recent sessions"), this);
  QFont strong = font();
  strong.setBold(true);
  heading->setFont(strong);
  side->addWidget(heading);
  recent_ = new QVBoxLayout();
  recent_->setAlignment(Qt::AlignTop);
  side->addLayout(recent_);
  side->addSpacing(16);
  auto* drop = new QLabel(tr("Or drop a model, a session or a trace here."), this);
  drop->setEnabled(false);
  side->addWidget(drop);
  side->addStretch(1);
  below->addLayout(side);
  middle->addLayout(body);
  middle->addStretch(1);
  outer->addLayout(middle);
  outer->addStretch(2);
}

void WelcomePage::set_recent(const QStringList& sessions) {
  while (QLayoutItem* item = recent_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  for (const QString& session : sessions) {
    auto* button = new QPushButton(QFileInfo(session).fileName(), this);
    button->setFlat(true);
    button->setStyleSheet("text-align:left; padding:4px");
    button->setToolTip(session);
    connect(button, &QPushButton::clicked, this, [this, session] { emit recent_wanted(session); });
    recent_->addWidget(button);
  }
  if (sessions.isEmpty()) {
    auto* none = new QLabel(tr("none yet"), this);
    none->setEnabled(false);
    recent_->addWidget(none);
  }
}

}  // namespace stormcell::studio

#include "views/overview/overview_page.h"

#include <QHelpEvent>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QToolTip>
#include <QVBoxLayout>
#include <algorithm>

#include "views/overview/overview_painter.h"

namespace stormcell::views {
namespace {

/// More routers than this are left to the table and the heatmap.
constexpr int kMostRouters = 12;

}  // namespace

OverviewPage::OverviewPage(QWidget* parent)
    : QWidget(parent), steps_(new QWidget(this)), steps_layout_(new QVBoxLayout(steps_)) {
  QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
  policy.setHeightForWidth(true);
  setSizePolicy(policy);
  steps_layout_->setContentsMargins(0, 0, 0, 0);
  setAccessibleName(tr("Overview of the run; the table holds the same figures"));
}

void OverviewPage::set_page(OverviewPageModel page) {
  page_ = std::move(page);
  while (QLayoutItem* item = steps_layout_->takeAt(0)) {
    delete item->widget();
    delete item;
  }
  steps_layout_->setSpacing(4);
  for (const NextStep& step : page_.steps) {
    auto* label = new QLabel(step.sentence, steps_);
    label->setWordWrap(true);
    label->setTextFormat(Qt::PlainText);
    auto* button = new QPushButton(step.button, steps_);
    button->setSizePolicy(QSizePolicy::Maximum, QSizePolicy::Fixed);
    button->setToolTip(step.sentence);
    button->setMinimumSize(button->sizeHint() + QSize(fontMetrics().height(), fontMetrics().height() / 3));
    button->setAccessibleDescription(step.sentence);
    connect(button, &QPushButton::clicked, this, [this, id = step.action] { emit action_wanted(id); });
    steps_layout_->addWidget(label);
    steps_layout_->addWidget(button, 0, Qt::AlignLeft);
    steps_layout_->addSpacing(2);
    for (QWidget* w : {static_cast<QWidget*>(label), static_cast<QWidget*>(button)}) w->show();
  }
  steps_layout_->addStretch(1);
  // The whole text, for screen readers.
  setAccessibleDescription(page_.headline + " " + page_.hero.title + " " + page_.hero.value + ". " + page_.hero.note +
                           ". " + page_.proof.title + ". " + page_.proof.text);
  place_steps();
  updateGeometry();
  update();
}

void OverviewPage::set_room(int height) {
  if (height == room_) return;
  room_ = height;
  place_steps();
  update();
}

OverviewGeometry OverviewPage::geometry_for(double width) const {
  OverviewContent content;
  content.unit = QFontMetricsF(font()).height();
  content.figures = static_cast<int>(page_.figures.size());
  content.notes = static_cast<int>(page_.notes.size());
  content.room = room_;
  content.interval = page_.hero.ratio.has_value();
  content.waterfall = !page_.waterfall.empty();
  content.chart_rows = content.waterfall ? static_cast<int>(page_.waterfall.size())
                                         : std::min(kMostRouters, static_cast<int>(page_.routers.size()));
  content.steps_height = [this](double w) {
    return static_cast<double>(steps_layout_->totalHeightForWidth(static_cast<int>(w)));
  };
  if (note_is_beside(page_, font(), OverviewGeometry(width, content).header().width())) content.notes = 0;
  const OverviewGeometry draft(width, content);
  content.proof_lines = proof_lines(page_, font(), draft.hero().width() - 2 * draft.padding());
  return {width, content};
}

int OverviewPage::heightForWidth(int width) const { return static_cast<int>(geometry_for(width).height()) + 1; }

void OverviewPage::place_steps() { steps_->setGeometry(geometry_for(width()).steps_inside().toAlignedRect()); }

void OverviewPage::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = Theme::of(palette());
  p.fillRect(rect(), theme.background);
  p.setFont(font());
  paint_overview(p, page_, geometry_for(width()), theme);
}

void OverviewPage::resizeEvent(QResizeEvent*) { place_steps(); }

QString OverviewPage::tip_at(QPointF point) const {
  const OverviewGeometry g = geometry_for(width());
  for (size_t i = 0; i < page_.figures.size(); ++i)
    if (g.figure_row(static_cast<int>(i)).contains(point))
      return "<b>" + page_.figures[i].name.toHtmlEscaped() + "</b><br>" + page_.figures[i].tip.toHtmlEscaped();
  for (size_t i = 0; i < page_.waterfall.size(); ++i)
    if (g.chart_row(static_cast<int>(i)).contains(point)) return page_.waterfall[i].tip;
  if (page_.waterfall.empty())
    for (size_t i = 0; i < page_.routers.size() && static_cast<int>(i) < kMostRouters; ++i)
      if (g.chart_row(static_cast<int>(i)).contains(point)) return page_.routers[i].tip;
  if (!g.hero().contains(point)) return {};
  if (page_.hero.ratio)
    return tr("<b>Speed-up</b><br>time of all batches with the baseline / time of all batches with the optimised plan, "
              "estimated from "
              "executions of both on the same batch, one right after the other: %1. Long batches count more than short "
              "ones. The 95 % "
              "interval "
              "comes from drawing the rounds anew 2,000 times. Measured.")
        .arg(page_.hero.basis.toHtmlEscaped());
  return tr("<b>%1</b><br>%2").arg(page_.hero.title.toHtmlEscaped(), page_.hero.note.toHtmlEscaped());
}

bool OverviewPage::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip) {
    auto* help = static_cast<QHelpEvent*>(event);
    const QString tip = tip_at(help->pos());
    if (tip.isEmpty())
      QToolTip::hideText();
    else
      QToolTip::showText(help->globalPos(), tip, this);
    return true;
  }
  if (event->type() == QEvent::FontChange || event->type() == QEvent::LayoutRequest) {
    place_steps();
    updateGeometry();
  }
  return QWidget::event(event);
}

}  // namespace stormcell::views

#include "views/heatmap/heatmap_widget.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>
#include <algorithm>

namespace stormcell::views {
namespace {
constexpr double kHeader = 28, kLegend = 46;
}

HeatmapWidget::HeatmapWidget(QWidget* parent) : QWidget(parent) {
  setMinimumSize(320, 160);
  setAccessibleName("Routing heatmap");
}

void HeatmapWidget::setLoads(std::shared_ptr<const RoutingLoads> loads) {
  model_ = loads ? std::make_unique<HeatmapModel>(std::move(loads)) : nullptr;
  update();
}

double HeatmapWidget::labelWidth() const {
  double width = 60;
  for (const auto& row : model_->loads->rows)
    width = std::max(width, fontMetrics().horizontalAdvance(QString::fromStdString(row.router)) + 16.0);
  return std::min(width, this->width() * 0.45);
}

HeatmapGeometry HeatmapWidget::geometryFor(QSizeF size) const {
  return HeatmapGeometry(*model_, {size.width() - 8, size.height() - kLegend}, labelWidth(), kHeader);
}

void HeatmapWidget::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const QColor text = palette().color(QPalette::WindowText);
  if (!model_ || model_->loads->rows.empty()) {
    p.setPen(palette().color(QPalette::Disabled, QPalette::WindowText));
    p.drawText(rect(), Qt::AlignCenter, model_ ? tr("This run has no routers.") : tr("Open a session to see where its cells went."));
    return;
  }
  const bool dark = palette().color(QPalette::Window).lightness() < 128;
  const HeatmapGeometry g = geometryFor(size());
  p.setPen(text);
  // Column numbers only as many as fit.
  const int step = std::max(1, static_cast<int>(34 / g.cell_width()) + (g.cell_width() < 34 ? 1 : 0));
  for (int c = 0; c < model_->columns; c += step)
    p.drawText(QRectF(g.cell(0, c).left(), 0, g.cell_width() * step, kHeader),
               Qt::AlignCenter | (step > 1 ? Qt::AlignLeft : Qt::AlignHCenter), QString::number(c));
  for (int r = 0; r < static_cast<int>(model_->loads->rows.size()); ++r) {
    const auto& row = model_->loads->rows[static_cast<size_t>(r)];
    p.setPen(text);
    p.drawText(g.row_label(r), Qt::AlignVCenter | Qt::AlignRight,
               fontMetrics().elidedText(QString::fromStdString(row.router), Qt::ElideLeft, static_cast<int>(g.row_label(r).width())));
    for (int c = 0; c < static_cast<int>(row.load.size()); ++c) {
      const double relative = model_->relative(r, c);
      const QColor fill = heat_color(relative / model_->scale_max, dark);
      const QRectF cell = g.cell(r, c);
      p.fillRect(g.cell_width() > 6 ? cell.adjusted(0, 0, -1, -1) : cell, fill);
      if (g.cell_width() > 44 && g.cell_height() > 18) {
        p.setPen(fill.lightness() > 140 ? QColor(20, 20, 30) : QColor(245, 245, 250));
        p.drawText(cell, Qt::AlignCenter, QString::number(relative, 'f', 2));
      }
    }
  }
  // The scale, and what it counts.
  const double left = g.cell(0, 0).left(), y = g.cell(static_cast<int>(model_->loads->rows.size()), 0).top() + 16;
  for (int i = 0; i < 160; ++i) p.fillRect(QRectF(left + i, y, 1.5, 10), heat_color(i / 160.0, dark));
  p.setPen(text);
  p.drawText(QRectF(left + 170, y - 6, width() - left - 170, 22), Qt::AlignVCenter | Qt::AlignLeft,
             tr("0 to %1 times the router's mean load, %2 batches").arg(model_->scale_max, 0, 'f', 2).arg(model_->loads->batches));
}

bool HeatmapWidget::event(QEvent* event) {
  if (event->type() == QEvent::ToolTip && model_) {
    auto* help = static_cast<QHelpEvent*>(event);
    if (const auto cell = geometryFor(size()).at(help->pos())) {
      QToolTip::showText(help->globalPos(), model_->tip(cell->row, cell->column), this);
    } else {
      QToolTip::hideText();
    }
    return true;
  }
  return QWidget::event(event);
}

}  // namespace stormcell::views

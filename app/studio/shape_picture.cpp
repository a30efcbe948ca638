#include "app/studio/shape_picture.h"

#include <QEvent>
#include <QPainter>
#include <algorithm>
#include <utility>

#include "views/drawing/theme.h"
#include "views/words/figure_text.h"

namespace stormcell::studio {
namespace {

/// Smaller places have no line of their own between them: a row is drawn as one bar.
constexpr double kLeastPlace = 4;
constexpr int kMostHeight = 36, kPicture = 200;  // of a row, and of the picture where the window is small

}  // namespace

ShapePicture::ShapePicture(QWidget* parent) : QWidget(parent) {
  setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
}

int ShapePicture::whole_height() const {
  constexpr size_t kMostRows = 400;
  const auto rows = static_cast<int>(std::min(routers_.size(), kMostRows));
  return fontMetrics().height() + 6 + rows * kMostHeight;
}

QSize ShapePicture::sizeHint() const {
  constexpr int kWidth = 480;
  return {kWidth, std::min(kPicture, whole_height())};
}

void ShapePicture::set_routers(std::vector<RouterShape> routers) {
  routers_ = std::move(routers);
  most_branches_ = 0;
  for (const RouterShape& router : routers_) most_branches_ = std::max(most_branches_, router.branches);
  const QString says = tr("No cell was routed yet: %1, up to %2")
                           .arg(views::counted_text(static_cast<qint64>(routers_.size()), "router"),
                                views::counted_text(most_branches_, "branch"));
  setAccessibleName(says);
  setToolTip(says);
  setMaximumHeight(whole_height());
  update();
}

void ShapePicture::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::FontChange) setMaximumHeight(whole_height());
  if (event->type() == QEvent::FontChange || event->type() == QEvent::PaletteChange) update();
}

void ShapePicture::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const views::Theme& theme = views::Theme::of(palette());
  if (routers_.empty() || most_branches_ == 0) return;
  const QFontMetricsF metrics(font());
  const double line = metrics.height() + 4;
  const QRectF area(0, line, width() - 1.0, height() - line - 1);
  p.setPen(theme.faint);
  p.drawText(QRectF(0, 0, width(), line), Qt::AlignLeft | Qt::AlignVCenter,
             tr("%1 with up to %2: nothing was routed yet")
                 .arg(views::counted_text(static_cast<qint64>(routers_.size()), "router"),
                      views::counted_text(most_branches_, "branch")));
  const double height = std::min<double>(kMostHeight, area.height() / static_cast<double>(routers_.size()));
  const double width = area.width() / most_branches_;
  p.setPen(theme.grid);
  p.setBrush(theme.surface);
  const double gap = height >= kLeastPlace ? 1 : 0;
  double top = area.top();
  for (const RouterShape& router : routers_) {
    if (width < kLeastPlace) p.drawRect(QRectF(area.left(), top, width * router.branches, height - gap));
    for (int b = 0; width >= kLeastPlace && b < router.branches; ++b)
      p.drawRect(QRectF(area.left() + b * width, top, width - 1, height - gap));
    top += height;
  }
}

}  // namespace stormcell::studio

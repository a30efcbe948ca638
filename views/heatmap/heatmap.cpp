#include "views/heatmap/heatmap.h"

#include <QLocale>
#include <algorithm>
#include <cmath>

namespace stormcell::views {

HeatmapModel::HeatmapModel(std::shared_ptr<const RoutingLoads> from) : loads(std::move(from)) {
  for (size_t r = 0; r < loads->rows.size(); ++r) {
    columns = std::max(columns, static_cast<int>(loads->rows[r].load.size()));
    for (size_t c = 0; c < loads->rows[r].load.size(); ++c)
      scale_max = std::max(scale_max, relative(static_cast<int>(r), static_cast<int>(c)));
  }
}

double HeatmapModel::relative(int row, int column) const {
  const auto& load = loads->rows[static_cast<size_t>(row)].load;
  int64_t sum = 0;
  for (const int64_t l : load) sum += l;
  return sum == 0 ? 0
                  : static_cast<double>(load[static_cast<size_t>(column)]) * static_cast<double>(load.size()) / static_cast<double>(sum);
}

QString HeatmapModel::tip(int row, int column) const {
  const auto& r = loads->rows[static_cast<size_t>(row)];
  int64_t sum = 0;
  for (const int64_t l : r.load) sum += l;
  const QLocale locale;
  const int64_t load = r.load[static_cast<size_t>(column)];
  return QString("%1, branch %2: %3 cells, %4 % of the router's, %5 times the mean")
      .arg(QString::fromStdString(r.router))
      .arg(column)
      .arg(locale.toString(static_cast<qlonglong>(load)))
      .arg(sum ? 100.0 * static_cast<double>(load) / static_cast<double>(sum) : 0.0, 0, 'f', 1)
      .arg(relative(row, column), 0, 'f', 2);
}

HeatmapGeometry::HeatmapGeometry(const HeatmapModel& model, QSizeF size, double label_width, double header_height)
    : model_(model), left_(label_width), top_(header_height) {
  const int rows = std::max<int>(1, static_cast<int>(model.loads->rows.size())), columns = std::max(1, model.columns);
  cell_width_ = std::max(1.0, (size.width() - left_) / columns);
  // Rows are no taller than they need to be: a table of three routers must not fill a screen.
  cell_height_ = std::clamp((size.height() - top_) / rows, 4.0, 44.0);
}

QRectF HeatmapGeometry::cell(int row, int column) const {
  return {left_ + column * cell_width_, top_ + row * cell_height_, cell_width_, cell_height_};
}
QRectF HeatmapGeometry::row_label(int row) const { return {0, top_ + row * cell_height_, left_ - 8, cell_height_}; }

std::optional<HeatmapCell> HeatmapGeometry::at(QPointF p) const {
  if (p.x() < left_ || p.y() < top_) return {};
  const int column = static_cast<int>((p.x() - left_) / cell_width_), row = static_cast<int>((p.y() - top_) / cell_height_);
  if (row >= static_cast<int>(model_.loads->rows.size()) ||
      column >= static_cast<int>(model_.loads->rows[static_cast<size_t>(row)].load.size()))
    return {};
  return HeatmapCell{row, column};
}

QColor heat_color(double share, bool dark) {
  // One hue family from the background's lightness to a strong blue-violet (light) or a warm light tone (dark), interpolated in
  // linear steps of lightness, so that twice as far looks twice as far.
  share = std::clamp(share, 0.0, 1.0);
  const auto mix = [&](double a, double b) { return a + (b - a) * share; };
  return dark ? QColor::fromHslF(std::fmod(mix(0.62, 1.10), 1.0), mix(0.25, 0.80), mix(0.14, 0.72))
              : QColor::fromHslF(mix(0.58, 0.70), mix(0.35, 0.65), mix(0.96, 0.26));
}

}  // namespace stormcell::views

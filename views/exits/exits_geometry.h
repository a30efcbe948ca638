// Layout of the bars, the curve, the classes and the items in the view of exits. Pure functions of sizes.
#pragma once
#include <QRectF>
#include <QSizeF>
#include <optional>
#include <vector>

#include "views/drawing/value_axis.h"
#include "views/exits/exits_model.h"

namespace stormcell::views {

class ExitsLayout {
 public:
  /// `line`: height of a line of text; `digit`: width of a digit.
  ExitsLayout(const ExitsPage& page, QSizeF size, double line, double digit);

  /// plot: within the axes of the curve; without a curve it holds the note with the reason, and the others get its
  /// room.
  QRectF headline, bars, plot, classes, gallery;

  /// The room of one exit's bar; `share` of it is filled.
  QRectF bar(size_t exit, double share = 1) const;
  QPointF at(double cost, double value) const;  ///< in the plot
  QPointF point(size_t number) const;
  /// The point of the curve with the nearest cost; never the thresholds that ran.
  std::optional<size_t> point_near(QPointF place) const;
  const std::vector<double>& ticks() const { return ticks_; }  ///< of the measure

  /// The number of classes that have room.
  size_t shown_classes() const;
  QRectF class_row(size_t number) const;
  QRectF class_part(size_t number, size_t exit) const;

  /// It is as high as its visible items need.
  QRectF gallery_row(size_t exit) const { return rows_[exit]; }
  /// The tile of an item; empty if its exit's row has no room for it.
  QRectF tile(size_t item) const { return tiles_[item]; }
  /// Room below the picture of an item.
  QRectF caption(size_t item) const {
    return {tiles_[item].left(), tiles_[item].bottom(), tiles_[item].width(), line_};
  }
  /// The item at a place.
  std::optional<size_t> item_at(QPointF place) const;

 private:
  void place_without_curve(double top, double wide, double high);
  void place_gallery();

  const ExitsPage& page_;
  double line_, digit_, labels_ = 0;
  ValueAxis values_;
  std::vector<double> ticks_;
  std::vector<QRectF> rows_;   ///< of the gallery, by exit
  std::vector<QRectF> tiles_;  ///< by item
};

}  // namespace stormcell::views

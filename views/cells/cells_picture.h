// The painted part of the view of cells: columns of text, a panel at the right, a legend, a scroll bar over all
// sequences of the run.
#pragma once
#include <QHash>
#include <QWidget>
#include <map>
#include <memory>
#include <optional>

#include "views/cells/cells_painter.h"

class QScrollBar;

namespace stormcell::views {

class CellsPicture : public QWidget {
  Q_OBJECT
 public:
  explicit CellsPicture(QWidget* parent = nullptr);
  struct Column {
    QString title;  ///< of the run, if there are two
    std::shared_ptr<const CellPage> page;
    ShownPage shown;
  };
  struct Aside {
    std::shared_ptr<const CellTrail> trail;
    std::shared_ptr<const std::vector<CellChoice>> choices;  ///< by step of the trail
    std::shared_ptr<const BranchDictionary> dictionary;
    DictionaryOrder order = DictionaryOrder::count;
  };
  /// Shows one run, or two beside each other. Sequences [first, end) can be scrolled to, or only the `listed` ones
  /// among them (ascending) if there are any.
  void set_columns(std::vector<Column> columns, int64_t first, int64_t end, const std::vector<int64_t>& listed = {});
  void set_aside(Aside aside);
  void set_cell(const std::optional<CellPlace>& cell);
  void show_sequence(int64_t sequence);
  /// Moves to the sequence after the top one; from the last to the first.
  void show_next();
  /// Scrolls to a sequence unless part of it is visible.
  void make_visible(int64_t sequence);
  const CellScroll& scroll() const { return scroll_; }
  /// True if not all sequences have room.
  bool scrolls() const;
  /// One picture at a time, as large as possible, as in a film; else side by side.
  void set_single(bool single);
  /// Sequences side by side.
  int across() const { return metrics().across; }
  /// The rectangle of a cell; empty if it is not visible.
  QRectF chip_rect(size_t column, const CellPlace& place) const;
  /// The rectangle of a branch's chip in the legend.
  QRectF branch_rect(int branch) const {
    return static_cast<size_t>(branch) < legend_.size() ? legend_[branch] : QRectF();
  }
  QSize sizeHint() const override { return {900, 520}; }

 signals:
  void cell_picked(const std::optional<stormcell::CellPlace>& cell);
  void branch_picked(int branch);
  /// Other sequences became visible.
  void scrolled_to(int64_t sequence);

 protected:
  void paintEvent(QPaintEvent* event) override;
  bool event(QEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void changeEvent(QEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;

 private:
  struct Hit {
    size_t column = 0, line = 0;
    int chip = -1;
    bool operator==(const Hit&) const = default;
  };
  struct Block {
    size_t column, line;
    QPointF at;
  };
  const CellsMetrics& metrics() const;
  CellsMetrics made_metrics() const;
  double column_width() const;
  /// Sequences that can be scrolled to are numbered from 0: how many there are, which one is which (the nearest before
  /// it of one that is not listed).
  int64_t count() const;
  int64_t sequence_at(int64_t number) const;
  int64_t number_of(int64_t sequence) const;
  /// Rows of sequences side by side: their number, the row of a sequence, the first sequence of a row, its height.
  int64_t rows() const;
  int64_t row_of(int64_t sequence) const;
  int64_t first_of(int64_t row) const;
  double row_height(int64_t row) const;
  std::vector<int64_t> sequences_of(int64_t row) const;
  std::optional<size_t> line_of(size_t column, int64_t sequence) const;
  QRectF text_area() const, panel_area() const, legend_area() const;
  QPointF column_origin(size_t column) const;
  const LineLayout& layout(size_t column, size_t line) const;
  double block_height(int64_t sequence) const;
  std::vector<Block> blocks() const;
  std::optional<Hit> hit(QPointF point) const;
  std::optional<Hit> selected(size_t column) const;
  void scroll_by(double pixels);
  void move_cell(int chips, int rows);
  void forget_layout();
  void update_bar();
  void paint_panel(QPainter& painter) const;
  CellPlace place_of(const Hit& hit) const;

  std::vector<Column> columns_;
  Aside aside_;
  std::optional<CellPlace> cell_;
  int64_t first_ = 0, end_ = 0;
  std::vector<int64_t> listed_;
  CellScroll scroll_;
  bool laid_out_ = false, single_ = false;
  int64_t wanted_ = -1;  ///< to be put on show when there is a size
  QScrollBar* bar_;
  std::optional<Hit> hovered_;
  std::vector<QRectF> legend_;
  mutable std::optional<CellsMetrics> metrics_;
  mutable std::map<std::pair<size_t, size_t>, LineLayout> layouts_;
  mutable QHash<QString, double> widths_;
};

}  // namespace stormcell::views

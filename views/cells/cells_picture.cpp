#include "views/cells/cells_picture.h"

#include <QPainter>
#include <QScrollBar>
#include <algorithm>
#include <cmath>

#include "views/drawing/margin.h"

namespace stormcell::views {
namespace {
constexpr double kSideBar = 14, kMostStripes = 48;
/// A scroll bar counts in int.
constexpr int64_t kMostSteps = int64_t{1} << 30;
}  // namespace

CellsPicture::CellsPicture(QWidget* parent) : QWidget(parent), bar_(new QScrollBar(Qt::Vertical, this)) {
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
  setMinimumSize(320, 200);
  setAccessibleName(tr("Cells of the input with their branches; the table holds the same figures"));
  bar_->setAccessibleName(tr("Sequences of the run"));
  bar_->hide();
  connect(bar_, &QScrollBar::valueChanged, this, [this](int value) {
    const int64_t step = std::max<int64_t>(1, (end_ - first_) / kMostSteps);
    show_sequence(first_ + value * step);
  });
}

void CellsPicture::set_columns(std::vector<Column> columns, int64_t first, int64_t end,
                               const std::vector<int64_t>& listed) {
  columns_ = std::move(columns);
  first_ = first, end_ = end;
  listed_.assign(std::lower_bound(listed.begin(), listed.end(), first),
                 std::lower_bound(listed.begin(), listed.end(), end));
  if (scroll_.sequence < first || scroll_.sequence >= end) scroll_ = {first, 0};
  hovered_.reset();
  forget_layout();
}

void CellsPicture::set_aside(Aside aside) {
  aside_ = std::move(aside);
  update();
}

void CellsPicture::set_cell(const std::optional<CellPlace>& cell) {
  cell_ = cell;
  update();
}

void CellsPicture::show_sequence(int64_t sequence) {
  sequence = first_of(row_of(std::clamp(sequence, first_, std::max(first_, end_ - 1))));
  if (scroll_ == CellScroll{sequence, 0}) return;
  scroll_ = {sequence, 0};
  update_bar();
  update();
  emit scrolled_to(sequence);
}

void CellsPicture::show_next() {
  const int64_t next = number_of(scroll_.sequence) + 1;
  show_sequence(sequence_at(next < count() ? next : 0));
}

void CellsPicture::make_visible(int64_t sequence) {
  if (sequence < first_ || sequence >= end_) return;
  // Nothing is visible before the layout.
  wanted_ = laid_out_ ? -1 : sequence;
  if (wanted_ >= 0) return;
  double y = -scroll_.offset;
  for (int64_t row = row_of(scroll_.sequence); row < row_of(sequence) && y < text_area().height(); ++row)
    y += row_height(row);
  if (sequence < scroll_.sequence || y + metrics().pitch() > text_area().height()) show_sequence(sequence);
}

double CellsPicture::column_width() const {
  const double count = std::max<size_t>(1, columns_.size());
  return std::max(60.0, (text_area().width() - kMargin * (count - 1)) / count);
}

const CellsMetrics& CellsPicture::metrics() const {
  if (!metrics_) metrics_ = made_metrics();
  return *metrics_;
}

CellsMetrics CellsPicture::made_metrics() const {
  const QFontMetricsF font(this->font());
  CellsMetrics m;
  m.width = column_width();
  m.line = font.height() + 3;
  m.gutter = std::clamp(m.width * 0.22, 50.0, 190.0);
  m.chip = font.height() + 4;
  const int routers = columns_.empty() ? 0 : static_cast<int>(columns_[0].shown.routers.size());
  m.stripes = routers ? routers * stripe_height(routers, kMostStripes) + 2 : 0;
  const auto pictured =
      std::find_if(columns_.begin(), columns_.end(), [](const Column& column) { return column.shown.pictures; });
  if (pictured == columns_.end()) return m;
  // Names are above pictures, which are then side by side.
  const QSize shape = pictured->shown.shape;
  m.gutter = 0, m.head = m.line;
  const QSizeF room(m.width, text_area().height());
  const PictureGrid grid = grid_of_pictures(room, shape, single_ ? 1 : count(), {kMargin, m.block_gap},
                                            m.head + (m.stripes > 0 ? m.stripes : 0));
  m.picture = grid.longer, m.across = single_ ? 1 : grid.across;
  if (m.across > 1) m.width = shape.width() * m.picture / std::max({1, shape.width(), shape.height()});
  return m;
}

int64_t CellsPicture::count() const { return listed_.empty() ? end_ - first_ : std::ssize(listed_); }
int64_t CellsPicture::sequence_at(int64_t number) const {
  return listed_.empty() ? first_ + number : listed_[std::clamp<int64_t>(number, 0, count() - 1)];
}
int64_t CellsPicture::number_of(int64_t sequence) const {
  if (listed_.empty()) return sequence - first_;
  return std::max<int64_t>(0, std::upper_bound(listed_.begin(), listed_.end(), sequence) - listed_.begin() - 1);
}

int64_t CellsPicture::rows() const { return (count() + metrics().across - 1) / metrics().across; }
int64_t CellsPicture::row_of(int64_t sequence) const { return number_of(sequence) / metrics().across; }
int64_t CellsPicture::first_of(int64_t row) const { return sequence_at(row * metrics().across); }
std::vector<int64_t> CellsPicture::sequences_of(int64_t row) const {
  std::vector<int64_t> sequences;
  const int64_t first = row * metrics().across;
  for (int64_t n = first; n < std::min(count(), first + metrics().across); ++n) sequences.push_back(sequence_at(n));
  return sequences;
}
double CellsPicture::row_height(int64_t row) const {
  double height = 0;
  for (const int64_t s : sequences_of(row)) height = std::max(height, block_height(s));
  return height;
}

std::optional<size_t> CellsPicture::line_of(size_t column, int64_t sequence) const {
  const int64_t line = sequence - columns_[column].shown.first_sequence;
  if (line < 0 || line >= std::ssize(columns_[column].shown.lines)) return {};
  return static_cast<size_t>(line);
}

void CellsPicture::set_single(bool single) {
  if (single_ == single) return;
  single_ = single;
  forget_layout();
}

QRectF CellsPicture::legend_area() const {
  const double height =
      columns_.empty() ? 0 : cells_legend_height(QFontMetricsF(font()), columns_[0].shown, width() - 2 * kMargin);
  return {kMargin, this->height() - height - 6, width() - 2 * kMargin, height};
}

QRectF CellsPicture::panel_area() const {
  const double wide = std::clamp(width() * 0.27, 190.0, 340.0);
  return {width() - wide - kMargin, kMargin, wide, legend_area().top() - 2 * kMargin};
}

QRectF CellsPicture::text_area() const {
  const double top = kMargin + (columns_.size() > 1 ? QFontMetricsF(font()).height() + 6 : 0);
  return {kMargin, top, std::max(60.0, panel_area().left() - 3 * kMargin - kSideBar),
          std::max(20.0, legend_area().top() - top - 8)};
}

QPointF CellsPicture::column_origin(size_t column) const {
  return {text_area().left() + static_cast<double>(column) * (column_width() + kMargin), text_area().top()};
}

const LineLayout& CellsPicture::layout(size_t column, size_t line) const {
  const auto key = std::pair{column, line};
  if (const auto known = layouts_.find(key); known != layouts_.end()) return known->second;
  const CellsMetrics& m = metrics();
  const ShownLine& shown = columns_[column].shown.lines[line];
  const QFontMetricsF font(this->font());
  std::vector<double> widths;
  std::vector<bool> words;
  for (const Chip& chip : shown.chips) {
    auto width = widths_.find(chip.text);
    if (width == widths_.end())
      width = widths_.insert(chip.text, std::max(m.chip * 0.6, std::ceil(font.horizontalAdvance(chip.text)) + 6));
    widths.push_back(chip.text.isEmpty() ? m.chip : *width);
    words.push_back(chip.word);
  }
  const bool note_below = !shown.left_out.isEmpty() || shown.chips.empty();
  const CellLine& read = columns_[column].page->lines[line];
  std::vector<QPoint> places;
  for (const Chip& chip : shown.chips)
    if (read.columns > 0) {
      const int32_t position = read.position[chip.cell];
      places.emplace_back(position % read.columns, position / read.columns);
    }
  if (columns_[column].shown.pictures && shown.placed) {
    // The grid counts all cells, hidden padding too, so that each part keeps its place.
    const int columns = std::max(1, read.columns);
    const QSize grid(columns, std::max(1, static_cast<int>((read.cells + columns - 1) / columns)));
    if (places.empty()) places.resize(shown.chips.size());
    return layouts_
        .emplace(key, lay_out_picture(shown.picture.isNull() ? columns_[column].shown.shape : shown.picture.size(),
                                      grid, places, m))
        .first->second;
  }
  LineLayout made =
      places.empty() ? lay_out(widths, words, m, note_below) : lay_out_grid(widths, places, m, note_below);
  return layouts_.emplace(key, std::move(made)).first->second;
}

double CellsPicture::block_height(int64_t sequence) const {
  double height = 0;
  for (size_t c = 0; c < columns_.size(); ++c) {
    if (const auto line = line_of(c, sequence)) height = std::max(height, layout(c, *line).height);
  }
  // Blocks that are not read yet count as one row.
  const CellsMetrics& m = metrics();
  return height > 0 ? height : std::max({2 * m.line, m.pitch(), m.head + m.picture}) + m.block_gap;
}

std::vector<CellsPicture::Block> CellsPicture::blocks() const {
  std::vector<Block> out;
  double y = -scroll_.offset;
  for (int64_t row = row_of(scroll_.sequence); row < rows() && y < text_area().height(); y += row_height(row), ++row) {
    double x = 0;
    for (const int64_t s : sequences_of(row)) {
      for (size_t c = 0; c < columns_.size(); ++c)
        if (const auto line = line_of(c, s)) out.push_back({c, *line, column_origin(c) + QPointF(x, y)});
      x += metrics().width + kMargin;
    }
  }
  return out;
}

std::optional<CellsPicture::Hit> CellsPicture::hit(QPointF point) const {
  if (!text_area().contains(point)) return {};
  for (const Block& b : blocks())
    if (const int chip = layout(b.column, b.line).at(point - b.at); chip >= 0) return Hit{b.column, b.line, chip};
  return {};
}

CellPlace CellsPicture::place_of(const Hit& hit) const {
  const Column& column = columns_[hit.column];
  const Chip& chip = column.shown.lines[hit.line].chips[hit.chip];
  return {column.page->lines[hit.line].sequence, column.page->lines[hit.line].position[chip.cell]};
}

std::optional<CellsPicture::Hit> CellsPicture::selected(size_t column) const {
  if (!cell_ || column >= columns_.size()) return {};
  const auto line = line_of(column, cell_->sequence);
  if (!line) return {};
  for (size_t c = 0; c < columns_[column].shown.lines[*line].chips.size(); ++c)
    if (const Hit at{column, *line, static_cast<int>(c)}; place_of(at) == *cell_) return at;
  return {};
}

QRectF CellsPicture::chip_rect(size_t column, const CellPlace& place) const {
  for (const Block& b : blocks())
    if (b.column == column)
      for (size_t c = 0; c < columns_[column].shown.lines[b.line].chips.size(); ++c)
        if (place_of({column, b.line, static_cast<int>(c)}) == place)
          return layout(column, b.line).chips[c].translated(b.at);
  return {};
}

void CellsPicture::forget_layout() {
  layouts_.clear();
  metrics_.reset();
  if (end_ > first_) scroll_.sequence = first_of(row_of(std::clamp(scroll_.sequence, first_, end_ - 1)));
  update_bar();
  update();
}

void CellsPicture::update_bar() {
  const QSignalBlocker quiet(bar_);
  // No scroll bar if everything fits.
  const double room = text_area().height() + metrics().block_gap;
  double y = 0;
  int64_t fits = 0;
  for (; fits < rows() && y <= room; ++fits) y += row_height(fits);
  const bool needed = fits < rows() || y > room;
  bar_->setVisible(needed);
  if (!needed) scroll_ = {first_of(0), 0};
  const int64_t step = std::max<int64_t>(1, (end_ - first_) / kMostSteps);
  bar_->setRange(0, static_cast<int>(std::max<int64_t>(0, (end_ - 1 - first_) / step)));
  bar_->setPageStep(8);
  bar_->setValue(static_cast<int>((scroll_.sequence - first_) / step));
  bar_->setGeometry(QRectF(text_area().right() + 6, text_area().top(), kSideBar, text_area().height()).toRect());
}

bool CellsPicture::scrolls() const { return bar_->isVisibleTo(this); }

void CellsPicture::scroll_by(double pixels) {
  if (!scrolls()) return;
  CellScroll to = scrolled({row_of(scroll_.sequence), scroll_.offset}, pixels, 0, rows(),
                           [this](int64_t row) { return row_height(row); });
  to.sequence = first_of(to.sequence);
  if (to == scroll_) return;
  const bool other = to.sequence != scroll_.sequence;
  scroll_ = to;
  hovered_.reset();
  update_bar();
  update();
  if (other) emit scrolled_to(to.sequence);
}

void CellsPicture::paintEvent(QPaintEvent*) {
  QPainter p(this);
  const Theme& theme = Theme::of(palette());
  p.fillRect(rect(), theme.background);
  if (columns_.empty()) return;
  p.setPen(theme.text);
  if (columns_.size() > 1)
    for (size_t c = 0; c < columns_.size(); ++c)
      p.drawText(QRectF(column_origin(c).x(), 6, column_width(), QFontMetricsF(font()).height() + 4),
                 Qt::AlignLeft | Qt::AlignVCenter,
                 fontMetrics().elidedText(columns_[c].title, Qt::ElideMiddle, static_cast<int>(column_width())));
  p.save();
  p.setClipRect(text_area());
  for (const Block& b : blocks()) {
    LineMarks marks;
    if (const auto at = selected(b.column); at && at->line == b.line) marks.selected = at->chip;
    if (hovered_ && hovered_->column == b.column && hovered_->line == b.line) marks.hovered = hovered_->chip;
    paint_line(p, columns_[b.column].shown.lines[b.line], layout(b.column, b.line), b.at, metrics(),
               columns_[b.column].shown, marks, text_area(), theme);
  }
  p.restore();
  for (size_t c = 0; c < columns_.size(); ++c) {
    const auto all = blocks();
    if (std::none_of(all.begin(), all.end(), [&](const Block& b) { return b.column == c; }))
      paint_hint(p, QRectF(column_origin(c), QSizeF(column_width(), text_area().height())),
                 tr("none of these sequences in this run"), theme);
  }
  p.fillRect(QRectF(0, legend_area().top() - 7, width(), 1), theme.grid);
  p.fillRect(QRectF(panel_area().left() - kMargin, 0, 1, legend_area().top() - 7), theme.grid);
  legend_ = paint_cells_legend(p, legend_area(), columns_[0].shown, theme);
  paint_panel(p);
}

void CellsPicture::paint_panel(QPainter& p) const {
  const Theme& theme = Theme::of(palette());
  QRectF area = panel_area();
  if (aside_.trail) {
    QString token;
    if (const auto piece = columns_[0].page->pieces.find(aside_.trail->token); piece != columns_[0].page->pieces.end())
      token = piece_text(piece->second).text;
    area.setTop(area.top() + paint_trail(p, area, *aside_.trail, columns_[0].shown, {aside_.choices, token}, theme) +
                14);
  }
  if (aside_.dictionary) paint_dictionary(p, area, *aside_.dictionary, aside_.order, theme);
  if (aside_.trail && aside_.dictionary) return;
  if (!aside_.dictionary && !columns_[0].shown.tokens) {
    if (!aside_.trail) paint_hint(p, area, tr("Click a cell to follow it through all routers."), theme);
  } else if (!aside_.dictionary) {
    paint_hint(p, area,
               aside_.trail ? tr("Click a branch below for its dictionary: which tokens it takes most.")
                            : tr("Click a token to follow it through all routers.\n\nClick a branch below for its "
                                 "dictionary: which tokens "
                                 "it takes most."),
               theme);
  }
}

}  // namespace stormcell::views

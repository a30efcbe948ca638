#include "views/heatmap/heatmap_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>
#include <QStandardItemModel>
#include <QToolButton>
#include <QToolTip>
#include <algorithm>

#include "core/base/run_kind.h"
#include "core/comparison/like_models.h"
#include "core/readings/selected_view.h"
#include "views/words/figure_text.h"

namespace stormcell::views {
namespace {

constexpr int64_t kMostWindows = 256;
/// A range of fewer windows than this is read again from a finer level.
constexpr int64_t kFewWindows = 16;

/// "37" is the first cell of sequence 37, "37:5" its cell at position 5.
std::optional<CellPlace> parse_cell(const QString& text) {
  const QStringList parts = text.trimmed().split(':');
  bool sequence_ok = false, position_ok = true;
  CellPlace place;
  place.sequence = parts.value(0).toLongLong(&sequence_ok);
  if (parts.size() > 1) place.position = parts[1].toInt(&position_ok);
  if (parts.size() > 2 || !sequence_ok || !position_ok || place.sequence < 0 || place.position < 0) return {};
  return place;
}

std::shared_ptr<const LoadWindows> read_windows(const Source& source, const Selection& selection, int64_t first,
                                                int64_t end, const Progress& progress) {
  if (!selection.label.isEmpty())
    return read_label_window(source.file, source.run, selection.label.toStdString(), progress);
  if (!selection.phase.isEmpty())
    return read_phase_windows(source.file, source.run, selection.phase.toStdString(), {first, end}, kMostWindows,
                              progress);
  return read_load_windows(source.file, source.run, {first, end}, kMostWindows, progress);
}

bool has_padding(const LoadWindows& data) {
  return std::any_of(data.routers.begin(), data.routers.end(), [](const LoadWindows::Router& router) {
    return std::any_of(router.padding.begin(), router.padding.end(), [](int64_t cells) { return cells > 0; });
  });
}

/// Choices are in the order of their enumerators.
template <class Enum>
Enum chosen(const QComboBox* choice) {
  return static_cast<Enum>(choice->currentIndex());
}

/// Sessions hold this metric of all cells together, real ones and padding.
bool keeps_no_padding_apart(HeatMetric metric) { return metric == HeatMetric::weight || metric == HeatMetric::drops; }

/// Lines along the edges of the routers' graph: a step continues a line that ends at its start, or begins a new one.
std::vector<std::vector<HeatCell>> paths_of(const CellTrail& trail, const LoadWindows& data, const HeatMatrix& matrix) {
  std::vector<std::vector<HeatCell>> paths, cells_of(trail.steps.size());
  std::vector<int32_t> ends;  // by path: the step where it ends
  for (size_t s = 0; s < trail.steps.size(); ++s) {
    const CellTrail::Step& step = trail.steps[s];
    if (std::none_of(data.routers.begin(), data.routers.end(),
                     [&](const auto& r) { return r.line.name == step.router; }))
      continue;
    std::vector<HeatCell>& cells = cells_of[s];
    for (size_t r = 0; r < matrix.rows.size(); ++r)
      if (matrix.rows[r].router == QString::fromStdString(step.router))
        for (const int32_t branch : step.branches)
          if (const int column = matrix.rows[r].column_of(branch); column >= 0)
            cells.push_back({static_cast<int>(r), column});
    const int32_t now = s;
    for (const int32_t before : step.after) {
      auto at = std::find(ends.begin(), ends.end(), before);
      if (at == ends.end()) {
        paths.push_back(cells_of[before]);
        at = ends.insert(ends.end(), before);
      }
      *at = now;
      std::vector<HeatCell>& path = paths[at - ends.begin()];
      path.insert(path.end(), cells.begin(), cells.end());
    }
    if (!step.after.empty()) continue;
    paths.push_back(cells);
    ends.push_back(now);
  }
  return paths;
}

}  // namespace

HeatmapView::HeatmapView(QWidget* parent) : View(parent) {
  add_choices();
  add_controls();
  add_picture();
  connect_controls();
  connect_picture();
}

void HeatmapView::add_choices() {
  metric_ = add_choice(
      tr("Metric"), tr("The figure that the tone of a cell shows"),
      {{tr("Load"), {}}, {tr("Share"), {}}, {tr("Weight mass"), {}}, {tr("Drops"), {}}, {tr("Imbalance"), {}}});
  metric_->setCurrentIndex(static_cast<int>(HeatMetric::share));
  scale_ = add_choice(
      tr("Scale"), tr("One scale for all routers, each router by its own largest, or logarithmic over three decades"),
      {{tr("readable"), tr("Common where the median branch can be seen on it, else logarithmic")},
       {tr("common"), tr("The strongest tone is the largest figure of all routers")},
       {tr("per router"), tr("The strongest tone is the largest figure of each router")},
       {tr("logarithmic"), tr("A tenth of the largest figure is a third paler, a thousandth is as pale as nothing")}});
  order_ = add_choice(
      tr("Order"), tr("Columns by branch number, by load, or so that branches used at the same times are neighbours"),
      {{tr("index"), tr("By branch number, as the model has them")},
       {tr("load"), tr("The branch with the most cells first, in each router")},
       {tr("clustered"), tr("Branches that are used in the same batches are neighbours")}});
  pair_ = add_choice(tr("Other run"), tr("Choose a run to compare with in the list of runs first"),
                     {{tr("hidden"), tr("This run alone")},
                      {tr("beside"), tr("Both runs, with one scale")},
                      {tr("difference"), tr("This run minus the other: orange is more, blue is less")}});
  pair_->setCurrentIndex(
      static_cast<int>(HeatPair::difference));  // whoever chooses another run wants to see what differs
  pair_->setEnabled(false);
}

void HeatmapView::add_controls() {
  padding_ = new QCheckBox(tr("Padding"), this);
  padding_->setToolTip(
      tr("Counts padding too, which shows the work that was done; without it, the map shows where the data went"));
  bar()->addWidget(padding_);
  high_ = new QDoubleSpinBox(this);
  high_->setRange(0, 1e12);
  high_->setDecimals(3);
  high_->setSpecialValueText(tr("auto"));
  high_->setAccessibleName(tr("Upper end of the scale"));
  high_->setToolTip(tr("Upper end of the scale, so that several pictures can be compared; auto: the largest figure"));
  high_->setKeyboardTracking(false);
  high_->setMaximumWidth(fontMetrics().horizontalAdvance("000.000 %") + 24);  // not as wide as its largest figure
  auto* up_to = new QLabel(tr("Up to"), this);
  up_to->setBuddy(high_);
  bar()->addWidget(up_to);
  bar()->addWidget(high_);
  bar()->add_stretch();
  cell_ = new QLineEdit(this);
  cell_->setPlaceholderText(tr("Cell, e.g. 37:5"));
  cell_->setToolTip(
      tr("Follows one cell: its sequence, a colon, its position; the sequence alone means its first cell"));
  cell_->setAccessibleName(tr("Cell to follow"));
  cell_->setClearButtonEnabled(true);
  cell_->setMinimumWidth(fontMetrics().horizontalAdvance(cell_->placeholderText()) + 10);
  cell_->setMaximumWidth(190);
  bar()->addWidget(cell_);
}

void HeatmapView::add_picture() {
  content_ = new QWidget(this);
  auto* layout = new QVBoxLayout(content_);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->setSpacing(0);
  picture_ = new HeatmapPicture(content_);
  layout->addWidget(picture_, 1);
  content_->setFocusProxy(picture_);
  auto* time = new QHBoxLayout();
  time->setContentsMargins(8, 0, 0, 4);
  play_ = new QToolButton(content_);
  play_->setText(QString(QChar(0x25B6)));
  play_->setCheckable(true);
  play_->setAutoRaise(true);
  play_->setToolTip(tr("Walk through the run (Space)"));
  play_->setAccessibleName(tr("Play"));
  time->addWidget(play_);
  strip_ = new TimeStrip(content_);
  time->addWidget(strip_, 1);
  layout->addLayout(time);
  set_picture(content_);
}

void HeatmapView::connect_controls() {
  for (QComboBox* box : {metric_, scale_, order_, pair_})
    connect(box, &QComboBox::currentIndexChanged, this, [this] { show_data(); });
  connect(padding_, &QCheckBox::toggled, this, [this] { show_data(); });
  connect(high_, &QDoubleSpinBox::valueChanged, this, [this] { show_data(); });
  connect(cell_, &QLineEdit::returnPressed, this, &HeatmapView::follow);
  connect(cell_, &QLineEdit::textChanged, this, [this](const QString& text) {
    if (text.isEmpty() && selection_.cell) follow();
  });
  connect(play_, &QToolButton::toggled, strip_, &TimeStrip::play);
  connect(strip_, &TimeStrip::playing_changed, this, [this](bool playing) {
    play_->setChecked(playing);
    play_->setText(playing ? QString("II") : QString(QChar(0x25B6)));
    play_->setAccessibleName(playing ? tr("Pause") : tr("Play"));
  });
}

void HeatmapView::connect_picture() {
  connect(strip_, &TimeStrip::range_wanted, this, [this](int64_t first, int64_t end) {
    Selection wanted = selection_;
    wanted.first_batch = first, wanted.end_batch = end;
    emit selection_wanted(wanted);
  });
  connect(picture_, &HeatmapPicture::picked, this, [this](const QString& router, int branch) {
    Selection wanted = selection_;
    wanted.router = router, wanted.branch = branch;
    emit selection_wanted(wanted);
  });
  connect(picture_, &HeatmapPicture::tip_wanted, this, [this](size_t panel, int row, int column, const QPoint& global) {
    // Tips follow the painted matrix: its order of columns may come from elsewhere.
    const LoadWindows& of = panel == 1 && data_.other ? other_windows() : windows();
    const WindowRange range = windows_of(of, selection_.first_batch, selection_.end_batch);
    QToolTip::showText(global, describe(picture_->matrix(panel), of, range, row, column), picture_);
  });
}

bool HeatmapView::padding_in_one_run_only() const {
  return chosen<HeatPair>(pair_) != HeatPair::single && data_.all && data_.other &&
         has_padding(*data_.all) != has_padding(*data_.other);
}

HeatOptions HeatmapView::options() const {
  HeatOptions o{chosen<HeatMetric>(metric_), chosen<HeatScale>(scale_), chosen<HeatOrder>(order_),
                chosen<HeatPair>(pair_), padding_->isChecked() && !padding_in_one_run_only()};
  const bool with_itself = context_.other.file == context_.main.file && context_.other.run == context_.main.run;
  if (!data_.other || with_itself) o.pair = HeatPair::single;
  return o;
}

bool HeatmapView::wants_fine(const Data& known, const Selection& selection) {
  if (known.fine || !selection.label.isEmpty() || selection.all_batches() || known.all->batches_per_window == 1)
    return false;
  const WindowRange range = windows_of(*known.all, selection.first_batch, selection.end_batch);
  return range.to - range.from < kFewWindows;
}

View::Load HeatmapView::load(const Context& context, const Selection& selection) {
  context_ = context;
  if (context.main.empty()) {
    data_ = {};
    show_no_run(context);
    return nullptr;
  }
  Data known = data_;
  if (unread() & (Part::run | Part::other | Part::phase | Part::label)) known = {};
  if (unread() & Part::run || known.trail_of != selection.cell) known.trail = nullptr;
  if (unread() & Part::range) known.fine = known.other_fine = nullptr;
  if (known.all && !wants_fine(known, selection) && known.trail_of == selection.cell) {
    const bool coarser = data_.fine && !known.fine;
    data_ = known;
    if (coarser) show_data();
    return nullptr;
  }
  return [this, context, selection, known](const Progress& progress) mutable -> Deliver {
    if (!known.all) {
      known.all = read_windows(context.main, selection, 0, -1, progress);
      known.chances = read_load_chances(context.main.file, context.main.run, progress);
    }
    if (wants_fine(known, selection))
      known.fine = read_windows(context.main, selection, selection.first_batch, selection.end_batch, progress);
    if (!known.other && !context.other.empty()) known.other = read_windows(context.other, selection, 0, -1, progress);
    if (known.fine && known.other && !known.other_fine)
      known.other_fine = read_windows(context.other, selection, selection.first_batch, selection.end_batch, progress);
    if (!known.compared && !context.other.empty()) {
      known.compared = true;
      try {
        check_like_models(context.main.file, context.main.run, context.other.file, context.other.run);
      } catch (const Error& e) {
        known.unlike = QString::fromUtf8(e.what());
      }
    }
    QString trouble;
    if (selection.cell && known.trail_of != selection.cell) try {
        known.trail = read_cell_trail(context.main.file, context.main.run, *selection.cell);
      } catch (const Error& e) {
        trouble = QString::fromUtf8(e.what());
      }
    known.trail_of = selection.cell;
    return [this, known = std::move(known), trouble] {
      data_ = known;
      pair_->setEnabled(data_.other != nullptr);
      if (!trouble.isEmpty()) emit said(trouble);
      show_data();
    };
  };
}

void HeatmapView::select(const Selection& selection) {
  selection_ = selection;
  if (selection.cell)
    cell_->setText(QString("%1:%2").arg(selection.cell->sequence).arg(selection.cell->position));
  else if (!cell_->hasFocus())
    cell_->clear();
  strip_->set_range(selection.first_batch, selection.end_batch);
  picture_->set_selected(selection.router, selection.branch);
  // The data read may do for another range, but not for another phase or label.
  if (data_.all && unread() & (Part::range | Part::router) && !(unread() & (Part::run | Part::phase | Part::label)))
    show_data();
}

Parts HeatmapView::heeded() const {
  Parts parts = selection_.label.isEmpty() ? Part::range | Part::phase : Parts(Part::label);
  parts.setFlag(Part::other, options().pair != HeatPair::single);
  return parts;
}

QStringList HeatmapView::remarks() const {
  QStringList said;
  if (!selection_.label.isEmpty()) {
    said << tr("Loads by label are kept for the whole run and without padding.");
    const HeatMetric metric = options().metric;
    if (metric == HeatMetric::weight || metric == HeatMetric::drops)
      said << tr("There is no %1 by label.").arg(term_of(metric).name);
  } else if (options().pair == HeatPair::difference && keeps_no_padding_apart(options().metric) &&
             padding_in_one_run_only()) {
    said << tr("%1 counts padding, and only one of the two runs has it: the two stand beside each other.")
                .arg(term_of(options().metric).name);
  } else if (options().pair == HeatPair::difference && data_.all &&
             !have_a_router_in_common(*data_.all, *data_.other)) {
    said << tr(
        "No router of the other run has the name and the number of branches of one here: there is nothing to subtract, "
        "so the two stand "
        "beside each other.");
  } else if (options().pair != HeatPair::single && data_.all && data_.other->batches != data_.all->batches) {
    said << tr("The other run has %1, this one %2: batches of one number need not hold the same data.")
                .arg(counted_text(data_.other->batches, "batch"), count_text(data_.all->batches));
  }
  if (padding_->isChecked() && padding_in_one_run_only())
    said << tr("Only one of the two runs has padding among its cells: padding is left out of both.");
  if (!options().padding && data_.all && keeps_no_padding_apart(options().metric) && selection_.label.isEmpty() &&
      has_padding(*data_.all))
    said << tr("%1 counts padding: it is not kept apart.").arg(term_of(options().metric).name);
  return said;
}

bool HeatmapView::fine_fits() const {
  return data_.fine && selection_.first_batch >= data_.fine->first_batch() && selection_.end_batch >= 0 &&
         selection_.end_batch <= data_.fine->end_batch();
}
const LoadWindows& HeatmapView::windows() const { return fine_fits() ? *data_.fine : *data_.all; }
const LoadWindows& HeatmapView::other_windows() const {
  return fine_fits() && data_.other_fine ? *data_.other_fine : *data_.other;
}

void HeatmapView::show_data() {
  if (!data_.all) return;
  if (data_.all->routers.empty())
    return show_message(tr("The model of this run has no routers, so there is nothing to show here."));
  if (data_.all->batches == 0)
    return show_message(tr("No batch of this run is recorded yet."), {{"choose-run", tr("Choose another run")}});
  show_strip();
  allow_what_is_kept();
  // The two may be shown side by side: nothing is subtracted.
  if (shown_options().pair == HeatPair::difference && !data_.unlike.isEmpty()) return show_refusal(data_.unlike);
  const HeatOptions shown = shown_options();
  std::vector<HeatmapPicture::Panel> panels = make_panels(shown);
  if (data_.trail)
    for (HeatmapPicture::Panel& panel : panels) panel.paths = paths_of(*data_.trail, *data_.all, panel.matrix);
  picture_->set_trail_text(data_.trail ? trail_text(*data_.trail) : QString());
  picture_->set_part_text(part_text());
  picture_->set_panels(std::move(panels), over_time(shown.padding), data_.all->routers.size());
  picture_->set_selected(selection_.router, selection_.branch);
  show_content();
}

QString HeatmapView::part_text() const {
  const WindowRange range = windows_of(windows(), selection_.first_batch, selection_.end_batch);
  const LoadWindows& of = windows();
  const int64_t begin = (of.first_window + range.from) * of.batches_per_window,
                end = std::min(of.batches, (of.first_window + range.to) * of.batches_per_window);
  int64_t data = 0;
  if (context_.session)
    for (const RunLine& run : context_.session->runs) {
      // Batches of decoding are turns, and imported files do not say how many batches there were.
      const bool counts_batches =
          run.batches_of_data == 0 && run_kind(run.kind) != RunKind::import && run.result && !run.result->generated;
      if (run.id == context_.main.run && counts_batches) data = run.result->figures.dataset.batches;
    }
  return part_of_data_text(end - begin, of.batches, data);
}

void HeatmapView::show_strip() {
  std::vector<double> profile(data_.all->windows);
  for (const auto& router : data_.all->routers)
    for (size_t w = 0; w < profile.size(); ++w) profile[w] += static_cast<double>(router.cells[w]);
  strip_->set_data(data_.all->batches, data_.all->batches_per_window, std::move(profile));
  strip_->set_range(selection_.first_batch, selection_.end_batch);
}

void HeatmapView::allow_what_is_kept() {
  const auto kept = [&](auto values) {
    return std::any_of(data_.all->routers.begin(), data_.all->routers.end(),
                       [&](const auto& router) { return !(router.*values).empty(); });
  };
  const auto allow = [&](HeatMetric metric, bool allowed) {
    auto* model = qobject_cast<QStandardItemModel*>(metric_->model());
    model->item(static_cast<int>(metric))->setEnabled(allowed);
    if (!allowed && metric_->currentIndex() == static_cast<int>(metric))
      metric_->setCurrentIndex(static_cast<int>(HeatMetric::share));
  };
  if (selection_.label.isEmpty()) {
    allow(HeatMetric::weight, kept(&LoadWindows::Router::weight));
    allow(HeatMetric::drops, kept(&LoadWindows::Router::dropped));
  }
  padding_->setEnabled(has_padding(*data_.all));
}

HeatOptions HeatmapView::shown_options() const {
  HeatOptions o = options();
  if (o.pair == HeatPair::difference && data_.unlike.isEmpty() &&
      (!have_a_router_in_common(windows(), other_windows()) ||
       (keeps_no_padding_apart(o.metric) && padding_in_one_run_only())))
    o.pair = HeatPair::beside;
  return o;
}

std::vector<HeatmapPicture::Panel> HeatmapView::make_panels(HeatOptions o) {
  const LoadWindows& from = windows();
  const auto range_of = [&](const LoadWindows& of) {
    return windows_of(of, selection_.first_batch, selection_.end_batch);
  };
  high_->setSuffix(o.metric == HeatMetric::share ? tr(" %") : QString());
  const double high = o.metric == HeatMetric::share ? high_->value() / 100 : high_->value();
  if (o.scale == HeatScale::readable) o.scale = readable_scale(from, range_of(from), o, high);
  const Theme& theme = Theme::of(palette());
  const bool whole = selection_.all_batches() && selection_.phase.isEmpty() && selection_.label.isEmpty();
  const auto panel = [&](const QString& title, HeatMatrix matrix, bool judged = false) {
    if (judged && whole) mark_within_chance(data_.chances, matrix);
    QImage tones = tone_image(matrix, theme);
    return HeatmapPicture::Panel{title, std::move(matrix), std::move(tones), {}};
  };
  if (o.pair == HeatPair::difference)
    return {
        panel(QString(), make_difference(from, range_of(from), other_windows(), range_of(other_windows()), o, high))};
  if (o.pair == HeatPair::single)
    return {panel(QString(),
                  make_matrix(from, range_of(from), o, high, o.order == HeatOrder::index ? nullptr : data_.all.get()),
                  true)};
  // Both have the same scale, so that equal tones mean equal values.
  const auto matrix = [&](const LoadWindows& of, double up_to) {
    return make_matrix(of, range_of(of), o, up_to, data_.all.get());
  };
  const double both = high > 0 ? high : std::max(matrix(from, 0).high, matrix(other_windows(), 0).high);
  return {panel(context_.main.title, matrix(from, both), true),
          panel(context_.other.title, matrix(other_windows(), both))};
}

std::vector<RouterOverTime> HeatmapView::over_time(bool padding) const {
  constexpr size_t kFirstOnes = 4;
  std::vector<RouterOverTime> list;
  if (data_.all->windows <= 1 || !selection_.label.isEmpty()) return list;  // one window says nothing about time
  for (size_t r = 0; r < data_.all->routers.size(); ++r)
    if (selection_.router.isEmpty() ? list.size() < kFirstOnes
                                    : QString::fromStdString(data_.all->routers[r].line.name) == selection_.router)
      list.push_back(make_over_time(*data_.all, r, padding));
  return list;
}

QString HeatmapView::trail_text(const CellTrail& trail) {
  QString text = tr("Cell %1:%2").arg(trail.place.sequence).arg(trail.place.position);
  if (!trail.piece.empty())
    text += tr(", \"%1\"").arg(QString::fromStdString(trail.piece));
  else if (trail.token >= 0)
    text += tr(", token %1").arg(trail.token);
  if (!trail.label.empty()) text += tr(", %1").arg(QString::fromStdString(trail.label));
  if (!trail.text.empty()) text += tr(", of \"%1\"").arg(QString::fromStdString(trail.text).left(80));
  return text;
}

Table HeatmapView::table() const {
  if (!data_.all) return {};
  const LoadWindows& from = windows();
  const WindowRange range = windows_of(from, selection_.first_batch, selection_.end_batch);
  if (options().pair == HeatPair::single) return make_table(from, range, options());
  return make_table(from, range, options(), &other_windows(),
                    windows_of(other_windows(), selection_.first_batch, selection_.end_batch));
}

void HeatmapView::follow() {
  Selection wanted = selection_;
  wanted.cell = parse_cell(cell_->text());
  if (!cell_->text().isEmpty() && !wanted.cell) {
    emit said(tr("\"%1\" is not a cell: write its sequence, a colon and its position, as 37:5").arg(cell_->text()));
    return;
  }
  emit selection_wanted(wanted);
}

}  // namespace stormcell::views

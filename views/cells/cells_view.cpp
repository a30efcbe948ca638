#include "views/cells/cells_view.h"

#include <QCheckBox>
#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QSpinBox>
#include <QStandardItemModel>
#include <QTimer>
#include <algorithm>

#include "core/readings/selected_view.h"
#include "views/drawing/branch_colors.h"
#include "views/words/figure_text.h"

namespace stormcell::views {
namespace {

/// The router whose decision colours: the chosen one; else the first whose cells are of the chosen phase, or the first.
const RouterLine* router_of(const CellsOverview& overview, const Selection& selection) {
  for (const RouterLine& r : overview.routers)
    if (QString::fromStdString(r.name) == selection.router) return &r;
  for (const RouterLine& r : overview.routers)
    if (!selection.phase.isEmpty() && overview.has_phase(r.space, selection.phase.toStdString())) return &r;
  return overview.routers.empty() ? nullptr : &overview.routers.front();
}

/// The chosen phase, if the router has cells of it: otherwise all cells would be faded.
QString phase_to_show(const CellsOverview& overview, const Selection& selection) {
  const RouterLine* router = router_of(overview, selection);
  return router && overview.has_phase(router->space, selection.phase.toStdString()) ? selection.phase : QString();
}

/// Sequences around `top`: most of them below, some above, so that a turn of the wheel back needs no reading.
std::shared_ptr<const CellPage> read_around(const Source& source, const std::string& space, int64_t top,
                                            int64_t sequences, const Progress& progress) {
  CellPageRequest request{space, top, 2 * sequences};
  auto page = read_cell_page(source.file, source.run, request, progress);
  int64_t choices = 0;
  for (const CellLine& line : page->lines)
    for (const auto& routed : line.routed) choices += std::ssize(routed.choice);
  if (choices > request.most_choices / 4 || top == 0) return page;
  request.first_sequence = std::max<int64_t>(0, top - sequences);
  request.count = top - request.first_sequence;
  const auto above = read_cell_page(source.file, source.run, request, progress);
  if (above->end_sequence() != page->first_sequence || above->space != page->space) return page;
  auto both = std::make_shared<CellPage>(*above);
  both->lines.insert(both->lines.end(), page->lines.begin(), page->lines.end());
  both->pieces.insert(page->pieces.begin(), page->pieces.end());
  return both;
}

}  // namespace

CellsView::CellsView(QWidget* parent) : View(parent) {
  build();
  connect_all();
}

void CellsView::build() {
  router_ = add_choice(tr("Router"),
                       tr("The router whose decisions colour the cells; the view shows the cells of its space"), {});
  router_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  router_->setMinimumContentsLength(14);
  color_ = add_choice(tr("Colour"), tr("The meaning of a cell's colour"),
                      {{tr("branch"), text_of(CellColor::branch).definition},
                       {tr("weight"), text_of(CellColor::weight).definition},
                       {tr("margin"), text_of(CellColor::margin).definition},
                       {tr("drops"), text_of(CellColor::drops).definition},
                       {tr("work received"), text_of(CellColor::work).definition},
                       {tr("exit"), text_of(CellColor::exit).definition},
                       {tr("parts"), text_of(CellColor::parts).definition}});
  branches_ = add_choice(tr("Branches"), tr("How colours tell branches apart"));
  fill_branch_schemes(branches_);
  order_ =
      add_choice(tr("Dictionary"),
                 tr("A branch's tokens by how many cells it got of them, or by lift = share within the branch / share "
                    "in all (of tokens "
                    "with at least %1 cells)")
                     .arg(kLeastForLift),
                 {{tr("by cells"), tr("The tokens that the branch got most cells of first")}, {tr("by lift"), {}}});
  listed_ = add_choice(
      tr("Table"),
      tr("The content of the table (Ctrl+T) and of an exported table: the cells around those on show, or the "
         "chosen branch's dictionary"),
      {{tr("cells"), {}}, {tr("dictionary"), {}}});
  pictures_ = add_choice(
      tr("Pictures"), tr("Small copies of the input pictures, if the session keeps them, with colours on their cells"),
      {{tr("tinted"), tr("The picture is seen through the colours")},
       {tr("strongly tinted"), tr("Colours before pictures")},
       {tr("plain"), tr("Without colours; what is chosen still stands out")},
       {tr("none"), tr("Cells alone, with their places and the stripes of all routers")}});
  padding_ = new QCheckBox(tr("Padding"), this);
  padding_->setToolTip(tr("Also shows the places that make all sequences of a batch equally long; they hold no data"));
  bar()->addWidget(padding_);
  play_ = new QPushButton(tr("Play"), this);
  play_->setCheckable(true);
  play_->setToolTip(tr(
      "One kept picture after another, as large as there is room for, three a second; at the end from the beginning"));
  bar()->addWidget(play_);
  clock_ = new QTimer(this);
  clock_->setInterval(333);
  bar()->add_stretch();
  auto* label = new QLabel(tr("Go to"), this);
  sequence_ = new QSpinBox(this);
  sequence_->setAccessibleName(tr("Sequence at the top"));
  sequence_->setToolTip(tr("The sequence at the top of the view, by its number in the run"));
  sequence_->setKeyboardTracking(false);
  label->setBuddy(sequence_);
  bar()->addWidget(label);
  bar()->addWidget(sequence_);
  picture_ = new CellsPicture(this);
  set_picture(picture_);
}

void CellsView::connect_all() {
  connect(router_, &QComboBox::activated, this, [this](int index) {
    Selection wanted = selection_;
    wanted.router = router_->itemData(index).toString(), wanted.branch = -1;
    emit selection_wanted(wanted);
  });
  connect(color_, &QComboBox::currentIndexChanged, this, [this] {
    color_chosen_ = true;
    show_data();
  });
  for (QComboBox* box : {branches_, order_})
    connect(box, &QComboBox::currentIndexChanged, this, [this] { show_data(); });
  connect(listed_, &QComboBox::currentIndexChanged, this, [this] { refresh_table(); });
  connect(padding_, &QCheckBox::toggled, this, [this] { show_data(); });
  connect(pictures_, &QComboBox::currentIndexChanged, this, [this] { show_data(); });
  connect(play_, &QPushButton::toggled, this, [this](bool on) {
    picture_->set_single(on);
    on ? clock_->start() : clock_->stop();
  });
  connect(clock_, &QTimer::timeout, this, &CellsView::play_on);
  connect(sequence_, &QSpinBox::valueChanged, this, [this](int sequence) { picture_->show_sequence(sequence); });
  connect(picture_, &CellsPicture::scrolled_to, this, [this](int64_t sequence) {
    top_ = sequence;
    const QSignalBlocker quiet(sequence_);
    sequence_->setValue(static_cast<int>(sequence));
    if (data_.page && !page_covers(data_, selection_, top_)) emit load_wanted();
  });
  connect(picture_, &CellsPicture::cell_picked, this, [this](const std::optional<CellPlace>& cell) {
    Selection wanted = selection_;
    wanted.cell = cell;
    emit selection_wanted(wanted);
  });
  connect(picture_, &CellsPicture::branch_picked, this, [this](int branch) {
    Selection wanted = selection_;
    wanted.router = options().router, wanted.branch = branch;
    emit selection_wanted(wanted);
  });
}

void CellsView::play_on() {
  if (data_.page && isVisible()) picture_->show_next();
}

CellOptions CellsView::options() const {
  const RouterLine* router = data_.overview ? router_of(*data_.overview, selection_) : nullptr;
  const QString name = router ? QString::fromStdString(router->name) : QString();
  return {static_cast<CellColor>(color_->currentIndex()),
          name,
          name == selection_.router ? selection_.branch : -1,
          padding_->isChecked(),
          selection_.label,
          data_.overview ? phase_to_show(*data_.overview, selection_) : selection_.phase,
          static_cast<PictureTint>(pictures_->currentIndex())};
}

/// Lines of text, or the smallest pictures side by side, including the sequences between kept ones.
CellsView::OnShow CellsView::on_show() const {
  const int64_t wide = std::max(width(), picture_->width()), high = std::max(height(), picture_->height());
  return {std::clamp<int64_t>(high / 38, 20, 128), (wide / 100 + 1) * (high / 130 + 1)};
}

int64_t CellsView::OnShow::sequences(const CellsOverview& overview) const {
  if (overview.thumbnails == 0) return lines;
  return std::clamp<int64_t>(pictures * overview.sequences / overview.thumbnails, lines, 4096);
}

bool CellsView::page_covers(const Data& data, const Selection& selection, int64_t top) const {
  if (!data.page || !data.overview) return false;
  const RouterLine* router = router_of(*data.overview, selection);
  if (!router || router->space != data.page->space || top < data.page->first_sequence) return false;
  const int64_t end = std::min(data.overview->end_sequence, top + on_show().sequences(*data.overview));
  return data.read_at == top || data.page->end_sequence() >= end;
}

CellsView::Data CellsView::read(Data known, const Selection& selection, int64_t top, OnShow on_show,
                                const Progress& progress, QString& trouble) {
  const Source &main = known.context.main, &other = known.context.other;
  if (!known.overview)
    known.overview = read_cells_overview(main.file, main.run, selection.first_batch, selection.end_batch);
  const RouterLine* router = router_of(*known.overview, selection);
  if (!router || !known.overview->decisions) return known;
  if (!known.keys)
    known.keys = branch_keys(*read_load_windows(main.file, main.run, {0, -1}, kMostKeyWindows, progress));
  top = std::clamp(top, known.overview->first_sequence,
                   std::max(known.overview->first_sequence, known.overview->end_sequence - 1));
  if (!known.page) {
    const int64_t sequences = on_show.sequences(*known.overview);
    known.page = read_around(main, router->space, top, sequences, progress);
    known.read_at = top;
    if (!other.empty()) try {
        known.other = read_around(other, router->space, top, sequences, progress);
      } catch (const Error& e) {
        trouble = QString::fromUtf8(e.what());
      }
  }
  if (selection.cell && known.trail_of != selection.cell) {
    known.trail_of = selection.cell;
    known.trail = nullptr, known.choices = nullptr;
    try {
      known.trail = read_cell_trail(main.file, main.run, *selection.cell);
      known.choices = read_cell_choices(main.file, main.run, *known.trail);
    } catch (const Error& e) {
      trouble = QString::fromUtf8(e.what());
    }
  }
  const bool branch = known.overview->tokens && selection.branch >= 0 && selection.router.toStdString() == router->name;
  if (branch && !known.has_dictionary_of(selection.router, selection.branch))
    known.dictionary = read_branch_dictionary(main.file, main.run, router->name, selection.branch, progress);
  return known;
}

View::Load CellsView::load(const Context& context, const Selection& selection) {
  if (context.main.empty()) {
    data_ = {};
    selection_ = selection;
    show_no_run(context);
    return nullptr;
  }
  Data known = data_;
  const bool same = known.overview && !(unread() & (Part::run | Part::other | Part::range));
  if (!same) {
    known = {};
    known.context = context;
    // Another run or range starts at its beginning, unless a cell is followed.
    if (!data_.overview || unread() & (Part::run | Part::other))
      top_ = selection.cell ? std::max<int64_t>(0, selection.cell->sequence - 1) : 0;
  }
  const bool seek = unread().testFlag(Part::label) && !selection.label.isEmpty() && !selection.cell;
  if (same && !page_covers(known, selection, top_)) known.page = nullptr, known.other = nullptr;
  const bool readable = known.overview && known.overview->decisions;
  const bool trail = !selection.cell || known.trail_of == selection.cell;
  const bool dictionary = selection.branch < 0 || (known.overview && !known.overview->tokens) ||
                          known.has_dictionary_of(selection.router, selection.branch);
  const RouterLine* router = known.overview ? router_of(*known.overview, selection) : nullptr;
  const bool other_router = router && router->name != selection.router.toStdString();
  if (!seek && known.overview && (!readable || (known.page && trail && (dictionary || other_router)))) return nullptr;
  return [this, known, selection, seek, top = top_, on_show = on_show()](const Progress& progress) mutable -> Deliver {
    QString trouble;
    if (seek) {
      const Source& main = known.context.main;
      const std::string label = selection.label.toStdString();
      int64_t found = find_sequence(main.file, main.run, label, top, progress);
      if (found < 0 && top > 0) found = find_sequence(main.file, main.run, label, 0, progress);
      if (found >= 0) top = found, known.page = nullptr, known.other = nullptr;
    }
    Data now = read(known, selection, top, on_show, progress, trouble);
    return [this, now = std::move(now), trouble, seek, top] {
      data_ = now;
      if (seek) {
        top_ = top;
        picture_->show_sequence(top);
      }
      if (!trouble.isEmpty()) emit said(trouble);
      show_data();
    };
  };
}

void CellsView::select(const Selection& selection) {
  const bool cell = selection.cell != selection_.cell;
  const bool colors = selection.router != selection_.router || selection.branch != selection_.branch ||
                      selection.label != selection_.label || selection.phase != selection_.phase;
  selection_ = selection;
  picture_->set_cell(selection.cell);
  if (data_.page && cell && selection.cell) picture_->make_visible(selection.cell->sequence);
  // A router of another cell space has to be read first.
  if (data_.page && (colors || cell) && page_covers(data_, selection, data_.page->first_sequence)) show_data();
}

QStringList CellsView::remarks() const {
  QStringList said;
  if (data_.overview && data_.overview->scattered)
    said << tr("The chosen batches hold sequences from all over the run: all are shown.");
  if (data_.overview && data_.overview->thumbnails > 0 && data_.overview->thumbnails < data_.overview->sequences)
    said << kept_text(data_.overview->thumbnails, data_.overview->sequences);
  // Pictures have no tokens, so running them again would bring none.
  if (data_.overview && !data_.overview->tokens && data_.overview->thumbnails == 0)
    said << tr("This run has no token ids, so cells show their places.");
  const CellOptions now = options();
  if (!now.label.isEmpty() || !now.phase.isEmpty()) said << tr("Other cells are dimmed.");
  if (now.phase != selection_.phase)
    said << tr("No cell here is of phase %1: none is dimmed for it.").arg(selection_.phase);
  if (data_.dictionary && selection_.branch >= 0 && !chosen(selection_, kNarrowing).empty())
    said << tr("The dictionary counts the whole run.");
  const auto left_out = [](const CellLine& line) {
    return std::find(line.seen.begin(), line.seen.end(), 0) != line.seen.end();
  };
  if (padding_->isChecked() && data_.page && std::any_of(data_.page->lines.begin(), data_.page->lines.end(), left_out))
    said << tr("Hatched: not computed, no router got these cells.");
  return said;
}

void CellsView::show_choices() {
  const QSignalBlocker quiet_router(router_), quiet_sequence(sequence_);
  router_->clear();
  for (const RouterLine& r : data_.overview->routers)
    router_->addItem(QString::fromStdString(r.name), QString::fromStdString(r.name));
  router_->setCurrentIndex(router_->findData(options().router));
  const int most = std::min<int64_t>(data_.overview->end_sequence - 1, 2'000'000'000);
  sequence_->setRange(static_cast<int>(data_.overview->first_sequence), std::max(0, most));
  sequence_->setSuffix(tr(" of %1").arg(data_.overview->sequences));
  sequence_->setValue(static_cast<int>(top_));
  // A branch's dictionary lists tokens.
  order_->setEnabled(data_.overview->tokens);
  listed_->setEnabled(data_.overview->tokens);
  show_choice(pictures_, data_.overview->thumbnails > 0);
  play_->setVisible(data_.overview->thumbnails > 0);
  const auto allow = [this](CellColor color, bool there, const QString& why) {
    auto* item = qobject_cast<QStandardItemModel*>(color_->model())->item(static_cast<int>(color));
    item->setEnabled(there);
    item->setToolTip(there ? text_of(color).definition : why);
  };
  allow(CellColor::margin, data_.overview->margins, tr("This run recorded no margins: record it with --record-scores"));
  allow(CellColor::weight, data_.overview->weights, tr("This run recorded no weights"));
  const std::vector<RouterLine>& routers = data_.page->routers;
  allow(CellColor::exit, is_of(CellColor::exit, routers), tr("No router of these cells is an exit"));
  allow(CellColor::parts, is_of(CellColor::parts, routers), tr("No part of the model can be passed by these cells"));
  if (color_chosen_ && is_of(static_cast<CellColor>(color_->currentIndex()), routers)) return;
  const QSignalBlocker quiet_color(color_);
  color_->setCurrentIndex(static_cast<int>(telling_color(routers)));
}

void CellsView::show_data() {
  if (!data_.overview) return;
  const CellsOverview& o = *data_.overview;
  if (o.routers.empty())
    return show_message(tr("The model of this run has no routers, so there is nothing to show here."));
  if (o.sequences == 0)
    return show_message(tr("No batch of this run is recorded yet."), {{"reload", tr("Look again")}});
  if (!o.decisions)
    return show_message(
        tr("This run keeps sums of its decisions, not the decisions themselves.\nRecord it with `stormcell profile`."));
  if (!data_.page) return;
  show_choices();
  const CellOptions now = options();
  std::vector<CellsPicture::Column> columns;
  columns.push_back({data_.context.main.title, data_.page, show_page(*data_.page, now, nullptr)});
  if (data_.other) {
    // Both have one scale; the second marks its differences from the first.
    ShownPage there = show_page(*data_.other, now, data_.page.get());
    const double high = std::max(columns[0].shown.high, there.high);
    columns[0].shown = show_page(*data_.page, now, nullptr, high);
    columns.push_back({data_.context.other.title, data_.other, show_page(*data_.other, now, data_.page.get(), high)});
  }
  for (CellsPicture::Column& column : columns)
    column.shown.keys = keys();  // of this run: a branch has one colour in both columns
  // Items without a kept picture are left out of the pictures: the line above says how many there are.
  const bool pictures = columns[0].shown.pictures;
  picture_->set_columns(std::move(columns), o.first_sequence, o.end_sequence,
                        pictures ? o.pictured : std::vector<int64_t>());
  play_->setEnabled(o.thumbnails > 1);
  const bool dictionary = now.branch >= 0 && data_.has_dictionary_of(now.router, now.branch);
  picture_->set_aside({selection_.cell && data_.trail && data_.trail->place == *selection_.cell ? data_.trail : nullptr,
                       data_.choices, dictionary ? data_.dictionary : nullptr,
                       static_cast<DictionaryOrder>(order_->currentIndex())});
  picture_->set_cell(selection_.cell);
  // The visible page must be read: another run may have come while the picture showed another place.
  if (!page_covers(data_, selection_, picture_->scroll().sequence)) picture_->show_sequence(top_);
  if (selection_.cell) picture_->make_visible(selection_.cell->sequence);
  const QSignalBlocker quiet(sequence_);
  sequence_->setValue(static_cast<int>(picture_->scroll().sequence));
  show_content();
}

BranchKeys CellsView::keys() const {
  if (!data_.keys) return {};
  return with_scheme(*data_.keys, static_cast<BranchScheme>(branches_->currentIndex()), selection_.router.toStdString(),
                     selection_.branch);
}

std::vector<ColorMeaning> CellsView::told_apart() const {
  const RouterLine* router = data_.overview ? router_of(*data_.overview, selection_) : nullptr;
  if (!router || !data_.page) return {};
  const Theme& theme = Theme::of(palette());
  if (exits_of(data_.page->routers) == 0) return meanings_of(*router, key_of(keys(), router->name), theme);
  return exit_meanings(exits_of(data_.page->routers) + 1, theme);
}

Table CellsView::table() const {
  if (!data_.page) return {};
  if (listed_->currentIndex() == 1 && data_.dictionary)
    return make_dictionary_table(*data_.dictionary, static_cast<DictionaryOrder>(order_->currentIndex()));
  return make_cells_table(*data_.page, options());
}

}  // namespace stormcell::views

#include "views/diff/diff_view.h"

#include <QComboBox>
#include <algorithm>

#include "core/base/error.h"

namespace stormcell::views {
namespace {

/// Cells that are listed of each square of the map, at most.
constexpr int32_t kListedCells = 24;

std::string recording_of(const Source& source) { return source.file + "#" + std::to_string(source.run); }

}  // namespace

DiffView::DiffView(QWidget* parent) : View(parent), picture_(new DiffPicture(this)) {
  reference_ = add_choice(
      tr("Reference"), tr("The recording that is right if one is: a of the verdict"),
      {{tr("this run"), tr("The run on show is a, and the recording that it is compared with is b")},
       {tr("the other one"), tr("The recording that the run is compared with is a, and the run on show is b")}});
  listed_ = add_choice(tr("Table"), tr("The content of the table and of its file"),
                       {{tr("map"), tr("Cells and differences of each router and group of positions")},
                        {tr("first differences"), tr("The first position of each request at which a choice differs")},
                        {tr("margins"), tr("Margins of all cells, and of those where a difference begins")},
                        {tr("experts"), tr("Experts that gain or lose cells in b")},
                        {tr("cells"), tr("Cells whose choices differ, with their token and both choices")},
                        {tr("verdict"), tr("The verdict and its evidence, with counts")}});
  bar()->add_stretch();
  set_picture(picture_);
  connect(reference_, &QComboBox::currentIndexChanged, this, &View::load_wanted);
  connect(listed_, &QComboBox::currentIndexChanged, this, [this] { refresh_table(); });
  connect(picture_, &DiffPicture::picked, this, &DiffView::pick);
  connect(picture_, &DiffPicture::cell_picked, this, [this](int sample) {
    const std::shared_ptr<const DifferenceFigures> figures = picture_->figures();
    pick_cell(figures->samples[sample]);
  });
}

bool DiffView::main_is_a() const { return reference_->currentIndex() == 0; }

View::Load DiffView::load(const Context& context, const Selection& selection) {
  selection_ = selection;
  const bool has_other = !context.other.empty() || !context.recording.empty();
  if (context.main.empty() || !has_other) {
    refused_ = false;
    picture_->set_figures(std::make_shared<DifferenceFigures>());
    if (context.main.empty())
      show_no_run(context);
    else
      show_message(
          tr("Nothing to compare with yet.\n\nChoose another recording of the same tokens: a run of this or of "
             "another session, or a trace of another program."),
          {{"compare-run", tr("Compare with this run")},
           {"compare-session", tr("Compare with another session...")},
           {"compare-recording", tr("Compare with a recording...")}});
    return nullptr;
  }
  const bool same_as_shown = has_content() || refuses();
  if (same_as_shown && !(unread() & (Part::run | Part::other)) && main_was_a_ == main_is_a()) return nullptr;
  if (context.recording.empty() && context.main.file == context.other.file && context.main.run == context.other.run) {
    show_message(tr("%1 is the run that is compared with now.\n\nChoose another run of the same tokens in the list of "
                    "runs.")
                     .arg(context.main.title),
                 {{"choose-run", tr("Choose another run")},
                  {"compare-session", tr("Compare with another session...")},
                  {"compare-recording", tr("Compare with a recording...")}});
    return nullptr;
  }
  DiffOptions options{recording_of(context.main),
                      context.recording.empty() ? recording_of(context.other) : context.recording, kListedCells};
  const bool main_is_a_now = main_is_a();
  if (!main_is_a_now) std::swap(options.a, options.b);
  return [this, options, main_is_a_now](const Progress& progress) -> Deliver {
    try {
      auto figures = std::make_shared<const DifferenceFigures>(diff_recordings(options, progress));
      return [this, figures, main_is_a_now] {
        main_was_a_ = main_is_a_now, refused_ = false;
        picture_->set_figures(figures);
        show_chosen();
        for (const std::string& warning : figures->warnings) emit said(QString::fromStdString(warning));
        show_content();
      };
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::bad_input) throw;
      return [this, main_is_a_now, line = QString::fromUtf8(e.what())] {
        main_was_a_ = main_is_a_now, refused_ = true;
        show_refusal(line);
      };
    }
  };
}

void DiffView::select(const Selection& selection) {
  selection_ = selection;
  if (has_content()) show_chosen();
}

void DiffView::show_chosen() {
  const DifferenceFigures& f = *picture_->figures();
  const DiffPlace now = picture_->chosen();
  DiffPlace wanted;
  if (!selection_.router.isEmpty()) {
    const auto position = selection_.cell ? std::optional(selection_.cell->position) : std::nullopt;
    wanted = place_of(f, selection_.router, position);
    // A square without cells to select is chosen by its router alone.
    if (!position && now.there() && place_of(f, selection_.router, {}).layer == now.layer) wanted = now;
  }
  if (!wanted.there()) wanted = now.there() ? now : strongest_place(f);
  picture_->set_chosen(wanted);
}

void DiffView::pick(DiffPlace place) {
  picture_->set_chosen(place);
  const DifferenceFigures& f = *picture_->figures();
  const std::vector<const DiffSample*> cells = samples_at(f, place);
  if (!cells.empty()) return pick_cell(*cells.front());
  Selection wanted = selection_;
  wanted.router = QString::fromStdString(main_was_a_ ? f.layers[place.layer].router : f.layers[place.layer].router_b);
  wanted.branch = -1;
  wanted.cell.reset();
  emit selection_wanted(wanted);
}

void DiffView::pick_cell(const DiffSample& cell) {
  const DiffLayer& layer = picture_->figures()->layers[cell.layer];
  Selection wanted = selection_;
  wanted.router = QString::fromStdString(main_was_a_ ? layer.router : layer.router_b);
  wanted.branch = -1;
  // Requests have the numbers of a, which only in a are sequences.
  wanted.cell.reset();
  if (main_was_a_) wanted.cell = CellPlace{cell.request, cell.position};
  emit selection_wanted(wanted);
}

std::vector<ColorMeaning> DiffView::told_apart() const { return diff_meanings(Theme::of(palette())); }

Table DiffView::table() const {
  return make_diff_table(*picture_->figures(), static_cast<DiffTable>(listed_->currentIndex()));
}

}  // namespace stormcell::views

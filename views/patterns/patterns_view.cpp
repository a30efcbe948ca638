#include "views/patterns/patterns_view.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <algorithm>

#include "core/base/error.h"

namespace stormcell::views {
namespace {

constexpr int kMostGap = 8;

std::string name_of(const Source& source) { return source.file + "#" + std::to_string(source.run); }

/// The recorded runs up to this one, the oldest first, as many as are compared at once.
std::vector<std::string> checkpoints_of(const Context& context) {
  std::vector<std::string> runs;
  if (!context.session) return runs;
  for (const RunLine& run : context.session->runs)
    if (run.decisions && run.batches > 0 && run.id <= context.main.run) {
      const std::string number = "#" + std::to_string(run.id);
      runs.push_back((run.name.empty() ? number : number + " " + run.name) + "=" + context.main.file + number);
    }
  if (runs.size() > kMostRecordings) runs.erase(runs.begin(), runs.end() - kMostRecordings);
  return runs;
}

}  // namespace

PatternsView::PatternsView(QWidget* parent) : View(parent), picture_(new PatternsPicture(this)) {
  form_ = add_choice(tr("Figure"), tr("The figure that is drawn, and that the table has"),
                     {{tr("layers"), tr("A curve over the layers, with the band of even routers")},
                      {tr("labels"), tr("Share of each label's cells at each expert, beside the uniform line")},
                      {tr("transitions"), tr("Where the cells of each expert go at a later layer")},
                      {tr("co-activation"), tr("Experts that cells got together, all pairs")},
                      {tr("vocabulary"), tr("How far tokens keep to one expert, by layer and expert")},
                      {tr("margins"), tr("How far scores are apart, as a histogram for each layer")},
                      {tr("saturation"), tr("Share of this run's choices that earlier runs of the session made")}});
  figure_ = add_choice(tr("Curve"), tr("The figure of each layer"),
                       {{tr("entropy"), tr("Entropy of the loads, in bits")},
                        {tr("gini"), tr("Gini coefficient of the loads: 0 is even")},
                        {tr("imbalance"), tr("Largest load / mean load - 1")},
                        {tr("margin"), tr("Median margin of the cells")},
                        {tr("specialization"), tr("Mean largest share of a token's cells at one expert")}});
  margin_ = add_choice(tr("Margin"), tr("The two scores whose distance is meant"),
                       {{tr("cut"), tr("The last chosen and the first not chosen expert: near ties are told by it")},
                        {tr("first"), tr("The first and the second choice: papers plot it")}});
  margin_->setCurrentIndex(static_cast<int>(MarginKind::first));
  router_ = add_choice(tr("Router"), tr("The router, or the two routers, of the map"));
  gap_ = add_choice(tr("Gap"), tr("How many routers on the later layer of a transition is"));
  for (int gap = 1; gap <= kMostGap; ++gap) {
    gap_->addItem(QString::number(gap));
    gap_->setItemData(gap - 1, gap == 1 ? tr("To the next router") : tr("To the router %1 further on").arg(gap),
                      Qt::ToolTipRole);
  }
  bar()->add_stretch();
  set_picture(picture_);
  connect(form_, &QComboBox::currentIndexChanged, this, &PatternsView::change_form);
  connect(gap_, &QComboBox::currentIndexChanged, this, &View::load_wanted);
  for (QComboBox* box : {figure_, margin_, router_})
    connect(box, &QComboBox::currentIndexChanged, this, &PatternsView::show_page);
  connect(picture_, &PatternsPicture::picked, this, &PatternsView::pick);
  show_controls();
}

PatternChoice PatternsView::choice() const {
  PatternChoice c;
  c.form = static_cast<PatternForm>(form_->currentIndex());
  c.figure = static_cast<LayerFigure>(figure_->currentIndex());
  c.margin = static_cast<MarginKind>(margin_->currentIndex());
  c.router = std::max(0, router_->currentIndex());
  return c;
}

void PatternsView::show_controls() {
  const PatternChoice now = choice();
  const bool layers = now.form == PatternForm::layers, transitions = now.form == PatternForm::transitions;
  show_choice(figure_, layers);
  show_choice(margin_, now.form == PatternForm::margins || (layers && now.figure == LayerFigure::margin));
  show_choice(router_, transitions || now.form == PatternForm::labels || now.form == PatternForm::coactivation);
  show_choice(gap_, transitions);
}

void PatternsView::list_routers() {
  const QSignalBlocker quiet(router_);
  const int before = router_->currentIndex();
  router_->clear();
  if (!values_.patterns) return;
  const bool gaps = choice().form == PatternForm::transitions;
  for (const QString& name : gaps ? pattern_gap_names(*values_.patterns) : pattern_router_names(*values_.patterns)) {
    router_->addItem(name);
    router_->setItemData(router_->count() - 1, gaps ? tr("Transitions %1").arg(name) : tr("Of the router %1").arg(name),
                         Qt::ToolTipRole);
  }
  router_->setCurrentIndex(std::clamp(before, 0, std::max(0, router_->count() - 1)));
}

View::Load PatternsView::load(const Context& context, const Selection& selection) {
  selection_ = selection;
  if (context.main.empty()) {
    values_ = {}, refused_ = false;
    picture_->set_page({});
    show_no_run(context);
    return nullptr;
  }
  if (!context.main.decisions) {
    refused_ = false;
    show_message(tr("This run keeps sums of its decisions, not the decisions themselves.\n\nRecord it with "
                    "`stormcell profile`, or import a recording of single choices."),
                 {{"choose-run", tr("Choose another run")}});
    return nullptr;
  }
  if (unread() & Part::run) values_ = {};
  const int gap = gap_->currentIndex() + 1;
  if (choice().form == PatternForm::saturation) {
    const std::vector<std::string> runs = checkpoints_of(context);
    if (values_.saturation || runs.size() < 2) {
      show_page();
      return nullptr;
    }
    return [this, runs](const Progress& progress) -> Deliver {
      try {
        auto figures = std::make_shared<const SaturationFigures>(saturation_of({runs}, progress));
        return [this, figures] {
          values_.saturation = figures;
          for (const std::string& warning : figures->warnings) emit said(QString::fromStdString(warning));
          show_page();
        };
      } catch (const Error& e) {
        if (e.kind() != ErrorKind::bad_input) throw;
        return [this, line = QString::fromUtf8(e.what())] {
          refused_ = true;
          show_refusal(line);
        };
      }
    };
  }
  if (values_.patterns && read_gap_ == gap) {
    show_page();
    return nullptr;
  }
  PatternOptions options;
  options.recordings = {name_of(context.main)};
  options.gap = gap;
  return [this, options, gap](const Progress& progress) -> Deliver {
    auto figures = std::make_shared<const PatternFigures>(count_patterns(options, progress));
    return [this, figures, gap] {
      values_.patterns = figures, read_gap_ = gap;
      for (const std::string& warning : figures->warnings) emit said(QString::fromStdString(warning));
      list_routers();
      show_page();
    };
  };
}

void PatternsView::change_form() {
  list_routers();
  const bool is_read = choice().form == PatternForm::saturation
                           ? values_.saturation != nullptr
                           : values_.patterns && read_gap_ == gap_->currentIndex() + 1;
  if (is_read)
    show_page();
  else
    emit load_wanted();
}

void PatternsView::show_page() {
  show_controls();
  refused_ = false;
  picture_->set_page(make_pattern_page(values_, choice()));
  if (values_.patterns || values_.saturation || choice().form == PatternForm::saturation) show_content();
  refresh_table();
}

void PatternsView::select(const Selection& selection) {
  selection_ = selection;
  const PatternForm form = choice().form;
  if (!values_.patterns || selection.router.isEmpty()) return;
  if (form != PatternForm::labels && form != PatternForm::coactivation) return;
  const auto& routers = values_.patterns->routers;
  const auto at = std::find_if(routers.begin(), routers.end(), [&](const PatternRouter& r) {
    return QString::fromStdString(r.router) == selection.router;
  });
  if (at != routers.end()) router_->setCurrentIndex(static_cast<int>(at - routers.begin()));
}

void PatternsView::pick(PatternSpot spot) {
  const PatternPage& page = picture_->page();
  const PatternMap& map = page.map;
  Selection wanted = selection_;
  const bool is_map = !map.rows.empty();
  const int router = !is_map ? spot.column : map.router_of_row.empty() ? page.router : map.router_of_row[spot.row];
  const std::string name =
      values_.patterns && router >= 0 && router < static_cast<int>(values_.patterns->routers.size())
          ? values_.patterns->routers[router].router
      : values_.saturation && router >= 0 && router < static_cast<int>(values_.saturation->routers.size())
          ? values_.saturation->routers[router].router
          : std::string();
  if (name.empty()) return;
  wanted.router = QString::fromStdString(name);
  wanted.branch = map.rows_are_branches ? spot.row : map.columns_are_branches ? spot.column : -1;
  wanted.cell.reset();
  emit selection_wanted(wanted);
}

Table PatternsView::table() const { return make_pattern_table(values_, choice()); }

}  // namespace stormcell::views

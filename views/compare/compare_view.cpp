#include "views/compare/compare_view.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QLineEdit>

#include "core/comparison/like_models.h"

namespace stormcell::views {
namespace {

/// The façade's name of a run.
std::string name_of_run(const Source& source) { return source.file + "#" + std::to_string(source.run); }

}  // namespace

CompareView::CompareView(QWidget* parent) : View(parent), list_(new CompareList(this)) {
  search_ = new QLineEdit(this);
  search_->setPlaceholderText(tr("Search figures, e.g. latency or encoder imbalance"));
  search_->setToolTip(tr("Shows the figures with all of these words in section, name or path"));
  search_->setAccessibleName(tr("Search figures"));
  search_->setClearButtonEnabled(true);
  search_->setFixedWidth(fontMetrics().horizontalAdvance(search_->placeholderText()) + 40);
  bar()->addWidget(search_);
  show_ = add_choice(tr("Show"),
                     tr("Significant: the 95 % interval of the difference does not hold 0, or two counts differ"),
                     {{tr("what differs"), tr("All figures that differ, also those that may differ by chance")},
                      {tr("what is significant"), tr("Figures that differ by more than chance")},
                      {tr("all figures"), tr("Also those that are equal")}});
  bar()->add_stretch();
  set_picture(list_);
  const auto refilter = [this] {
    list_->set_filter(filter());
    refresh_table();
  };
  connect(search_, &QLineEdit::textChanged, this, refilter);
  connect(show_, &QComboBox::currentIndexChanged, this, refilter);
  connect(list_, &CompareList::picked, this, [this](const QString& router, int branch) {
    Selection wanted = selection_;
    wanted.router = router, wanted.branch = branch;
    emit selection_wanted(wanted);
  });
}

CompareFilter CompareView::filter() const { return {search_->text(), static_cast<CompareShow>(show_->currentIndex())}; }

View::Load CompareView::load(const Context& context, const Selection& selection) {
  selection_ = selection;
  if (context.main.empty() || context.other.empty()) {
    if (context.main.empty())
      show_no_run(context);
    else
      show_message(
          tr("Nothing to compare with yet.\n\nKeep this run as the reference and then choose another one in the list "
             "of runs, or take the "
             "newest run of another session."),
          {{"compare-run", tr("Compare with this run")}, {"compare-session", tr("Compare with another session...")}});
    return nullptr;
  }
  if (!(unread() & (Part::run | Part::other))) return nullptr;
  const bool itself = context.main.file == context.other.file && context.main.run == context.other.run;
  const Source* bare = !context.main.figures ? &context.main : !context.other.figures ? &context.other : nullptr;
  if (itself || bare) {
    show_message(
        itself ? tr("%1 is the reference now.\n\nChoose another run in the list of runs to see what differs.")
                     .arg(context.main.title)
               : tr("%1 has no figures to compare: it is a recording, or it did not end.\n\nChoose a run that was "
                    "measured: "
                    "the first run that `optimize` writes, a profile, is not one.")
                     .arg(bare->title),
        {{"show-result", tr("Go to the newest figures")}, {"compare-session", tr("Compare with another session...")}});
    return nullptr;
  }
  return [this, context](const Progress& progress) -> Deliver {
    progress.report("comparing", 0, 1);
    check_like_models(context.main.file, context.main.run, context.other.file, context.other.run);
    CompareModel model = make_compare(compare_runs(name_of_run(context.other), name_of_run(context.main)),
                                      context.other.title, context.main.title);
    progress.report("comparing", 1, 1);
    return [this, model = std::move(model)]() mutable {
      list_->set_model(std::move(model), filter());
      show_content();
    };
  };
}

}  // namespace stormcell::views

#include "views/overview/overview_view.h"

#include <QScrollArea>

namespace stormcell::views {

OverviewView::OverviewView(QWidget* parent) : View(parent), scroll_(new QScrollArea(this)), page_(new OverviewPage(scroll_)) {
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setWidgetResizable(true);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setWidget(page_);
  scroll_->setAccessibleName(tr("Overview"));
  set_picture(scroll_);
  connect(page_, &OverviewPage::action_wanted, this, &View::action_wanted);
}

View::Load OverviewView::load(const Context& context, const Selection&) {
  if (context.main.empty()) {
    situation_.reset();
    context_ = context;
    show_message(tr("No session is open."), {{"open-session", tr("Open session...")}, {"open-sample", tr("Open the sample session")}});
    return nullptr;
  }
  if (situation_ && context == context_) return nullptr;
  context_ = context;
  return [this, context](const Progress& progress) -> Deliver {
    Situation s;
    s.facts = *read_run_facts(context.main.file, context.main.run, progress);
    s.summary = parse_summary(context.main.summary.empty() ? s.facts.line.summary : context.main.summary);
    s.repeatable = !context.main.settings.empty();
    s.compared = !context.other.empty();
    return [this, s = std::move(s)] {
      situation_ = s;
      page_->set_page(make_page(s));
      show_content();
    };
  };
}

}  // namespace stormcell::views

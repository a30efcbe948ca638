#include "views/overview/overview_view.h"

#include <QEvent>
#include <QScrollArea>
#include <algorithm>

namespace stormcell::views {

OverviewView::OverviewView(QWidget* parent)
    : View(parent), scroll_(new QScrollArea(this)), page_(new OverviewPage(scroll_)) {
  scroll_->setFrameShape(QFrame::NoFrame);
  scroll_->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  scroll_->setWidget(page_);
  scroll_->setAccessibleName(tr("Overview"));
  scroll_->viewport()->installEventFilter(this);
  set_picture(scroll_);
  connect(page_, &OverviewPage::action_wanted, this, &View::action_wanted);
}

void OverviewView::fit_page() {
  // Not setWidgetResizable(): it would undo the size that an export gives the page.
  const QSize room = scroll_->viewport()->size();
  page_->set_room(room.height());
  page_->resize(room.width(), std::max(room.height(), page_->heightForWidth(room.width())));
}

bool OverviewView::eventFilter(QObject* object, QEvent* event) {
  if (object == scroll_->viewport() && event->type() == QEvent::Resize) fit_page();
  return View::eventFilter(object, event);
}

void OverviewView::changeEvent(QEvent* event) {
  View::changeEvent(event);
  if (event->type() == QEvent::FontChange) fit_page();
}

View::Load OverviewView::load(const Context& context, const Selection&) {
  if (context.main.empty()) {
    situation_.reset();
    show_no_run(context);
    return nullptr;
  }
  if (!(unread() & (Part::run | Part::other | Part::session))) return nullptr;
  return [this, context](const Progress& progress) -> Deliver {
    Situation s;
    s.facts = *read_run_facts(context.main.file, context.main.run, progress);
    s.guards = read_guard_costs(context.main.file, context.main.run, progress);
    s.summary = shown(s.facts.line.result);
    s.repeatable = !context.main.settings.empty();
    s.compared = !context.other.empty();
    return [this, s = std::move(s)] {
      situation_ = s;
      page_->set_page(make_page(s));
      fit_page();
      show_content();
    };
  };
}

}  // namespace stormcell::views

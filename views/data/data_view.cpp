#include "views/data/data_view.h"

#include <QEvent>
#include <QTextBrowser>
#include <QTextDocument>

namespace stormcell::views {

DataView::DataView(QWidget* parent) : View(parent) {
  page_ = new QTextBrowser(this);
  page_->setFrameShape(QFrame::NoFrame);
  page_->document()->setDocumentMargin(18);
  page_->setWordWrapMode(QTextOption::WordWrap);  // a broken word helps nobody; a wide table scrolls
  page_->setAccessibleName(tr("What the session holds; the table says the same"));
  set_picture(page_);
}

QWidget* DataView::picture() { return page_; }

View::Load DataView::load(const Context& context, const Selection&) {
  if (context.main.empty()) {
    data_ = nullptr;
    show_no_run(context);
    return nullptr;
  }
  if (!(unread() & (Part::run | Part::session))) return nullptr;
  return [this, source = context.main](const Progress& progress) -> Deliver {
    const auto data = read_session_data(source.file, source.run, progress);
    return [this, source, data] {
      source_ = source, data_ = data;
      show_data();
    };
  };
}

void DataView::show_data() {
  if (!data_) return;
  if (data_->runs.empty()) return show_message(tr("This session holds no run yet."), {{"reload", tr("Look again")}});
  page_->setHtml(make_page(*data_, source_.run, Theme::of(palette())));
  show_content();
}

void DataView::changeEvent(QEvent* event) {
  // Colours are part of the page.
  if (event->type() == QEvent::PaletteChange && data_ && has_content())
    page_->setHtml(make_page(*data_, source_.run, Theme::of(palette())));
  View::changeEvent(event);
}

Table DataView::table() const { return data_ ? make_table(*data_) : Table(); }

}  // namespace stormcell::views

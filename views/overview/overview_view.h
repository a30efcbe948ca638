// The first view: the outcome of a run, whether it can be trusted, and the next steps.
#pragma once
#include "views/frame/view.h"
#include "views/overview/overview_page.h"
#include "views/overview/overview_table.h"

class QScrollArea;

namespace stormcell::views {

class OverviewView : public View {
  Q_OBJECT
 public:
  explicit OverviewView(QWidget* parent = nullptr);
  Table table() const override { return situation_ ? make_overview_table(*situation_) : Table(); }
  QWidget* picture() override { return page_; }

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection&) override {}
  Parts heeded() const override { return kNoPart; }
  bool eventFilter(QObject* object, QEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void fit_page();
  QScrollArea* scroll_;
  OverviewPage* page_;
  std::optional<Situation> situation_;
};

}  // namespace stormcell::views

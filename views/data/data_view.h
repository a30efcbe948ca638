// View of the content of the session's model, dataset and runs, and of what they lack.
#pragma once
#include "views/data/data_model.h"
#include "views/frame/view.h"

class QTextBrowser;

namespace stormcell::views {

class DataView : public View {
  Q_OBJECT
 public:
  explicit DataView(QWidget* parent = nullptr);
  Table table() const override;
  QWidget* picture() override;

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection&) override {}
  Parts heeded() const override { return kNoPart; }
  void changeEvent(QEvent* event) override;

 private:
  void show_data();

  QTextBrowser* page_;
  Source source_;
  std::shared_ptr<const SessionData> data_;
};

}  // namespace stormcell::views

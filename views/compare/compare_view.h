// Two runs beside each other, figure by figure.
#pragma once
#include "views/compare/compare_list.h"
#include "views/frame/view.h"

class QComboBox;
class QLineEdit;

namespace stormcell::views {

class CompareView : public View {
  Q_OBJECT
 public:
  explicit CompareView(QWidget* parent = nullptr);
  Table table() const override { return make_compare_table(list_->model(), filter()); }
  QWidget* picture() override { return list_->viewport(); }

 protected:
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override { selection_ = selection; }
  Parts heeded() const override { return Part::other; }

 private:
  CompareFilter filter() const;
  CompareList* list_;
  QLineEdit* search_;
  QComboBox* show_;
  Selection selection_;
};

}  // namespace stormcell::views

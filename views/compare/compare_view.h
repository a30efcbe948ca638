// Two runs beside each other, figure by figure.
#pragma once
#include "views/compare/compare_list.h"
#include "views/kit/view.h"

class QComboBox;
class QLineEdit;

namespace stormcell::views {

class CompareView : public View {
  Q_OBJECT
 public:
  explicit CompareView(QWidget* parent = nullptr);
  Load load(const Context& context, const Selection& selection) override;
  void select(const Selection& selection) override { selection_ = selection; }
  Table table() const override { return make_compare_table(list_->model()); }
  QWidget* picture() override { return list_->viewport(); }

 private:
  CompareFilter filter() const;
  CompareList* list_;
  QLineEdit* search_;
  QComboBox* show_;
  Context context_;
  Selection selection_;
  bool loaded_ = false;
};

}  // namespace stormcell::views

// Switches branches off and on: a button for the branch that is selected in a view, and below it those that are off.
#pragma once
#include <QWidget>
#include <vector>

#include "app/studio/branches_off_list.h"
#include "views/frame/selection.h"

class QPushButton;

namespace stormcell::studio {

class BranchSwitch : public QWidget {
  Q_OBJECT
 public:
  explicit BranchSwitch(QWidget* parent = nullptr);
  /// Its router and branch can be switched off.
  void set_selection(const views::Selection& selection);
  /// `open`: branches can be switched.
  void set_branches(const std::vector<BranchOff>& off, bool open);

 signals:
  void off_wanted(const QString& router, int branch);
  void on_wanted(const QString& router, int branch);

 private:
  void refresh();

  QPushButton* off_;
  BranchesOffList* list_;
  views::Selection selection_;
  std::vector<BranchOff> branches_;
  bool open_ = false;
};

}  // namespace stormcell::studio

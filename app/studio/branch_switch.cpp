#include "app/studio/branch_switch.h"

#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

namespace stormcell::studio {

BranchSwitch::BranchSwitch(QWidget* parent) : QWidget(parent) {
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  off_ = new QPushButton(this);
  off_->setAccessibleName(tr("Switch the branch off"));
  rows->addWidget(off_);
  list_ = new BranchesOffList(this);
  rows->addWidget(list_);
  connect(off_, &QPushButton::clicked, this, [this] { emit off_wanted(selection_.router, selection_.branch); });
  connect(list_, &BranchesOffList::on_wanted, this, &BranchSwitch::on_wanted);
  refresh();
}

void BranchSwitch::set_selection(const views::Selection& selection) {
  selection_ = selection;
  refresh();
}

void BranchSwitch::set_branches(const std::vector<BranchOff>& off, bool open) {
  branches_ = off, open_ = open;
  list_->set_branches(off, open);
  refresh();
}

void BranchSwitch::refresh() {
  const bool chosen = !selection_.router.isEmpty() && selection_.branch >= 0;
  const BranchOff branch{selection_.router.toStdString(), selection_.branch};
  const bool is_off = std::find(branches_.begin(), branches_.end(), branch) != branches_.end();
  off_->setText(chosen ? tr("Switch off %1").arg(short_branch_name(branch)) : tr("Switch a branch off"));
  off_->setEnabled(open_ && chosen && !is_off);
  off_->setToolTip(chosen ? tr("%1: the router takes the next best branch for each cell").arg(branch_name(branch))
                          : tr("Click a branch in a view first, as in the heatmap"));
}

}  // namespace stormcell::studio

#include "app/studio/branches_off_list.h"

#include <QEvent>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>
#include <algorithm>

namespace stormcell::studio {

QString branch_name(const BranchOff& branch) {
  return QString("%1/%2").arg(QString::fromStdString(branch.router)).arg(branch.branch);
}

QString short_branch_name(const BranchOff& branch) {
  constexpr qsizetype kMost = 20;
  const QString name = branch_name(branch);
  return name.size() <= kMost ? name : QString(QChar(0x2026)) + name.right(kMost);
}

BranchesOffList::BranchesOffList(QWidget* parent) : QScrollArea(parent) {
  setAccessibleName(tr("Branches that are off"));
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  auto* list = new QWidget();
  rows_ = new QVBoxLayout(list);
  rows_->setContentsMargins(0, 0, 0, 0);
  none_ = new QLabel(tr("No branch is off."), list);
  rows_->addWidget(none_);
  rows_->addStretch();
  setWidget(list);
  reserve_room();
}

void BranchesOffList::changeEvent(QEvent* event) {
  QScrollArea::changeEvent(event);
  if (none_ && (event->type() == QEvent::FontChange || event->type() == QEvent::StyleChange)) reserve_room();
}

/// Two buttons are seen at once, and more scroll.
void BranchesOffList::reserve_room() {
  const QPushButton button(tr("Switch on %1").arg(0));
  setFixedHeight(2 * button.sizeHint().height() + std::max(rows_->spacing(), 0));
}

void BranchesOffList::add_place() {
  auto* button = new QPushButton(widget());
  QSizePolicy policy = button->sizePolicy();
  policy.setRetainSizeWhenHidden(true);
  button->setSizePolicy(policy);
  rows_->insertWidget(rows_->count() - 1, button);  // before the stretch
  const size_t number = places_.size();
  places_.push_back({button, std::nullopt});
  connect(button, &QPushButton::clicked, this, [this, number] {
    if (const auto& branch = places_[number].branch)
      emit on_wanted(QString::fromStdString(branch->router), branch->branch);
  });
}

void BranchesOffList::set_branches(const std::vector<BranchOff>& off, bool open) {
  const auto is_off = [&](const BranchOff& branch) { return std::find(off.begin(), off.end(), branch) != off.end(); };
  for (Place& place : places_)
    if (place.branch && !is_off(*place.branch)) place.branch.reset();
  for (const BranchOff& branch : off) {
    const auto has = [&](const Place& place) { return place.branch == branch; };
    if (std::any_of(places_.begin(), places_.end(), has)) continue;
    auto free = std::find_if(places_.begin(), places_.end(), [](const Place& place) { return !place.branch; });
    if (free == places_.end()) {
      add_place();
      free = places_.end() - 1;
    }
    free->branch = branch;
  }
  for (const Place& place : places_) {
    if (place.branch) {
      place.button->setText(tr("Switch on %1").arg(short_branch_name(*place.branch)));
      place.button->setToolTip(tr("%1 is off").arg(branch_name(*place.branch)));
    }
    place.button->setEnabled(open);
    place.button->setVisible(place.branch.has_value());
  }
  none_->setVisible(off.empty());
}

}  // namespace stormcell::studio

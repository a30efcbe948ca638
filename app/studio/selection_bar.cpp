#include "app/studio/selection_bar.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>

#include "views/frame/flow_layout.h"

namespace stormcell::studio {

SelectionBar::SelectionBar(QWidget* parent) : QWidget(parent) {
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, 4, 12, 4);
  row->setSpacing(8);
  row->addWidget(new QLabel(tr("Selection:"), this));
  nothing_ = new QLabel(tr("everything"), this);
  row->addWidget(nothing_);
  chips_ = new views::FlowLayout(6);
  row->addLayout(chips_, 1);
  phase_ = add_choice(tr("Phase"));
  label_ = add_choice(tr("Label"));
  connect(phase_, &QComboBox::activated, this, [this](int index) {
    views::Selection wanted = selection_;
    wanted.phase = phase_->itemData(index).toString();
    emit selection_wanted(wanted);
  });
  connect(label_, &QComboBox::activated, this, [this](int index) {
    views::Selection wanted = selection_;
    wanted.label = label_->itemData(index).toString();
    emit selection_wanted(wanted);
  });
  refresh();
}

QComboBox* SelectionBar::add_choice(const QString& name) {
  auto* label = new QLabel(name, this);
  auto* box = new QComboBox(this);
  box->setAccessibleName(name);
  box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  box->setMinimumContentsLength(9);
  box->setMaxVisibleItems(20);
  label->setBuddy(box);
  layout()->addWidget(label);
  layout()->addWidget(box);
  return box;
}

void SelectionBar::set_selection(const views::Selection& selection) {
  if (selection == selection_) return;
  selection_ = selection;
  refresh();
}

void SelectionBar::set_choices(const SelectionChoices& choices) {
  choices_ = choices;
  refresh();
}

void SelectionBar::fill(QComboBox* box, const std::vector<std::string>& there, const QString& chosen, size_t least,
                        const QString& tip, const QString& why_not) {
  const QSignalBlocker quiet(box);
  box->clear();
  box->addItem(tr("all"), QString());
  for (const std::string& value : there) box->addItem(QString::fromStdString(value), QString::fromStdString(value));
  // Chosen while another run was on show.
  if (box->findData(chosen) < 0) box->addItem(tr("%1 (not in this run)").arg(chosen), chosen);
  box->setCurrentIndex(box->findData(chosen));
  const bool open = there.size() >= least || !chosen.isEmpty();
  box->setEnabled(open);
  box->setToolTip(open ? tip : tip + "\n" + tr("Not now: %1").arg(why_not));
}

void SelectionBar::refresh() {
  while (QLayoutItem* item = chips_->takeAt(0)) {
    // The one that was clicked is still at work.
    item->widget()->hide();
    item->widget()->deleteLater();
    delete item;
  }
  const auto chosen = views::chosen(selection_);
  nothing_->setVisible(chosen.empty());
  for (const views::Chosen& c : chosen) {
    auto* chip = new QToolButton(this);
    chip->setObjectName("chip");
    chip->setText(fontMetrics().elidedText(c.text, Qt::ElideMiddle, 260) + QString("  ") + QChar(0x00D7));
    chip->setToolTip(tr("%1: click to let go of it").arg(c.text));
    chip->setAccessibleName(tr("Let go of %1").arg(c.text));
    chip->setFocusPolicy(Qt::TabFocus);
    connect(chip, &QToolButton::clicked, this,
            [this, part = c.part] { emit selection_wanted(views::without(selection_, part)); });
    chips_->addWidget(chip);
  }
  fill(phase_, choices_.phases, selection_.phase, 2,
       tr("Shows the cells of one phase, the input (prefill) or the written tokens (decode)"),
       tr("this run has one phase"));
  fill(label_, choices_.labels, selection_.label, 1, tr("Cells of sequences with one label"),
       tr("this run has no labels; --label-field records them"));
}

}  // namespace stormcell::studio

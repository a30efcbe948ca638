#include "app/studio/pass_switches.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLabel>
#include <QSignalBlocker>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>

#include "app/studio/wheel_filter.h"

namespace stormcell::studio {
namespace {

/// Shares are shown in percent.
double percent_scale(const PassOptionLine& option) { return option.kind == PassOptionLine::Kind::share ? 100 : 1; }

const PassSwitch* find_switch(const std::vector<PassSwitch>& switches, const QString& pass) {
  for (const PassSwitch& one : switches)
    if (QString::fromStdString(one.line.id) == pass) return &one;
  return nullptr;
}

}  // namespace

PassSwitches::PassSwitches(QWidget* parent) : QWidget(parent) {
  auto* rows = new QVBoxLayout(this);
  rows->setContentsMargins(0, 0, 0, 0);
  head_ = new QToolButton(this);
  head_->setObjectName("passes");
  head_->setCheckable(true);
  head_->setAutoRaise(true);
  head_->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
  head_->setArrowType(Qt::RightArrow);
  head_->setToolTip(tr("Passes of the plan on show, each with a switch and its parameters"));
  rows->addWidget(head_);
  list_ = new QWidget(this);
  auto* form = new QFormLayout(list_);
  form->setContentsMargins(6, 0, 0, 0);
  form->setFieldGrowthPolicy(QFormLayout::AllNonFixedFieldsGrow);
  for (const PassLine& line : list_passes()) {
    const QString pass = QString::fromStdString(line.id);
    auto* box = new QCheckBox(QString::fromStdString(line.name), list_);
    box->setAccessibleDescription(QString::fromStdString(line.summary));
    connect(box, &QCheckBox::clicked, this, [this, box, pass](bool on) {
      // The state follows from what is run.
      const QSignalBlocker quiet(box);
      box->setChecked(!on);
      emit switched(pass, on);
    });
    form->addRow(box);
    boxes_.insert(pass, box);
    for (const PassOptionLine& option : line.options) {
      auto* name = new QLabel("    " + QString::fromStdString(option.key), list_);
      name->setToolTip(QString::fromStdString(option.summary));
      QWidget* control = make_option(pass, option);
      name->setBuddy(control);
      form->addRow(name, control);
    }
  }
  rows->addWidget(list_);
  list_->hide();
  connect(head_, &QToolButton::toggled, this, [this](bool on) {
    head_->setArrowType(on ? Qt::DownArrow : Qt::RightArrow);
    list_->setVisible(on);
  });
  set_switches({}, false);
}

QWidget* PassSwitches::make_option(const QString& pass, const PassOptionLine& option) {
  const QString key = QString::fromStdString(option.key);
  QWidget* control = nullptr;
  const auto refresh = [this, pass, option](QWidget* of, const std::function<void(const QString&)>& show) {
    refresh_.push_back([of, pass, option, show](const std::vector<PassSwitch>& switches, bool open) {
      const QSignalBlocker quiet(of);
      const PassSwitch* one = find_switch(switches, pass);
      of->setEnabled(open && one);
      show(one ? one->value_of(option) : QString::fromStdString(option.standard));
    });
  };
  if (option.kind == PassOptionLine::Kind::flag) {
    auto* box = new QCheckBox(list_);
    connect(box, &QCheckBox::toggled, this,
            [this, pass, key](bool on) { emit option_wanted(pass, key, on ? "on" : "off"); });
    refresh(box, [box](const QString& value) { box->setChecked(value == "on"); });
    control = box;
  } else {
    const double scale = percent_scale(option);
    auto* number = new QDoubleSpinBox(list_);
    number->setDecimals(scale > 1 ? 1 : 0);
    number->setRange(option.least * scale, option.most * scale);
    if (scale > 1) number->setSuffix(" %");
    number->setKeyboardTracking(false);
    new WheelFilter(number);
    connect(number, &QDoubleSpinBox::editingFinished, this, [this, number, pass, key, scale] {
      if (number->value() != number->property("shown").toDouble())
        emit option_wanted(pass, key, QString::number(number->value() / scale));
    });
    refresh(number, [number, scale](const QString& value) {
      number->setValue(value.toDouble() * scale);
      number->setProperty("shown", number->value());
    });
    control = number;
  }
  control->setAccessibleName(pass + " " + key);
  control->setToolTip(QString::fromStdString(option.summary));
  return control;
}

void PassSwitches::set_switches(const std::vector<PassSwitch>& switches, bool open) {
  qint64 on = 0;
  for (auto box = boxes_.begin(); box != boxes_.end(); ++box) {
    const QSignalBlocker quiet(box.value());
    const PassSwitch* of = find_switch(switches, box.key());
    box.value()->setEnabled(open && of);
    box.value()->setChecked(of && of->on);
    // The command line calls it by its id.
    const QString summary = tr("%1 (%2)").arg(box.value()->accessibleDescription(), box.key());
    box.value()->setToolTip(of && !of->obstacle.isEmpty() ? summary + "\n" + of->obstacle : summary);
    on += of && of->on;
  }
  for (const auto& refresh : refresh_) refresh(switches, open);
  head_->setText(switches.empty() ? tr("Passes")
                                  : tr("Passes: %1 of %2 in the plan").arg(on).arg(std::ssize(switches)));
}

}  // namespace stormcell::studio

#include "app/studio/view_state.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLineEdit>
#include <QPointF>
#include <QVariant>
#include <algorithm>
#include <memory>

#include "app/studio/command_line.h"
#include "core/base/error.h"

namespace stormcell::studio {
namespace {

QString on_off(bool on) { return on ? "on" : "off"; }

[[noreturn]] void refuse_state(const QString& name, const QString& what, const QString& known) {
  bad_input(("--set \"" + name + "\"").toStdString(), what.toStdString(), ("one of: " + known).toStdString());
}

/// An entry with a number also matches its number, or its first words: "#4" matches "#4 joint, 16 GPUs".
bool means(const QString& value, const QString& text) {
  if (text.compare(value, Qt::CaseInsensitive) == 0) return true;
  if (!value.startsWith('#') || !text.startsWith(value, Qt::CaseInsensitive)) return false;
  return text[value.size()] == ' ' || text[value.size()] == ',';
}

}  // namespace

QList<ControlState> control_states(const views::View& view) {
  QList<ControlState> states;
  for (const auto* widget : view.findChildren<QWidget*>()) {
    const QString name = widget->accessibleName();
    if (const auto* box = qobject_cast<const QComboBox*>(widget); box && !name.isEmpty())
      states.append({name, box->currentText()});
    else if (const auto* check = qobject_cast<const QCheckBox*>(widget))
      states.append({name.isEmpty() ? check->text() : name, on_off(check->isChecked())});
    else if (const auto* number = qobject_cast<const QDoubleSpinBox*>(widget); number && !name.isEmpty())
      states.append({name, QString::number(number->value())});
  }
  return states;
}

QList<ControlState> changed_controls(const views::View& view, const views::ViewEntry& entry) {
  const std::unique_ptr<views::View> fresh(entry.make(nullptr));
  const QList<ControlState> usual = control_states(*fresh);
  QList<ControlState> changed;
  for (const ControlState& state : control_states(view))
    if (!usual.contains(state)) changed.append(state);
  return changed;
}

void set_control(views::View& view, const ControlState& state) {
  const auto& [name, value] = state;
  QStringList names;
  for (auto* widget : view.findChildren<QWidget*>()) {
    auto* box = qobject_cast<QComboBox*>(widget);
    auto* check = qobject_cast<QCheckBox*>(widget);
    auto* number = qobject_cast<QDoubleSpinBox*>(widget);
    if (!box && !check && !number) continue;
    const QString own = widget->accessibleName().isEmpty() && check ? check->text() : widget->accessibleName();
    if (own.isEmpty()) continue;
    names << own;
    if (own.compare(name, Qt::CaseInsensitive) != 0) continue;
    if (box) {
      QStringList texts;
      for (int i = 0; i < box->count(); ++i) texts << box->itemText(i);
      const auto at = std::find_if(texts.begin(), texts.end(), [&](const QString& t) { return means(value, t); });
      const QVariant allowed = box->property(views::kNumbersAlone);
      const QPointF range = allowed.toPointF();
      bool is_number = false;
      const double wanted = value.toDouble(&is_number);
      // NaN does not
      const bool fits = !allowed.isValid() || (is_number && wanted >= range.x() && wanted <= range.y());
      if (at == texts.end() && box->isEditable() && fits) {  // takes what is not in its list
        box->setEditText(value);
        emit box->lineEdit()->editingFinished();
        return;
      }
      if (at == texts.end()) {
        const QString elsewhere = box->property(views::kElsewhere).toString();
        if (allowed.isValid()) texts << QString("numbers from %1 to %2").arg(range.x()).arg(range.y());
        refuse_state(name, "cannot be '" + value + "'",
                     texts.join("; ") + (elsewhere.isEmpty() ? QString() : "; " + elsewhere));
      }
      // Changes it like a person would: some boxes ask for another selection.
      if (const auto index = static_cast<int>(at - texts.begin()); index != box->currentIndex()) {
        box->setCurrentIndex(index);
        emit box->activated(index);
      }
    } else if (check) {
      if (value != "on" && value != "off") refuse_state(name, "cannot be '" + value + "'", "on, off");
      check->setChecked(value == "on");
    } else {
      bool ok = false;
      const double wanted = value.toDouble(&ok);
      if (!ok || wanted < number->minimum() || wanted > number->maximum())
        refuse_state(name, "cannot be '" + value + "'",
                     QString("numbers from %1 to %2").arg(number->minimum()).arg(number->maximum()));
      number->setValue(wanted);
    }
    return;
  }
  refuse_state(name, "the view has no such control", names.isEmpty() ? "none" : names.join(", "));
}

QStringList selection_words(const views::Selection& s) {
  QStringList words;
  if (!s.all_batches())
    words << "--batches"
          << QString("%1:%2").arg(s.first_batch).arg(s.end_batch < 0 ? QString() : QString::number(s.end_batch));
  if (!s.phase.isEmpty()) words << "--phase" << shell_quoted(s.phase);
  if (!s.label.isEmpty()) words << "--label" << shell_quoted(s.label);
  if (!s.router.isEmpty()) words << "--router" << shell_quoted(s.router);
  if (s.branch >= 0) words << "--branch" << QString::number(s.branch);
  if (s.cell) words << "--cell" << QString("%1:%2").arg(s.cell->sequence).arg(s.cell->position);
  return words;
}

}  // namespace stormcell::studio

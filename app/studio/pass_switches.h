// The passes of the run on show as switches with their parameters, folded away until they are asked for.
#pragma once
#include <QHash>
#include <QWidget>
#include <functional>
#include <vector>

#include "app/studio/tries.h"

class QCheckBox;
class QToolButton;

namespace stormcell::studio {

class PassSwitches : public QWidget {
  Q_OBJECT
 public:
  explicit PassSwitches(QWidget* parent = nullptr);
  /// `open`: they can be switched.
  void set_switches(const std::vector<PassSwitch>& switches, bool open);

 signals:
  void switched(const QString& pass, bool on);
  void option_wanted(const QString& pass, const QString& option, const QString& value);

 private:
  QWidget* make_option(const QString& pass, const PassOptionLine& option);

  QToolButton* head_;
  QWidget* list_;
  QHash<QString, QCheckBox*> boxes_;
  /// Each shows the options or names of one pass.
  std::vector<std::function<void(const std::vector<PassSwitch>&, bool open)>> refresh_;
};

}  // namespace stormcell::studio

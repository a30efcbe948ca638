// What tokens do in a step, as two choices: which replicas of an expert they go to, and where they live. As --replicas
// and --residence.
#pragma once
#include <QObject>

#include "core/planning/place.h"

class QComboBox;
class QFormLayout;

namespace stormcell::views {

class StepChoices : public QObject {
  Q_OBJECT
 public:
  /// Makes both, as rows of `rows`.
  StepChoices(QFormLayout* rows, QObject* parent);
  /// As options of steps have them; what is usual is left unsaid, so that data without sizes can be opened.
  std::string replicas() const;
  std::string residence() const;
  /// Without chosen().
  void set(const std::string& replicas, const std::string& residence);

 signals:
  void chosen();

 private:
  QComboBox *replicas_, *residence_;
};

}  // namespace stormcell::views

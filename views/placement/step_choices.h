// Choices for tokens in a step: the replicas of an expert that they go to, and their homes. They are --replicas and
// --residence.
#pragma once
#include <QObject>

#include "core/planning/place.h"

class QComboBox;
class QFormLayout;

namespace stormcell::views {

class StepChoices : public QObject {
  Q_OBJECT
 public:
  /// Adds both choices as rows of `rows`.
  StepChoices(QFormLayout* rows, QObject* parent);
  /// Words of the options; the usual ones are empty, so that data without sizes can be opened.
  std::string replicas() const;
  std::string residence() const;
  /// Sets both without emitting chosen().
  void set(const std::string& replicas, const std::string& residence);

 signals:
  void chosen();

 private:
  QComboBox *replicas_, *residence_;
};

}  // namespace stormcell::views

// Choice of a view's cluster: published ones, and one whose figures were changed by hand.
#pragma once
#include <QObject>
#include <string>
#include <vector>

#include "core/planning/cluster_file.h"

class QComboBox;
class QToolButton;

namespace stormcell::views {

class View;

class ClusterChoice : public QObject {
  Q_OBJECT
 public:
  /// Fills `box`, and makes the button that changes figures.
  ClusterChoice(QComboBox* box, View* view);
  QToolButton* button() const { return button_; }
  /// The cluster on show, where changing begins; by its spec it is chosen.
  void set(const std::vector<std::string>& presets, const std::string& spec, const Cluster& cluster);
  /// Text for read_cluster(); the usual cluster's until set() is called.
  std::string spec() const;
  /// All of them, in the order of the list.
  std::vector<std::string> specs() const;
  void choose(int number);

 signals:
  void chosen();

 private:
  void edit();
  void take(const Cluster& cluster);

  QComboBox* box_;
  View* view_;
  QToolButton* button_;
  Cluster cluster_;
  int presets_ = 0;
};

}  // namespace stormcell::views

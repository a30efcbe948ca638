// A cluster that one does not have, put together from figures.
#pragma once
#include <QDialog>

#include "core/planning/cluster_file.h"

class QDoubleSpinBox;
class QLineEdit;
class QSpinBox;

namespace stormcell::views {

class ClusterDialog : public QDialog {
  Q_OBJECT
 public:
  /// Begins with the figures of a cluster.
  explicit ClusterDialog(const Cluster& cluster, QWidget* parent = nullptr);
  /// The cluster of the fields. The source of a changed one is the person who changed it.
  Cluster cluster() const;

 signals:
  /// Saves a file of schema stormcell.cluster/1, which `stormcell place --cluster` reads.
  void save_wanted(const QString& name, const QByteArray& bytes);

 private:
  QSpinBox* add_count(const QString& name, const QString& tip, int value);
  QDoubleSpinBox* add_rate(const QString& name, const QString& tip, double value);

  const Cluster before_;
  QLineEdit* name_;
  QSpinBox *nodes_, *gpus_;
  QDoubleSpinBox *memory_, *memory_rate_, *flops_, *fabric_, *network_;
};

}  // namespace stormcell::views

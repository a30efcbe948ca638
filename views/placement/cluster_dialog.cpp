#include "views/placement/cluster_dialog.h"

#include <QDialogButtonBox>
#include <QDoubleSpinBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QSpinBox>
#include <cmath>

namespace stormcell::views {
namespace {

constexpr double kGiB = 1073741824.0, kGiga = 1e9, kTera = 1e12;
constexpr int kMostOfEach = 1024;
/// Bandwidth of a new network: 400 Gbit/s a GPU.
constexpr double kUsualNetwork = 50e9;

}  // namespace

ClusterDialog::ClusterDialog(const Cluster& cluster, QWidget* parent) : QDialog(parent), before_(cluster) {
  setWindowTitle(tr("Cluster"));
  auto* form = new QFormLayout(this);
  name_ = new QLineEdit(QString::fromStdString(cluster.name), this);
  name_->setAccessibleName(tr("Name"));
  name_->setToolTip(tr("The name that placements for this cluster carry"));
  form->addRow(tr("Name"), name_);
  nodes_ = add_count(tr("Nodes"), tr("Nodes of the cluster, all alike and joined by the network"), cluster.nodes);
  gpus_ =
      add_count(tr("GPUs a node"), tr("GPUs in each node, all alike and joined by the fabric"), cluster.gpus_per_node);
  memory_ = add_rate(tr("Memory of a GPU, GiB"), tr("The memory of which spare experts take a share"),
                     cluster.memory_bytes / kGiB);
  memory_rate_ = add_rate(tr("Memory, TB/s"), tr("At which a GPU reads weights"), cluster.memory_bytes_per_s / kTera);
  flops_ = add_rate(tr("Products, TFLOP/s"), tr("Dense, in 16 bits"), cluster.flops_per_s / kTera);
  fabric_ = add_rate(tr("Fabric, GB/s"), tr("Between the GPUs of a node: of one GPU, in one direction"),
                     cluster.fabric_bytes_per_s / kGiga);
  network_ = add_rate(tr("Network, GB/s"), tr("Between nodes: of one GPU, in one direction"),
                      (cluster.network_bytes_per_s > 0 ? cluster.network_bytes_per_s : kUsualNetwork) / kGiga);
  const auto follow = [this] { network_->setEnabled(nodes_->value() > 1); };
  connect(nodes_, &QSpinBox::valueChanged, this, follow);
  follow();
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Ok | QDialogButtonBox::Cancel, this);
  QPushButton* save = buttons->addButton(tr("Save as file..."), QDialogButtonBox::ActionRole);
  save->setToolTip(tr("For `stormcell place --cluster FILE`"));
  connect(save, &QPushButton::clicked, this,
          [this] { emit save_wanted(name_->text() + ".json", QByteArray::fromStdString(to_json(this->cluster()))); });
  connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  form->addRow(buttons);
}

QSpinBox* ClusterDialog::add_count(const QString& name, const QString& tip, int value) {
  auto* box = new QSpinBox(this);
  box->setRange(1, kMostOfEach);
  box->setValue(value);
  box->setAccessibleName(name);
  box->setToolTip(tip);
  static_cast<QFormLayout*>(layout())->addRow(name, box);
  return box;
}

QDoubleSpinBox* ClusterDialog::add_rate(const QString& name, const QString& tip, double value) {
  constexpr double kLeast = 0.001, kMost = 1e6;
  auto* box = new QDoubleSpinBox(this);
  box->setDecimals(3);
  box->setRange(kLeast, kMost);
  box->setValue(value);
  box->setAccessibleName(name);
  box->setToolTip(tip);
  static_cast<QFormLayout*>(layout())->addRow(name, box);
  return box;
}

Cluster ClusterDialog::cluster() const {
  Cluster c = before_;
  c.name = name_->text().trimmed().toStdString();
  if (c.name.empty()) c.name = before_.name;
  c.nodes = nodes_->value(), c.gpus_per_node = gpus_->value();
  // A field shows three decimals, so untouched figures keep their own value.
  const auto take = [](const QDoubleSpinBox* box, double unit, double& figure) {
    if (std::abs(box->value() - figure / unit) > 5e-4) figure = box->value() * unit;
  };
  take(memory_, kGiB, c.memory_bytes), take(memory_rate_, kTera, c.memory_bytes_per_s),
      take(flops_, kTera, c.flops_per_s);
  take(fabric_, kGiga, c.fabric_bytes_per_s);
  if (c.nodes > 1) take(network_, kGiga, c.network_bytes_per_s);
  if (c.nodes > 1 && c.network.empty()) c.network = "network";
  c.sources.emplace_back("changed by hand from " + before_.name);
  return c;
}

}  // namespace stormcell::views

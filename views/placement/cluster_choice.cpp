#include "views/placement/cluster_choice.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QToolButton>
#include <algorithm>

#include "views/frame/view.h"
#include "views/placement/cluster_dialog.h"
#include "views/words/figure_text.h"

namespace stormcell::views {
namespace {

constexpr const char* kUsualCluster = "preset:8x-h100";

}  // namespace

ClusterChoice::ClusterChoice(QComboBox* box, View* view)
    : QObject(view), box_(box), view_(view), button_(new QToolButton(view)) {
  button_->setText("...");
  button_->setAccessibleName(tr("Change the cluster"));
  button_->setToolTip(tr("Other figures than the published ones: nodes, GPUs, memory, rates, links"));
  connect(button_, &QToolButton::clicked, this, &ClusterChoice::edit);
  connect(box_, &QComboBox::currentIndexChanged, this, &ClusterChoice::chosen);
}

void ClusterChoice::set(const std::vector<std::string>& presets, const std::string& spec, const Cluster& cluster) {
  const QSignalBlocker quiet(box_);
  cluster_ = cluster;
  if (box_->count() == 0)
    for (const std::string& name : presets) {
      box_->addItem(to_qstring(name), to_qstring("preset:" + name));
      box_->setItemData(box_->count() - 1,
                        tr("Published figures, with their sources in the preset's file %1.json").arg(to_qstring(name)),
                        Qt::ToolTipRole);
    }
  presets_ = static_cast<int>(presets.size());
  box_->setCurrentIndex(std::max(0, box_->findData(to_qstring(spec))));
}

std::string ClusterChoice::spec() const {
  return box_->count() > 0 ? box_->currentData().toString().toStdString() : kUsualCluster;
}

std::vector<std::string> ClusterChoice::specs() const {
  std::vector<std::string> out;
  for (int i = 0; i < box_->count(); ++i) out.push_back(box_->itemData(i).toString().toStdString());
  return out;
}

void ClusterChoice::choose(int number) { box_->setCurrentIndex(number); }

void ClusterChoice::edit() {
  if (box_->count() == 0) return;
  auto* dialog = new ClusterDialog(cluster_, view_);
  dialog->setAttribute(Qt::WA_DeleteOnClose);
  connect(dialog, &ClusterDialog::save_wanted, this, [this](const QString& name, const QByteArray& bytes) {
    emit view_->save_wanted(name, tr("Clusters (*.json)"), bytes);
  });
  connect(dialog, &QDialog::accepted, this, [this, dialog] { take(dialog->cluster()); });
  dialog->open();
}

/// A single entry holds the changed cluster, whatever it was before.
void ClusterChoice::take(const Cluster& cluster) {
  {
    const QSignalBlocker quiet(box_);
    if (box_->count() > presets_) box_->removeItem(presets_);
    box_->addItem(tr("%1, changed").arg(to_qstring(cluster.name)), to_qstring(to_json(cluster)));
    box_->setItemData(presets_, to_qstring(cluster.sources.back()), Qt::ToolTipRole);
    box_->setCurrentIndex(presets_);
  }
  emit chosen();
}

}  // namespace stormcell::views

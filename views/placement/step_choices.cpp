#include "views/placement/step_choices.h"

#include <QComboBox>
#include <QFormLayout>
#include <QSignalBlocker>
#include <algorithm>

#include "views/words/figure_text.h"

namespace stormcell::views {
namespace {

QString tip_of(std::string_view word) {
  if (word == to_text(ReplicaRule::even)) return StepChoices::tr("Replicas of an expert share its tokens evenly");
  if (word == to_text(ReplicaRule::nearest))
    return StepChoices::tr(
        "A token goes to a replica on its own GPU, else to those of its node alike, else to all alike; where it lives "
        "is "
        "not known, it lives on each GPU alike");
  if (word == to_text(Residence::home))
    return StepChoices::tr("A token stays on one GPU through all layers, and results come back there");
  return StepChoices::tr(
      "An experiment: a token lives where its heaviest expert of the layer before is; needs weights of single choices");
}

QComboBox* add_row(QFormLayout* rows, const QString& name, const QString& tip,
                   const std::vector<std::string_view>& words) {
  auto* box = new QComboBox(rows->parentWidget());
  for (const std::string_view word : words) {
    box->addItem(to_qstring(word));
    box->setItemData(box->count() - 1, tip_of(word), Qt::ToolTipRole);
  }
  box->setAccessibleName(name);
  box->setToolTip(tip);
  rows->addRow(name, box);
  return box;
}

/// The first one is the usual one.
std::string word_of(const QComboBox* box) {
  return box->currentIndex() > 0 ? box->currentText().toStdString() : std::string();
}

void choose(QComboBox* box, const std::string& word) {
  const QSignalBlocker quiet(box);
  box->setCurrentIndex(std::max(0, box->findText(to_qstring(word))));
}

}  // namespace

StepChoices::StepChoices(QFormLayout* rows, QObject* parent)
    : QObject(parent),
      replicas_(add_row(rows, tr("Replicas"), tr("Which replicas of an expert its tokens go to"), replica_rules())),
      residence_(add_row(rows, tr("Residence"), tr("The GPU that holds a token between the layers"), residences())) {
  for (QComboBox* box : {replicas_, residence_})
    connect(box, &QComboBox::currentIndexChanged, this, &StepChoices::chosen);
}

std::string StepChoices::replicas() const { return word_of(replicas_); }
std::string StepChoices::residence() const { return word_of(residence_); }

void StepChoices::set(const std::string& replicas, const std::string& residence) {
  choose(replicas_, replicas), choose(residence_, residence);
}

}  // namespace stormcell::views

#include "views/frame/tells_apart.h"

#include <QComboBox>
#include <QCoreApplication>

namespace stormcell::views {
namespace {

QString said(const char* text) { return QCoreApplication::translate("BranchColors", text); }

}  // namespace

void fill_branch_schemes(QComboBox* choice) {
  const auto add = [&](const QString& name, const QString& tip) {
    choice->addItem(name);
    choice->setItemData(choice->count() - 1, tip, Qt::ToolTipRole);
  };
  add(said("by load"),
      said("Up to %1 branches have a colour each. Of more, the busier have the stronger tone").arg(Theme::kCategories));
  add(said("by cluster"),
      said("Branches that are busy in the same batches have one colour, at most %1 colours").arg(Theme::kCategories));
  add(said("one against the rest"), said("The chosen branch has a colour, all others are grey"));
}

}  // namespace stormcell::views

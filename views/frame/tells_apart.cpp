#include "views/frame/tells_apart.h"

#include <QComboBox>

#include "views/words/tr.h"

namespace stormcell::views {

void fill_branch_schemes(QComboBox* choice) {
  const auto add = [&](const QString& name, const QString& tip) {
    choice->addItem(name);
    choice->setItemData(choice->count() - 1, tip, Qt::ToolTipRole);
  };
  add(tr("by load"),
      tr("Up to %1 branches have a colour each. Of more, the busier have the stronger tone").arg(Theme::kCategories));
  add(tr("by cluster"),
      tr("Branches that are busy in the same batches have one colour, at most %1 colours").arg(Theme::kCategories));
  add(tr("one against the rest"), tr("The chosen branch has a colour, all others are grey"));
}

}  // namespace stormcell::views

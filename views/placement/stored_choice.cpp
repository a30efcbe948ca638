#include "views/placement/stored_choice.h"

#include <QComboBox>
#include <QStringList>

#include "views/frame/view.h"
#include "views/placement/placement_model.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {

void add_stored(QComboBox* box, const std::vector<StoredLayout>& stored,
                const std::function<bool(const StoredLayout&)>& fits, const QString& others_need) {
  QStringList others;
  for (const StoredLayout& s : stored) {
    if (!fits(s)) {
      others << choice_text(s);
      continue;
    }
    box->addItem(choice_text(s), static_cast<qlonglong>(s.id));
    box->setItemData(
        box->count() - 1,
        tr("Stored %1 for %2, by %3. %4")
            .arg(moment_text(s.created), to_qstring(s.cluster), to_qstring(s.solver), to_qstring(s.advice)),
        Qt::ToolTipRole);
  }
  box->setProperty(kElsewhere, others.isEmpty() ? QString() : others_need + ": " + others.join("; "));
}

}  // namespace stormcell::views

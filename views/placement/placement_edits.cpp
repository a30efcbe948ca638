// Changes of the placement by hand: with the mouse, and from the menu of a slot.
#include <QMenu>

#include "views/placement/placement_view.h"
#include "views/words/figure_text.h"

namespace stormcell::views {

PlacementChange PlacementView::change_of(int from, int to, bool copies, QString& fault) const {
  const size_t l = layer(), a = static_cast<size_t>(from), b = static_cast<size_t>(to);
  const LayerSlots& now = edited_->placement().layers[l];
  if (!copies) {
    fault = to_qstring(edited_->swap_fault(l, a, b));
    if (!fault.isEmpty()) return {};
    return swap_change(edited_->placement(), l, a, b);
  }
  fault = to_qstring(edited_->replicate_fault(l, now[a], b));
  // Another slot of that GPU serves as well.
  const size_t each = picture_->page().slots_of_rank;
  size_t place = b;
  for (size_t s = b / each * each; s < (b / each + 1) * each && !fault.isEmpty(); ++s)
    if (edited_->replicate_fault(l, now[a], s).empty()) place = s, fault.clear();
  if (!fault.isEmpty()) return {};
  return replicate_change(edited_->placement(), l, now[a], place);
}

void PlacementView::show_change(int from, int to, bool copies) {
  end_preview();
  QString fault;
  if (to >= 0) preview_ = change_of(from, to, copies, fault);
  if (!preview_.empty()) edited_->apply(preview_);
  refresh_page();
  picture_->set_fault(fault);
}

void PlacementView::edit(const QString& what, const PlacementChange& change) {
  if (change.empty()) return;
  const auto apply = [this, edited = edited_](const PlacementChange& c) {
    end_preview();
    edited->apply(c);
    if (edited == edited_)
      refresh_page();
    else
      emit said(tr("That was another cluster's placement, which is not on show"));
  };
  emit edit_wanted(
      what, [apply, change] { apply(change); }, [apply, change] { apply(inverse(change)); });
}

void PlacementView::drop(int slot) {
  const size_t s = slot;
  if (const std::string fault = edited_->drop_fault(layer(), s); !fault.empty()) return emit said(to_qstring(fault));
  const int32_t branch = edited_->placement().layers[layer()][s];
  edit(tr("replica of expert %1 dropped").arg(branch), drop_change(edited_->placement(), layer(), s));
}

void PlacementView::show_menu(int slot, const QPoint& global) {
  const PlacementPage& page = picture_->page();
  const size_t s = slot;
  const size_t l = layer(), idle = least_loaded(page), to = idle * static_cast<size_t>(page.slots_of_rank);
  QMenu menu(this);
  menu.setToolTipsVisible(true);
  const int32_t branch = page.held[s].branch;
  const auto add = [&](const QString& text, const QString& fault, const std::function<void()>& run) {
    QAction* action = menu.addAction(text, this, run);
    action->setEnabled(fault.isEmpty());
    action->setToolTip(fault.isEmpty() ? text : fault);
  };
  if (branch >= 0) {
    QString fault;
    const PlacementChange copy = change_of(slot, static_cast<int>(to), true, fault);
    const QString what = tr("replica of expert %1 on GPU %2").arg(branch).arg(idle);
    add(tr("Replica of expert %1 on GPU %2, which has the least load").arg(branch).arg(idle), fault,
        [this, what, copy] { edit(what, copy); });
    add(tr("Drop this replica of expert %1").arg(branch), to_qstring(edited_->drop_fault(l, s)),
        [this, slot] { drop(slot); });
  }
  PlacementChange back;
  for (const SlotChange& c : difference(edited_->placement(), edited_->start()))
    if (c.layer == l) back.push_back(c);
  add(tr("This layer as at the start"), back.empty() ? tr("it is") : QString(),
      [this, back] { edit(tr("a layer as at the start"), back); });
  menu.exec(global);
}

}  // namespace stormcell::views

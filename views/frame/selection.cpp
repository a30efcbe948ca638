#include "views/frame/selection.h"

#include "views/words/tr.h"

namespace stormcell::views {

Parts difference(const Context& context, const Selection& selection, const Context& next,
                 const Selection& next_selection) {
  const Selection &a = selection, &b = next_selection;
  Parts parts;
  parts.setFlag(Part::run, !(context.main == next.main));
  parts.setFlag(Part::other, !(context.other == next.other) || context.recording != next.recording);
  parts.setFlag(Part::session, context.session != next.session);
  parts.setFlag(Part::range, a.first_batch != b.first_batch || a.end_batch != b.end_batch);
  parts.setFlag(Part::phase, a.phase != b.phase);
  parts.setFlag(Part::label, a.label != b.label);
  parts.setFlag(Part::router, a.router != b.router);
  parts.setFlag(Part::branch, a.branch != b.branch);
  parts.setFlag(Part::cell, a.cell != b.cell);
  return parts;
}

std::vector<Chosen> chosen(const Selection& s, Parts of) {
  std::vector<Chosen> all;
  if (!s.all_batches())
    all.push_back({Part::range, s.end_batch < 0 ? tr("batches from %1 on").arg(s.first_batch)
                                : s.end_batch == s.first_batch + 1
                                    ? tr("batch %1").arg(s.first_batch)
                                    : tr("batches %1 to %2").arg(s.first_batch).arg(s.end_batch - 1)});
  if (!s.phase.isEmpty()) all.push_back({Part::phase, tr("phase %1").arg(s.phase)});
  if (!s.label.isEmpty()) all.push_back({Part::label, tr("label %1").arg(s.label)});
  if (!s.router.isEmpty()) all.push_back({Part::router, tr("router %1").arg(s.router)});
  if (s.branch >= 0) all.push_back({Part::branch, tr("branch %1").arg(s.branch)});
  if (s.cell) all.push_back({Part::cell, tr("cell %1:%2").arg(s.cell->sequence).arg(s.cell->position)});
  std::erase_if(all, [of](const Chosen& c) { return !of.testFlag(c.part); });
  return all;
}

Selection without(Selection s, Part part) {
  const Selection nothing;
  if (part == Part::range) s.first_batch = nothing.first_batch, s.end_batch = nothing.end_batch;
  if (part == Part::phase) s.phase.clear();
  if (part == Part::label) s.label.clear();
  if (part == Part::router) s.router.clear();
  if (part == Part::router || part == Part::branch) s.branch = nothing.branch;
  if (part == Part::cell) s.cell.reset();
  return s;
}

}  // namespace stormcell::views

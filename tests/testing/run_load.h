// A view with data, without threads: what it wants to read is read on the spot.
#pragma once
#include <QString>
#include <exception>

#include "views/frame/view.h"

namespace stormcell::testing {

inline void run_load(views::View& view, const views::Context& context, const views::Selection& selection = {}) {
  views::View::Load load = view.look_at(context, selection);
  if (!load) return;
  try {
    load({})();
  } catch (const std::exception& e) {
    view.show_message(QString::fromUtf8(e.what()));
  }
}

inline views::Context context_of(const std::string& file, int64_t run = 1, const std::string& other = {}) {
  views::Context context;
  context.main.file = file, context.main.run = run, context.main.title = "main #1", context.main.decisions = true;
  if (!other.empty()) context.other = context.main, context.other.file = other, context.other.title = "other #1";
  return context;
}

}  // namespace stormcell::testing

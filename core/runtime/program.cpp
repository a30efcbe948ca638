#include "core/runtime/program.h"

#include "core/base/enum_words.h"

namespace stormcell {

std::string_view to_text(StepKind kind) {
  static constexpr std::string_view names[] = {"kernel",       "send",         "copy",       "save_rows",
                                               "restore_rows", "skip_empty",   "guard",      "need_weights",
                                               "jump",         "repeat_begin", "repeat_end", "record"};
  return row_of(names, kind);
}

}  // namespace stormcell

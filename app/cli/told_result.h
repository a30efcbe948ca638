// The end of a verb: warnings, its result as JSON if asked for, and as text.
#pragma once
#include <string>

#include "app/cli/console.h"
#include "core/exports/text_output.h"

namespace stormcell::cli {

/// Runs work(progress), whose result has to_json() and may have `warnings`, and prints it. `json_path`: of --json;
/// empty: none. The file is opened first, so that the work is not in vain if it cannot be written.
template <class Work, class ToText>
void tell_result(Console& console, const std::string& json_path, Work&& work, ToText&& to_text) {
  TextOutput json(json_path);
  if (json.is_standard_output()) console.take_standard_output();
  const auto result = work(console.progress());
  if constexpr (requires { result.warnings; })
    for (const std::string& w : result.warnings) console.warning(w);
  json.write(to_json(result));
  json.finish();
  console.print(to_text(result));
}

}  // namespace stormcell::cli

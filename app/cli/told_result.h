// The end of a verb: warnings, its result as JSON if asked for, and as text.
#pragma once
#include <string>

#include "app/cli/console.h"
#include "core/exports/text_output.h"

namespace stormcell::cli {

/// Runs work(progress), whose result has to_json() and may have `warnings`, and shows its page. `json_path`: of --json;
/// empty: none. The file is opened first: who cannot write it has not worked for nothing.
template <class Work, class ToPage>
void tell_result(Console& console, const std::string& json_path, Work&& work, ToPage&& to_page) {
  TextOutput json(json_path);
  if (json.is_standard_output()) console.take_standard_output();
  const auto result = work(console.progress());
  if constexpr (requires { result.warnings; })
    for (const std::string& w : result.warnings) console.warning(w);
  json.write(to_json(result));
  json.finish();
  console.show(to_page(result));
}

}  // namespace stormcell::cli

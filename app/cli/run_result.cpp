#include "app/cli/run_result.h"

#include <algorithm>

#include "app/cli/figures_text.h"
#include "app/cli/numbers_text.h"
#include "core/base/error.h"
#include "core/experiment/experiment.h"
#include "core/summary/plan_config.h"

namespace stormcell::cli {

RunResult::RunResult(const std::string& json, const std::string& session, Console& console) : console_(console), json_(json) {
  check_session_option(session);
  console.set_session(session);
  if (json_.is_standard_output()) console.take_standard_output();
}

int RunResult::show(const RunSummaryFigures& figures) {
  print(figures);
  return verdict(figures);
}

void RunResult::print(const RunSummaryFigures& figures) {
  for (const std::string& w : figures.warnings) console_.warning(w);
  if (figures.decode)
    for (const std::string& w : figures.decode->warnings)
      if (std::find(figures.warnings.begin(), figures.warnings.end(), w) == figures.warnings.end()) console_.warning(w);
  json_.write(to_json(figures));
  json_.finish();
  console_.print(to_text(figures, console_.options().verbose));
}

int RunResult::verdict(const RunSummaryFigures& figures) {
  if (!figures.verified || figures.verified->passed) return figures.decode ? verdict(*figures.decode) : 0;
  const Verification& v = *figures.verified;
  const bool format_alone = v.reasons.size() == 1 && v.format && !v.format->passed;
  if (format_alone) fail_verification(figures.model.name, v.reasons, "leave out --dtype, or allow more with --tolerance");
  fail_verification(figures.model.name, v.reasons);
}

void fail_verification(const std::string& model, const std::vector<std::string>& reasons, const std::string& what_to_do) {
  std::string why = reasons.empty() ? "the results differ" : reasons[0];
  if (reasons.size() > 1) why += ", and " + count_text(static_cast<int64_t>(reasons.size()) - 1) + " more, which --json lists";
  failed(model, "could not be verified: " + why, what_to_do);
}

std::string file_of_decoding(const std::string& file) {
  const size_t name = file.rfind('/') + 1, dot = file.rfind('.');
  return dot == std::string::npos || dot <= name ? file + ".decode" : file.substr(0, dot) + ".decode" + file.substr(dot);
}

void check_session_option(const std::string& session) {
  if (session == "-") bad_input("-o", "a session cannot go to standard output", "name a file");
}

void check_binary_output(const std::string& option, const std::string& path) {
  if (path == "-") bad_input(option, "safetensors cannot go to standard output", "name a file");
  check_output_path(path);
}

std::string read_config(const std::string& path) {
  std::string text = read_text(path);
  parse_plan_config(text, path == "-" ? "--config" : path);
  return text;
}

}  // namespace stormcell::cli

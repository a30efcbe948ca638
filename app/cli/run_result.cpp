#include "app/cli/run_result.h"

#include <filesystem>

#include "app/cli/figures_text.h"
#include "app/cli/generation_text.h"
#include "app/cli/numbers_text.h"
#include "app/cli/what_if_text.h"
#include "core/base/error.h"
#include "core/configuration/plan_config.h"
#include "core/experiment/experiment.h"
#include "core/readings/session_view.h"

namespace stormcell::cli {

namespace {

constexpr size_t kHalves = 2;  // pages of --phase both

/// The number of runs that a session has. A file that is no session counts 0, and is refused when it is opened.
size_t runs_of(const std::string& session) {
  if (session.empty() || !std::filesystem::exists(session)) return 0;
  try {
    return open_session(session).runs.size();
  } catch (const Error&) {
    return 0;
  }
}

}  // namespace

RunResult::RunResult(const std::string& json, const std::string& session, Console& console)
    : console_(console), json_(json) {
  check_session_option(session);
  console.set_session(session, runs_of(session));
  if (json_.is_standard_output()) console.take_standard_output();
}

int RunResult::show(const RunSummaryFigures& figures) {
  print(figures);
  return verdict(figures);
}

void RunResult::print(const RunSummaryFigures& figures) {
  const bool verbose = console_.shows_details();
  if (!figures.decode) {
    for (const std::string& w : figures.warnings) console_.warning(w);
    return write(to_json(figures), page_of(figures, verbose));
  }
  if (half_.empty()) warn(figures);
  warn(*figures.decode);
  if (half_.empty()) return write(to_json(figures), page_of(figures, verbose));
  write(to_json(figures), page_of_second(*figures.decode, verbose), kHalves);
}

void RunResult::print_half(const RunSummaryFigures& first) {
  warn(first);
  console_.show(page_of_first(first, console_.shows_details()), kHalves);
  half_ = to_json(first);
}

void RunResult::warn(const RunSummaryFigures& of) const {
  for (const std::string& w : of.warnings) console_.warning(phase_title(of.phase) + ": " + w);
}

void RunResult::write_half() {
  if (half_.empty()) return;
  json_.write(half_);
  json_.finish();
}

int RunResult::show(const GenerateFigures& figures, TextsOfPage texts) {
  for (const std::string& w : figures.warnings) console_.warning(w);
  write(to_json(figures), page_of(figures, console_.shows_details(), texts));
  if (figures.verified && !figures.verified->passed)
    fail_verification(figures.model.name, figures.verified->reasons, figures.verified->what_to_do);
  return 0;
}

int RunResult::show(const WhatIfFigures& figures) {
  for (const std::string& w : figures.warnings) console_.warning(w);
  write(to_json(figures), page_of(figures, console_.shows_details()));
  if (const int code = verdict(*figures.before); code != 0) return code;
  return verdict(*figures.after);
}

void RunResult::write(const std::string& json, const Page& page, size_t pages) {
  console_.set_session({});  // what fails from here on is a verdict on what all ran
  json_.write(json);
  json_.finish();
  console_.show(page, pages);
}

int RunResult::verdict(const RunSummaryFigures& figures) {
  if (!figures.verified || figures.verified->passed) return figures.decode ? verdict(*figures.decode) : 0;
  const Verification& v = *figures.verified;
  const bool format_alone = v.reasons.size() == 1 && v.format && !v.format->passed;
  if (format_alone)
    fail_verification(figures.model.name, v.reasons, "leave out --dtype, or allow more with --tolerance");
  fail_verification(figures.model.name, v.reasons, v.what_to_do);
}

void fail_verification(const std::string& model, const std::vector<std::string>& reasons,
                       const std::string& what_to_do) {
  std::string why = reasons.empty() ? "the results differ" : reasons[0];
  if (reasons.size() > 1)
    why += ", and " + count_text(static_cast<int64_t>(reasons.size()) - 1) + " more, listed with the figures";
  failed(model, "could not be verified: " + why,
         what_to_do.empty() ? "this is an error of the program: report it" : what_to_do);
}

std::string file_of_decoding(const std::string& file) {
  const size_t name = file.rfind('/') + 1, dot = file.rfind('.');
  return dot == std::string::npos || dot <= name ? file + ".decode"
                                                 : file.substr(0, dot) + ".decode" + file.substr(dot);
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

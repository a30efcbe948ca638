// Shows the figures of run, profile, optimize, generate and what-if at their end.
#pragma once
#include <string>
#include <vector>

#include "app/cli/console.h"
#include "app/cli/generation_text.h"
#include "app/cli/page.h"
#include "core/exports/text_output.h"
#include "core/summary/results.h"
#include "core/summary/what_if.h"

namespace stormcell::cli {

/// Make it before the work, so that a file that cannot be written is reported at once.
class RunResult {
 public:
  RunResult(const std::string& json, const std::string& session, Console& console);
  /// Shows warnings, JSON and the table; returns the exit code. Throws Error(failed) if the result was not verified.
  int show(const RunSummaryFigures& figures);
  int show(const GenerateFigures& figures, TextsOfPage texts);
  int show(const WhatIfFigures& figures);
  /// With --phase both, shows the first half as soon as it is done. Its JSON is written if the second half does not
  /// finish.
  void print_half(const RunSummaryFigures& first);
  /// Runs f(), which may print a half.
  template <class F>
  auto guarding_half(F&& f) {
    try {
      return f();
    } catch (...) {
      write_half();
      throw;
    }
  }
  /// The two parts of show(): printing, and the exit code.
  void print(const RunSummaryFigures& figures);
  static int verdict(const RunSummaryFigures& figures);

 private:
  void write(const std::string& json, const Page& page, size_t pages = 1);
  void write_half();
  /// Prints the warnings with the name of their phase.
  void warn(const RunSummaryFigures& of) const;
  std::string half_;  ///< JSON of a half that was printed
  Console& console_;
  TextOutput json_;
};

/// Throws Error(failed) that names the model: its run could not be verified; with the first of `reasons` and the
/// remedy; empty: to report it.
[[noreturn]] void fail_verification(const std::string& model, const std::vector<std::string>& reasons,
                                    const std::string& what_to_do);
/// File for decoding with --phase both: "plan.decode.json" for "plan.json".
std::string file_of_decoding(const std::string& file);
/// Refuses sessions and binary files on standard output.
void check_session_option(const std::string& session);
void check_binary_output(const std::string& option, const std::string& path);
/// The text of a stormcell.config/1; errors name the file.
std::string read_config(const std::string& path);

}  // namespace stormcell::cli

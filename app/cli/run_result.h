// The end of run, profile, optimize, generate and what-if: their figures as JSON and as a page.
#pragma once
#include <string>
#include <vector>

#include "app/cli/console.h"
#include "app/cli/page.h"
#include "core/exports/text_output.h"
#include "core/summary/results.h"
#include "core/summary/what_if.h"

namespace stormcell::cli {

/// Made before the work: whatever cannot be written is told at once.
class RunResult {
 public:
  RunResult(const std::string& json, const std::string& session, Console& console);
  /// Warnings, JSON, the table; the exit code. Throws Error(failed) where the result was not verified.
  int show(const RunSummaryFigures& figures);
  int show(const GenerateFigures& figures);
  int show(const WhatIfFigures& figures);
  /// Shows the first half of --phase both as soon as it is done. Its JSON is written where the other half does not come to
  /// its end.
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
  /// The two halves of show(): what is printed, and the exit code.
  void print(const RunSummaryFigures& figures);
  static int verdict(const RunSummaryFigures& figures);

 private:
  void write(const std::string& json, const Page& page, size_t pages = 1);
  void write_half();
  /// The warnings of one of two phases, by its name.
  void warn(const RunSummaryFigures& of) const;
  std::string half_;  ///< JSON of a half that was printed
  Console& console_;
  TextOutput json_;
};

/// Throws Error(failed) that names the model: its run could not be verified, the first of `reasons` and what to do;
/// empty: to report it.
[[noreturn]] void fail_verification(const std::string& model, const std::vector<std::string>& reasons,
                                    const std::string& what_to_do);
/// The file for decoding beside FILE, with --phase both. "plan.json" gives "plan.decode.json".
std::string file_of_decoding(const std::string& file);
/// Standard output takes no session and no binary file.
void check_session_option(const std::string& session);
void check_binary_output(const std::string& option, const std::string& path);
/// The text of a stormcell.config/1; the file's name stands in every error.
std::string read_config(const std::string& path);

}  // namespace stormcell::cli

// Output of the program: results on stdout, progress, warnings and errors on stderr, everything in the log file.
#pragma once
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>

#include "app/cli/page.h"
#include "core/base/progress.h"

namespace stormcell::cli {

struct ConsoleOptions {
  bool quiet = false;    ///< only errors, and output that an option asks for
  bool verbose = false;  ///< also each stage with its time, and details
  bool all = false;      ///< pages with all of their lines
  /// lines that a page may have; batch gives its jobs fewer
  int64_t page_lines = kMostLines;
  std::string log_file;
};

class Console : public ProgressSink {
 public:
  explicit Console(CancellationToken cancel) : cancel_(std::move(cancel)) {}
  ~Console() override;
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  /// Opens the log file. Throws Error(bad_input).
  void configure(const ConsoleOptions& options, std::string_view command_line);
  const ConsoleOptions& options() const { return options_; }
  Progress progress() { return {cancel_, this}; }
  const CancellationToken& cancel() const { return cancel_; }

  /// Names the session that is recorded, until the result is printed: an interrupted call mentions it. `runs`: runs
  /// that it held before; a failed call mentions only later ones, or none if they were not counted.
  void set_session(const std::string& session, size_t runs = SIZE_MAX) { session_ = session, runs_before_ = runs; }
  const std::string& session() const { return session_; }
  size_t runs_before() const { return runs_before_; }

  /// A result for people; silent when quiet, or when standard output is taken by data.
  void print(std::string_view text);
  /// A verb's result. Without --all it has 60 lines, or its part of them where a call prints `pages` of them; two of the
  /// 60 are left for the names of files that a verb writes behind its page.
  void show(const Page& page, size_t pages = 1);
  bool shows_details() const { return options_.verbose || options_.all; }
  void take_standard_output() { data_on_stdout_ = true; }
  void warning(std::string_view text);
  /// The one line of an error.
  void error(std::string_view text);
  /// Log file only.
  void log(std::string_view text);

  void report(std::string_view stage, int64_t done, int64_t total) override;
  void remark(std::string_view text) override { remark_ = text; }
  void expect(double low, double likely, double high) override;
  void expect_overrun(double limit, double least) override;
  /// Takes the progress line off the terminal.
  void end_progress();

 private:
  using Clock = std::chrono::steady_clock;
  void begin_stage(std::string_view stage, int64_t done);
  void end_stage();
  void draw(int64_t done, int64_t total);

  CancellationToken cancel_;
  ConsoleOptions options_;
  std::FILE* log_ = nullptr;
  bool data_on_stdout_ = false, terminal_ = false, colour_ = false, drawn_ = false;
  std::string stage_, remark_, session_;
  size_t runs_before_ = 0;
  int64_t stage_done_ = 0;  ///< start of the stage: resumed work does not count into its rate
  Clock::time_point stage_begin_, last_drawn_;
};

}  // namespace stormcell::cli

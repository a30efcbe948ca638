#include "app/cli/console.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>

#include "core/exports/text_output.h"
#include "core/summary/time_text.h"

namespace stormcell::cli {
namespace {

constexpr auto kBetweenDraws = std::chrono::milliseconds(100);

// Keeps a text in one line, and keeps control characters of files from the terminal.
std::string one_line(std::string_view text) {
  std::string line(text);
  for (char& c : line)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return line;
}

// Errors of stderr itself cannot be reported anywhere.
void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

size_t terminal_width() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80;
}

std::string timestamp() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

}  // namespace

Console::~Console() {
  end_progress();
  if (log_) std::fclose(log_);
}

void Console::configure(const ConsoleOptions& options, std::string_view command_line) {
  options_ = options;
  const char* term = std::getenv("TERM");
  terminal_ = !options.quiet && isatty(STDERR_FILENO) == 1 && term && std::strcmp(term, "dumb") != 0;
  const char* no_colour = std::getenv("NO_COLOR");
  colour_ = terminal_ && !(no_colour && *no_colour);
  if (options.log_file.empty()) return;
  log_ = std::fopen(options.log_file.c_str(), "ae");
  if (!log_)
    bad_input("--log-file", options.log_file + " cannot be written: " + std::strerror(errno),
              "choose a folder that exists and can be written");
  log("stormcell " STORMCELL_VERSION ": " + std::string(command_line));
}

void Console::print(std::string_view text) {
  if (options_.quiet || data_on_stdout_) return;
  end_progress();
  TextOutput out("-");
  out.write(text);
  out.finish();
}

void Console::show(const Page& page, size_t pages) {
  constexpr size_t kForFiles = 2;
  const auto most = static_cast<size_t>(options_.page_lines);
  print(options_.all ? page_text(page) : page_text(page, most < kMostLines ? most : (kMostLines - kForFiles) / pages));
}

void Console::warning(std::string_view text) {
  log("warning: " + std::string(text));
  if (options_.quiet) return;
  end_progress();
  put("stormcell: warning: " + one_line(text) + "\n");
}

void Console::error(std::string_view text) {
  end_progress();
  log("error: " + std::string(text));
  const std::string line = one_line(text);
  put(colour_ ? "\033[1mstormcell:\033[0m " + line + "\n" : "stormcell: " + line + "\n");
}

void Console::log(std::string_view text) {
  if (!log_) return;
  const std::string line = timestamp() + " " + one_line(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), log_);
  std::fflush(log_);
}

void Console::report(std::string_view stage, int64_t done, int64_t total) {
  if (stage != stage_) {
    end_stage();
    begin_stage(stage, done);
  }
  if (!terminal_ || Clock::now() - last_drawn_ < kBetweenDraws) return;
  draw(done, total);
}

void Console::expect(double low, double likely, double high) {
  const std::string line = "expected time: " + expected_words(low, likely, high);
  log(line);
  if (options_.quiet) return;
  end_progress();
  put(line + " (--time-limit SECONDS bounds it)\n");
}

void Console::expect_overrun(double limit, double least) {
  const std::string line = "the time limit of " + duration_words(limit) +
                           " will be overrun: work that is never left out takes " + expected_words(least, least) +
                           " (raise --time-limit)";
  log(line);
  if (options_.quiet) return;
  end_progress();
  put(line + "\n");
}

void Console::begin_stage(std::string_view stage, int64_t done) {
  stage_ = stage;
  stage_done_ = done;
  stage_begin_ = Clock::now();
  log(stage);
}

void Console::end_stage() {
  if (stage_.empty()) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - stage_begin_).count();
  if (options_.verbose && !options_.quiet && seconds >= 0.01) {
    end_progress();
    char text[32];
    std::snprintf(text, sizeof text, ": %.2f s\n", seconds);
    put(one_line(stage_) + text);
  }
  stage_.clear();
}

// "profiling 12 of 100, 34.5/s, 3 s left; 286 reads, 17.9 MiB, waited 0.2 s"
void Console::draw(int64_t done, int64_t total) {
  last_drawn_ = Clock::now();
  std::string line = stage_;
  const double seconds = std::chrono::duration<double>(last_drawn_ - stage_begin_).count();
  const double rate = seconds > 0 ? static_cast<double>(done - stage_done_) / seconds : 0;
  if (total > 0) line += " " + std::to_string(done) + " of " + std::to_string(total);
  if (total > 0 && rate > 0 && seconds > 0.3) {
    char text[32];
    std::snprintf(text, sizeof text, rate < 10 ? ", %.1f/s, " : ", %.0f/s, ", rate);
    line += text + duration_words(static_cast<double>(total - done) / rate) + " left";
  }
  if (!remark_.empty()) line += "; " + remark_;
  line = one_line(line);
  line.resize(std::min(line.size(), terminal_width() - 1));
  put("\r\033[K" + line);
  drawn_ = true;
}

void Console::end_progress() {
  if (!drawn_) return;
  put("\r\033[K");
  drawn_ = false;
}

}  // namespace stormcell::cli

// device_check: proves or disproves the GPU kernels on the card that is there, and measures them. No build, nothing but
// driver and CUDA libraries; every family of checks in a process of its own. Usage: --help. Exit: 0 all passed; 1
// something failed or had no time; 2 bad usage; 77 there is no card.
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <thread>

#include "gpu/launch/device.h"
#include "gpu/launch/stall.h"
#include "tests/gpu/device_check/card.h"
#include "tests/gpu/device_check/families.h"

namespace stormcell::device_check {
namespace {
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

void selftest_passes(const Task&, Report& report) { report.passed("passes"); }
void selftest_fails(const Task&, Report& report) { report.failed("fails", "on purpose"); }
void selftest_throws(const Task&, Report&) { throw Failure("on purpose"); }
void selftest_crashes(const Task&, Report& report) {
  report.passed("before the crash");
  std::abort();
}
void selftest_hangs(const Task&, Report& report) {
  report.passed("before the hang");
  report.begins("the case that hangs");
  for (;;) pause();
}
void selftest_stays(const Task& task, Report& report) {
  std::this_thread::sleep_for(std::chrono::duration<double>(task.seconds / 2));
  report.passed("knows its limit", std::to_string(static_cast<int>(task.seconds)) + " s");
}
constexpr Family kSelftests[] = {
    {"selftest-stays", selftest_stays, 1, false},    {"selftest-waits", selftest_stays, 60, false},
    {"selftest-passes", selftest_passes, 10, false}, {"selftest-fails", selftest_fails, 10, false},
    {"selftest-throws", selftest_throws, 10, false}, {"selftest-crashes", selftest_crashes, 10, false},
    {"selftest-hangs", selftest_hangs, 1, false},    {"selftest-sanitized", selftest_passes, 10, true}};

const Family* find_family(const std::string& name) {
  for (const Family& f : families())
    if (name == f.name) return &f;
  for (const Family& f : kSelftests)
    if (name == f.name) return &f;
  return nullptr;
}

struct Outcome {
  bool ended = false;
  int status = 0;
  std::string text;  // how it ended, where not well
};

// Runs a command with a limit, its output to a log; a process that is over its limit is killed with all its children.
// One that a hung driver keeps even then is left behind.
Outcome run_process(const std::vector<std::string>& command, const std::string& log, double seconds) {
  Outcome outcome;
  const pid_t child = fork();
  if (child < 0) return {false, -1, "fork failed"};
  if (child == 0) {
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // no family goes on without who reads its records
    const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (out >= 0) dup2(out, 1), dup2(out, 2);
    std::vector<char*> words;
    for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    execvp(words[0], words.data());
    _exit(127);
  }
  setpgid(child, child);
  const auto has_ended = [&](double within) {
    const auto until = Clock::now() + std::chrono::duration<double>(within);
    while (waitpid(child, &outcome.status, WNOHANG) == 0) {
      if (Clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  };
  if (!has_ended(seconds)) {
    kill(-child, SIGKILL);
    outcome.text =
        "killed after " + std::to_string(static_cast<int>(seconds)) + " s" + (has_ended(10) ? "" : ", and did not end");
    return outcome;
  }
  outcome.ended = WIFEXITED(outcome.status);
  if (WIFSIGNALED(outcome.status))
    outcome.text = std::string("ended by signal ") + strsignal(WTERMSIG(outcome.status));
  else if (WEXITSTATUS(outcome.status) == 127)
    outcome.text = "could not be started";
  return outcome;
}

std::string last_line(const std::string& path) {
  std::ifstream file(path);
  std::string line, last;
  while (std::getline(file, line))
    if (!line.empty()) last = line;
  return last;
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> words = {""};
  for (const char c : text)
    if (c == ',')
      words.emplace_back();
    else
      words.back() += c;
  return words;
}

struct Options {
  std::string out;
  std::vector<std::string> wanted;
  double seconds = 460;  // of all families together; what is killed at the end may take some more
  double rivals = 0;     // of PyTorch and Triton alone, after them; they compile for minutes
  bool sanitize = false;
  int blocks = 0;
  std::string points;  // as it was given; empty: all
  std::string card;    // or why there is none
};

// FIRST or FIRST-LAST.
bool find_points(const std::string& text, Task& task) {
  const size_t dash = text.find('-');
  task.first_point = std::atoi(text.c_str());
  task.last_point = dash == std::string::npos ? task.first_point : std::atoi(text.c_str() + dash + 1);
  return task.first_point >= 1 && task.last_point >= task.first_point;
}

// The records as JSON, with what they were measured on; true where it was written, or where no file was asked for.
bool write_records(const Options& options, const std::vector<Record>& records) {
  const std::string& path = options.out;
  if (path.empty()) return true;
  std::ofstream file(path);
  const std::time_t now = std::time(nullptr);
  char date[32];
  std::strftime(date, sizeof date, "%Y-%m-%d %H:%M", std::gmtime(&now));
  file << "{\"date\": \"" << date << " UTC\",\n";
  const auto field = [&](const char* name, const std::string& value) {
    file << " \"" << name << "\": " << quoted(value) << ",\n";
  };
  field("card", options.card);
  field("blocks", options.blocks > 0 ? std::to_string(options.blocks) : "all");
  field("points", options.points.empty() ? "all" : options.points);
  file << " \"records\": [\n";
  for (size_t i = 0; i < records.size(); ++i)
    file << "  " << to_json(records[i]) << (i + 1 < records.size() ? ",\n" : "\n");
  file << " ]}\n";
  file.flush();
  return static_cast<bool>(file);
}

class Checks {
 public:
  Checks(std::string self, Options options)
      : self_(std::move(self)), options_(std::move(options)), begin_(Clock::now()) {
    const char* temporary = std::getenv("TMPDIR");
    std::string pattern = std::string(temporary ? temporary : "/tmp") + "/device_check.XXXXXX";
    if (!mkdtemp(pattern.data())) throw Failure("no temporary folder: " + pattern);
    folder_ = pattern;
  }
  ~Checks() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  Checks(const Checks&) = delete;
  Checks& operator=(const Checks&) = delete;

  int run() {
    const bool all = options_.wanted.empty();
    if (all)
      for (const Family& f : families()) options_.wanted.emplace_back(f.name);
    for (const std::string& name : options_.wanted) run_family(*find_family(name), {});
    if (options_.rivals > 0) run_rivals();
    write_out();
    // Its findings are told and change no exit code: it takes registers that setmaxnreg has given away, and takes
    // wgmma's reads for races.
    if (options_.sanitize)
      for (const char* tool : {"memcheck", "racecheck", "synccheck"}) run_sanitizer(tool);
    print_sum();
    return failed_ ? 1 : 0;
  }

 private:
  double left() const { return options_.seconds - std::chrono::duration<double>(Clock::now() - begin_).count(); }

  void take(Record record) {
    failed_ = failed_ || record.result == "failed";
    std::string share;
    if (record.share > 0) share = std::to_string(static_cast<int>(record.share * 100 + 0.5)) + " %";
    std::printf("%-9s %-16s %-44s %-16s %-6s %s\n", record.result.c_str(), record.family.c_str(), record.name.c_str(),
                record.value.c_str(), share.c_str(), record.note.c_str());
    std::fflush(stdout);
    if (record.family == "limits" && record.name == "read bandwidth") read_bandwidth_ = record.number * 1e9;
    if (record.family == "limits" && record.name == "copy bandwidth") copy_bandwidth_ = record.number * 1e9;
    if (record.family == "limits" && record.name == "bf16 rate") bf16_rate_ = record.number * 1e12;
    records_.push_back(std::move(record));
  }

  /// With a prefix (compute-sanitizer and its options) only little cases run.
  void run_family(const Family& family, const std::vector<std::string>& prefix, const std::string& as = {}) {
    const std::string shown = as.empty() ? family.name : as;
    if (left() < 5) {
      failed_ = failed_ || prefix.empty();  // asked for and not run
      return take({shown, "all", "absent", "", "no time left"});
    }
    const std::string files = folder_ + "/" + shown + "-" + family.name, records = files + ".jsonl",
                      log = files + ".log";
    const double limit = std::min<double>(family.seconds, left());
    std::vector<std::string> command = prefix;
    for (const std::string& word :
         {self_, std::string("--family"), std::string(family.name), std::string("--records"), records,
          std::string("--ceilings"),
          std::to_string(read_bandwidth_) + "," + std::to_string(copy_bandwidth_) + "," + std::to_string(bf16_rate_)})
      command.push_back(word);
    command.emplace_back("--limit"), command.push_back(std::to_string(limit));
    if (options_.blocks > 0) command.emplace_back("--blocks"), command.push_back(std::to_string(options_.blocks));
    if (!options_.points.empty()) command.emplace_back("--points"), command.push_back(options_.points);
    if (!prefix.empty()) command.emplace_back("--small");
    const Outcome outcome = run_process(command, log, limit);
    std::ifstream file(records);
    size_t count = 0;
    std::string begun;  // the case that has come to no end
    for (std::string line; std::getline(file, line);) {
      Record record;
      if (!from_json(line, record)) continue;
      record.family = shown;
      if (record.result == "begun") {
        begun = record.name;
        continue;
      }
      begun.clear();
      if (!prefix.empty() && record.result == "failed")
        record.result = "absent", record.note = "under " + shown + ": " + record.note;
      if (prefix.empty() || record.result == "absent") take(record);
      ++count;
    }
    if (!outcome.ended || !outcome.text.empty())
      take({shown, "all", prefix.empty() ? "failed" : "absent", "",
            outcome.text + (begun.empty() ? "" : " in '" + begun + "'") + " after " + std::to_string(count) +
                " records; " + last_line(log)});
    else if (!prefix.empty())
      take({shown, family.name, WEXITSTATUS(outcome.status) == 0 ? "passed" : "absent", "",
            std::to_string(count) + " little cases; " + last_line(log)});
    else if (count == 0)
      take({shown, "all", "failed", "", "no records; " + last_line(log)});
    write_out();  // after each, so that nothing is lost where the machine goes
  }

  void run_rivals() {
    const std::string script = fs::path(self_).parent_path() / "rivals.py", records = folder_ + "/rivals.jsonl",
                      log = folder_ + "/rivals.log";
    if (!fs::exists(script))
      return take({"rivals", "PyTorch, Triton", "absent", "", "rivals.py is not beside device_check"});
    const std::string mine = folder_ + "/mine.jsonl";
    {
      std::ofstream file(mine);
      for (const Record& r : records_) file << to_json(r) << '\n';
    }
    const double limit = options_.rivals;  // the script ends by itself before
    const Outcome outcome = run_process({"python3", script, "--records", records, "--mine", mine, "--seconds",
                                         std::to_string(std::max(1.0, limit - 12))},
                                        log, limit);
    std::ifstream file(records);
    for (std::string line; std::getline(file, line);)
      if (Record record; from_json(line, record)) take(record);
    if (!outcome.ended || WEXITSTATUS(outcome.status) != 0)
      take({"rivals", "PyTorch, Triton", "absent", "",
            (outcome.text.empty() ? "" : outcome.text + "; ") + last_line(log)});
  }

  void run_sanitizer(const std::string& tool) {
    std::string program = "compute-sanitizer";
    if (fs::exists("/usr/local/cuda/bin/compute-sanitizer")) program = "/usr/local/cuda/bin/compute-sanitizer";
    if (left() < 5) return take({tool, "compute-sanitizer", "absent", "", "no time left"});
    if (const Outcome version = run_process({program, "--version"}, folder_ + "/sanitizer.log", std::min(20.0, left()));
        !version.ended || version.status != 0)
      return take({tool, "compute-sanitizer", "absent", "", "compute-sanitizer is not there"});
    for (const std::string& name : options_.wanted)
      if (const Family& family = *find_family(name); family.sanitized)
        run_family(family, {program, "--tool", tool, "--error-exitcode", "9"}, tool);
  }

  void write_out() const {
    if (!write_records(options_, records_))
      std::fprintf(stderr, "device_check: %s could not be written\n", options_.out.c_str());
  }
  void print_sum() const {
    const auto count = [&](const char* result) {
      return std::count_if(records_.begin(), records_.end(), [&](const Record& r) { return r.result == result; });
    };
    std::printf("%ld passed, %ld failed, %ld measured, %ld absent, %.0f s\n", static_cast<long>(count("passed")),
                static_cast<long>(count("failed")), static_cast<long>(count("measured")),
                static_cast<long>(count("absent")), options_.seconds - left());
  }

  std::string self_, folder_;
  Options options_;
  Clock::time_point begin_;
  std::vector<Record> records_;
  bool failed_ = false;
  double read_bandwidth_ = 0, copy_bandwidth_ = 0, bf16_rate_ = 0;
};

int run_one(const Family& family, const Task& task, const std::string& records) {
  Report report(family.name, records);
  if (task.blocks > 0) gpu::limit_multiprocessors(task.blocks);
  try {
    family.run(task, report);
  } catch (const std::exception& e) {
    const gpu::Status stall = gpu::check_stall();
    report.failed("stopped", std::string(stall.text()) + (stall.ok() ? "" : "; ") + e.what());
  }
  return report.all_passed() ? 0 : 1;
}

int usage(const std::string& what) {
  std::fprintf(stderr, "device_check: %s\n(device_check --help)\n", what.c_str());
  return 2;
}

int help() {
  std::printf(
      "device_check [OPTION]...: proves or disproves the GPU kernels on the card that is there, and measures them.\n"
      "  --out FILE           the records as JSON, written after each family\n"
      "  --families NAME,...  these families alone (--list), each in a process of its own\n"
      "  --seconds N          of all families together (460); what is over is killed, what is left is `absent` (exit "
      "1)\n"
      "  --rivals SECONDS     then PyTorch and Triton, in so many seconds of their own\n"
      "  --sanitize           then compute-sanitizer on the little cases of the families; its findings fail nothing\n"
      "  --blocks N           kernels that take a block a multiprocessor take at most N\n"
      "  --points FIRST[-LAST]  of bench-switch and bench-gated these points alone, from 1 on as --bounds lists them "
      "for each layer\n"
      "  --family NAME        one family in this process, without its limit: for ncu, a debugger and "
      "device_check_stall\n"
      "  --records FILE       with --family: where its records go, a line each (standard output)\n"
      "  --limit SECONDS      with --family: the time that it is to end in by itself\n"
      "  --ceilings A,B,C     with --family: bytes a second read and copied, FLOP a second, as `limits` measured them\n"
      "  --small              with --family: little cases alone\n"
      "  --compare A B        of two files of --out: the times that are in both, and how many times B's is A's\n"
      "  --calls FILE LAB     the products over rows of a file of --out as `stormcell calibrate` reads them; LAB: who "
      "measured\n"
      "  --bounds             the lower bounds of the points; needs no card\n"
      "  --list               the families\n"
      "Exit: 0 all passed; 1 something failed or had no time; 2 bad usage; 77 there is no card.\n");
  return 0;
}

int run(int argc, char** argv) {
  const std::string self = fs::read_symlink("/proc/self/exe");
  Options options;
  Task task;
  task.folder = fs::path(self).parent_path();
  std::string one, records = "/dev/stdout";
  bool bounds = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--list") {
      for (const Family& f : families()) std::printf("%s\n", f.name);
      return 0;
    }
    if (option == "--help") return help();
    if (option == "--bounds") {
      bounds = true;
      continue;
    }
    if (option == "--sanitize") {
      options.sanitize = true;
      continue;
    }
    if (option == "--small") {
      task.small = true;
      continue;
    }
    if (i + 1 >= argc) return usage(option + ": unknown, or its value is missing");
    const std::string value = argv[++i];
    if (option == "--compare") {
      if (i + 1 >= argc) return usage("--compare: two files");
      std::string why;
      return compare(value, argv[i + 1], why) ? 0 : usage("--compare: " + why);
    }
    if (option == "--calls") {
      if (i + 1 >= argc) return usage("--calls: a file and who measured it");
      std::string why;
      return print_calls(value, argv[i + 1], why) ? 0 : usage("--calls: " + why);
    }
    if (option == "--out")
      options.out = value;
    else if (option == "--families")
      options.wanted = split(value);
    else if (option == "--seconds") {
      options.seconds = std::atof(value.c_str());
      if (!(options.seconds > 0)) return usage("--seconds: '" + value + "' is not a time");
    } else if (option == "--rivals") {
      options.rivals = std::atof(value.c_str());
      if (!(options.rivals > 0)) return usage("--rivals: '" + value + "' is not a time");
    } else if (option == "--blocks") {
      options.blocks = task.blocks = std::atoi(value.c_str());
      if (options.blocks < 1) return usage("--blocks: '" + value + "' is not a number of blocks");
    } else if (option == "--points") {
      options.points = value;
      if (!find_points(value, task)) return usage("--points: '" + value + "' (FIRST or FIRST-LAST, from 1 on)");
    } else if (option == "--limit")
      task.seconds = std::atof(value.c_str());
    else if (option == "--family")
      one = value;
    else if (option == "--records")
      records = value;
    else if (option == "--ceilings") {
      const auto numbers = split(value);
      if (numbers.size() != 3) return usage("--ceilings: three numbers");
      task.read_bandwidth = std::atof(numbers[0].c_str()), task.copy_bandwidth = std::atof(numbers[1].c_str());
      task.bf16_rate = std::atof(numbers[2].c_str());
    } else {
      return usage(option + ": unknown");
    }
  }
  if (bounds) {
    print_bounds();
    return 0;
  }
  if (!one.empty()) options.wanted = {one};
  for (const std::string& name : options.wanted)
    if (!find_family(name)) return usage("no family '" + name + "' (--list)");
  if (!one.empty()) return run_one(*find_family(one), task, records);
  const bool needs_card =
      options.wanted.empty() || std::any_of(options.wanted.begin(), options.wanted.end(),
                                            [](const std::string& name) { return name.rfind("selftest-", 0) != 0; });
  std::string why;
  const bool lacks_card = needs_card && !has_card(why);
  options.card = lacks_card ? "none: " + why : needs_card ? card_text() : "not asked for";
  if (!write_records(options, {})) return usage("--out: " + options.out + " cannot be written");
  if (lacks_card) {
    std::printf("device_check: no card to check: %s\n", why.c_str());
    write_records(options, {{"limits", "card", "absent", "", why}});
    return 77;
  }
  return Checks(self, options).run();
}

}  // namespace
}  // namespace stormcell::device_check

int main(int argc, char** argv) {
  try {
    return stormcell::device_check::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "device_check: %s\n", e.what());
    return 1;
  }
}

#include "core/planning/nccl_tests.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/planning/call_labels.h"
#include "core/planning/launched_line.h"

namespace stormcell {
namespace {

using Words = std::vector<std::string>;

constexpr const char* kWhole = "give the output of all_reduce_perf or alltoall_perf as it was printed";
constexpr const char* kWithMpi =
    "build nccl-tests with MPI=1 and start it by mpirun, or give one process more GPUs by -g N";
// size, count, type, redop, root, then time, algbw, busbw and wrong values, out of place and in place. Outputs of 2021
// and before have no root, an error instead of wrong values, and of collectives that reduce nothing no redop.
constexpr size_t kSize = 0, kRedop = 3, kRoot = 4, kMeasured = 8, kLeastFields = 3 + kMeasured;
constexpr size_t kTime = 0, kAlgbw = 1, kBusbw = 2, kWrong = 3;  // columns of those that are measured
constexpr std::string_view kStamp = "timestamp";  // the last column with -S 1: a date and a time, which are two words

bool is_columns(const LaunchedLine& line) {
  const Words& words = line.words;
  return line.comment && words.size() > kLeastFields && words[1] == "size" && words[2] == "count" &&
         words[3] == "type" && words[4] == "redop";
}

bool is_whole(const std::string& word) {
  return !word.empty() && word.find_first_not_of("0123456789") == std::string::npos;
}
/// True if the line has enough words after the launcher's, and they begin with a size, a count and a type.
bool is_like_row(const Words& words, size_t behind = 0) {
  if (words.size() < behind + kLeastFields || !is_whole(words[behind]) || !is_whole(words[behind + 1])) return false;
  const char type = words[behind + 2][0];
  return type >= 'a' && type <= 'z';
}

/// "alltoall" of "alltoall_perf" and of "alltoall_perf_mpi".
std::string base_name(const std::string& program) { return program.substr(0, program.find("_perf")); }
std::string as_one_word(std::string name) {
  std::erase_if(name, [](char c) { return c == '_' || c == '-'; });
  return name;
}

/// A collective that the file names.
struct Named {
  std::string name;  ///< without "_perf"
  int64_t line = 0;  ///< the line that names it; 0: no line does
};

class NcclTestsReader {
 public:
  NcclTestsReader(const std::string& text, const std::string& path, double nic_gbit)
      : in_(text), path_(path), nic_gbit_(nic_gbit) {}

  NcclTests read() {
    for (std::string text; std::getline(in_, text);) {
      ++number_;
      LaunchedLine line = launched_line(text);
      if (line.words.empty() || is_message(text, line.words)) continue;
      // In a table, a '#' after words that are not the launcher's does not begin a comment: two processes may have
      // mixed a row and a comment.
      if (line.comment && (!table_open_ || line.before == before_ || is_columns(line)))
        read_comment(line);
      else if (table_open_)
        read_in_table(line.words);
      else
        read_outside(line.words);
    }
    if (unjudged_) wrong_unjudged();
    if (begun_ > 0)
      wrong("ends before the rows of the run that begins in line " + std::to_string(begun_) +
                ": the run broke off, or the file was cut",
            "run it again, or cut the file before line " + std::to_string(begun_));
    return std::move(out_);
  }

 private:
  /// True for NCCL's own messages. A line above a run that names a program is its command.
  bool is_message(const std::string& text, const Words& words) const {
    return text.find("NCCL ") != std::string::npos && (table_open_ || named_perf(words).empty());
  }
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = kWhole) const {
    bad_input(path_ + ": line " + std::to_string(number_), what, advice);
  }
  [[noreturn]] void wrong_unjudged() const {
    wrong(
        "ends before \"Out of bounds values\", which says whether all results are right: the run broke off, or the "
        "file was cut");
  }
  [[noreturn]] void broken() const {
    wrong("has wrong values: NCCL computed wrong results", "repair the GPUs, links or drivers, then run it again");
  }

  void read_comment(const LaunchedLine& line) {
    const Words& words = line.words;
    if (is_columns(line)) return open_table(line);
    if (words.size() > 2 && words[1] == "Rank" && is_whole(words[2])) return read_rank(words);
    if (words.size() > 4 && words[1] == "Collective") {
      if (words[3] != "starting:") return;
      collective_ = {.name = base_name(words[4]), .line = number_};
    }
    if (is_head(words)) {
      if (begun_ == 0) begun_ = number_;
      in_list_ = false;
      return;
    }
    read_command(words);
    if (words.size() > 4 && words[1] == "Out" && words[3] == "bounds") close_table(words.back());
  }

  void open_table(const LaunchedLine& line) {
    if (ended_) wrong("begins a table without a list of ranks of its own");
    Words columns(line.words.begin() + 1, line.words.end());
    has_stamp_ = columns.back() == kStamp;
    if (has_stamp_) columns.pop_back();
    const auto measured = std::find_if(columns.begin(), columns.end(),
                                       [](const std::string& c) { return c == "time" || c == "cputime"; });
    if (measured != columns.end() && *measured == "cputime")
      wrong("times are those of the processor (-C 1), not of the collectives", "run it without -C");
    if (columns.end() - measured != static_cast<std::ptrdiff_t>(kMeasured))
      wrong("is an unknown line of column names: the last one is " + in_quotes(columns.back()));
    fields_ = columns.size(), has_root_ = columns[4] == "root", has_errors_ = columns.back() == "error";
    before_ = line.before, table_open_ = true;
    check_ranks();
  }

  void close_table(const std::string& verdict) {
    if (verdict == "FAILED") broken();
    if (!table_open_ && list_without_rows_ > 0)
      wrong("ends a second run, and line " + std::to_string(list_without_rows_) +
                " began one without rows of its own: several processes ran side by side, and their rows are mixed",
            kWithMpi);
    unjudged_ = table_open_ = in_message_ = in_list_ = false, ended_ = true, begun_ = 0;
    collective_ = command_ = {};
  }

  /// Lines that a run prints before its list of ranks.
  static bool is_head(const Words& words) {
    if (words.size() < 3) return false;
    return words[1] == "nThread" || words[1] == "Collective" || (words[1] == "Using" && words[2] == "devices");
  }

  /// "#  Rank  0 Group  0 Pid  12345 on  host-a device  0 [0x1b] NVIDIA H100 80GB HBM3"
  void read_rank(const Words& words) {
    // Processes that run side by side print their heads first, then their lists.
    const auto same = ranks_.find(words[2]);
    const bool begins = same != ranks_.end() && (!in_list_ || same->second == first_rank_);
    if (table_open_ || ended_ || begins)
      begin_list();
    else if (same != ranks_.end())
      wrong("rank " + words[2] + " occurs twice, first in line " + std::to_string(same->second));
    if (ranks_.empty()) first_rank_ = number_;
    if (begun_ == 0) begun_ = number_;
    in_list_ = true;
    // The host, "device", its number, its bus, the name.
    const auto on = std::find(words.begin(), words.end(), "on");
    if (words.end() - on < 6 || on[2] != "device") wrong("is not a line of a rank and its device");
    std::string name;
    for (auto word = on + 5; word != words.end(); ++word) name += (name.empty() ? "" : " ") + *word;
    const std::string gpu = gpu_label(name);
    if (!gpu_.empty() && gpu != gpu_)
      wrong("is of " + in_quotes(gpu) + ", the ranks before of " + in_quotes(gpu_), "GPUs of one kind make a call");
    gpu_ = gpu, ++ranks_of_[on[1]], ranks_.emplace(words[2], number_);
    if (words.size() > 4 && words[3] == "Group") groups_.insert(words[4]);
  }

  /// A list of ranks begins a new run, even if the run before has not ended.
  void begin_list() {
    if (unjudged_) wrong_unjudged();
    if (!ranks_.empty() && !ended_) {
      list_without_rows_ = first_rank_;
      out_.warnings.push_back(path_ + ": line " + std::to_string(first_rank_) + ": begins a run of " +
                              counted(std::ssize(ranks_), "rank") + " that printed no row; it is left out");
      begun_ = number_;
    }
    if (ended_) list_without_rows_ = 0;
    ranks_.clear(), ranks_of_.clear(), groups_.clear(), gpu_.clear();
    fields_ = 0, table_open_ = ended_ = in_message_ = false;
  }

  void check_ranks() const {
    for (size_t r = 0; r < ranks_.size(); ++r)
      if (!ranks_.contains(std::to_string(r)))
        wrong("the list of ranks above lacks rank " + std::to_string(r) + " of " + std::to_string(ranks_.size() + 1));
    if (groups_.size() > 1)
      wrong("the ranks above are " + std::to_string(groups_.size()) + " groups, each with an exchange of its own",
            "run it without NCCL_TESTS_SPLIT");
  }

  /// Other lines between two runs are skipped; one of them may show the command.
  void read_outside(const Words& words) {
    constexpr size_t kMostBefore = 8;  // number of words of a launcher
    for (size_t behind = 0; behind < kMostBefore; ++behind)
      if (is_like_row(words, behind)) wrong("is before the line of columns");
    read_command(words);
  }

  void read_command(const Words& words) {
    if (const std::string name = named_perf(words); !name.empty())
      command_ = command_before_ = {.name = base_name(name), .line = number_};
  }

  void read_in_table(const Words& words) {
    Words row(words.begin() + std::min(before_, words.size()), words.end());
    if (has_stamp_ && row.size() > 2 && row.back().find(':') != std::string::npos) row.resize(row.size() - 2);
    if (!is_like_row(row)) {
      const bool rule = is_rule_of_mpirun(row);
      if (rule) in_message_ = !in_message_;
      if (rule || in_message_ || is_said_by_launcher(row)) return;
    }
    read_row(row);
  }

  double number(const std::string& word, const char* name) const {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value) || value < 0)
      wrong(std::string(name) + " is " + in_quotes(word) + ", no number from 0");
    return value;
  }

  void read_row(const Words& words) {
    const bool no_redop = !has_root_ && words.size() + 1 == fields_;
    if (words.size() < kLeastFields || (words.size() != fields_ && !no_redop))
      wrong("has " + std::to_string(words.size()) + " fields, the line of columns has " + std::to_string(fields_));
    const double size = number(words[kSize], "size");
    if (size == 0) return;
    const std::string* const measured = &words[words.size() - kMeasured];
    const double us = number(measured[kTime], "time");
    if (!(us > 0)) wrong("time is 0");
    // An error is what rounding leaves; whether it is too large the last lines say.
    unjudged_ = true;
    if (measured[kWrong] != "N/A" && number(measured[kWrong], "#wrong") != 0 && !has_errors_) broken();
    check_shape();
    MeasuredCall c;
    const bool has_no_root = !has_root_ || words[kRoot] == "-1";
    c.op = to_text(op_of(no_redop ? "none" : words[kRedop], has_no_root, measured)), c.mode = "nccl", c.gpu = gpu_;
    c.id = std::filesystem::path(path_).filename().string() + ":" + std::to_string(number_),
    c.source = "nccl-tests: " + std::filesystem::path(path_).filename().string();
    c.nodes = std::ssize(ranks_of_), c.ranks = std::ssize(ranks_), c.gpus_per_node = c.ranks / c.nodes;
    c.nic_gbit = c.nodes > 1 ? nic_gbit_ : 0;
    c.tokens_per_rank = 1, c.top_k = 1, c.bytes_per_copy = size, c.us = us;
    out_.calls.push_back(c);
  }

  void check_shape() const {
    const int64_t ranks = std::ssize(ranks_);
    if (ranks == 1 && list_without_rows_ > 0)
      wrong("each process ran alone, as rank 0, so nothing was exchanged: lines " + std::to_string(list_without_rows_) +
                " and " + std::to_string(first_rank_),
            kWithMpi);
    if (ranks < 2)
      wrong("the list of ranks above has " + counted(ranks, "rank") + ", so nothing was exchanged", kWithMpi);
    for (const auto& [host, of_host] : ranks_of_)
      if (of_host * std::ssize(ranks_of_) != ranks)
        wrong("the hosts above have different numbers of ranks", "run as many on each host");
    if (ranks_of_.size() > 1 && !(nic_gbit_ > 0))
      wrong("the ranks above are on " + std::to_string(ranks_of_.size()) +
                " hosts, and the output does not say by which network cards",
            "--nic-gbit N, of one GPU's card");
  }

  /// The collective of the output. Older versions do not name it. Then the command above the rows decides. Without a
  /// command, the file's name decides about rows that reduce nothing, because an all-to-all and an all-gather look
  /// alike. A sum that moves 2 (n - 1) / n of its bytes is an all-reduce.
  CallKind op_of(const std::string& redop, bool has_no_root, const std::string* measured) const {
    const bool reduces = redop != "none";
    const Named& named = collective_.line > 0 ? collective_ : command_;
    if (named.line > 0) return named_op(named, redop, has_no_root);
    const bool like_others = !reduces || ranks_.size() == 2;  // between two GPUs a reduce looks like an all-reduce
    if (like_others && command_before_.line > 0 &&
        as_one_word(command_before_.name) != (reduces ? "allreduce" : "alltoall"))
      wrong("does not say its collective, and line " + std::to_string(command_before_.line) + " names " +
                command_before_.name + "_perf for an earlier run",
            "keep the line with the command above each run");
    if (!reduces) {
      if (as_one_word(std::filesystem::path(path_).filename().string()).find("alltoall") != std::string::npos)
        return CallKind::alltoall;
      wrong("does not say its collective",
            "write the command above the run; if it was alltoall_perf, name the file alltoall.txt");
    }
    const double algbw = number(measured[kAlgbw], "algbw"), busbw = number(measured[kBusbw], "busbw");
    const double n = ranks_.size(), twice = 2 * (n - 1) / n;
    // Rounded to hundredths: of small calls nothing is seen.
    const bool may_be_sum = std::fabs(busbw - twice * algbw) < 0.01 * (1 + twice) + 1e-3 * busbw;
    // Between two GPUs a reduce moves as much as an all-reduce, but it has a root.
    if (has_no_root && may_be_sum) return CallKind::all_reduce;
    wrong("is neither all_reduce_perf nor alltoall_perf, by its rates and its root");
  }

  CallKind named_op(const Named& named, const std::string& redop, bool has_no_root) const {
    const std::string word = as_one_word(named.name), program = named.name + "_perf";
    if (word != "alltoall" && word != "allreduce")
      wrong("is " + program + " by line " + std::to_string(named.line) + ", which is not read");
    const bool sums = word == "allreduce";
    if (sums == (redop == "none"))
      wrong("has the redop " + in_quotes(redop) + ", which " + program + " of line " + std::to_string(named.line) +
            " never has");
    if (sums && !has_no_root) wrong("has a root, which " + program + " never has");
    return sums ? CallKind::all_reduce : CallKind::alltoall;
  }

  std::istringstream in_;
  const std::string& path_;
  const double nic_gbit_;
  int64_t number_ = 0;
  // The current run.
  Named collective_;      // as the run printed it
  Named command_;         // in the command above the run
  Named command_before_;  // in the last command of the file, of this run or of one before
  std::string gpu_;
  std::map<std::string, int64_t> ranks_;     // line of each rank, by its number
  std::set<std::string> groups_;             // their numbers
  std::map<std::string, int64_t> ranks_of_;  // by host
  int64_t first_rank_ = 0;                   // line of its list of ranks
  int64_t begun_ = 0;                        // line that begins it, until its verdict; 0: no run is open
  bool in_list_ = false;                     // the line before, messages apart, was a rank's
  int64_t list_without_rows_ = 0;   // line of a list of ranks that another one followed before any row; 0: none
  size_t fields_ = 0, before_ = 0;  // number of columns, and of the launcher's words before them
  bool has_root_ = true, has_errors_ = false, has_stamp_ = false;
  bool table_open_ = false;  // the line of columns has been read, the verdict has not
  bool ended_ = false;       // the verdict has been read
  bool in_message_ = false;  // within a message of mpirun, between two lines of dashes
  bool unjudged_ = false;    // there are rows that no verdict covers yet
  NcclTests out_;
};

}  // namespace

bool is_nccl_tests(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (is_columns(launched_line(line))) return true;
  return false;
}

NcclTests parse_nccl_tests(const std::string& text, const std::string& path, double nic_gbit) {
  return NcclTestsReader(text, path, nic_gbit).read();
}

}  // namespace stormcell

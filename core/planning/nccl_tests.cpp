#include "core/planning/nccl_tests.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/planning/call_labels.h"

namespace stormcell {
namespace {

constexpr const char* kWhole = "give the output of all_reduce_perf or alltoall_perf as it was printed";
// size, count, type, redop, root, then time, algbw, busbw and wrong values, out of place and in place. Outputs of 2021 and before have no
// root, an error instead of wrong values, and of collectives that reduce nothing no redop.
constexpr size_t kSize = 0, kRedop = 3, kMeasured = 8, kLeastFields = 3 + kMeasured;
constexpr size_t kTime = 0, kAlgbw = 1, kBusbw = 2, kWrong = 3;  // of those that are measured

/// Without the rank that mpirun --tag-output puts before a line: "[1,0]<stdout>:".
std::vector<std::string> words_of(std::string line) {
  if (const auto tag = line.find(">:"); line.starts_with('[') && tag != std::string::npos && line.find("]<std") < tag)
    line.erase(0, tag + 2);
  std::istringstream in(line);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool is_columns(const std::vector<std::string>& words) {
  return words.size() > kLeastFields && words[0] == "#" && words[1] == "size" && words[2] == "count" && words[3] == "type" &&
         words[4] == "redop";
}

class NcclTestsReader {
 public:
  NcclTestsReader(const std::string& text, const std::string& path, double nic_gbit) : in_(text), path_(path), nic_gbit_(nic_gbit) {}

  std::vector<MeasuredCall> read() {
    while (std::getline(in_, line_)) {
      ++number_;
      const std::vector<std::string> words = words_of(line_);
      if (words.empty() || line_.find("NCCL ") != std::string::npos) continue;  // what NCCL says of itself
      if (words[0].starts_with('#'))
        read_comment(words);
      else
        read_row(words);
    }
    if (unjudged_) wrong("ends before \"Out of bounds values\", which says whether all came out right: the run broke off, or was cut");
    return std::move(calls_);
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = kWhole) const {
    bad_input(path_ + ": line " + std::to_string(number_), what, advice);
  }

  void read_comment(const std::vector<std::string>& words) {
    if (is_columns(words)) fields_ = words.size() - 1, has_root_ = words[5] == "root", has_errors_ = words.back() == "error";
    if (words.size() > 8 && words[1] == "Rank") return read_rank(words);
    if (words.size() > 4 && words[1] == "Collective" && words[3] == "starting:") collective_ = words[4];
    if (words.size() > 4 && words[1] == "Out" && words[3] == "bounds") {
      if (words.back() == "FAILED") broken();
      unjudged_ = false;
    }
  }
  [[noreturn]] void broken() const { wrong("has wrong values: the run is broken", "mend what NCCL runs on first"); }

  /// "#  Rank  0 Group  0 Pid  12345 on  host-a device  0 [0x1b] NVIDIA H100 80GB HBM3"
  void read_rank(const std::vector<std::string>& words) {
    const auto on = std::find(words.begin(), words.end(), "on");
    // The host, "device", its number, its bus, the name.
    if (words.end() - on < 6 || on[2] != "device") wrong("is no line of a rank and its device");
    std::string name;
    for (auto word = on + 5; word != words.end(); ++word) name += (name.empty() ? "" : " ") + *word;
    const std::string gpu = gpu_label(name);
    if (!gpu_.empty() && gpu != gpu_)
      wrong("is of " + in_quotes(gpu) + ", the ranks before of " + in_quotes(gpu_), "GPUs of one kind make a call");
    gpu_ = gpu, ++ranks_of_[on[1]], ++ranks_;
  }

  double number(const std::string& word, const char* name) const {
    double value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value) || value < 0)
      wrong(std::string(name) + " is " + in_quotes(word) + ", no number from 0");
    return value;
  }

  void read_row(const std::vector<std::string>& words) {
    if (fields_ == 0) wrong("stands before the line of columns");
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
    c.op = op_of(no_redop ? "none" : words[kRedop], measured), c.mode = "nccl", c.gpu = gpu_;
    c.id = std::filesystem::path(path_).filename().string() + ":" + std::to_string(number_),
    c.source = "nccl-tests: " + std::filesystem::path(path_).filename().string();
    c.nodes = static_cast<int64_t>(ranks_of_.size()), c.ranks = ranks_, c.gpus_per_node = ranks_ / c.nodes;
    c.nic_gbit = c.nodes > 1 ? nic_gbit_ : 0;
    c.tokens_per_rank = 1, c.top_k = 1, c.bytes_per_copy = size, c.us = us;
    calls_.push_back(c);
  }

  void check_shape() const {
    if (ranks_ < 2)
      wrong("there is no exchange of " + std::to_string(ranks_) + " ranks, by the lines of ranks above", "run it on at least two GPUs");
    for (const auto& [host, ranks] : ranks_of_)
      if (ranks * static_cast<int64_t>(ranks_of_.size()) != ranks_)
        wrong("the hosts above have unlike numbers of ranks", "run as many on each host");
    if (ranks_of_.size() > 1 && !(nic_gbit_ > 0))
      wrong("the ranks above are on " + std::to_string(ranks_of_.size()) + " hosts, and the output does not say by which network cards",
            "--nic-gbit N, of one GPU's card");
  }

  /// By what it says; older versions say nothing: then a sum that moves twice (n - 1) / n of its bytes is an all-reduce, and the file's
  /// name tells an all-to-all from an all-gather, whose rows look alike.
  std::string op_of(const std::string& redop, const std::string* measured) const {
    std::string told = collective_.empty() && redop == "none" ? std::filesystem::path(path_).filename().string() : collective_;
    std::erase_if(told, [](char c) { return c == '_' || c == '-'; });
    if (told.find("alltoall") != std::string::npos) return "alltoall";
    const double algbw = number(measured[kAlgbw], "algbw"), busbw = number(measured[kBusbw], "busbw");
    const double n = static_cast<double>(ranks_), twice = 2 * (n - 1) / n;
    // Rounded to hundredths: of small calls nothing is seen.
    const bool may_be_sum = std::fabs(busbw - twice * algbw) < 0.01 * (1 + twice) + 1e-3 * busbw;
    if (told.find("allreduce") != std::string::npos || (told.empty() && may_be_sum)) return "all_reduce";
    wrong("is neither all_reduce_perf nor alltoall_perf, or does not say so", "name the file of an all-to-all alltoall.txt");
  }

  std::istringstream in_;
  const std::string& path_;
  const double nic_gbit_;
  std::string line_, collective_, gpu_;
  int64_t number_ = 0, ranks_ = 0;
  std::map<std::string, int64_t> ranks_of_;  // by host
  size_t fields_ = 0;                        // of the line of columns; 0: not there yet
  bool has_root_ = true, has_errors_ = false;
  bool unjudged_ = false;  ///< there are rows of which no line has said yet whether they are right
  std::vector<MeasuredCall> calls_;
};

}  // namespace

bool is_nccl_tests(const std::string& text) {
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);)
    if (is_columns(words_of(line))) return true;
  return false;
}

std::vector<MeasuredCall> parse_nccl_tests(const std::string& text, const std::string& path, double nic_gbit) {
  return NcclTestsReader(text, path, nic_gbit).read();
}

}  // namespace stormcell

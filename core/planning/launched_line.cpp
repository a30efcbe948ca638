#include "core/planning/launched_line.h"

#include <algorithm>
#include <sstream>

namespace stormcell {
namespace {

constexpr std::string_view kSpace = " \t\r\f\v";
constexpr std::string_view kPerf = "_perf", kPerfMpi = "_perf_mpi";  // ends of the programs' names

std::vector<std::string> split(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Removes the sequences by which terminals colour text (ECMA-48): ESC [, parameters, and a letter.
std::string without_colours(std::string_view line) {
  std::string plain;
  for (size_t at = 0; at < line.size(); ++at) {
    if (!line.substr(at).starts_with("\x1b[")) {
      plain += line[at];
      continue;
    }
    for (at += 2; at < line.size() && line[at] >= ' ' && line[at] < '@';) ++at;
  }
  return plain;
}

std::string_view without_tag(std::string_view line) {
  constexpr size_t kMostTag = 300;  // characters of host names and times
  for (const std::string_view stream : {"<stdout>:", "<stderr>:"})
    if (const size_t at = line.substr(0, kMostTag).find(stream); at != std::string_view::npos)
      return line.substr(at + stream.size());
  return line;
}

/// A '#' within a word does not begin a comment, unless a tag is joined to it: "0:#", "name|#".
size_t comment_in(std::string_view line) {
  for (size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1))
    if (at == 0 || kSpace.find(line[at - 1]) != std::string_view::npos ||
        std::string_view(":|]>").find(line[at - 1]) != std::string_view::npos)
      return at;
  return std::string_view::npos;
}

}  // namespace

LaunchedLine launched_line(std::string_view line) {
  LaunchedLine out;
  const std::string plain = without_colours(line);
  line = without_tag(plain);
  const size_t at = comment_in(line);
  if (at == std::string_view::npos) {
    out.words = split(line);
    return out;
  }
  out.comment = true;
  out.before = split(line.substr(0, at)).size();
  out.words = split(line.substr(at + 1));
  out.words.insert(out.words.begin(), "#");
  return out;
}

bool is_rule_of_mpirun(const std::vector<std::string>& words) {
  constexpr size_t kShortest = 20;
  return words.size() == 1 && words[0].size() >= kShortest && words[0].find_first_not_of('-') == std::string::npos;
}

bool is_said_by_launcher(const std::vector<std::string>& words) {
  if (words.empty()) return false;
  const std::string& first = words[0];
  if (first.starts_with('[') && first.ends_with(']') && first.find(':') != std::string::npos) return true;
  std::string small = first;
  std::transform(small.begin(), small.end(), small.begin(),
                 [](unsigned char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c); });
  return small == "warning:" || small == "libibverbs:";
}

std::string named_perf(const std::vector<std::string>& words) {
  constexpr std::string_view kName = "abcdefghijklmnopqrstuvwxyz_";
  std::string name;
  for (std::string_view word : words) {
    // The command may be in quotes, or behind "cmd=".
    word = word.substr(0, word.find_last_of(kName) + 1);
    word = word.substr(word.find_last_of("/=\"'(`") + 1);
    if (word.find_first_not_of(kName) != std::string_view::npos || word.size() <= kPerf.size()) continue;
    if (!word.ends_with(kPerf) && !word.ends_with(kPerfMpi)) continue;
    if (!name.empty() && name != word) return {};
    name = word;
  }
  return name;
}

}  // namespace stormcell

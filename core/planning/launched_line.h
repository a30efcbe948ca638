// Lines of a program as launchers and collectors of logs hand them on: a tag of the rank, a time, a name of a host or pod before each.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

struct LaunchedLine {
  bool comment = false;            ///< it has a '#' that begins a word
  size_t before = 0;               ///< so many words are before the '#' of a comment
  std::vector<std::string> words;  ///< of a comment from its '#' on, which is a word of its own; else all
};

/// mpirun's "[1,0]<stdout>:" ends what it put before a line, whatever that is: it is cut off, and is no word.
LaunchedLine launched_line(std::string_view line);
/// The first and last line of a message that Open MPI prints: dashes alone.
bool is_rule_of_mpirun(const std::vector<std::string>& words);
/// A message of mpirun about a process, "[host:pid] ...", or a warning of a library.
bool is_said_by_launcher(const std::vector<std::string>& words);
/// NAME of the first "NAME_perf" in it, as a shell prints a command that it runs; empty: there is none.
std::string named_perf(const std::vector<std::string>& words);

}  // namespace stormcell

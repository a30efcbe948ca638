// Reads lines of a program through launchers and log collectors, which put a tag of the rank, a time, or a host or pod
// name before each line.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

struct LaunchedLine {
  bool comment = false;  ///< the line has a '#' that begins a word
  size_t before = 0;     ///< the number of words before the '#' of a comment
  /// for a comment the words from its '#' on, which is a word of its own; else all words
  std::vector<std::string> words;
};

/// "[1,0]<stdout>:" ends what mpirun puts before a line. All of it is cut off and is not a word.
/// Nor are the escape sequences by which programs colour text for a terminal.
LaunchedLine launched_line(std::string_view line);
/// True for the first and the last line of a message of Open MPI: only dashes.
bool is_rule_of_mpirun(const std::vector<std::string>& words);
/// True for a message of mpirun about a process, "[host:pid] ...", and for a library's warning.
bool is_said_by_launcher(const std::vector<std::string>& words);
/// The program "NAME_perf" or "NAME_perf_mpi" that the line names, as a shell prints a command that it runs. Empty if
/// it names none, or several: a list of programs is no command.
std::string named_perf(const std::vector<std::string>& words);

}  // namespace stormcell

// Runs a program once, as a process of its own.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"

namespace stormcell {

struct ChildResult {
  int exit = 0;        ///< exit status as a shell has it: 128 + signal if the process was killed
  std::string errors;  ///< its standard error, the last 64 KiB
};

inline constexpr const char* kThisProgram = "/proc/self/exe";

struct ChildOptions {
  std::vector<std::string> arguments;
  std::string folder = ".";                 ///< folder in which the process starts
  bool silent = false;                      ///< the process's standard output is discarded
  std::string program = kThisProgram;       ///< path of the program
  std::string_view called_for = "process";  ///< first words of the error if no process can be started
};

/// Runs the program and waits for its end. When `cancel` is raised, the child is asked to end once, and waited for.
ChildResult run_child(const ChildOptions& options, const CancellationToken& cancel);

}  // namespace stormcell

// One call of a program as a process of its own.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"

namespace stormcell {

struct ChildResult {
  int exit = 0;        ///< as a shell counts: 128 + signal for a killed one
  std::string errors;  ///< its standard error, the last 64 KiB
};

inline constexpr const char* kThisProgram = "/proc/self/exe";

struct ChildOptions {
  std::vector<std::string> arguments;
  std::string folder = ".";                 ///< where it starts
  bool silent = false;                      ///< its standard output goes nowhere
  std::string program = kThisProgram;       ///< file
  std::string_view called_for = "process";  ///< begins the error where no process can be started
};

/// Runs the program and waits; when `cancel` is raised the child is asked to end, once, and waited for.
ChildResult run_child(const ChildOptions& options, const CancellationToken& cancel);

}  // namespace stormcell

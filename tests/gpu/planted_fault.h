// A process of its own in which a fault is planted: a kernel that takes poison for an address ends it, and that is found
// too.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <exception>

#include "core/base/error.h"

namespace stormcell::testing {

/// True where `differs` says so, throws, or ends the process.
template <class Differs>
bool is_found_in_a_process(const Differs& differs) {
  const pid_t child = fork();
  if (child < 0) failed("test", "no process");
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);  // Qt Test would print a backtrace
    bool found = true;
    try {
      found = differs();
    } catch (const std::exception&) {  // of the device, or of a host that was told sizes that are none
    }
    _exit(found ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status != 0;
}

}  // namespace stormcell::testing

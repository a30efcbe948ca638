// Threads that the system may refuse.
#pragma once
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "core/base/error.h"

namespace stormcell {

/// A thread that runs f(). Throws Error(failed) if the system has no room for one more.
template <class F>
std::thread start_thread(F&& f) {
  try {
    return std::thread(std::forward<F>(f));
  } catch (const std::system_error& e) {
    failed("threads", std::string("another one cannot be started: ") + e.code().message(),
           "use fewer --threads, or raise the limits on memory and processes: ulimit -v, ulimit -u");
  }
}

}  // namespace stormcell

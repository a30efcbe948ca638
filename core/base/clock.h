// The clock that durations are taken from: it only goes on.
#pragma once
#include <chrono>

namespace stormcell {

/// Since some moment that stays the same while the program runs.
inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace stormcell

// Memory of this process as the system counts it.
#pragma once
#include <cstdint>
#include <string>

namespace stormcell {

/// Bytes of the machine's memory, 0 if unknown. `root` precedes every path that is read ("" outside of tests).
int64_t total_memory(const std::string& root = {});
/// Bytes this process may still take: the smallest of the machine's available memory and the rests of its control
/// groups.
int64_t available_memory(const std::string& root = {});
/// Memory of this process by the system's count: `anon + file_mapped` of its control group if it has one of its own,
/// else RssAnon + RssFile. Page cache that nobody maps does not count.
struct HeldMemory {
  int64_t bytes = 0;  ///< 0: the system does not say
  bool of_group = false;
};
HeldMemory held_memory(const std::string& root = {});
/// Largest resident set of this process so far.
int64_t peak_resident_memory();
/// Restarts the peak here, if the system allows it.
void reset_peak_resident_memory();

}  // namespace stormcell

// Memory of this process as the system counts it.
#pragma once
#include <cstdint>
#include <string>

namespace stormcell {

/// Bytes of the machine's memory, 0 where it cannot be told. `root` stands before every path that is read ("" outside
/// of tests).
int64_t total_memory(const std::string& root = {});
/// Bytes this process may still take: the smallest of the machine's available memory and the rests of its control
/// groups.
int64_t available_memory(const std::string& root = {});
/// What this process holds by the system's count: `anon + file_mapped` of its control group where it has one of its
/// own, else RssAnon + RssFile. Page cache that nobody maps is not use.
struct HeldMemory {
  int64_t bytes = 0;  ///< 0: the system does not say
  bool of_group = false;
};
HeldMemory held_memory(const std::string& root = {});
/// Largest resident set of this process so far.
int64_t peak_resident_memory();
/// The peak counts from here on, where the system allows it.
void reset_peak_resident_memory();

}  // namespace stormcell

#include "core/machine/memory.h"

#include <algorithm>
#include <fstream>
#include <string>

#include "core/machine/control_group.h"

namespace stormcell {
namespace {

// "key: 123 kB" lines of /proc files, in bytes; -1 when absent.
int64_t proc_value(const std::string& file, const std::string& key) {
  std::ifstream in(file);
  for (std::string word; in >> word;)
    if (word == key) {
      int64_t kilobytes = 0;
      in >> kilobytes;
      return kilobytes * 1024;
    }
  return -1;
}

}  // namespace

int64_t total_memory(const std::string& root) {
  return std::max<int64_t>(0, proc_value(root + "/proc/meminfo", "MemTotal:"));
}

int64_t available_memory(const std::string& root) {
  const int64_t of_machine = proc_value(root + "/proc/meminfo", "MemAvailable:");
  int64_t bytes = of_machine < 0 ? INT64_MAX : of_machine;
  for (const GroupMemory& group : memory_groups(root)) bytes = std::min(bytes, group.rest());
  return bytes;
}

HeldMemory held_memory(const std::string& root) {
  if (const std::optional<int64_t> group = own_group_memory(root)) return {*group, true};
  const std::string status = root + "/proc/self/status";
  return {std::max<int64_t>(0, proc_value(status, "RssAnon:")) + std::max<int64_t>(0, proc_value(status, "RssFile:")),
          false};
}

int64_t peak_resident_memory() { return proc_value("/proc/self/status", "VmHWM:"); }
void reset_peak_resident_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace stormcell

#include "core/machine/memory.h"

#include <algorithm>
#include <fstream>
#include <string>

namespace stormcell {
namespace {

// "key: 123 kB" lines of /proc files, in bytes; -1 when absent.
int64_t proc_value(const char* file, const std::string& key) {
  std::ifstream in(file);
  for (std::string word; in >> word;)
    if (word == key) {
      int64_t kilobytes = 0;
      in >> kilobytes;
      return kilobytes * 1024;
    }
  return -1;
}
int64_t number_in(const char* file) {
  std::ifstream in(file);
  int64_t value = -1;
  return in >> value ? value : -1;
}

}  // namespace

int64_t available_memory() {
  int64_t bytes = proc_value("/proc/meminfo", "MemAvailable:");
  const int64_t limit = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
  if (limit > 0 && used >= 0) bytes = bytes < 0 ? limit - used : std::min(bytes, limit - used);
  return bytes < 0 ? INT64_MAX : bytes;
}

int64_t peak_resident_memory() { return proc_value("/proc/self/status", "VmHWM:"); }
void reset_peak_resident_memory() { std::ofstream("/proc/self/clear_refs") << 5; }

}  // namespace stormcell

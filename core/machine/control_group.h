// Limits of this process's control groups and their use so far: versions 1 and 2, also nested.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stormcell {

/// Memory of one control group, in bytes.
struct GroupMemory {
  std::string folder;  ///< of the group, for messages
  int64_t limit = -1;  ///< -1: none
  /// Memory that cannot be given back: anonymous memory, mapped files, shared memory, the kernel's own. Page cache that
  /// nobody maps does not count, because it gives way when memory is needed.
  int64_t used = 0;
  int64_t rest() const { return limit < 0 ? INT64_MAX : limit > used ? limit - used : 0; }
};

/// The process's group and those above it, the innermost first. `root` precedes every path that is read ("" outside of
/// tests): ROOT/proc/self/{cgroup,mountinfo} and the hierarchies mounted below ROOT/sys/fs/cgroup.
std::vector<GroupMemory> memory_groups(const std::string& root = {});

/// `anon + file_mapped` of the process's own group, in bytes, if the innermost group holds no other process; else
/// empty.
std::optional<int64_t> own_group_memory(const std::string& root = {});

/// The smallest memory limit of those groups in bytes, 0: none.
int64_t memory_limit(const std::string& root = {});

/// The smallest CPU limit of the process's groups, in cores; 0: none.
double cpu_limit(const std::string& root = {});

}  // namespace stormcell

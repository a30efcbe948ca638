// What the control groups of this process allow it, and what they hold already: version 1 and 2, nested ones too.
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
  /// What cannot be given back: anonymous memory, mapped files, shared memory, the kernel's own. Page cache that nobody
  /// maps is not counted: it goes as soon as somebody needs the room.
  int64_t used = 0;
  int64_t rest() const { return limit < 0 ? INT64_MAX : limit > used ? limit - used : 0; }
};

/// The process's group and those above it, the innermost first. `root` stands before every path that is read (""
/// outside of tests): ROOT/proc/self/{cgroup,mountinfo} and the hierarchies mounted below ROOT/sys/fs/cgroup.
std::vector<GroupMemory> memory_groups(const std::string& root = {});

/// `anon + file_mapped` of the process's own group, in bytes: where the innermost group holds no other process. Else
/// nothing.
std::optional<int64_t> own_group_memory(const std::string& root = {});

/// The smallest memory limit of those groups in bytes, 0: none.
int64_t memory_limit(const std::string& root = {});

/// The smallest CPU limit of the process's groups, in cores; 0: none.
double cpu_limit(const std::string& root = {});

}  // namespace stormcell

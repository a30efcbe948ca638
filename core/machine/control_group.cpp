#include "core/machine/control_group.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

namespace stormcell {
namespace {

// Version 1 writes "no limit" as the largest multiple of a page.
constexpr int64_t kNoLimit = int64_t{1} << 60;

std::optional<int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  int64_t value = 0;
  if (file >> value) return value;
  return {};
}

/// "key value" lines; empty if the file is absent.
std::map<std::string, int64_t> numbers_in(const std::string& path) {
  std::map<std::string, int64_t> numbers;
  std::ifstream file(path);
  int64_t value = 0;
  for (std::string key; file >> key >> value;) numbers[key] = value;
  return numbers;
}

/// A mounted hierarchy that holds a controller: where, and which group is seen at its top.
struct Mount {
  std::string point, top;
  bool is_v2 = false;
};

bool lists(const std::string& commas, const std::string& word) {
  return ("," + commas + ",").find("," + word + ",") != std::string::npos;
}

/// The mounts of a controller, version 1 and 2. Lines of mountinfo: ID PARENT DEVICE TOP POINT OPTIONS [...] - TYPE
/// SOURCE SUPER-OPTIONS.
std::vector<Mount> mounts_of(const std::string& root, const std::string& controller) {
  std::vector<Mount> mounts;
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    std::istringstream before(line.substr(0, dash)), after(line.substr(dash + 3));
    std::string skipped, top, point, type, source, options;
    before >> skipped >> skipped >> skipped >> top >> point;
    after >> type >> source >> options;
    if (type == "cgroup2" || (type == "cgroup" && lists(options, controller)))
      mounts.push_back({point, top, type == "cgroup2"});
  }
  if (mounts.empty()) mounts = {{"/sys/fs/cgroup", "/", true}, {"/sys/fs/cgroup/" + controller, "/", false}};
  return mounts;
}

/// The path of the process's group in the hierarchy of a controller (version 1) or in the unified one; empty if it is
/// in none.
std::string group_path(const std::string& root, const std::string& controller, bool is_v2) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (is_v2 ? controllers.empty() && line.starts_with("0:") : lists(controllers, controller))
      return line.substr(second + 1);
  }
  return {};
}

/// Folders of the process's group and those above it, the innermost first.
std::vector<std::string> group_folders(const std::string& root, const std::string& controller, const Mount& mount) {
  std::string path = group_path(root, controller, mount.is_v2);
  // Inside a container the mount shows a part of the hierarchy, and the process's path may begin above it.
  if (mount.top != "/") path = path.starts_with(mount.top + "/") ? path.substr(mount.top.size()) : std::string();
  std::vector<std::string> folders = {root + mount.point};
  std::istringstream parts(path);
  for (std::string part; std::getline(parts, part, '/');)
    if (!part.empty() && part != "." && part != "..") folders.push_back(folders.back() + "/" + part);
  std::reverse(folders.begin(), folders.end());
  return folders;
}

int64_t sum_of(const std::map<std::string, int64_t>& stat, std::initializer_list<const char*> keys) {
  int64_t sum = 0;
  for (const char* key : keys)
    if (const auto at = stat.find(key); at != stat.end()) sum += at->second;
  return sum;
}

/// Mapped pages of shared memory are counted in both: the larger of the two is held in any case.
int64_t held(const std::map<std::string, int64_t>& stat, int64_t own, const char* mapped, const char* shared) {
  return own + std::max(sum_of(stat, {mapped}), sum_of(stat, {shared}));
}

GroupMemory memory_of_v2(const std::string& folder) {
  GroupMemory group{folder, number_in(folder + "/memory.max").value_or(-1), 0};
  const auto stat = numbers_in(folder + "/memory.stat");
  const auto current = number_in(folder + "/memory.current");
  if (stat.empty()) {
    group.used = current.value_or(0);
    return group;
  }
  group.used = held(stat,
                    sum_of(stat, {"anon", "kernel_stack", "pagetables", "sec_pagetables", "percpu", "sock", "vmalloc",
                                  "slab_unreclaimable"}),
                    "file_mapped", "shmem");
  if (current) group.used = std::min(group.used, *current);
  return group;
}

GroupMemory memory_of_v1(const std::string& folder) {
  GroupMemory group{folder, number_in(folder + "/memory.limit_in_bytes").value_or(-1), 0};
  const auto stat = numbers_in(folder + "/memory.stat");
  // The limit of the groups above, including those that a container does not see.
  if (const auto above = stat.find("hierarchical_memory_limit"); above != stat.end())
    group.limit = group.limit < 0 ? above->second : std::min(group.limit, above->second);
  if (group.limit >= kNoLimit) group.limit = -1;
  const auto current = number_in(folder + "/memory.usage_in_bytes");
  if (stat.empty()) {
    group.used = current.value_or(0);
    return group;
  }
  group.used = held(stat, sum_of(stat, {"total_rss"}), "total_mapped_file", "total_shmem");
  if (current) group.used = std::min(group.used, *current);
  return group;
}

}  // namespace

std::vector<GroupMemory> memory_groups(const std::string& root) {
  std::vector<GroupMemory> groups;
  for (const Mount& mount : mounts_of(root, "memory"))
    for (const std::string& folder : group_folders(root, "memory", mount))
      groups.push_back(mount.is_v2 ? memory_of_v2(folder) : memory_of_v1(folder));
  return groups;
}

std::optional<int64_t> own_group_memory(const std::string& root) {
  for (const Mount& mount : mounts_of(root, "memory")) {
    const std::string folder = group_folders(root, "memory", mount).front();
    std::ifstream processes(folder + "/cgroup.procs");
    int64_t count = 0;
    for (std::string line; std::getline(processes, line);) ++count;
    const auto stat = numbers_in(folder + "/memory.stat");
    if (count != 1 || stat.empty()) continue;
    return mount.is_v2 ? sum_of(stat, {"anon", "file_mapped"}) : sum_of(stat, {"rss", "mapped_file"});
  }
  return {};
}

int64_t memory_limit(const std::string& root) {
  int64_t limit = 0;
  for (const GroupMemory& group : memory_groups(root))
    if (group.limit >= 0 && (limit == 0 || group.limit < limit)) limit = group.limit;
  return limit;
}

double cpu_limit(const std::string& root) {
  double limit = 0;
  const auto allow = [&](double quota, double period) {
    if (quota > 0 && period > 0 && (limit == 0 || quota / period < limit)) limit = quota / period;
  };
  for (const Mount& mount : mounts_of(root, "cpu"))
    for (const std::string& folder : group_folders(root, "cpu", mount)) {
      if (mount.is_v2) {
        std::ifstream file(folder + "/cpu.max");
        double quota = 0, period = 0;
        if (file >> quota >> period) allow(quota, period);
      } else {
        allow(static_cast<double>(number_in(folder + "/cpu.cfs_quota_us").value_or(-1)),
              static_cast<double>(number_in(folder + "/cpu.cfs_period_us").value_or(0)));
      }
    }
  return limit;
}

}  // namespace stormcell

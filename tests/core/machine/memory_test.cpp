// Memory that a process may still take, by control groups of version 1 and 2 in a folder that stands for the root.
#include "core/machine/memory.h"

#include "core/machine/control_group.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

constexpr int64_t kGiB = int64_t{1} << 30;
std::string gib(int64_t n) { return std::to_string(n * kGiB) + "\n"; }

/// A machine of 64 GiB of which 40 are available.
struct FakeMachine : Scratch {
  FakeMachine() {
    write("proc/meminfo", "MemTotal:       67108864 kB\nMemFree:         1048576 kB\nMemAvailable:   41943040 kB\n");
  }
  void v2(const std::string& own_group, const std::string& top = "/") {
    write("proc/self/cgroup", "0::" + own_group + "\n");
    write("proc/self/mountinfo",
          "30 23 0:26 " + top + " /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
  }
  void v1(const std::string& own_group, const std::string& top = "/") {
    write("proc/self/cgroup",
          "12:cpuset:/\n8:memory:" + own_group + "\n4:cpu,cpuacct:" + own_group + "\n1:name=systemd:/x\n");
    write("proc/self/mountinfo",
          "33 23 0:28 " + top + " /sys/fs/cgroup/memory rw,nosuid shared:9 - cgroup cgroup rw,memory\n34 23 0:29 " +
              top + " /sys/fs/cgroup/cpu,cpuacct rw shared:8 - cgroup cgroup rw,cpu,cpuacct\n");
  }
  void group_v2(const std::string& path, const std::string& limit, int64_t anon, int64_t cache,
                const std::string& more = {}) {
    const std::string folder = "sys/fs/cgroup" + path + "/";
    write(folder + "memory.max", limit);
    write(folder + "memory.current", gib(anon + cache));
    write(folder + "memory.stat", "anon " + gib(anon) + "file " + gib(cache) + more);
  }
};

}  // namespace

class MemoryTest : public QObject {
  Q_OBJECT
 private slots:
  void without_groups_it_is_what_the_machine_has() {
    const FakeMachine m;
    QCOMPARE(available_memory(m.folder()), 40 * kGiB);
    QCOMPARE(total_memory(m.folder()), 64 * kGiB);
    QCOMPARE(memory_limit(m.folder()), int64_t{0});
    QCOMPARE(cpu_limit(m.folder()), 0.0);
  }
  void page_cache_is_not_what_a_group_holds() {
    FakeMachine m;
    m.v2("/");
    // All of 16 GiB are taken, 13 of them by files that were read.
    m.group_v2("", gib(16), 3, 13);
    QCOMPARE(available_memory(m.folder()), 13 * kGiB);
    QCOMPARE(memory_limit(m.folder()), 16 * kGiB);
  }
  void what_a_process_holds_is_its_own_group_s_where_it_has_one() {
    FakeMachine m;
    m.write("proc/self/status", "VmHWM:     9000 kB\nRssAnon:    3000 kB\nRssFile:     500 kB\nRssShmem:    70 kB\n");
    const auto held = [&] { return held_memory(m.folder()); };
    QCOMPARE(held().bytes, int64_t{3500} << 10);
    QVERIFY(!held().of_group);
    m.v2("/job");
    m.group_v2("/job", gib(16), 3, 13, "file_mapped " + gib(2) + "slab_unreclaimable " + gib(1));
    QVERIFY(!held().of_group);  // it does not say whose it is
    m.write("sys/fs/cgroup/job/cgroup.procs", "17\n");
    QCOMPARE(held().bytes, 5 * kGiB);
    QVERIFY(held().of_group);
    m.write("sys/fs/cgroup/job/cgroup.procs", "17\n18\n");
    QVERIFY(!held().of_group);
    FakeMachine old;
    old.v1("/job");
    old.write("sys/fs/cgroup/memory/job/memory.stat",
              "cache " + gib(9) + "rss " + gib(3) + "mapped_file " + gib(1) + "total_rss " + gib(7));
    old.write("sys/fs/cgroup/memory/job/cgroup.procs", "17\n");
    QCOMPARE(held_memory(old.folder()).bytes, 4 * kGiB);
    // And this process: more than nothing, less than the machine has.
    QVERIFY(held_memory().bytes > 1 << 20 && held_memory().bytes < total_memory());
  }
  void mapped_files_shared_memory_and_the_kernel_s_own_are() {
    FakeMachine m;
    m.v2("/");
    m.group_v2(
        "", gib(16), 3, 13,
        "file_mapped " + gib(2) + "shmem " + gib(1) + "slab_unreclaimable " + gib(1) + "slab_reclaimable " + gib(4));
    QCOMPARE(available_memory(m.folder()), (16 - 3 - 2 - 1) * kGiB);
    m.group_v2("", gib(16), 3, 13, "file_mapped " + gib(2) + "shmem " + gib(5));
    QCOMPARE(available_memory(m.folder()), (16 - 3 - 5) * kGiB);
  }
  void a_group_without_limit_takes_nothing_away() {
    FakeMachine m;
    m.v2("/");
    m.group_v2("", "max\n", 3, 13);
    QCOMPARE(available_memory(m.folder()), 40 * kGiB);
    QCOMPARE(memory_limit(m.folder()), int64_t{0});
  }
  void the_tightest_of_nested_groups_holds() {
    FakeMachine m;
    m.v2("/user/job");
    m.group_v2("", "max\n", 30, 10);
    m.group_v2("/user", gib(24), 20, 0);
    m.group_v2("/user/job", gib(16), 3, 0);
    // 13 are left in the job, 4 in the group above.
    QCOMPARE(available_memory(m.folder()), 4 * kGiB);
    QCOMPARE(memory_limit(m.folder()), 16 * kGiB);
    m.group_v2("/user", gib(24), 5, 19);
    QCOMPARE(available_memory(m.folder()), 13 * kGiB);
  }
  void a_full_group_leaves_nothing_and_not_less() {
    FakeMachine m;
    m.v2("/");
    m.group_v2("", gib(4), 5, 0);
    QCOMPARE(available_memory(m.folder()), int64_t{0});
  }
  void a_container_sees_a_part_of_the_hierarchy() {
    FakeMachine m;
    m.v2("/docker/0123/worker", "/docker/0123");
    m.group_v2("", gib(16), 3, 0);
    m.group_v2("/worker", gib(8), 2, 0);
    QCOMPARE(available_memory(m.folder()), 6 * kGiB);
    // Its path may name what the mount does not show.
    m.v2("/../elsewhere", "/docker/0123");
    QCOMPARE(available_memory(m.folder()), 13 * kGiB);
  }
  void without_mountinfo_the_usual_places_are_looked_at() {
    FakeMachine m;
    m.write("proc/self/cgroup", "0::/job\n");
    m.group_v2("/job", gib(8), 2, 6);
    QCOMPARE(available_memory(m.folder()), 6 * kGiB);
  }
  void version_1_counts_resident_and_mapped_memory_of_the_group_and_those_below() {
    FakeMachine m;
    m.v1("/user/job");
    const std::string job = "sys/fs/cgroup/memory/user/job/";
    m.write(job + "memory.limit_in_bytes", gib(16));
    m.write(job + "memory.usage_in_bytes", gib(16));
    m.write(job + "memory.stat", "cache " + gib(10) + "rss " + gib(1) + "hierarchical_memory_limit " + gib(12) +
                                     "total_cache " + gib(12) + "total_rss " + gib(3) + "total_mapped_file " + gib(1));
    m.write("sys/fs/cgroup/memory/user/memory.limit_in_bytes", "9223372036854771712\n");
    // 12 GiB by a group above that is not seen, less 3 + 1.
    QCOMPARE(available_memory(m.folder()), 8 * kGiB);
    QCOMPARE(memory_limit(m.folder()), 12 * kGiB);
    m.write(job + "memory.stat", "total_rss " + gib(3));
    QCOMPARE(available_memory(m.folder()), 13 * kGiB);
  }
  void limits_of_cores_are_read_in_both_versions() {
    FakeMachine two, one;
    two.v2("/user/job");
    two.write("sys/fs/cgroup/user/cpu.max", "400000 100000\n");
    two.write("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
    QCOMPARE(cpu_limit(two.folder()), 4.0);
    one.v1("/job");
    one.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n");
    one.write("sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
    one.write("sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "-1\n");
    QCOMPARE(cpu_limit(one.folder()), 1.5);
  }
};
STORMCELL_TEST(MemoryTest)
#include "memory_test.moc"

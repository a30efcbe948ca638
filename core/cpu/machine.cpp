#include "core/cpu/machine.h"

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>
#include <string_view>

#include "core/cpu/kernels/kernel_table.h"

namespace stormcell::cpu {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Features that the kernels ask for, and those that they could use.
constexpr std::string_view kFeatures[] = {
    "sse4_2",   "avx",      "f16c",        "fma",         "avx2",        "avx_vnni", "avx512f",  "avx512bw",
    "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16"};

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t"), end = text.find_last_not_of(" \t\n");
  return begin == std::string_view::npos ? std::string() : std::string(text.substr(begin, end - begin + 1));
}

template <class T>
T read_file(const std::string& path, T otherwise) {
  std::ifstream file(path);
  T value;
  return file >> value ? value : otherwise;
}

/// "48K", "2048K", "260M" to bytes.
int64_t parse_cache_size(const std::string& text) {
  char* unit = nullptr;
  const int64_t number = std::strtoll(text.c_str(), &unit, 10);
  return *unit == 'K' ? number << 10 : *unit == 'M' ? number << 20 : number;
}

/// The fastest of f's runs within the given time, at least two. f returns its seconds. A cancelled team ends it early.
template <class F>
double fastest(const ThreadTeam& team, double within, F&& f) {
  const auto start = Clock::now();
  double best = f();
  while (!team.cancelled() && (best = std::min(best, f()), seconds_since(start) < within)) {
  }
  return best;
}

/// Seconds of one run of work(member) on members [0, threads) of the team.
template <class F>
double timed(ThreadTeam& team, int threads, F&& work) {
  const auto start = Clock::now();
  if (threads == 1) {
    work(0);
  } else {
    team.run([&](int member) {
      if (member < threads) work(member);
    });
  }
  return seconds_since(start);
}

double gflops(ThreadTeam& team, int threads, double (*peak)(), double within) {
  std::array<double, 2> flop{};  // by members 0 and 1; all do the same
  const double seconds =
      fastest(team, within, [&] { return timed(team, threads, [&](int member) { flop[member > 0] = peak(); }); });
  return flop[0] * threads / seconds * 1e-9;
}

/// Pages as large as the system gives: with small ones the first touch alone takes the probe's time.
struct Pages {
  explicit Pages(size_t bytes) : bytes(bytes), data(static_cast<float*>(std::aligned_alloc(size_t{2} << 20, bytes))) {
    if (data) madvise(data, bytes, MADV_HUGEPAGE);
  }
  ~Pages() { std::free(data); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  size_t bytes;
  float* data;
};

double read_gbs(ThreadTeam& team, double seconds, int64_t l3_bytes, int64_t most_bytes) {
  // Twice the last-level cache, between 128 and 512 MiB in all, in whole huge pages for each thread.
  const int threads = team.size();
  const int64_t wanted =
      std::min(most_bytes, std::clamp<int64_t>(2 * l3_bytes, int64_t{128} << 20, int64_t{512} << 20));
  const int64_t each = std::max<int64_t>(1, (wanted / threads) >> 21) << 21;
  const Pages pages(static_cast<size_t>(each * threads));
  if (!pages.data) return 0;
  const int64_t floats = each / static_cast<int64_t>(sizeof(float));
  // Touched by pieces: the first touch of the whole takes longer than a user waits.
  constexpr int64_t kPiece = int64_t{4} << 20;
  team.run([&](int member) {
    for (int64_t at = 0; at < floats && !team.cancelled(); at += kPiece)
      std::fill_n(pages.data + member * floats + at, std::min(kPiece, floats - at), 1.0f);
  });
  if (team.cancelled()) return 0;
  const KernelTable& table = kernels();
  std::unique_ptr<float[]> sums(new float[threads * 16]);  // a cache line each
  const double fastest_read = fastest(team, seconds, [&] {
    return timed(team, threads,
                 [&](int member) { sums[member * 16] = table.sum(pages.data + member * floats, floats); });
  });
  return static_cast<double>(pages.bytes) / fastest_read * 1e-9;
}

}  // namespace

Processor describe_processor() {
  Processor p;
  std::ifstream info("/proc/cpuinfo");
  for (std::string line; std::getline(info, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::string key = trimmed(std::string_view(line).substr(0, colon)),
                      value = trimmed(std::string_view(line).substr(colon + 1));
    if (key == "model name" && p.model.empty()) p.model = value;
    if (key == "flags" && p.features.empty()) {
      std::istringstream words(value);
      std::set<std::string, std::less<>> flags;
      for (std::string word; words >> word;) flags.insert(word);
      for (const std::string_view feature : kFeatures)
        if (flags.contains(feature)) p.features.emplace_back(feature);
    }
  }
  p.logical_processors = available_cores();

  cpu_set_t set;
  CPU_ZERO(&set);
  std::set<std::pair<int, int>> cores;
  std::set<int> sockets;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
      if (!CPU_ISSET(cpu, &set)) continue;
      const std::string topology = "/sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
      const int socket = read_file(topology + "physical_package_id", 0);
      sockets.insert(socket);
      cores.insert({socket, read_file(topology + "core_id", cpu)});
    }
  p.cores = std::max<int>(1, static_cast<int>(cores.size()));
  p.sockets = std::max<int>(1, static_cast<int>(sockets.size()));

  for (int index = 0; index < 8; ++index) {
    const std::string cache = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(index) + "/";
    const int level = read_file(cache + "level", 0);
    const int64_t bytes = parse_cache_size(read_file(cache + "size", std::string("0")));
    if (level == 1 && read_file(cache + "type", std::string()) == "Data") p.l1_bytes = bytes;
    if (level == 2) p.l2_bytes = bytes;
    if (level == 3) p.l3_bytes = bytes;
  }
  return p;
}

PlacementProbe probe_placement(ThreadTeam& team, double seconds) {
  PlacementProbe probe;
  if (team.size() < 2) return probe;
  const KernelTable& table = kernels();
  const double one = gflops(team, 1, table.peak_f32, seconds / 2), two = gflops(team, 2, table.peak_f32, seconds);
  probe.fma_gain = two / one;
  // The fastest of short series: one hand-off is too short for the clock.
  constexpr int kSeries = 100;
  probe.hand_off_ns = 1e9 / kSeries * fastest(team, seconds / 2, [&] {
                        const auto start = Clock::now();
                        for (int i = 0; i < kSeries; ++i) team.run([](int) {});
                        return seconds_since(start);
                      });
  probe.placement = probe.fma_gain < 1.4      ? Placement::one_core_two_threads
                    : probe.hand_off_ns < 500 ? Placement::two_cores_one_l3
                                              : Placement::two_cores_different_l3;
  return probe;
}

std::string to_text(Placement placement) {
  switch (placement) {
    case Placement::one_thread:
      return "one thread";
    case Placement::two_cores_one_l3:
      return "two cores, one L3";
    case Placement::two_cores_different_l3:
      return "two cores, different L3";
    case Placement::one_core_two_threads:
      return "two hyper-threads of one core";
  }
  return "";
}

Ceilings probe_ceilings(ThreadTeam& team, double seconds, int64_t most_bytes) {
  const KernelTable& table = kernels();
  Ceilings ceilings;
  ceilings.isa = table.isa;
  ceilings.f32_gflops = gflops(team, team.size(), table.peak_f32, seconds);
  ceilings.bf16_gflops = std::max(ceilings.f32_gflops, gflops(team, team.size(), table.peak_bf16, seconds));
  ceilings.read_gbs = read_gbs(team, seconds, describe_processor().l3_bytes, most_bytes);
  return ceilings;
}

}  // namespace stormcell::cpu

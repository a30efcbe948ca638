#include "core/machine/other_load.h"

#include "core/base/counted.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <fstream>
#include <sstream>

namespace stormcell {
namespace {

constexpr double kLeastSeconds = 0.2;  // the system counts in hundredths of a second
constexpr double kOthers = 0.1, kStolen = 0.05;

std::vector<int> allowed_processors() {
  cpu_set_t set;
  std::vector<int> allowed;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return allowed;
  for (int i = 0; i < CPU_SETSIZE; ++i)
    if (CPU_ISSET(i, &set)) allowed.push_back(i);
  return allowed;
}

double own_seconds() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

}  // namespace

ProcessorTimes processor_times(const std::string& root, std::vector<int> allowed) {
  if (allowed.empty()) allowed = allowed_processors();
  ProcessorTimes times;
  const double tick = std::max(1L, sysconf(_SC_CLK_TCK));
  std::ifstream file(root + "/proc/stat");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (!name.starts_with("cpu") || name.size() < 4) continue;
    if (std::find(allowed.begin(), allowed.end(), std::atoi(name.c_str() + 3)) == allowed.end()) continue;
    double user = 0, nice = 0, system = 0, idle = 0, wait = 0, irq = 0, soft = 0, steal = 0;
    words >> user >> nice >> system >> idle >> wait >> irq >> soft >> steal;
    ++times.processors;
    times.busy += (user + nice + system + irq + soft) / tick;
    times.idle += (idle + wait) / tick;
    times.stolen += steal / tick;
  }
  times.own = own_seconds();
  return times;
}

void OtherLoad::add(const ProcessorTimes& before, const ProcessorTimes& after) {
  if (before.processors == 0 || after.processors != before.processors) return;
  processors_ = after.processors;
  const double busy = after.busy - before.busy, stolen = after.stolen - before.stolen, own = after.own - before.own,
               all = busy + stolen + after.idle - before.idle;
  elapsed_ += all / processors_;
  others_ += std::max(0.0, busy - own);
  stolen_ += stolen;
  wanted_ += busy + stolen;
}

std::optional<double> OtherLoad::share() const {
  if (elapsed_ < kLeastSeconds || processors_ <= 0) return {};
  return (others_ + stolen_) / (elapsed_ * processors_);
}

std::string OtherLoad::warning(int threads) const {
  if (elapsed_ < kLeastSeconds) return {};
  const double free = std::max(0, processors_ - threads);
  if (others() > free + kOthers * std::min(threads, processors_))
    return fmt::format("the machine was busy: while {} measured, other processes kept {:.1f} of {} at work",
                       counted(threads, "thread"), others(), counted(processors_, "processor"));
  if (stolen() > kStolen)
    return fmt::format(
        "the machine was busy: other virtual machines took {:.0f} % of the time that was asked for while measuring",
        100 * stolen());
  return {};
}

}  // namespace stormcell

#include "core/bench/ceiling_readings.h"

#include <algorithm>
#include <functional>
#include <utility>

namespace stormcell {

DeviceProbe larger(const DeviceProbe& a, DeviceProbe b) {
  b.f32_gflops = std::max(a.f32_gflops, b.f32_gflops);
  b.bf16_gflops = std::max(a.bf16_gflops, b.bf16_gflops);
  b.read_gbs = std::max(a.read_gbs, b.read_gbs);
  return b;
}

void CeilingReadings::keep_last() {
  if (readings_.size() > 1) readings_.erase(readings_.begin(), readings_.end() - 1);
  before_ = 1;
}

bool CeilingReadings::agree() const {
  constexpr size_t kTimes = 3;
  constexpr double kNear = 0.97;
  if (readings_.size() < kTimes) return false;
  const auto reached = [&](double DeviceProbe::*figure) {
    std::vector<double> values;
    for (const DeviceProbe& r : readings_) values.push_back(r.*figure);
    std::sort(values.begin(), values.end(), std::greater<>());
    return values[kTimes - 1] >= kNear * values[0];
  };
  return reached(&DeviceProbe::f32_gflops) && reached(&DeviceProbe::bf16_gflops) && reached(&DeviceProbe::read_gbs);
}

std::array<DeviceProbe, 2> CeilingReadings::halves() const {
  std::array<DeviceProbe, 2> best;
  const size_t before = std::min(before_, readings_.size()), middle = before + (readings_.size() - before) / 2;
  for (size_t i = 0; i < readings_.size(); ++i) {
    DeviceProbe& half = best[i < middle ? 0 : 1];
    half = larger(half, readings_[i]);
  }
  return best;
}

std::vector<std::string> CeilingReadings::placements() const {
  std::vector<std::pair<std::string, int>> counts;
  for (const DeviceProbe& reading : readings_) {
    const auto at =
        std::find_if(counts.begin(), counts.end(), [&](const auto& c) { return c.first == reading.placement; });
    if (at == counts.end())
      counts.emplace_back(reading.placement, 1);
    else
      ++at->second;
  }
  std::stable_sort(counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (auto& [name, count] : counts)
    if (!name.empty()) names.push_back(std::move(name));
  return names;
}

}  // namespace stormcell

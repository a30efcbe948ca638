#include "core/measuring/gains.h"

namespace stormcell {

void Gains::set(PassReport& pass, const Ratio& ratio, const std::string& wrong, std::optional<double>& value,
                std::optional<std::array<double, 2>>& ci95) {
  value.reset(), ci95.reset();
  if (!wrong.empty()) {
    withheld_.try_emplace(pass.name, wrong);
    return;
  }
  if (const std::optional<SpeedupWithheld> few = too_few(ratio, held_out_)) {
    pass.withheld = few;
    return;
  }
  value = ratio.value;
  ci95 = ratio.ci95;
}

void Gains::tell(std::vector<PassReport>& passes, std::vector<std::string>& warnings) const {
  for (PassReport& pass : passes) {
    const auto at = withheld_.find(pass.name);
    if (at == withheld_.end()) continue;
    const std::string why =
        " (no speed-up: a plan that was measured for it differs from the baseline: " + at->second + ")";
    pass.reason += why;
    if (!pass.reason_without_speeds.empty()) pass.reason_without_speeds += why;
    warnings.push_back("pass " + pass.name +
                       " has no speed-up: a plan that was measured for it differs from the baseline: " + at->second);
  }
}

}  // namespace stormcell

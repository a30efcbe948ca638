#include "core/summary/earlier_summaries.h"

#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stormcell {
namespace {

/// The share of the processors in the warning "... other processes kept 1.1 of 2 processors at work".
std::optional<double> load_in_warnings(const std::vector<std::string>& warnings) {
  constexpr const char* kKept = "other processes kept ";
  for (const std::string& warning : warnings) {
    const size_t at = warning.find(kKept);
    double busy = 0, processors = 0;
    if (at == std::string::npos) continue;
    if (std::sscanf(warning.c_str() + at + std::strlen(kKept), "%lf of %lf", &busy, &processors) == 2 && processors > 0)
      return busy / processors;
  }
  return {};
}

/// The reason up to the speeds that it quotes, which follow fixed words; empty: it quotes none.
std::string without_speeds(const std::string& reason) {
  const auto quotes = [&](const char* words) { return reason.find(words) != std::string::npos; };
  if (!quotes(" of the speed without it") && !quotes(" of the baseline's speed")) return {};
  return reason.starts_with("left out: ") ? "left out" : reason.substr(0, reason.find(" (kept "));
}

}  // namespace

void complete_earlier_summary(RunSummaryFigures& f) {
  if (!f.other_load) f.other_load = load_in_warnings(f.warnings);
  for (PassReport& pass : f.passes)
    if (pass.reason_without_speeds.empty()) pass.reason_without_speeds = without_speeds(pass.reason);
  if (!f.decode) return;
  const auto decode = std::make_shared<RunSummaryFigures>(*f.decode);
  complete_earlier_summary(*decode);
  f.decode = decode;
}

}  // namespace stormcell

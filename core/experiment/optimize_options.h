// The options of optimize beside those of every verb (core/summary/settings.h): command line and window are made from
// this table.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/run_options.h"
#include "core/summary/settings.h"

namespace stormcell {

/// How many words an option takes.
enum class OptionWords : uint8_t {
  one,
  with_commas,  ///< several, with commas between
  repeated,     ///< one, and the option may be given again
};

struct OptimizeOption {
  std::string_view option, value, help;
  OptionWords words = OptionWords::one;
  /// Throws Error(bad_input) that names the option.
  void (*read)(const std::vector<std::string>& words, OptimizeOptions& optimize, ExperimentOptions& experiment);
};

/// --measure-seconds of optimize, run and profile: sets `seconds`, and the time for probing the machine's limits.
/// Throws Error(bad_input).
void read_measure_seconds(const std::string& word, double& seconds, ExperimentOptions& experiment);
inline constexpr std::string_view kMeasureOption = "--measure-seconds",
                                  kMeasureHelp =
                                      "Measures for about this long, on batches drawn at random, and at least 7 rounds";

namespace optimize_options {
using Words = std::vector<std::string>;
void read_measure(const Words& words, OptimizeOptions& optimize, ExperimentOptions& experiment);
void read_limit(const Words& words, OptimizeOptions& optimize, ExperimentOptions& experiment);
void read_enable(const Words& words, OptimizeOptions& optimize, ExperimentOptions& experiment);
void read_disable(const Words& words, OptimizeOptions& optimize, ExperimentOptions& experiment);
void read_only(const Words& words, OptimizeOptions& optimize, ExperimentOptions& experiment);
void read_pass_options(const Words& words, OptimizeOptions& optimize, ExperimentOptions& experiment);
}  // namespace optimize_options

inline constexpr std::array kOptimizeOptions = {
    OptimizeOption{kMeasureOption, "SECONDS", kMeasureHelp, OptionWords::one, optimize_options::read_measure},
    OptimizeOption{
        "--time-limit", "SECONDS",
        "Limits the time of the whole command, and leaves out batches, plans and comparisons that do not fit (default: "
        "no limit).",
        OptionWords::one, optimize_options::read_limit},
    OptimizeOption{"--enable", "PASS,...", "Uses these passes too, which are off by default (default: none).",
                   OptionWords::with_commas, optimize_options::read_enable},
    OptimizeOption{"--disable", "PASS,...", "Uses all passes but these (default: none is left out).",
                   OptionWords::with_commas, optimize_options::read_disable},
    OptimizeOption{"--only", "PASS,...", "Uses only these passes (default: all but those that change results).",
                   OptionWords::with_commas, optimize_options::read_only},
    OptimizeOption{"--pass-option", "PASS.OPTION=VALUE",
                   "Sets an option of a pass from the list below, and may be repeated (default: as listed).",
                   OptionWords::repeated, optimize_options::read_pass_options},
};

}  // namespace stormcell

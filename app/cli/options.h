// Options that several verbs share, and options that check their arguments.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/console.h"
#include "app/cli/verb.h"
#include "core/experiment/experiment.h"

namespace stormcell::cli {

/// A whole number of at least `least`; Error(bad_input) names the option otherwise.
void add_whole_number(CLI::App& app, const std::string& name, int64_t& value, int64_t least, const std::string& help);
/// A text that must not be empty.
void add_text(CLI::App& app, const std::string& name, std::string& value, const std::string& help,
              const std::string& type = "FILE");
/// The same for an argument without an option's name, which is required.
void add_argument(CLI::App& app, const std::string& name, std::string& value, const std::string& help);

/// --quiet --verbose --log-file
void add_console_options(CLI::App& app, ConsoleOptions& options);
/// --json
void add_json_option(CLI::App& app, std::string& json);
/// --measure-seconds: also sets the time for probing the machine's limits.
void add_measure_option(CLI::App& app, double& seconds, ExperimentOptions& options);
/// The options of optimize alone (kOptimizeOptions), that one among them.
void add_optimize_options(CLI::App& app, OptimizeOptions& optimize, ExperimentOptions& options);
/// One setting of an experiment, by its key in JSON.
void add_setting(CLI::App& app, std::string_view key, ExperimentOptions& options);
/// MODEL --data --batch ...: every setting that the verb has.
void add_experiment_options(CLI::App& app, std::string_view verb, ExperimentOptions& options);

}  // namespace stormcell::cli

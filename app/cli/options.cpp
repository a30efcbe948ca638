#include "app/cli/options.h"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>

#include "core/base/bounded_number.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/bench/device_names.h"
#include "core/experiment/optimize_options.h"

namespace stormcell::cli {
namespace {

std::string long_name(const std::string& name) {
  return name.substr(name.rfind(',') == std::string::npos ? 0 : name.rfind(',') + 1);
}

}  // namespace

void add_whole_number(CLI::App& app, const std::string& name, int64_t& value, int64_t least, const std::string& help) {
  const Bounds bounds{static_cast<double>(least)};
  app.add_option_function<std::string>(
         name,
         [&value, bounds, name](const std::string& text) {
           value = bounded_number<int64_t>(long_name(name), text, bounds);
         },
         help)
      ->type_name("N");
}

void add_text(CLI::App& app, const std::string& name, std::string& value, const std::string& help,
              const std::string& type) {
  app.add_option_function<std::string>(
         name,
         [&value, name](const std::string& text) {
           if (text.empty()) bad_input(long_name(name), "is empty");
           value = text;
         },
         help)
      ->type_name(type);
}

void add_argument(CLI::App& app, const std::string& name, std::string& value, const std::string& help) {
  app.add_option_function<std::string>(
         name,
         [&value, name](const std::string& text) {
           if (text.empty()) bad_input(name, "is empty");
           value = text;
         },
         help)
      ->type_name("")
      ->required();
}

void add_console_options(CLI::App& app, ConsoleOptions& options) {
  app.add_flag("--all", options.all, "Prints all lines of the result, instead of at most 60.");
  app.add_flag("--quiet", options.quiet, "Prints only errors and the output that other options ask for.");
  app.add_flag("--verbose", options.verbose, "Prints each stage with its time, and details of the result.");
  add_text(app, "--log-file", options.log_file, "Appends what happens, with times, to this file (default: none).");
  // For the jobs of batch, which share one page.
  add_whole_number(app, "--page-lines", options.page_lines, 1, "");
  app.get_option("--page-lines")->group("");
}

void add_json_option(CLI::App& app, std::string& json) {
  add_text(app, "--json", json, "Writes the figures as JSON; - is standard output (default: none).", "FILE|-");
}

void add_measure_option(CLI::App& app, double& seconds, ExperimentOptions& options) {
  app.add_option_function<std::string>(
         std::string(kMeasureOption), [&](const std::string& text) { read_measure_seconds(text, seconds, options); },
         fmt::format("{} (default: {}).", kMeasureHelp, seconds))
      ->type_name("SECONDS");
}

void add_optimize_options(CLI::App& app, OptimizeOptions& optimize, ExperimentOptions& options) {
  for (const OptimizeOption& row : kOptimizeOptions) {
    const std::string name(row.option), help(row.help);
    CLI::Option* option = nullptr;
    if (row.option == kMeasureOption) {
      add_measure_option(app, optimize.measure_seconds, options);
    } else if (row.words == OptionWords::one) {
      option = app.add_option_function<std::string>(
          name, [&, &row = row](const std::string& word) { row.read({word}, optimize, options); }, help);
    } else {
      option = app.add_option_function<std::vector<std::string>>(
          name, [&, &row = row](const std::vector<std::string>& words) { row.read(words, optimize, options); }, help);
      option->allow_extra_args(false);
      if (row.words == OptionWords::with_commas) option->delimiter(',');
    }
    if (option) option->type_name(std::string(row.value));
  }
}

namespace {

CLI::Option* add_row(CLI::App& app, const Setting& s, ExperimentOptions& options) {
  const std::string name(s.name()), help(s.help);
  if (const auto* flag = std::get_if<bool ExperimentOptions::*>(&s.field))
    return app.add_flag(name, options.*(*flag), help);
  if (const auto* list = std::get_if<std::vector<std::string> ExperimentOptions::*>(&s.field))
    return app.add_option(name, options.*(*list), help)->type_name(std::string(s.value))->allow_extra_args(false);
  return app
      .add_option_function<std::string>(
          name, [&s, &options](const std::string& word) { read_word(s, word, options); }, help)
      ->type_name(std::string(s.value));
}

}  // namespace

void add_setting(CLI::App& app, std::string_view key, ExperimentOptions& options) {
  add_row(app, *std::find_if(kSettings.begin(), kSettings.end(), [&](const Setting& s) { return s.key == key; }),
          options);
}

void add_experiment_options(CLI::App& app, std::string_view verb, ExperimentOptions& options) {
  for (const Setting& s : kSettings)
    if (s.is_of(verb)) add_row(app, s, options);
  app.get_option("MODEL")->required();
  CLI::Option* device = app.get_option("--device");
  device->description(
      fmt::format("{}: {} (default: {}).", device->get_description(), joined(list_devices()), options.device));
}

}  // namespace stormcell::cli

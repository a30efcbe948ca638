#include "app/cli/manual.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <array>
#include <string_view>

#include "app/cli/options.h"
#include "core/bench/device_names.h"
#include "core/bench/model_names.h"
#include "core/experiment/pass_list.h"
#include "core/exports/export_csv.h"
#include "core/exports/export_formats.h"
#include "core/exports/replay_file.h"
#include "core/imports/import.h"
#include "core/imports/recorder_scripts.h"
#include "core/manual/bash_completion.h"
#include "core/manual/manual_page.h"
#include "core/planning/cluster_file.h"
#include "core/planning/place.h"

namespace stormcell::cli {
namespace {
using Words = std::vector<std::string>;

template <class Rows>
Words ids_of_rows(const Rows& rows) {
  Words ids;
  for (const auto& row : rows) ids.emplace_back(row.id);
  return ids;
}

Words cluster_words() {
  Words words;
  for (const std::string& name : cluster_presets()) words.push_back("preset:" + name);
  return words;
}

Words pass_option_words() {
  Words words;
  for (const PassLine& pass : list_passes())
    for (const PassOptionLine& option : pass.options) words.push_back(pass.id + "." + option.key + "=");
  return words;
}

Words recorder_words() {
  Words words;
  for (const RecorderScript& script : recorder_scripts()) words.push_back(script.name);
  return words;
}

Words csv_words() {
  Words words;
  for (const CsvTable& table : csv_tables()) words.emplace_back(table.what);
  return words;
}

Words verb_words() {
  Words words;
  for (const VerbRow& row : verbs()) words.emplace_back(row.name);
  return words;
}

/// The values that completion offers where the help calls a value, or an argument, so. `verb`: of this one alone.
struct ValueRow {
  std::string_view value, verb;
  Words (*words)();
  bool files = false, commas = false;
};
constexpr std::array kValues = {
    ValueRow{"MODEL", "", list_models, true},
    ValueRow{"DATA", "", list_demo_data, true},
    ValueRow{"CLUSTER", "", cluster_words, true},
    ValueRow{"DEVICE", "", list_devices},
    ValueRow{"DTYPE", "",
             [] {
               return Words{"f32", "bf16"};
             }},
    ValueRow{"PASS,...", "", [] { return ids_of_rows(list_passes()); }, false, true},
    ValueRow{"PASS.OPTION=VALUE", "", pass_option_words},
    ValueRow{"SOLVER", "", [] { return ids_of_rows(placement_solvers()); }},
    ValueRow{"FORMAT", "export", [] { return ids_of_rows(export_formats()); }},
    ValueRow{"FORMAT", "import", [] { return ids_of_rows(import_formats()); }},
    ValueRow{"FORMAT", "what-if", [] { return ids_of_rows(replay_formats()); }},
    ValueRow{"WHAT", "export", csv_words},
    ValueRow{"NAME", "recorder", recorder_words},
    ValueRow{"VERB", "", verb_words},
};
/// Values that are files, by what the help calls them, up to a "|".
constexpr std::array<std::string_view, 14> kFiles = {
    "FILE",     "FILE.html", "S.storm",   "SESSION",     "TRACE",         "A",         "B",
    "CAL.json", "CALLS.csv", "JOBS.json", "config.json", "F.safetensors", "PLACEMENT", "CLUSTER.json"};

void add_values(OptionEntry& option, std::string_view verb) {
  const std::string_view value = option.value;
  for (const ValueRow& row : kValues)
    if (row.value == value && (row.verb.empty() || row.verb == verb)) {
      option.words = row.words(), option.files = row.files, option.commas = row.commas;
      return;
    }
  const std::string_view first = value.substr(0, value.find('|'));
  option.files = std::find(kFiles.begin(), kFiles.end(), first) != kFiles.end();
  if (option.files || first == value) return;
  for (size_t at = 0; at <= value.size();) {  // "forward|decode"
    const size_t end = std::min(value.find('|', at), value.size());
    option.words.emplace_back(value.substr(at, end - at));
    at = end + 1;
  }
}

OptionEntry entry_of(const CLI::Option& option, std::string_view verb) {
  OptionEntry entry;
  entry.help = option.get_description();
  entry.standard = option.get_default_str();
  if (option.get_positional()) {
    entry.value = option.get_name(true);
  } else {
    for (const std::string& name : option.get_snames()) entry.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) entry.names.push_back("--" + name);
    if (option.get_items_expected_max() > 0) entry.value = option.get_type_name();
  }
  add_values(entry, verb);
  return entry;
}

CommandEntry entry_of(const VerbRow& row) {
  CLI::App app{std::string(row.description), "stormcell " + std::string(row.name)};
  const std::unique_ptr<Verb> verb = row.make();
  ConsoleOptions options;
  add_all_options(app, row, *verb, options);
  CommandEntry entry;
  entry.name = row.name;
  entry.usage = row.usage;
  entry.description = row.description;
  entry.footer = app.get_footer();
  for (const CLI::Option* option : std::as_const(app).get_options())
    (option->get_positional() ? entry.arguments : entry.options).push_back(entry_of(*option, row.name));
  return entry;
}

/// The options that stand where a verb would.
CommandEntry program_entry() {
  CommandEntry entry;
  entry.name = "stormcell";
  entry.usage = "VERB [...]";
  entry.description = "runs models that choose at run time which of their parts to run, and shows where the data goes";
  for (const ProgramWord& row : program_options()) {
    OptionEntry option;
    std::string names(row.name.substr(0, row.name.find(' ')));
    if (names.size() < row.name.size()) option.value = "VERB", add_values(option, "");
    for (size_t comma = names.find(','); comma != std::string::npos; comma = names.find(','))
      option.names.push_back(names.substr(0, comma)), names.erase(0, comma + 1);
    option.names.push_back(names);
    option.help = row.text;
    entry.options.push_back(std::move(option));
  }
  return entry;
}

std::string on_one_line(std::string_view text) {
  std::string line;
  for (const char c : text)
    if (const bool blank = c == '\n' || c == ' '; !blank || !line.ends_with(' ')) line += blank ? ' ' : c;
  return line;
}

ManualSection exit_status() {
  return {"EXIT STATUS",
          "",
          {{"0", "done, also if nothing was gained"},
           {"1", "a run failed or could not be verified, or a disk or device failed"},
           {"2", "bad usage or bad input"},
           {"130, 143", "interrupted, terminated; the session is valid"}}};
}

ManualSection environment() {
  return {"ENVIRONMENT",
          "",
          {{"STORMCELL_RESOURCES",
            "folder with demos, clusters and recorders (default: ../share/stormcell beside the "
            "program)"},
           {"STORMCELL_DATA", "folder with the data of demos"},
           {"NO_COLOR", "no colours"},
           {"TMPDIR", "folder for unpacked gzip files (default: /tmp)"}}};
}

}  // namespace

void add_all_options(CLI::App& app, const VerbRow& row, Verb& verb, ConsoleOptions& options) {
  app.allow_extras();
  app.set_help_flag("-h,--help", "Prints this text.");
  app.set_version_flag("--version", "stormcell " STORMCELL_VERSION, "Prints the version.");
  app.get_formatter()->column_width(36);
  verb.add_options(app);
  add_console_options(app, options);
  // CLI11 ends a footer with a line break of its own.
  std::string footer = app.get_footer();
  while (footer.ends_with('\n')) footer.pop_back();
  if (!footer.empty()) footer += "\n\n";
  app.footer(footer + examples_text(row));
}

std::string program_manual() {
  ManualPage page{"stormcell", "Stormcell " STORMCELL_VERSION, "stormcell", program_entry()};
  ManualSection list{"VERBS"}, words{"WORDS"};
  for (const VerbRow& row : verbs()) {
    list.rows.emplace_back(std::string(row.name) + (row.usage.empty() ? "" : " ") + std::string(row.usage),
                           std::string(row.description));
    page.see_also.push_back("stormcell-" + std::string(row.name));
  }
  for (const ProgramWord& word : program_words()) words.rows.emplace_back(word.name, on_one_line(word.text));
  page.sections = {list, words, exit_status(), environment()};
  page.see_also.push_back("stormcell-studio");
  return manual_text(page);
}

std::string verb_manual(const VerbRow& row) {
  const std::string name(row.name);
  return manual_text({"stormcell-" + name,
                      "Stormcell " STORMCELL_VERSION,
                      "stormcell " + name,
                      entry_of(row),
                      {exit_status(), environment()},
                      {"stormcell"}});
}

std::string completion_script() {
  std::vector<CommandEntry> all;
  for (const VerbRow& row : verbs()) all.push_back(entry_of(row));
  return bash_completion(program_entry(), all);
}

}  // namespace stormcell::cli

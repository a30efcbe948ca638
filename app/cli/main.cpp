// stormcell: thin clients of the façade, one a verb.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include "app/cli/console.h"
#include "app/cli/json_keys.h"
#include "app/cli/manual.h"
#include "app/cli/options.h"
#include "app/cli/signals.h"
#include "app/cli/verbs.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/exports/text_output.h"
#include "core/readings/session_view.h"

namespace stormcell::cli {
namespace {

std::string quoted_command_line(const std::vector<std::string>& arguments) {
  std::string line;
  for (const std::string& a : arguments)
    line += (line.empty() ? "" : " ") +
            (a.empty() || a.find_first_of(" \t\n'\"\\#$&*;<>?|") != std::string::npos ? "'" + a + "'" : a);
  return line;
}

[[noreturn]] void refuse_extra(const CLI::App& app, const std::vector<std::string>& extras, const std::string& verb) {
  const std::string help = "stormcell " + verb + " --help";
  const std::string first = extras.front().substr(0, extras.front().find('='));
  if (!first.starts_with("-") || first == "-") bad_input(first.empty() ? "\"\"" : first, "one argument too many", help);
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options())
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  const bool is_near = first.starts_with("--") && !nearest_words(first, known).empty();
  bad_input(first, "no option of " + verb, is_near ? advice_on_word(first, known) + " " + help : help);
}

// CLI11's own errors, in the one line of ours.
[[noreturn]] void refuse_usage(const CLI::App& app, const CLI::ParseError& error, const std::string& verb) {
  const std::string help = "stormcell " + verb + " --help", text = error.what();
  if (const std::vector<std::string> extras = app.remaining(); !extras.empty()) refuse_extra(app, extras, verb);
  const std::string name = text.substr(0, text.find_first_of(": "));
  if (dynamic_cast<const CLI::RequiredError*>(&error)) bad_input(name, "is missing", help);
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error))
    bad_input(name,
              text.find("missing") != std::string::npos || text.find("At least") != std::string::npos
                  ? "its value is missing"
                  : "given more than once",
              help);
  const size_t colon = text.find(": ");
  bad_input(colon == std::string::npos ? verb : name, colon == std::string::npos ? text : text.substr(colon + 2), help);
}

int run_verb(const VerbRow& row, const std::vector<std::string>& arguments, Console& console) {
  const std::string name(row.name);
  CLI::App app{std::string(row.description), "stormcell " + name};
  const std::unique_ptr<Verb> verb = row.make();
  ConsoleOptions options;
  add_all_options(app, row, *verb, options);
  try {
    std::vector<std::string> reversed(arguments.rbegin(), arguments.rend() - 1);
    app.parse(reversed);
    if (const std::vector<std::string> extras = app.remaining(); !extras.empty()) refuse_extra(app, extras, name);
  } catch (const CLI::CallForHelp&) {
    console.print(app.help());
    return 0;
  } catch (const CLI::CallForVersion& version) {
    console.print(std::string(version.what()) + "\n");
    return 0;
  } catch (const CLI::ParseError& error) {
    refuse_usage(app, error, name);
  }
  console.configure(options, quoted_command_line(arguments));
  const int code = verb->execute(console);
  console.end_progress();
  console.log("exit " + std::to_string(code));
  return code;
}

int run_program(const std::vector<std::string>& arguments, Console& console) {
  if (arguments.empty()) bad_input("VERB", "is missing", "stormcell --help");
  if (arguments[0] == "--help" || arguments[0] == "-h") {
    console.print(program_help());
    return 0;
  }
  if (arguments[0] == "--version") {
    console.print("stormcell " STORMCELL_VERSION "\n");
    return 0;
  }
  if (arguments[0] == "--json-keys") {
    if (arguments.size() > 1) bad_input(arguments.back(), "one argument too many", "stormcell --help");
    console.print(json_keys_text());
    return 0;
  }
  if (arguments[0] == "--manual" || arguments[0] == "--completion") {
    const bool is_page = arguments[0] == "--manual";
    if (arguments.size() > (is_page ? 2 : 1)) bad_input(arguments.back(), "one argument too many", "stormcell --help");
    console.print(!is_page               ? completion_script()
                  : arguments.size() < 2 ? program_manual()
                                         : verb_manual(find_verb(arguments[1])));
    return 0;
  }
  return run_verb(find_verb(arguments[0]), arguments, console);
}

std::string stopped_text(ErrorKind kind, const std::string& session) {
  const std::string what = kind == ErrorKind::terminated ? "terminated" : "interrupted";
  return session.empty() || !std::filesystem::exists(session)
             ? what
             : session + ": " + what + " (it holds every batch that was finished)";
}

/// Describes the rest of a failed call in its session: "S.storm#3 holds every batch that was finished". Empty: nothing,
/// or the session itself could not be written.
std::string kept_text(const Console& console, std::string_view error) {
  try {
    if (console.session().empty() || error.starts_with(console.session() + ":") ||
        !std::filesystem::exists(console.session()))
      return {};
    std::vector<RunLine> runs = open_session(console.session()).runs;
    while (runs.size() > console.runs_before() && runs.back().batches == 0) runs.pop_back();
    if (runs.size() <= console.runs_before()) return {};
    return console.session() + "#" + std::to_string(runs.back().id) + " holds every batch that was finished";
  } catch (const std::exception&) {  // what failed is said all the same
    return {};
  }
}

/// Adds it to the advice, if there is any.
std::string with_kept(std::string text, const std::string& kept) {
  if (kept.empty()) return text;
  if (!text.ends_with(')')) return text + " (" + kept + ")";
  text.back() = ';';
  return text + " " + kept + ")";
}

/// Every refusal ends with advice; an error without one is about usage.
std::string with_advice(const Error& error, const std::vector<std::string>& arguments) {
  const std::string text = error.what();
  if (error.kind() != ErrorKind::bad_input || text.ends_with(')')) return text;
  return text + " (stormcell " + (arguments.empty() ? "" : arguments[0] + " ") + "--help)";
}

/// Runs the program and handles every way in which it can end.
int guarded(const std::vector<std::string>& arguments) {
  const CancellationToken cancel;
  raise_on_signals(cancel);
  Console console(cancel);
  try {
    return run_program(arguments, console);
  } catch (const ReaderGone&) {
    return 0;
  } catch (const Error& e) {
    const bool stopped = e.kind() == ErrorKind::interrupted || e.kind() == ErrorKind::terminated;
    console.error(stopped                         ? stopped_text(e.kind(), console.session())
                  : e.kind() == ErrorKind::failed ? with_kept(e.what(), kept_text(console, e.what()))
                                                  : with_advice(e, arguments));
    return e.exit_code();
  } catch (const std::bad_alloc&) {
    console.error("memory: there is not enough (take a smaller batch or model)");
    return 1;
  } catch (const std::exception& e) {
    console.error(std::string("internal: ") + e.what() + " (please report this)");
    return 1;
  }
}

}  // namespace
}  // namespace stormcell::cli

int main(int argc, char** argv) {
  stormcell::cli::open_standard_descriptors();
  return stormcell::cli::guarded({argv + (argc > 0 ? 1 : 0), argv + argc});
}

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <iterator>
#include <string>

#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "app/cli/page.h"
#include "app/cli/run_result.h"
#include "app/cli/told_result.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/imports/import.h"

namespace stormcell::cli {
namespace {

/// Counts do not say how many branches a cell goes to.
std::string choices_text(const ImportFigures& f, const TracedShape& model) {
  const bool known = std::find(f.lacks.begin(), f.lacks.end(), "k") == f.lacks.end();
  return known ? ", " + count_text(model.k) + " a cell" : "";
}

std::string model_text(const TracedShape& model) {
  return (model.name.empty() ? "" : model.name + ": ") + counted(model.layers, "layer") + " of " +
         counted(model.branches, "branch");
}

/// Facts that no recorder of this program writes. Verbs that need one say so when they are asked.
bool is_beyond_recorders(std::string_view fact) {
  return fact == "homes" || fact == "residency" || fact == "branch_bytes" || fact == "timings";
}

/// "0.62 confident, 81 % right, 1.2 ms"
std::string exit_text(const TracedExit& e) {
  std::string text = number_text(e.confidence) + " confident on average";
  if (e.right) text += ", " + number_text(100 * *e.right) + " % right";
  if (e.ms) text += ", " + number_text(*e.ms) + " ms";
  return text;
}

std::string import_text(const ImportFigures& f) {
  std::vector<std::vector<std::string>> rows;
  const auto known = [&] {
    if (f.files_known == 0) return;
    std::string as;
    for (const ImportedSession& s : f.sessions)
      if (f.files_known == 1 && !s.runs_known.empty())
        as = ", as " + (s.session == f.session ? "" : s.session) + "#" + std::to_string(s.runs_known[0]);
    rows.push_back({"left out", counted(f.files_known, "file") + " that the session has already" + as});
  };
  if (f.format.empty()) {
    rows.push_back({"read", "nothing: there is no new file"});
    known();
    rows.push_back({"session", f.session});
    return table_text(rows, {});
  }
  for (const ImportedSession& s : f.sessions)
    if (!s.runs.empty()) rows.push_back({"model", model_text(s.model) + choices_text(f, s.model)});
  rows.push_back({"read", counted(f.choices, "choice") + " in " + number_text(f.seconds) + " s (" + f.format + ")"});
  if (!f.recorded.empty()) rows.push_back({"recorded", f.recorded});
  for (const TracedExits& traced : f.exits)
    for (size_t e = 0; e < traced.exits.size(); ++e)
      rows.push_back({e + 1 == traced.exits.size() ? "at the end" : "at exit " + std::to_string(e + 1),
                      "all " + counted(traced.items, "item") + ": " + exit_text(traced.exits[e])});
  if (f.rows_skipped > 0) rows.push_back({"skipped", counted(f.rows_skipped, "row") + " of layers without branches"});
  if (f.rows_shared > 0)
    rows.push_back({"left out", counted(f.rows_shared, "row") +
                                    " of fused shared experts: every token goes there, which is not routing"});
  known();
  bool first = true;
  for (size_t i = 0; i < f.lacks.size(); ++i) {
    if (!f.recorded.empty() && is_beyond_recorders(f.lacks[i])) continue;
    const std::string& how = f.lacks_how[i];
    rows.push_back({first ? "the trace lacks" : "", f.lacks[i] + (how.empty() ? "" : " (" + how + ")")});
    first = false;
  }
  for (const ImportedSession& s : f.sessions) {
    std::string runs;
    for (const int64_t run : s.runs) runs += (runs.empty() ? "#" : ", #") + std::to_string(run);
    if (!runs.empty()) rows.push_back({"session", s.session + runs});
  }
  return table_text(rows, {});
}

std::vector<std::string> import_conclusions(const ImportFigures& f) {
  int64_t runs = 0;
  std::string first;
  for (const ImportedSession& s : f.sessions) {
    runs += std::ssize(s.runs);
    if (first.empty() && !s.runs.empty()) first = s.session + "#" + std::to_string(s.runs.front());
  }
  if (runs == 0)
    return {"Nothing was imported: the session has every file already.", next_command({"inspect", f.session})};
  const std::string where = runs == 1 ? first
                                      : counted(runs, "run") + " of " + counted(std::ssize(f.sessions), "session") +
                                            ", the first of them " + first;
  std::vector<std::string> sentences = {"The import read " + counted(f.choices, "choice") + " into " + where + "."};
  std::vector<std::string> lacks;
  for (const std::string& fact : f.lacks)
    if (f.recorded.empty() || !is_beyond_recorders(fact)) lacks.push_back(fact);
  if (!lacks.empty()) sentences.push_back("The trace lacks " + joined_with_and(lacks) + ".");
  sentences.push_back(next_command({"analyze", first}));
  return sentences;
}

class ImportVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    app.add_option(
           "TRACE", import_.traces,
           "Names routing traces, each a run of its own, or folders of them; traces that the session has already "
           "are left out.")
        ->type_name("")
        ->required();
    add_text(app, "-o", import_.session,
             "Appends the runs to this session; another model gets a session of its own (required; no default).",
             "S.storm");
    add_text(app, "--format", import_.format, "Names one of the formats below (default: recognised by its content).",
             "FORMAT");
    add_text(app, "--model-config", import_.model_config,
             "Reads what a trace does not say from the model's config.json (default: none).", "config.json");
    add_whole_number(app, "--hidden", import_.hidden, 1,
                     "Sets the width of a cell's hidden state, if there is no config.json (default: not known).");
    add_whole_number(app, "--ffn", import_.ffn, 1,
                     "Sets the inner width of a branch, if there is no config.json (default: not known).");
    add_whole_number(app, "--shared-experts", import_.shared_experts, 0,
                     "Sets the number of shared experts that the server fused after the routed ones, as SGLang's "
                     "num_fused_shared_experts says (default: that of config.json).");
    add_json_option(app, json_);
    std::string formats = "formats:";
    for (const ImportFormat& f : import_formats())
      formats += "\n  " + std::string(f.id) + ": " + std::string(f.summary);
    app.footer(formats);
  }

  int execute(Console& console) override {
    for (const std::string& trace : import_.traces)
      if (trace.empty()) bad_input("TRACE", "is empty", "name a file");
    if (import_.session.empty()) bad_input("-o", "is missing", "-o S.storm");
    if (!import_.model_config.empty() && (import_.hidden > 0 || import_.ffn > 0))
      bad_input("--model-config", "has the sizes already", "leave --hidden and --ffn out");
    check_session_option(import_.session);
    console.set_session(import_.session);
    tell_result(
        console, json_, [this](const Progress& progress) { return import_traces(import_, progress); },
        [](const ImportFigures& f) {
          return Page{import_conclusions(f), import_text(f)};
        });
    return 0;
  }

 private:
  ImportOptions import_;
  std::string json_;
};

}  // namespace

std::unique_ptr<Verb> make_import() { return std::make_unique<ImportVerb>(); }

}  // namespace stormcell::cli

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "app/cli/page.h"
#include "app/cli/run_result.h"
#include "app/cli/told_result.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/imports/merge.h"
#include "core/summary/needed_facts.h"

namespace stormcell::cli {
namespace {

std::string merge_details(const MergeFigures& f) {
  std::vector<std::vector<std::string>> about = {
      {"model", f.model},
      {"merged by", std::string(to_text(f.by)) + ": " + counted(static_cast<int64_t>(f.parts.size()), "part") + ", " +
                        counted(f.steps, "step") + " in " + counted(f.batches, "batch")}};
  if (const auto lacks = needed_facts(Question::steps, f.lacks); !lacks.empty())
    about.push_back({"the data lacks", joined(lacks)});
  about.push_back({"session", f.session + "#" + std::to_string(f.run)});
  std::vector<std::vector<std::string>> rows = {{"part", "rank", "batches", "requests"}};
  for (const MergedPart& p : f.parts)
    rows.push_back({p.session + "#" + std::to_string(p.run) + " " + p.name, p.rank >= 0 ? std::to_string(p.rank) : "-",
                    count_text(p.batches), f.decisions ? count_text(p.requests) : "-"});
  return table_text(about, {}) + "\n" + table_text(rows, {1, 2, 3});
}

class MergeVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    app.add_option("SESSION", merge_.parts,
                   "Names the parts: S.storm for all its imported runs, S.storm#3 or S.storm#name.")
        ->type_name("")
        ->required();
    add_text(app, "-o", merge_.session, "Appends the merged run to this session (required; no default).", "S.storm");
    add_text(
        app, "--by", merge_.by,
        "Joins steps of several ranks, or puts one part after the other (default: ranks if the parts name theirs).",
        "ranks|days");
    add_text(app, "--name", merge_.name, "Names the run, so that S.storm#NAME finds it (default: merged).", "NAME");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    for (const std::string& part : merge_.parts)
      if (part.empty()) bad_input("SESSION", "is empty", "name a session");
    if (merge_.session.empty()) bad_input("-o", "is missing", "-o S.storm");
    check_session_option(merge_.session);
    tell_result(
        console, json_, [this](const Progress& progress) { return merge_runs(merge_, progress); },
        [](const MergeFigures& f) {
          const std::string run = f.session + "#" + std::to_string(f.run);
          return Page{{"The merge joined " + counted(std::ssize(f.parts), "part") + " into " + run + " by " +
                           std::string(to_text(f.by)) + ": " + counted(f.steps, "step") + " in " +
                           counted(f.batches, "batch") + ".",
                       next_command({"analyze", run})},
                      merge_details(f)};
        });
    return 0;
  }

 private:
  MergeOptions merge_;
  std::string json_;
};

}  // namespace

std::unique_ptr<Verb> make_merge() { return std::make_unique<MergeVerb>(); }

}  // namespace stormcell::cli

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "app/cli/calibration_text.h"
#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "app/cli/page.h"
#include "app/cli/placement_options.h"
#include "app/cli/told_result.h"
#include "core/base/counted.h"
#include "core/base/enum_words.h"
#include "core/base/listed_words.h"
#include "core/planning/place.h"
#include "core/report/report.h"
#include "core/summary/needed_facts.h"
#include "core/summary/step_contents.h"
#include "core/summary/table_times.h"

namespace stormcell::cli {
namespace {

/// Empty where steps are not costed.
std::string cost_text(const PlaceFigures& f) {
  if (!f.backend) return {};
  const TableTimes times(f.objectives_ms());
  std::vector<std::vector<std::string>> rows = {
      {times.unit() + " a step, predicted (" + std::string(f.statistic == StepStatistic::p95 ? "95 %" : "mean") + ")",
       "fitted", "held out", "dispatch", "experts", "combine", "95 %", "remote bytes", "wire bytes"}};
  for (const LayoutLine& line : f.layouts) {
    const LayoutFigures& judged = line.held_out ? *line.held_out : line.fit;
    if (!judged.step) return {};
    rows.push_back({line.name, times.text(line.fit.objective_ms),
                    line.held_out ? times.text(line.held_out->objective_ms) : "-", times.text(judged.step->dispatch_ms),
                    times.text(judged.step->compute_ms), times.text(judged.step->combine_ms),
                    times.text(judged.step->p95_ms), number_text(judged.step->remote_bytes),
                    number_text(judged.step->wire_bytes)});
  }
  const std::string steps = std::string(to_text(f.step_kind)) + " steps" +
                            (f.tokens_per_step > 0 ? " of " + counted(f.tokens_per_step, "token") : std::string());
  return "\n" + table_text(rows, {1, 2, 3, 4, 5, 6, 7, 8}) + "\nfitted, held out: over " + count_text(f.costed_fit) +
         " and " + count_text(f.costed_held_out) + " " + steps +
         (f.amortise > 0 ? ", the move shared over " + counted(f.amortise, "step") + " included" : std::string()) +
         ";\nfrom dispatch on: of the steps " + (f.costed_held_out > 0 ? "held out" : "fitted") +
         ", without the move; means except for the 95 %\n" +
         (f.calibration ? "predicted from measured calls where the table below says so, else from rates of data sheets "
                          "without start-up times; "
                          "without queues\nand overlap: the layers' dispatch, slowest GPU and combine, added up;\n"
                        : "predicted from rates of data sheets, without start-up times, queues and overlap: the "
                          "layers' dispatch, slowest GPU "
                          "and combine, added up;\n") +
         "remote bytes: of a token at a layer that it meets, to other GPUs; wire bytes: sent for that, with what is "
         "forwarded within a "
         "node\n" +
         (f.calibration ? calibration_text(*f.calibration) : std::string());
}

std::string layouts_text(const std::string& what, const std::vector<LayoutLine>& layouts) {
  std::vector<std::vector<std::string>> rows = {
      {what, "imbalance, fitted", "held out", "cross pairs, fitted", "held out", "GPUs a token, fitted", "held out"}};
  for (const LayoutLine& line : layouts)
    rows.push_back(
        {line.name, excess_text(line.fit.imbalance), line.held_out ? excess_text(line.held_out->imbalance) : "-",
         number_text(line.fit.cross_pairs), line.held_out ? number_text(line.held_out->cross_pairs) : "-",
         number_text(line.fit.ranks_per_token), line.held_out ? number_text(line.held_out->ranks_per_token) : "-"});
  return table_text(rows, {1, 2, 3, 4, 5, 6});
}

/// Empty without a trade of traffic for balance.
std::string front_text(const PlaceFigures& f) {
  return f.front.size() < 2 ? std::string() : "\n" + layouts_text("less traffic for less balance", f.front);
}

std::string differences_text(const PlaceFigures& f) {
  if (f.differences.empty()) return {};
  const TableTimes times(f.objectives_ms());  // as the layouts that they are the differences of
  std::vector<std::vector<std::string>> rows = {
      {"held out", "imbalance", "cross pairs", "GPUs a token", times.unit() + " a step"}};
  const auto interval = [](const std::optional<PairedDifference>& d, const auto& number) {
    return d ? number(d->value) + " [" + number(d->low) + ", " + number(d->high) + "]" : std::string("-");
  };
  const auto text = [&](const std::optional<PairedDifference>& d) {
    return interval(d, [](double v) { return excess_text(v); });
  };
  for (const PairedFigures& d : f.differences)
    rows.push_back({std::string(to_text(d.one)) + " less " + std::string(to_text(d.other)), text(d.imbalance),
                    text(d.cross_pairs), text(d.ranks_per_token),
                    interval(d.objective_ms, [&](double v) { return times.text(v); })});
  return "\n" + table_text(rows, {1, 2, 3, 4}) + "95 % over " + count_text(f.paired_parts) + " " + f.paired_by +
         ", drawn with replacement\n";
}

std::string placement_details(const PlaceFigures& f) {
  std::vector<std::vector<std::string>> about = {
      {"model", f.model + ": " + counted(f.layers, "layer") + " of " + counted(f.branches, "expert")},
      {"cluster", f.cluster + ": " + counted(f.ranks, "GPU") + " in " + counted(f.nodes, "node") + ", " +
                      counted(f.slot_count / f.ranks, "slot") + " of a layer on each, " +
                      counted(f.slot_count - f.branches, "spare slot")},
      {"loads", f.session + "#" + std::to_string(f.run) +
                    (f.phase ? ", " + std::string(to_text(*f.phase)) : std::string()) +
                    (f.requests > 0 ? ", " + counted(f.requests, "request") : "") + ": fitted to " +
                    counted(f.fit_units, f.unit == SplitUnit::tokens ? "token" : "step") + ", judged on " +
                    (f.held_out_units == 0               ? "none"
                     : f.held_out == HeldOutBy::requests ? count_text(f.held_out_units) + " of other requests"
                                                         : count_text(f.held_out_units) + " after them")}};
  if (f.sizes)
    about.push_back({"sizes", "an expert takes " + bytes_text(static_cast<int64_t>(f.sizes->branch_bytes)) +
                                  ", a token is " + std::to_string(f.sizes->hidden) + " wide (" +
                                  sizes_source_text(*f.sizes) + ")"});
  if (f.backend)
    about.push_back({"a step", std::string(to_text(f.step_kind)) + ", experts reached " +
                                   std::string(to_text(*f.backend)) + "; " + count_text(f.costed_fit) + " fitted and " +
                                   count_text(f.costed_held_out) + " held out are costed: " + step_contents()});
  if (f.spare)
    about.push_back(
        {"spare slots", "take " + bytes_text(static_cast<int64_t>(f.spare->gpu_bytes)) + " of each GPU, " +
                            number_text(100 * f.spare->memory_share) + " % of its memory" +
                            (f.spare->kv_tokens ? ": keys and values of " +
                                                      count_text(static_cast<int64_t>(*f.spare->kv_tokens)) + " tokens"
                                                : "")});
  if (!f.chosen.empty())
    about.push_back(
        {"chosen", f.chosen + " (for " + text_or_empty(f.aim) + ", by " + text_or_empty(f.chosen_on) + ")"});
  about.push_back({"moves", counted(f.moved_slots, "slot") + " from where they are in the " +
                                (f.find(LayoutRole::from) ? "current layout" : "contiguous layout")});
  if (const auto lacks = needed_facts(Question::steps, f.lacks); !lacks.empty())
    about.push_back({"the data lacks", joined(lacks)});
  const std::string layouts = layouts_text("layout", f.layouts);
  return table_text(about, {}) + "\n" + layouts + cost_text(f) + front_text(f) + differences_text(f) +
         "\nimbalance: largest / mean load of a GPU - 1, mean over layers; cross pairs: of a token's experts at "
         "consecutive layers,\n"
         "the share of pairs on two GPUs; GPUs a token: that it goes to at a layer\n\nadvice     " +
         f.advice + "\nplacement  " + (f.already_stored ? "already stored as " : "") + f.session + "#" +
         std::to_string(f.placement) + "\n";
}

/// "stay: ..." and its like as a sentence.
std::string advice_sentence(const std::string& advice) {
  const size_t colon = advice.find(": ");
  if (colon == std::string::npos) return sentence_of(advice);
  const std::string chosen = advice.substr(0, colon), why = advice.substr(colon);
  return (chosen == "stay"     ? "Keep the layout that you have"
          : chosen == "eplb"   ? "Take the layout of the EPLB rule"
          : chosen == "result" ? "Take the placement that was found"
                               : chosen) +
         why + ".";
}

/// The busiest GPU beside the mean, of each layout, on what judges.
std::string balance_sentence(const PlaceFigures& f) {
  const auto times = [](const LayoutLine& line) {
    return number_text((line.held_out ? *line.held_out : line.fit).imbalance + 1) + " times";
  };
  const LayoutLine *result = f.find(LayoutRole::result), *from = f.find(LayoutRole::from),
                   *eplb = f.find(LayoutRole::eplb);
  const LayoutLine* before = from ? from : f.find(LayoutRole::contiguous);
  if (!result || !before || !eplb) return {};
  return "The busiest GPU gets " + times(*result) + " the mean load as placed, " + times(*before) + " before and " +
         times(*eplb) + " by the EPLB rule, on loads that it was " + (result->held_out ? "not " : "") + "fitted to.";
}

std::string stored_sentence(const PlaceFigures& f) {
  return "Placement " + f.session + "#" + std::to_string(f.placement) +
         (f.already_stored ? " was stored before" : " is stored") + ", and it moves " + counted(f.moved_slots, "slot") +
         ".";
}

class PlaceVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(
        app, "SESSION", place_.session,
        "Names the recording whose loads are placed: S.storm, S.storm#3 or S.storm#name (default: the newest run).");
    add_text(app, "--cluster", place_.cluster,
             "Names the cluster: a preset of those below, or a JSON file of the same form (required; no default).",
             "CLUSTER");
    add_text(app, "--solver", solver_, "Names one of the solvers below (default: eplb).", "SOLVER");
    add_whole_number(app, "--redundant", place_.redundant, 0,
                     "Gives each layer N spare slots on all GPUs together (default: 0).");
    add_whole_number(app, "--groups", place_.groups, 1,
                     "Keeps each of N groups of consecutive experts on one node, as EPLB does (default: as config.json "
                     "says, else none).");
    app.add_option_function<std::string>(
           "--fit-fraction", [this](const std::string& text) { place_.fit_fraction = parse_fit_fraction(text); },
           "Fits to this share of the steps, above 0 and at most 1, and judges on the rest (default: 0.7).")
        ->type_name("SHARE");
    add_step_options(app, place_.step, place_.calibration);
    app.add_flag("--p95", place_.step.p95, "Judges by the 95th percentile over steps instead of their mean.");
    add_whole_number(app, "--amortise", place_.amortise, 1,
                     "Counts the move of the experts, shared over N steps (default: not counted).");
    add_size_options(app, place_.sizes);
    add_text(app, "--aim", place_.aim,
             "Lets joint and exact minimise the cost of steps, or traffic at about EPLB's balance (default: cost if "
             "sizes are known).",
             "cost|traffic");
    app.add_option_function<std::string>(
           "--time-limit", [this](const std::string& text) { place_.time_limit = parse_time_limit(text); },
           "Bounds the search (default: 15).")
        ->type_name("SECONDS");
    app.add_flag(
        "--repeatable", place_.repeatable,
        "Finishes the work planned for --time-limit however long it takes, for the same result on every machine.");
    add_text(app, "--from", place_.from,
             "Names the layout in use, from which experts move: a file of SGLang, vLLM or TensorRT-LLM, or S.storm#4 "
             "(default: the contiguous layout).",
             "PLACEMENT");
    add_text(app, "--phase", place_.phase,
             "Places loads of this phase, or each phase by itself (default: all together).", "prefill|decode|each");
    add_text(app, "--name", place_.name,
             "Names the placement, so that S.storm#NAME finds it (default: the solver's name).", "NAME");
    add_text(app, "--report", report_,
             "Writes one self-contained HTML page about the run and its placements (default: none).", "FILE|-");
    add_json_option(app, json_);
    std::string footer = clusters_footer() + "\nsolvers:";
    for (const PlacementSolver& s : placement_solvers())
      footer += "\n  " + std::string(s.id) + ": " + std::string(s.summary);
    app.footer(footer);
  }

  int execute(Console& console) override {
    check_report_option(report_, json_, console);
    if (!solver_.empty()) place_.solver = solver_;
    search(console);
    // All of the run's placements are on its page, the newest first.
    if (!report_.empty()) write_report(placed_, report_);
    tell_report(report_, console);
    return 0;
  }

 private:
  void search(Console& console) {
    if (place_.phase == kEachPhase) {
      const auto page = [this](const PhasePlacements& both) {
        Page all;
        for (const PlaceFigures& one : both.phases) {
          all.conclusions.push_back(sentence_of(text_or_empty(one.phase) + ": " + advice_sentence(one.advice)));
          all.details += placement_details(one) + "\n";
        }
        all.conclusions.push_back(next_of(both.phases[0]));
        return all;
      };
      const auto work = [this](const Progress& progress) {
        PhasePlacements both = place_each_phase(place_, progress);
        placed_ = run_of(both.phases[0]);
        return both;
      };
      return tell_result(console, json_, work, page);
    }
    const auto work = [this](const Progress& progress) {
      PlaceFigures figures = place(place_, progress);
      placed_ = run_of(figures);
      return figures;
    };
    tell_result(console, json_, work, [this](const PlaceFigures& f) {
      return Page{{advice_sentence(f.advice), balance_sentence(f), stored_sentence(f), next_of(f)},
                  placement_details(f)};
    });
  }
  /// The joint search, where no solver was named and it has choices to look at; else the way to the server. Nothing
  /// where the layout stays.
  std::string next_of(const PlaceFigures& f) const {
    if (solver_.empty() && f.unit == SplitUnit::tokens)
      return next_command({"place", run_of(f), "--cluster", place_.cluster, "--solver", "joint"}) +
             " searches further (default: 15 s)";
    return next_command(
        {"export", f.session + "#" + std::to_string(f.placement), "--format", "sglang", "-o", "placement.json"});
  }
  static std::string run_of(const PlaceFigures& figures) { return figures.session + "#" + std::to_string(figures.run); }

  PlaceOptions place_;
  std::string solver_;  // empty: not named
  std::string report_, json_;
  std::string placed_;  // the session with its run
};

}  // namespace

std::unique_ptr<Verb> make_place() { return std::make_unique<PlaceVerb>(); }

}  // namespace stormcell::cli

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>
#include <optional>

#include "app/cli/calibration_text.h"
#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "app/cli/page.h"
#include "app/cli/placement_options.h"
#include "app/cli/told_result.h"
#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/summary/capacity_text.h"
#include "core/summary/needed_facts.h"
#include "core/summary/step_contents.h"
#include "core/summary/table_times.h"
#include "simulator/simulate.h"
#include "simulator/simulation_report.h"

namespace stormcell::cli {
namespace {

constexpr size_t kMostRows = 16;  // of a table; the JSON has all

std::string bytes_of(double bytes) { return bytes_text(static_cast<int64_t>(bytes)); }

/// The rows with the largest `value`, in their order; the number of omitted rows is stated below.
template <class T, class Value>
std::vector<const T*> largest(const std::vector<T>& all, Value value) {
  std::vector<const T*> rows;
  for (const T& one : all) rows.push_back(&one);
  if (rows.size() <= kMostRows) return rows;
  std::stable_sort(rows.begin(), rows.end(), [&](const T* a, const T* b) { return value(*a) > value(*b); });
  rows.resize(kMostRows);
  std::sort(rows.begin(), rows.end());
  return rows;
}
std::string left_out(size_t all, const std::string& what) {
  return all > kMostRows
             ? "the " + std::to_string(kMostRows) + " largest of " + counted(static_cast<int64_t>(all), what) + "\n"
             : std::string();
}

std::string layers_text(const SimulateFigures& f) {
  std::vector<double> ms;
  for (const SimulatedLayer& l : f.layers) ms.insert(ms.end(), {l.dispatch_ms, l.compute_ms, l.combine_ms});
  const TableTimes times(ms);
  std::vector<std::vector<std::string>> rows = {
      {times.unit() + " in a step, simulated", "dispatch", "experts", "combine", "slowest GPU / mean - 1"}};
  for (const SimulatedLayer* l :
       largest(f.layers, [](const SimulatedLayer& x) { return x.dispatch_ms + x.compute_ms + x.combine_ms; }))
    rows.push_back({l->name, times.text(l->dispatch_ms), times.text(l->compute_ms), times.text(l->combine_ms),
                    excess_text(l->imbalance)});
  return "\n" + table_text(rows, {1, 2, 3, 4}) + left_out(f.layers.size(), "layer");
}

std::string gpus_text(const SimulateFigures& f) {
  std::vector<double> ms;
  for (const SimulatedGpu& g : f.gpus) ms.push_back(g.compute_ms);
  const TableTimes times(ms);
  std::vector<std::vector<std::string>> rows = {
      {"in a step", "computes, " + times.unit(), "waits for others", "sends", "receives"}};
  for (const SimulatedGpu* g : largest(f.gpus, [](const SimulatedGpu& x) { return x.compute_ms; }))
    rows.push_back({"GPU " + std::to_string(g - f.gpus.data()) + " of node " + std::to_string(g->node),
                    times.text(g->compute_ms), excess_text(100 * g->waiting_share) + " %", bytes_of(g->sent_bytes),
                    bytes_of(g->received_bytes)});
  return "\n" + table_text(rows, {1, 2, 3, 4}) + left_out(f.gpus.size(), "GPU");
}

std::string sensitivity_text(const SimulateFigures& f) {
  std::vector<std::vector<std::string>> rows = {{"10 % more of", "changes the step by, %"}};
  for (const Elasticity& e : f.sensitivity) rows.push_back({e.figure, number_text(10 * e.value)});
  return "\n" + table_text(rows, {1});
}

std::string collective_text(const SimulateFigures& f) {
  if (!f.collective) return {};
  const SimulatedCollective& c = *f.collective;
  const TableTimes times(
      {c.dispatch.closed_form_ms, c.dispatch.filled_ms, c.combine.closed_form_ms, c.combine.filled_ms});
  std::vector<std::vector<std::string>> rows = {{"step " + std::to_string(c.step) + ", " + c.layer, "messages", "bytes",
                                                 "by ports, " + times.unit(), "by filling, " + times.unit()}};
  for (const auto& [name, e] :
       {std::pair<const char*, const SimulatedExchange&>{"dispatch", c.dispatch}, {"combine", c.combine}})
    rows.push_back(
        {name, count_text(e.messages), bytes_of(e.bytes), times.text(e.closed_form_ms), times.text(e.filled_ms)});
  return "\n" + table_text(rows, {1, 2, 3, 4}) +
         "by ports: the busiest port's bytes / its rate; by filling: messages share their links max-min fair (timeline "
         "in --json)\n" +
         (c.dispatch.means || c.combine.means
              ? "single messages are means where homes of tokens, or which replica they take, are not known\n"
              : "");
}

std::string deployment_text(const SimulateFigures& f) {
  if (!f.deployment) return {};
  const DeploymentFigures& d = *f.deployment;
  std::vector<std::vector<std::string>> rows = {
      {"imbalance of the GPUs", "predicted", "recorded, shared evenly", "by slots", "difference"}};
  const auto add = [&](const std::string& name, const DeployedBalance& b) {
    rows.push_back({name, excess_text(b.predicted), excess_text(b.shared_evenly), excess_text(b.recorded),
                    excess_text(b.difference())});
  };
  for (const DeployedLayer* l :
       largest(d.layers, [](const DeployedLayer& x) { return std::abs(x.balance.difference()); }))
    add(l->name, l->balance);
  add("mean", d.mean);
  return "\n" + table_text(rows, {1, 2, 3, 4}) + left_out(d.layers.size(), "layer") + "predicted: of the loads of " +
         d.session + "#" + std::to_string(d.run) +
         ", that the placement was made from; recorded: of this run, replicas of\nan expert taken alike, and as " +
         (d.why_not.empty() ? "their slots got them\n"
                            : "their slots got them, which is not known: " + d.why_not + "\n");
}

/// Shows the contents of the figure beside it, or the reason why there is none.
std::string rate_of(const SimulateFigures& f) {
  if (!f.tokens_per_s) {
    const std::string advice =
        f.tokens_per_step ? " (--rest-ms states the rest of a step, --calibration has measured calls)" : "";
    return "not stated: " + f.why_no_tokens_per_s + advice;
  }
  return count_text(static_cast<int64_t>(*f.tokens_per_s)) + " at most: a step of " + rate_contents(f.rest_ms);
}

std::string simulation_details(const SimulateFigures& f) {
  std::vector<std::vector<std::string>> about = {
      {"model", f.model + ": " + counted(static_cast<int64_t>(f.layers.size()), "layer") + " of " +
                    counted(f.branches, "expert")},
      {"cluster", f.cluster + ": " + counted(f.ranks, "GPU") + " in " + counted(f.nodes, "node") + ", " +
                      counted(f.slot_count / f.ranks, "slot") + " of a layer on each"},
      {"placement", f.placement},
      {"steps", count_text(f.steps) + " " + std::string(to_text(f.step_kind)) + " of " + f.session + "#" +
                    std::to_string(f.run) + (f.phase ? ", " + std::string(to_text(*f.phase)) : std::string()) +
                    (f.tokens_per_step ? ", " + number_text(*f.tokens_per_step) + " tokens each" : "") +
                    "; experts reached " + std::string(to_text(f.backend))},
      {"sizes", "an expert takes " + bytes_of(f.sizes.branch_bytes) + ", a token is " + std::to_string(f.sizes.hidden) +
                    " wide (" + sizes_source_text(f.sizes) + ")"}};
  if (const auto lacks = needed_facts(Question::steps, f.lacks); !lacks.empty())
    about.push_back({"the data lacks", joined(lacks)});
  const TableTimes of_step({f.mean_ms, f.p50_ms, f.p95_ms, f.serial_ms, f.rest_ms.value_or(f.mean_ms)});
  std::vector<std::vector<std::string>> times = {
      {"a step, simulated", of_step.text(f.mean_ms) + " " + of_step.unit() + " as a mean, median " +
                                of_step.text(f.p50_ms) + ", 95 % below " + of_step.text(f.p95_ms)}};
  if (f.rest_ms) times.push_back({"stated rest of it", of_step.text(*f.rest_ms) + " " + of_step.unit()});
  if (f.overlap != Overlap::none)
    times.push_back({"without overlap", of_step.text(f.serial_ms) + " " + of_step.unit()});
  times.push_back({"tokens a second", rate_of(f)});
  if (const auto& c = f.capacity)
    times.push_back(
        {"dropped choices", (c->dropped > 0 ? share_text(c->dropped_share()) + " of them, " : std::string("none, ")) +
                                capacity_text(c->factor, c->dropped_share())});
  times.push_back(
      {"to other GPUs", bytes_of(f.remote_bytes) + " a step, " + bytes_of(f.wire_bytes) + " with what is forwarded"});
  std::string text = table_text(about, {}) + "\n" + table_text(times, {}) + layers_text(f) + gpus_text(f) +
                     deployment_text(f) + sensitivity_text(f) +
                     (f.calibration ? calibration_text(*f.calibration) : std::string()) + collective_text(f) +
                     "\nassumed\n";
  for (const std::string& line : f.assumptions) text += "  " + line + "\n";
  return text;
}

/// `cluster`: as it was named.
std::vector<std::string> simulation_conclusions(const SimulateFigures& f, const std::string& cluster) {
  const TableTimes times({f.mean_ms, f.p95_ms});
  std::vector<std::string> sentences = {"A step here is " + f.contents + ".",
                                        "It takes " + times.text(f.mean_ms) + " " + times.unit() +
                                            " on average and stays below " + times.text(f.p95_ms) + " " + times.unit() +
                                            " in 95 % of the steps, simulated on " + f.cluster + "."};
  const auto slowest = std::max_element(f.layers.begin(), f.layers.end(), [](const auto& a, const auto& b) {
    return a.dispatch_ms + a.compute_ms + a.combine_ms < b.dispatch_ms + b.compute_ms + b.combine_ms;
  });
  if (slowest != f.layers.end())
    sentences.push_back("Its slowest layer is " + slowest->name + ", where the slowest GPU computes " +
                        number_text(slowest->imbalance + 1) + " times as long as the mean.");
  const auto steepest =
      std::max_element(f.sensitivity.begin(), f.sensitivity.end(),
                       [](const Elasticity& a, const Elasticity& b) { return std::abs(a.value) < std::abs(b.value); });
  if (steepest != f.sensitivity.end())
    sentences.push_back("The step depends most on this figure: " + steepest->figure + ". A tenth more changes it by " +
                        number_text(10 * steepest->value) + " %.");
  sentences.push_back(next_command({"place", f.session + "#" + std::to_string(f.run), "--cluster", cluster}));
  return sentences;
}

class SimulateVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "SESSION", simulate_.session,
                 "Names the recording whose routing is simulated: S.storm, S.storm#3 or S.storm#name (default: the "
                 "newest run).");
    add_text(app, "--cluster", simulate_.cluster,
             "Names the cluster: a preset of those below, or a JSON file of the same form (required; no default).",
             "CLUSTER");
    add_text(
        app, "--placement", simulate_.placement,
        "Names the placement: #4 or #NAME of the same session, S.storm#4, or a file of SGLang, vLLM or TensorRT-LLM "
        "(default: the contiguous layout).",
        "PLACEMENT");
    add_text(app, "--made-from", simulate_.made_from,
             "Names the run that the placement was made from, to show its balance beside the recorded one (default: as "
             "the stored placement says).",
             "SESSION");
    add_step_options(app, simulate_.step, simulate_.calibration);
    add_size_options(app, simulate_.sizes);
    add_text(app, "--overlap", simulate_.overlap, "Overlaps communication with expert compute (default: none).",
             joined(overlaps(), "|"));
    app.add_option_function<std::string>(
           "--oversubscription",
           [this](const std::string& text) { simulate_.oversubscription = parse_oversubscription(text); },
           "Sets the rate of a node's network ports divided by the rate of its uplink (default: 1).")
        ->type_name("FACTOR");
    app.add_option_function<std::string>(
           "--capacity-factor",
           [this](const std::string& text) { simulate_.step.capacity_factor = parse_capacity_factor(text); },
           "Lets an expert take at most this many times its even share of a step's choices, and drops the others "
           "(default: all are taken).")
        ->type_name("FACTOR");
    app.add_option_function<std::string>(
           "--rest-ms", [this](const std::string& text) { simulate_.rest_ms = parse_rest_ms(text); },
           "States the milliseconds of a step that are neither experts nor exchange: attention, norms, sampling "
           "(default: "
           "not stated).")
        ->type_name("MS");
    add_text(app, "--phase", simulate_.phase, "Simulates only steps of this phase (default: all).", "prefill|decode");
    add_whole_number(
        app, "--collective", simulate_.collective, 0,
        "Shows how the messages of one step of a layer, counted from 0, share links in time (default: none).");
    add_whole_number(app, "--step", simulate_.collective_step, 0,
                     "Sets the step that --collective shows (default: 0).");
    add_text(app, "--report", report_, "Writes one self-contained HTML page; - is standard output (default: none).",
             "FILE|-");
    add_json_option(app, json_);
    app.footer(clusters_footer());
  }

  int execute(Console& console) override {
    check_report_option(report_, json_, console);
    std::optional<SimulateFigures> reported;
    const auto work = [&](const Progress& progress) {
      SimulateFigures figures = simulate(simulate_, progress);
      if (!report_.empty()) reported = figures;
      return figures;
    };
    tell_result(console, json_, work, [this](const SimulateFigures& figures) {
      return Page{simulation_conclusions(figures, simulate_.cluster), simulation_details(figures)};
    });
    if (reported) write_simulation_report(*reported, report_);
    tell_report(report_, console);
    return 0;
  }

 private:
  SimulateOptions simulate_;
  std::string report_, json_;
};

}  // namespace

std::unique_ptr<Verb> make_simulate() { return std::make_unique<SimulateVerb>(); }

}  // namespace stormcell::cli

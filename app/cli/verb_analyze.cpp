#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <numeric>

#include "app/cli/analysis_words.h"
#include "app/cli/chance_text.h"
#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "app/cli/told_result.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/numbers.h"
#include "core/base/run_kind.h"
#include "core/comparison/analyze.h"
#include "core/summary/needed_facts.h"

namespace stormcell::cli {
namespace {

/// "12 3 0 4"; with many branches only the largest, with their numbers.
std::string loads_text(const std::vector<int64_t>& load) {
  constexpr size_t kAll = 16, kLargest = 8;
  std::string text;
  if (load.size() <= kAll) {
    for (const int64_t v : load) text += (text.empty() ? "" : "  ") + count_text(v);
    return text;
  }
  std::vector<size_t> order(load.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return load[a] > load[b]; });
  for (size_t i = 0; i < kLargest; ++i)
    text += (i == 0 ? "" : "  ") + ("#" + std::to_string(order[i]) + " ") + count_text(load[order[i]]);
  return text + "  ... (--json has all)";
}

/// "#3 -> #17 92 %  #5 -> #2 88 %": the first of a list that is sorted.
template <class Pair, class Text>
std::string strongest_text(const std::vector<Pair>& strongest, Text text) {
  constexpr size_t kShown = 3;
  std::string list;
  for (size_t i = 0; i < strongest.size() && i < kShown; ++i) add_to_list(list, text(strongest[i]), "  ");
  return list;
}

std::string branch_text(int32_t branch) { return "#" + std::to_string(branch); }

/// "13.2 % (12.9 % to 13.9 %)"; "-": there is no such figure.
std::string likeliest_by_chance(const AnalysisChance& chance, size_t i) {
  if (i >= chance.transitions.size() || !chance.transitions[i].likeliest) return "-";
  const ChanceRange& range = chance.transitions[i].likeliest->range;
  return share_text(range.middle) + " (" + share_text(range.low) + " to " + share_text(range.high) + ")";
}
std::string lift_by_chance(const AnalysisChance& chance, size_t i) {
  if (i >= chance.coactivation.size() || !chance.coactivation[i].largest_lift) return "-";
  const ChanceRange& range = *chance.coactivation[i].largest_lift;
  return number_text(range.middle) + " x (" + number_text(range.low) + " to " + number_text(range.high) + ")";
}

/// Empty if nothing is known.
std::string pairs_text(const AnalyzeFigures& f) {
  std::string text;
  std::vector<std::vector<std::string>> next = {
      {"transitions from", "to", "likeliest", "by chance", "by load", "strongest"}};
  if (f.transitions)
    for (size_t i = 0; i < f.transitions->size(); ++i) {
      const auto& [router, next_router, pairs, figures] = (*f.transitions)[i];
      if (figures.likeliest && figures.likeliest_by_load)
        next.push_back({router, next_router, share_text(*figures.likeliest), likeliest_by_chance(f.chance, i),
                        share_text(*figures.likeliest_by_load),
                        strongest_text(figures.strongest, [](const BranchTransition& t) {
                          return branch_text(t.from) + " -> " + branch_text(t.to) + " " + share_text(t.probability);
                        })});
    }
  if (next.size() > 1)
    text += "\n" + table_text(next, {2, 3, 4}) +
            "\nstrongest: P(next | this) of branches with 20 cells or more at the next router; likeliest: the mean "
            "over cells of the\n"
            "largest one; by chance: of even next routers, median and 95 %, in closed form; by load: of one guess "
            "for all (--json has more)\n";
  std::vector<std::vector<std::string>> together = {{"router", "largest by chance", "chosen together above chance"}};
  if (f.coactivation)
    for (size_t i = 0; i < f.coactivation->size(); ++i) {
      const RouterCoactivation& r = (*f.coactivation)[i];
      if (!r.strongest.empty())
        together.push_back({r.router, lift_by_chance(f.chance, i),
                            strongest_text(r.strongest, [](const BranchesTogether& b) {
                              return branch_text(b.a) + " + " + branch_text(b.b) + " " + number_text(b.lift) + " x";
                            })});
    }
  if (together.size() > 1)
    text += "\n" + table_text(together, {}) +
            "\nx: cells that got both / pairs drawn by the loads, from 20 cells on; by chance: the largest of even "
            "routers, in closed form\n";
  return text;
}

std::string drift_text(const DriftFigures& d) {
  return "total variation " + number_text(d.distance) + ", by chance " + number_text(d.expected) +
         ", 95 % of random halves " + number_text(d.by_chance.low) + " to " + number_text(d.by_chance.high) + ", by drawing (" +
         (d.p_value <= .05 ? "they differ" : "no more than chance") + ", p = " + number_text(d.p_value) + ", " +
         counted(d.blocks, "block") + " of steps)\n";
}

std::string reuse_and_drift_text(const AnalyzeFigures& f) {
  std::string text;
  if (f.reuse && f.reuse->p50)
    text += "\nreuse distance, distinct experts of all layers between two uses of one: median " +
            count_text(*f.reuse->p50) + ", 90 % " + count_text(*f.reuse->p90) + ", 99 % " + count_text(*f.reuse->p99) +
            "; " + count_text(f.reuse->first_uses) + " of " + counted(f.reuse->lookups, "lookup") + " are the first\n";
  if (f.drift) text += "\ndrift between the halves: " + drift_text(*f.drift);
  if (f.against)
    text += "\ndrift from " + f.against->session + "#" + std::to_string(f.against->run) + ": " +
            (f.against->drift ? drift_text(*f.against->drift) : "not judged: " + f.against->why_not + "\n") +
            (f.against->doubt.empty() ? "" : f.against->doubt + "\n");
  return text;
}

/// Empty if nothing is known.
std::string choices_text(const AnalyzeFigures& f) {
  const PredictabilityFigures& p = f.predictability;
  std::vector<std::vector<std::string>> rows;
  const auto add = [&](const char* what, const std::optional<double>& recall) {
    if (recall) rows.push_back({what, number_text(*recall * 100) + " %"});
  };
  add("the token before", p.temporal_lag1);
  add("the most frequent, of the same tokens", p.static_in_sample);
  add("the most frequent of the prompts", p.static_from_prompt);
  add("the most frequent of the first 70 %, on the rest", p.static_held_out);
  add("what followed the layer before in the first 70 %, on the rest", p.transition_held_out);
  std::string text = rows.empty()
                         ? ""
                         : "\na cell's branches could be guessed by (share of its choices that are in the guess)\n" +
                               table_text(rows, {1});
  text += reuse_and_drift_text(f);
  if (!f.cache) return text;
  std::vector<std::vector<std::string>> cache = {
      {"cache " + std::string(to_text(f.cache->policy)), "hits", "lookups", "rate"}};
  const auto count = [&](const char* what, const CacheFigures::Count& c) {
    if (c.rate) cache.push_back({what, count_text(c.hits), count_text(c.lookups), number_text(*c.rate * 100) + " %"});
  };
  count("all", f.cache->all);
  count("decoding", f.cache->decode);
  return text + "\n" + table_text(cache, {1, 2, 3}) + "of " + bytes_text(f.cache->budget_bytes) +
         ", empty at first; a lookup is an expert of a layer of a step\n";
}

std::string analysis_details(const AnalyzeFigures& f) {
  const bool has_k = std::find(f.lacks.begin(), f.lacks.end(), "k") == f.lacks.end();
  std::vector<std::vector<std::string>> about = {
      {"model", f.model + ": " + counted(f.layers, "router") + " of " + counted(f.branches, "branch") +
                    (has_k ? ", " + count_text(f.k) + " a cell" : "")},
      {"run", f.session + "#" + std::to_string(f.run) + (f.phases.empty() ? "" : ", " + joined(f.phases))}};
  bool first = true;
  for (size_t i = 0; i < f.lacks.size(); ++i) {
    if (!is_needed(f.cache ? Question::caches : Question::routing, f.lacks[i])) continue;
    about.push_back(
        {first ? "the data lacks" : "", f.lacks[i] + (f.lacks_how[i].empty() ? "" : " (" + f.lacks_how[i] + ")")});
    first = false;
  }
  const bool by_slot = f.imbalance_of_slots.has_value(), by_rank = f.imbalance_of_ranks.has_value();
  std::vector<std::vector<std::string>> rows = {{"router", "choices", "imbalance", "balancedness", "entropy", "gini",
                                                 "touched"}},
                                        loads = {{"router", "choices of each branch"}},
                                        sets = {{"router", "hot", "cold"}};
  const auto add_slots = [&](const std::optional<double>& of_slots, const std::optional<double>& of_ranks) {
    if (by_slot) rows.back().push_back(of_slots ? number_text(*of_slots) : "");
    if (by_rank) rows.back().push_back(of_ranks ? number_text(*of_ranks) : "");
  };
  if (by_slot) rows.back().emplace_back("by slot");
  if (by_rank) rows.back().emplace_back("by GPU");
  for (const RouterAnalysis& r : f.routers) {
    int64_t choices = 0;
    for (const int64_t load : r.load_real) choices += load;
    rows.push_back({r.router, count_text(choices), number_text(r.imbalance_real), number_text(r.balancedness_real),
                    number_text(r.entropy_bits_real), number_text(r.gini_real),
                    count_text(r.touched_real) + " of " + count_text(static_cast<int64_t>(r.load.size()))});
    add_slots(r.imbalance_of_slots, r.imbalance_of_ranks);
    loads.push_back({r.router, loads_text(r.load_real)});
    sets.push_back(
        {r.router, count_text(static_cast<int64_t>(r.hot.size())), count_text(static_cast<int64_t>(r.cold.size()))});
  }
  rows.push_back({"mean", "", number_text(f.imbalance), number_text(f.balancedness), "", "", ""});
  add_slots(f.imbalance_of_slots, f.imbalance_of_ranks);
  return table_text(about, {}) + "\n" + chance_text(f) + table_text(rows, {1, 2, 3, 4, 5, 6, 7, 8}) +
         "\nimbalance: largest / mean load - 1; balancedness: mean / largest; entropy in bits; gini: 0 is even; all "
         "without padding\n" +
         (by_slot ? "by slot, by GPU: imbalance of the server's slots, and of its GPUs where they are known "
                    "(TensorRT-LLM's)\n"
                  : "") +
         "\n" + table_text(loads, {}) + "\n" + table_text(sets, {1, 2}) +
         "\nhot: the fewest branches that hold half of the choices; cold: below a tenth of the mean (--json has their "
         "numbers)\n" +
         pairs_text(f) + choices_text(f);
}

/// Warns of an unfinished recording, or of the one that it is compared with.
template <class Figures>
void warn_unless_finished(Console& console, const Figures& f) {
  if (f.status != RunStatus::finished)
    console.warning(f.session + "#" + std::to_string(f.run) + " is " + std::string(to_text(f.status)) +
                    ": what it recorded until then is " + counted(f.batches, "batch"));
}

class AnalyzeVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "SESSION", options_.session,
                 "Names the recording: S.storm, S.storm#3 or S.storm#name (default: the newest run of the session).");
    add_text(app, "--cache", options_.cache,
             "Replays the choices through a cache of experts of --budget bytes (default: none).", "lru|lfu|belady");
    app.add_option_function<std::string>(
           "--budget",
           [this](const std::string& text) {
             const auto bytes = parse_bytes(text);
             if (!bytes || bytes->value <= 0)
               bad_input("--budget", "\"" + text + "\" is not a number of bytes above 0", "4000MiB");
             options_.budget_bytes = bytes->value;
           },
           "Sets the size of the cache (required with --cache; no default).")
        ->type_name("BYTES");
    add_text(app, "--against", options_.against,
             "Says whether another recording of the same model routes otherwise (default: none).", "SESSION");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    if (options_.budget_bytes > 0 && options_.cache.empty())
      bad_input("--budget", "is that of a cache", "name it: --cache lru");
    const auto analyze = [&](const Progress& progress) {
      AnalyzeFigures figures = analyze_session(options_, progress);
      warn_unless_finished(console, figures);
      if (figures.against) {
        console.warning("--against is a verb of its own: stormcell drift A B");
        warn_unless_finished(console, *figures.against);
      }
      if (figures.cache) console.warning("--cache is a verb of its own: stormcell cache SESSION");
      if (const std::string warning = random_tokens_warning(figures); !warning.empty()) console.warning(warning);
      return figures;
    };
    tell_result(console, json_, analyze, [](const AnalyzeFigures& figures) {
      return Page{analysis_conclusions(figures), analysis_details(figures)};
    });
    return 0;
  }

 private:
  AnalyzeOptions options_;
  std::string json_;
};

}  // namespace

std::unique_ptr<Verb> make_analyze() { return std::make_unique<AnalyzeVerb>(); }

}  // namespace stormcell::cli

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <cmath>

#include "app/cli/numbers_text.h"
#include "app/cli/options.h"
#include "app/cli/page.h"
#include "app/cli/told_result.h"
#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/numbers.h"
#include "core/comparison/cache_budgets.h"

namespace stormcell::cli {
namespace {

constexpr size_t kCachePolicyCount = std::size(kCachePolicies);
constexpr int64_t kMebibyte = 1 << 20;

/// A size as an option takes it, rounded up: a budget must not fall below one expert.
std::string bytes_word(int64_t bytes) {
  return bytes < kMebibyte ? std::to_string(bytes) : std::to_string((bytes + kMebibyte - 1) / kMebibyte) + "MiB";
}

std::string name_of(CachePolicy policy) {
  constexpr std::string_view kNames[] = {"LRU", "LFU", "Belady's policy", "expected wait"};
  return std::string(row_of(kNames, policy));
}

std::string bytes_a_token(double bytes) { return bytes_text(std::llround(bytes)); }

/// The row of a policy, `of` the first row of its budget.
const CacheOfBudget& row_of_policy(const CacheBudgets& f, size_t of, CachePolicy policy) {
  const size_t row = of + static_cast<size_t>(policy);
  return f.budgets[row];
}

/// The first row of the budget that sentences are about: the one that was asked for, else the half of all experts.
size_t told_budget(const CacheBudgets& f) {
  size_t told = 0;
  for (size_t first = 0; first < f.budgets.size(); first += kCachePolicyCount)
    if (f.budgets[first].bytes <= std::max(f.demand.used_bytes / 2, f.cliff_bytes)) told = first;
  return told;
}

std::string hits_sentence(const CacheBudgets& f) {
  const size_t told = told_budget(f);
  const auto hits = [&](CachePolicy policy) { return share_text(row_of_policy(f, told, policy).hit_rate.value_or(0)); };
  return "At " + bytes_text(f.budgets[told].bytes) + " LRU hits " + hits(CachePolicy::lru) + ", LFU " +
         hits(CachePolicy::lfu) + ", expected wait " + hits(CachePolicy::wait) +
         ", and Belady's policy, which knows the future, " + hits(CachePolicy::belady) + ".";
}

std::string cliff_sentence(const CacheBudgets& f) {
  const std::string one = f.token_by_token ? "token" : "step";
  return "One " + one + " takes " + bytes_text(f.cliff_bytes) +
         " of experts: with less, LRU keeps hardly any for the " + "next " + one + ".";
}

std::string disk_sentence(const CacheBudgets& f) {
  if (f.options.disk_bytes_per_s <= 0) return {};
  const size_t told = told_budget(f);
  const CacheOfBudget* best = &row_of_policy(f, told, CachePolicy::lru);
  for (const CachePolicy policy : {CachePolicy::lfu, CachePolicy::wait})
    if (row_of_policy(f, told, policy).bytes_per_token < best->bytes_per_token) best = &row_of_policy(f, told, policy);
  const CacheOfBudget& better = *best;
  if (!better.tokens_per_s) return "All experts that are wanted are in memory, so the disk does not limit the speed.";
  return "The disk allows at most " + rate_text(*better.tokens_per_s) + " tokens a second at " +
         bytes_text(better.bytes) + " with " + name_of(better.policy) + ".";
}

std::string next_sentence(const CacheBudgets& f) {
  const std::string run = f.session + "#" + std::to_string(f.run);
  if (f.options.memory_bytes > 0 && f.options.disk_bytes_per_s > 0) return next_command({"analyze", run});
  const int64_t memory =
      f.options.memory_bytes > 0 ? f.options.memory_bytes : std::max(f.demand.used_bytes / 2, f.cliff_bytes);
  return next_command({"cache", run, "--memory", bytes_word(memory), "--disk", "7GB/s"});
}

std::string budgets_table(const CacheBudgets& f) {
  const bool timed = f.options.disk_bytes_per_s > 0;
  Rows rows = {{"budget", "of experts", "LRU hits", "LFU",    "Belady",
                "wait",   "LRU reads",  "LFU",      "Belady", "wait"}};
  if (timed) rows[0].insert(rows[0].end(), {"LRU tokens/s", "LFU", "Belady", "wait"});
  for (size_t first = 0; first < f.budgets.size(); first += kCachePolicyCount) {
    const int64_t budget = f.budgets[first].bytes;
    std::vector<std::string> hits, reads, speeds;
    for (size_t p = first; p < first + kCachePolicyCount; ++p) {
      const CacheOfBudget& row = f.budgets[p];
      hits.push_back(row.hit_rate ? share_text(*row.hit_rate) : "-");
      reads.push_back(bytes_a_token(row.bytes_per_token));
      speeds.push_back(row.tokens_per_s ? rate_text(*row.tokens_per_s) : "-");
    }
    std::vector<std::string>& cells = rows.emplace_back(std::vector<std::string>{
        bytes_text(budget), share_text(static_cast<double>(budget) / static_cast<double>(f.demand.used_bytes))});
    cells.insert(cells.end(), hits.begin(), hits.end());
    cells.insert(cells.end(), reads.begin(), reads.end());
    if (timed) cells.insert(cells.end(), speeds.begin(), speeds.end());
  }
  return table_text(rows, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
}

Page page_of_cache(const CacheBudgets& f) {
  const std::string details =
      budgets_table(f) + "\nhits: a lookup is an expert of a layer of a step, over " +
      counted(f.demand.steps, f.demand.decode ? "decoding step" : "step") + "; reads: of a token, by misses, of " +
      bytes_a_token(f.demand_bytes_per_token) + " that it takes\nof experts: of the " +
      bytes_text(f.demand.used_bytes) +
      " of those that the recording uses; the cache is empty at first\nBelady: drops what is used farthest ahead; no " +
      "policy hits more if all experts are equally large\n" +
      "wait: drops what is expected to be used last, by how often it was used lately\n" +
      (f.options.disk_bytes_per_s > 0 ? "tokens/s: if reading were all that takes time\n" : "");
  return {{sentence_of(f.verdict), cliff_sentence(f), hits_sentence(f), disk_sentence(f), next_sentence(f)}, details};
}

/// A number of bytes above 0 for an option; `advice`: what it could be.
int64_t bytes_of_option(const std::string& option, const std::string& text, std::string_view digits,
                        const std::string& advice) {
  const auto bytes = parse_bytes(digits);
  if (!bytes || bytes->value <= 0)
    bad_input(option,
              "\"" + text + "\" is not a number of bytes" + (option == "--disk" ? " a second" : "") + " above 0",
              advice);
  return bytes->value;
}

class CacheVerb : public Verb {
 public:
  void add_options(CLI::App& app) override {
    add_argument(app, "SESSION", options_.session,
                 "Names the recording: S.storm, S.storm#3 or S.storm#name (default: the newest run of the session).");
    app.add_option_function<std::string>(
           "--memory",
           [this](const std::string& text) { options_.memory_bytes = bytes_of_option("--memory", text, text, "24GB"); },
           "Sets the memory for experts (default: several sizes, up to all experts that the recording uses).")
        ->type_name("BYTES");
    app.add_option_function<std::string>(
           "--disk",
           [this](const std::string& text) {
             const std::string_view number =
                 text.ends_with("/s") ? std::string_view(text).substr(0, text.size() - 2) : std::string_view(text);
             options_.disk_bytes_per_s = static_cast<double>(bytes_of_option("--disk", text, number, "7GB/s"));
           },
           "Sets the speed of the disk, which bounds the tokens a second (default: none are stated).")
        ->type_name("BYTES/s");
    app.add_option_function<std::string>(
           "--expert-bytes",
           [this](const std::string& text) {
             options_.expert_bytes = bytes_of_option("--expert-bytes", text, text, "4MiB");
           },
           "Sets the bytes of an expert in layers whose bytes the recording lacks (default: such a recording is "
           "refused).")
        ->type_name("BYTES");
    add_json_option(app, json_);
  }

  int execute(Console& console) override {
    const auto replay = [&](const Progress& progress) {
      CacheBudgets figures = replay_budgets(options_, progress);
      if (figures.status != RunStatus::finished)
        console.warning(figures.session + "#" + std::to_string(figures.run) + " is " +
                        std::string(to_text(figures.status)) + ": what it recorded until then is " +
                        counted(figures.batches, "batch"));
      return figures;
    };
    tell_result(console, json_, replay, page_of_cache);
    return 0;
  }

 private:
  CacheOptions options_;
  std::string json_;
};

}  // namespace

std::unique_ptr<Verb> make_cache() { return std::make_unique<CacheVerb>(); }

}  // namespace stormcell::cli

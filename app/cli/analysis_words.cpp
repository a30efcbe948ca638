#include "app/cli/analysis_words.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>

#include "app/cli/numbers_text.h"
#include "app/cli/page.h"
#include "core/base/counted.h"

namespace stormcell::cli {
namespace {

constexpr size_t kWorst = 3;
constexpr double kChance = 0.05;
/// A placement is for experts: with fewer branches there is nothing to spread over the GPUs of a node.
constexpr int64_t kFewestPlaced = 8;

/// A router with loads, and how far they are from even ones.
struct UnevenRouter {
  const RouterAnalysis* router = nullptr;
  double distance = 0;  ///< half the sum of the differences from equal shares, 0 to 1, as drift measures it
};

double distance_from_even(const std::vector<int64_t>& load) {
  const double all = static_cast<double>(std::accumulate(load.begin(), load.end(), int64_t{0}));
  if (all <= 0) return 0;
  const double even = 1 / static_cast<double>(load.size());
  double sum = 0;
  for (const int64_t cells : load) sum += std::abs(static_cast<double>(cells) / all - even);
  return sum / 2;
}

/// The least even routers first. A router without load, or with one branch, is never uneven.
std::vector<UnevenRouter> by_unevenness(const AnalyzeFigures& f) {
  std::vector<UnevenRouter> routers;
  for (const RouterAnalysis& r : f.routers)
    if (r.touched_real > 0 && r.load_real.size() > 1) routers.push_back({&r, distance_from_even(r.load_real)});
  std::stable_sort(routers.begin(), routers.end(), [](const UnevenRouter& a, const UnevenRouter& b) {
    return a.router->imbalance_real > b.router->imbalance_real;
  });
  return routers;
}

std::string worst_text(const std::vector<UnevenRouter>& worst) {
  if (worst.empty()) return "No layer has loads, so nothing is known of their balance.";
  if (worst.front().router->imbalance_real <= 0) return "Every branch of each layer gets equally many cells.";
  std::vector<std::string> names;
  for (const UnevenRouter& w : worst)
    names.push_back(w.router->router + (names.empty() ? " (its busiest branch gets " : " (") +
                    number_text(w.router->imbalance_real + 1) + (names.empty() ? " times the mean)" : ")"));
  return (names.size() == 1 ? "The least even layer is " : "The least even layers are ") + joined_with_and(names) + ".";
}

/// Whether even routers with as many choices are as uneven as the worst ones.
std::string whether_beyond_chance(const std::vector<UnevenRouter>& worst, const AnalyzeFigures& f) {
  if (worst.empty() || worst.front().router->imbalance_real <= 0) return {};
  std::vector<std::string> beyond;
  for (const UnevenRouter& w : worst)
    if (f.chance.beyond[static_cast<uint64_t>(w.router - f.routers.data())]) beyond.push_back(w.router->router);
  if (beyond.empty()) return "That may be chance: even routers with as many choices can be as uneven.";
  if (worst.size() == 1) return "That is beyond chance.";
  if (const int64_t others = f.chance.routers_beyond() - std::ssize(beyond); beyond.size() == worst.size())
    return std::string(worst.size() == 2 ? "Both" : "All of them") + " are beyond chance" +
           (others > 0 ? ", and so are " + counted(others, "other") + "." : ".");
  return "Only " + joined_with_and(beyond) + (beyond.size() == 1 ? " is" : " are") + " beyond chance.";
}

double mean_distance(const std::vector<UnevenRouter>& all) {
  return std::accumulate(all.begin(), all.end(), 0.,
                         [](double sum, const UnevenRouter& r) { return sum + r.distance; }) /
         static_cast<double>(all.size());
}

/// Whether loads are further from even ones than chance moves them: else a search would fit a placement to chance.
bool suffices_for_placement(const std::vector<UnevenRouter>& all, const std::optional<DriftFigures>& drift) {
  return !all.empty() && drift && mean_distance(all) > 2 * drift->expected;
}

std::string sample_text(const std::vector<UnevenRouter>& all, const std::optional<DriftFigures>& drift) {
  if (all.empty()) return {};
  if (!drift)
    return "Whether the sample is enough for a placement cannot be told: record more steps and analyze again.";
  const std::string apart = "its halves are " + number_text(drift->distance, 2) + " apart, and random halves " +
                            number_text(drift->expected, 2);
  if (drift->p_value <= kChance)
    return "The routing drifts, so a placement made from this sample may not last: " + apart + ".";
  if (!suffices_for_placement(all, drift))
    return "The sample is not enough for a placement: chance moves its loads about as far as they are from even ones.";
  return "The sample is enough for a placement: " + apart + ".";
}

/// The answer to --against, else to --cache; empty: neither was asked.
std::string asked_text(const AnalyzeFigures& f) {
  if (f.against) {
    const std::string other = f.against->session + "#" + std::to_string(f.against->run);
    if (!f.against->drift)
      return "Whether the routing differs from " + other + " cannot be told: " + f.against->why_not + ".";
    const DriftFigures& d = *f.against->drift;
    return "The routing differs from that of " + other + (d.p_value <= kChance ? " beyond" : " by no more than") +
           " chance: they are " + number_text(d.distance, 2) + " apart, and random parts of both " +
           number_text(d.expected, 2) + "." + (f.against->doubt.empty() ? "" : " " + sentence_of(f.against->doubt));
  }
  if (f.cache && f.cache->all.rate)
    return "The cache would hit " + share_text(*f.cache->all.rate) + " of its " +
           counted(f.cache->all.lookups, "lookup") + ".";
  return {};
}

}  // namespace

std::vector<std::string> analysis_conclusions(const AnalyzeFigures& f) {
  const std::vector<UnevenRouter> all = by_unevenness(f);
  std::vector<UnevenRouter> worst = all;
  if (worst.size() > kWorst) worst.resize(kWorst);
  const std::string run = f.session + "#" + std::to_string(f.run);
  std::vector<std::string> sentences = {worst_text(worst), whether_beyond_chance(worst, f)};
  const bool placeable = f.branches >= kFewestPlaced;
  if (placeable) sentences.push_back(sample_text(all, f.drift));
  sentences.push_back(asked_text(f));
  sentences.push_back(placeable && suffices_for_placement(all, f.drift)
                          ? next_command({"place", run, "--cluster", "preset:8x-h100"})
                          : next_command({"export", run, "--format", "csv", "--what", "loads", "-o", "loads.csv"}));
  return sentences;
}

}  // namespace stormcell::cli

#include "core/profile/predictability.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace stormcell {
namespace {

constexpr double kFitShare = 0.7;

/// Hits of choices, and how many choices there were.
struct Recall {
  int64_t hits = 0, choices = 0;
  std::optional<double> share() const {
    return choices > 0 ? std::optional(static_cast<double>(hits) / choices) : std::nullopt;
  }
};

int64_t count_of(std::span<const int32_t> choice) {
  return std::count_if(choice.begin(), choice.end(), [](int32_t c) { return c >= 0; });
}

int64_t common(std::span<const int32_t> a, std::span<const int32_t> b) {
  return std::count_if(b.begin(), b.end(),
                       [&](int32_t c) { return c >= 0 && std::find(a.begin(), a.end(), c) != a.end(); });
}

/// Tokens that are judged: those that were decoded, else all.
std::vector<size_t> judged_tokens(const TokenRoutes& routes) {
  std::vector<size_t> decoded, all(routes.size());
  std::iota(all.begin(), all.end(), size_t{0});
  for (const size_t t : all)
    if (routes.tokens[t].phase == Phase::decode) decoded.push_back(t);
  return decoded.empty() ? all : decoded;
}

/// The k most frequent, ties to the lower id.
template <class Counts>
std::vector<int32_t> most_frequent(const Counts& counts, int32_t k) {
  std::vector<int32_t> order(counts.size());
  std::iota(order.begin(), order.end(), 0);
  const auto most = std::min(order.size(), static_cast<size_t>(k));
  std::partial_sort(order.begin(), order.begin() + static_cast<int64_t>(most), order.end(), [&](int32_t a, int32_t b) {
    const auto x = counts[a], y = counts[b];
    return x != y ? x > y : a < b;
  });
  order.resize(most);
  return order;
}

Recall static_recall(const TokenRoutes& routes, std::span<const size_t> fit, std::span<const size_t> judged) {
  Recall recall;
  for (int32_t l = 0; l < routes.layers; ++l) {
    std::vector<int64_t> counts(routes.branches);
    for (const size_t t : fit)
      for (const int32_t c : routes.at(t, l))
        if (c >= 0) ++counts[c];
    const std::vector<int32_t> guess = most_frequent(counts, routes.k);
    for (const size_t t : judged) {
      recall.hits += common(guess, routes.at(t, l));
      recall.choices += count_of(routes.at(t, l));
    }
  }
  return recall;
}

/// A guess is the sum of the shares P(next | this) of the token's branches in the layer before.
Recall transition_recall(const TokenRoutes& routes, std::span<const size_t> fit, std::span<const size_t> judged) {
  Recall recall;
  const size_t branches = routes.branches;
  for (int32_t l = 1; l < routes.layers; ++l) {
    std::vector<double> table(branches * branches), rows(branches);
    for (const size_t t : fit)
      for (const int32_t from : routes.at(t, l - 1))
        for (const int32_t to : routes.at(t, l))
          if (from >= 0 && to >= 0) ++table[from * branches + to], ++rows[from];
    for (const size_t t : judged) {
      std::vector<double> sum(branches);
      for (const int32_t from : routes.at(t, l - 1)) {
        if (from < 0 || rows[from] == 0) continue;
        const double* row = table.data() + from * branches;
        for (size_t b = 0; b < branches; ++b) sum[b] += row[b] / rows[from];
      }
      recall.hits += common(most_frequent(sum, routes.k), routes.at(t, l));
      recall.choices += count_of(routes.at(t, l));
    }
  }
  return recall;
}

}  // namespace

std::optional<double> temporal_recall(const TokenRoutes& routes, int64_t lag) {
  Recall recall;
  std::map<int64_t, std::vector<size_t>> of_item;
  for (const size_t t : judged_tokens(routes)) {
    std::vector<size_t>& before = of_item[routes.tokens[t].item];
    if (std::ssize(before) >= lag) {
      const size_t at = before[before.size() - lag];
      for (int32_t l = 0; l < routes.layers; ++l) {
        recall.hits += common(routes.at(at, l), routes.at(t, l));
        recall.choices += count_of(routes.at(t, l));
      }
    }
    before.push_back(t);
  }
  return recall.share();
}

Predictability predictability(const TokenRoutes& routes) {
  const std::vector<size_t> judged = judged_tokens(routes);
  std::vector<size_t> prompt;
  for (size_t t = 0; t < routes.size(); ++t)
    if (routes.tokens[t].phase == Phase::prefill) prompt.push_back(t);
  const auto cut = static_cast<size_t>(kFitShare * static_cast<double>(judged.size()));
  const std::span<const size_t> all(judged), first = all.first(cut), rest = all.subspan(cut);
  Predictability out;
  out.temporal_lag1 = temporal_recall(routes, 1);
  out.static_in_sample = static_recall(routes, all, all).share();
  if (!prompt.empty() && prompt.size() < routes.size())
    out.static_from_prompt = static_recall(routes, prompt, all).share();
  if (cut > 0) out.static_held_out = static_recall(routes, first, rest).share();
  if (cut > 0) out.transition_held_out = transition_recall(routes, first, rest).share();
  return out;
}

}  // namespace stormcell

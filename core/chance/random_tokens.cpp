#include "core/chance/random_tokens.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <unordered_map>

namespace stormcell {
namespace {

constexpr int64_t kFewestTokens = 256;
constexpr double kSign = 4;          // deviations: one false sign in 30,000
constexpr int32_t kFirstLayers = 2;  // later routers know the context, so a repeated token goes elsewhere
constexpr double kLeastVariance = 1e-9;
constexpr uint64_t kOdd = 0x9E3779B97F4A7C15ULL;
constexpr int64_t kMostLooked = 1 << 18;

double pairs_of(double n) { return n * (n - 1) / 2; }

/// Events that are rare and independent by chance, in deviations above their expectation.
double above(double count, double expected) { return (count - expected) / std::sqrt(std::max(expected, 1.)); }

void judge(RandomTokens& out) {
  bool any = false;
  for (const auto& sign : {out.uneven, out.related, out.repeated}) any |= sign && *sign >= kSign;
  out.looks_random = !any;
}

/// Hash of a set of choices, in any order.
uint64_t hash_of(std::span<const int32_t> choices) {
  uint64_t sum = 0;
  for (const int32_t choice : choices) {
    if (choice < 0) continue;
    uint64_t x = static_cast<uint64_t>(choice) + kOdd;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
    sum += x ^ (x >> 31);
  }
  return sum;
}

/// Pairs of equal values within one request; `values` is changed.
template <class Value>
double equal_pairs(std::vector<Value>& values) {
  std::sort(values.begin(), values.end());
  double pairs = 0;
  for (size_t i = 0, end = 0; i < values.size(); i = end) {
    while (end < values.size() && values[end] == values[i]) ++end;
    pairs += pairs_of(static_cast<double>(end - i));
  }
  return pairs;
}

/// Tokens of each request, in the order of position.
std::map<int64_t, std::vector<int64_t>> requests_of(const TokenRoutes& routes) {
  std::map<int64_t, std::vector<int64_t>> requests;
  const int64_t looked = std::min(std::ssize(routes.tokens), kMostLooked);
  for (int64_t t = 0; t < looked; ++t) requests[routes.tokens[t].item].push_back(t);
  for (auto& [item, tokens] : requests)
    std::stable_sort(tokens.begin(), tokens.end(),
                     [&](int64_t a, int64_t b) { return routes.tokens[a].position < routes.tokens[b].position; });
  return requests;
}

/// Choices that two tokens have in common at a layer.
int64_t in_common(std::span<const int32_t> a, std::span<const int32_t> b) {
  return std::count_if(a.begin(), a.end(),
                       [&](int32_t c) { return c >= 0 && std::find(b.begin(), b.end(), c) != b.end(); });
}

}  // namespace

RandomTokens random_tokens_of(const std::vector<std::vector<int32_t>>& requests) {
  RandomTokens out;
  out.source = RandomSource::token_ids;
  std::unordered_map<int32_t, int64_t> counts;
  std::unordered_map<uint64_t, int64_t> neighbours;
  double pairs_within = 0, equal_within = 0, bigrams = 0;
  for (std::vector<int32_t> request : requests) {
    const auto room = static_cast<int64_t>(kMostLooked - out.tokens);
    if (std::ssize(request) > room) request.resize(room);
    out.tokens += std::ssize(request);
    for (size_t i = 0; i < request.size(); ++i) {
      ++counts[request[i]];
      if (i == 0) continue;
      ++neighbours[(static_cast<uint64_t>(static_cast<uint32_t>(request[i - 1])) << 32) |
                   static_cast<uint32_t>(request[i])];
      ++bigrams;
    }
    pairs_within += pairs_of(static_cast<double>(request.size()));
    equal_within += equal_pairs(request);
  }
  if (out.tokens < kFewestTokens) return out;
  // Uniform ids reach their largest one nearly, so the largest says how many there are.
  int32_t largest = 0;
  double equal = 0, squares = 0;
  const auto n = static_cast<double>(out.tokens);
  for (const auto& [id, count] : counts) {
    largest = std::max(largest, id);
    equal += pairs_of(static_cast<double>(count));
    squares += static_cast<double>(count) * static_cast<double>(count) / (n * n);
  }
  const double vocabulary = (largest + 1.) * (n + 1) / n;
  out.uneven = above(equal, pairs_of(n) / vocabulary);
  out.repeated = above(equal_within, pairs_within / vocabulary);
  // Two pairs of neighbours are equal by chance if both ends are, with the frequencies that ids have.
  double equal_neighbours = 0;
  for (const auto& [pair, count] : neighbours) equal_neighbours += pairs_of(static_cast<double>(count));
  out.related = above(equal_neighbours, pairs_of(bigrams) * squares * squares);
  judge(out);
  return out;
}

RandomTokens random_tokens_of(const TokenRoutes& routes) {
  RandomTokens out;
  if (routes.layers < 1 || routes.k < 1) return out;
  const auto requests = requests_of(routes);
  const auto first_layers = static_cast<int32_t>(std::min<int64_t>(kFirstLayers, routes.layers));
  std::vector<double> load(routes.branches);
  std::unordered_map<uint64_t, int64_t> counts;
  std::vector<uint64_t> within;
  double sum = 0, square = 0, neighbours = 0, equal_within = 0, pairs_within = 0, triples_within = 0, judged = 0;
  for (const auto& [item, tokens] : requests) {
    within.clear();
    for (const int64_t t : tokens) {
      if (!routes.visits(t, 0)) continue;
      for (const int32_t c : routes.at(t, 0))
        if (c >= 0) ++load[c];
      uint64_t route = 0;
      for (int32_t l = 0; l < first_layers; ++l) route = route * kOdd + hash_of(routes.at(t, l));
      ++counts[route];
      within.push_back(route);
    }
    for (size_t i = 1; i < tokens.size(); ++i) {
      const auto common = static_cast<double>(in_common(routes.at(tokens[i - 1], 0), routes.at(tokens[i], 0)));
      sum += common, square += common * common, ++neighbours;
    }
    const auto n = static_cast<double>(within.size());
    judged += n, pairs_within += pairs_of(n), triples_within += n * (n - 1) * (n - 2);
    equal_within += equal_pairs(within);
    out.tokens += std::ssize(tokens);
  }
  if (judged < kFewestTokens || neighbours < kFewestTokens) return out;
  // Two unrelated tokens have this many choices in common, by the loads; without the pairs of a token with itself.
  double expected = 0;
  for (const double l : load) expected += l * (l - 1) / (judged * (judged - 1));
  const double mean = sum / neighbours, variance = square / neighbours - mean * mean;
  if (variance < kLeastVariance) return out;  // all tokens go the same way
  out.related = (mean - expected) / std::sqrt(variance / neighbours);
  double alike = 0, three_alike = 0;
  for (const auto& [route, count] : counts) {
    const auto c = static_cast<double>(count);
    alike += c * (c - 1) / (judged * (judged - 1)), three_alike += c * (c - 1) / judged * (c - 2) / (judged * judged);
  }
  // Pairs with a token in common are alike together if its route is frequent.
  const double spread = pairs_within * alike * (1 - alike) + triples_within * std::max(three_alike - alike * alike, 0.);
  if (requests.size() > 1) out.repeated = (equal_within - pairs_within * alike) / std::sqrt(std::max(spread, 1.));
  judge(out);
  return out;
}

}  // namespace stormcell

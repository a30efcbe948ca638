// Which branches of a router are busy in the same batches.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "views/drawing/branch_colors.h"

namespace stormcell::views {
namespace {

using Profile = std::vector<double>;

double likeness(const Profile& a, const Profile& b) { return std::inner_product(a.begin(), a.end(), b.begin(), 0.0); }

void to_length_one(Profile& p) {
  if (const double squares = likeness(p, p); squares > 0)
    for (double& v : p) v /= std::sqrt(squares);
}

/// Shares over the windows, of length 1; zeros: the branch got nothing.
std::vector<Profile> profiles_of(const LoadWindows::Router& router, int64_t windows) {
  const int branches = router.line.branches;
  std::vector<Profile> profiles(branches, Profile(windows));
  for (int b = 0; b < branches; ++b) {
    for (int64_t w = 0; w < windows; ++w)
      if (router.cells[w] > 0)
        profiles[b][w] = static_cast<double>(router.load[w * branches + b]) / static_cast<double>(router.cells[w]);
    to_length_one(profiles[b]);
  }
  return profiles;
}

/// The middle that is most like a profile, and how like.
std::pair<int, double> nearest(const Profile& p, const std::vector<Profile>& middles) {
  std::pair<int, double> best{-1, -1};
  for (int m = 0; m < std::ssize(middles); ++m)
    if (const double alike = likeness(p, middles[m]); alike > best.second) best = {m, alike};
  return best;
}

/// The busiest branch, then again and again the one that is least like those that were taken.
std::vector<Profile> first_middles(const std::vector<Profile>& profiles, const std::vector<int64_t>& load) {
  // So alike, they are busy in the same batches.
  constexpr double kAlike = 0.9;
  std::vector<Profile> middles{profiles[std::ranges::max_element(load) - load.begin()]};
  while (std::ssize(middles) < Theme::kCategories) {
    int unlike = -1;
    double least = kAlike;
    for (int b = 0; b < std::ssize(profiles); ++b)
      if (const double alike = load[b] > 0 ? nearest(profiles[b], middles).second : 1; alike < least)
        least = alike, unlike = b;
    if (unlike < 0) break;
    middles.push_back(profiles[unlike]);
  }
  return middles;
}

/// Numbers clusters anew, that with most load first, and leaves out empty ones.
std::vector<int> by_load(std::vector<int> clusters, const std::vector<int64_t>& load) {
  std::vector<int64_t> of(Theme::kCategories);
  for (int b = 0; b < std::ssize(clusters); ++b)
    if (clusters[b] >= 0) of[clusters[b]] += load[b];
  std::vector<int> order(of.size()), number(of.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) { return of[a] > of[b]; });
  for (int i = 0; i < std::ssize(order); ++i) number[order[i]] = i;
  for (int& cluster : clusters) cluster = cluster < 0 ? -1 : number[cluster];
  return clusters;
}

}  // namespace

std::vector<int> branch_clusters(const LoadWindows::Router& router, int64_t windows) {
  constexpr int kRounds = 8;
  const int branches = router.line.branches;
  std::vector<int> clusters(branches, -1);
  std::vector<int64_t> load(branches);
  for (int64_t i = 0; i < windows * branches; ++i) load[i % branches] += router.load[i];
  if (std::ranges::all_of(load, [](int64_t l) { return l <= 0; })) return clusters;
  const std::vector<Profile> profiles = profiles_of(router, windows);
  std::vector<Profile> middles = first_middles(profiles, load);
  for (int round = 0; round < kRounds; ++round) {
    std::vector<int> next(branches, -1);
    for (int b = 0; b < branches; ++b)
      if (load[b] > 0) next[b] = nearest(profiles[b], middles).first;
    if (next == clusters) break;
    clusters = std::move(next);
    std::vector<Profile> sums(middles.size(), Profile(windows));
    for (int b = 0; b < branches; ++b)
      if (clusters[b] >= 0)
        for (int64_t w = 0; w < windows; ++w) sums[clusters[b]][w] += profiles[b][w];
    for (int m = 0; m < std::ssize(middles); ++m)
      if (likeness(sums[m], sums[m]) > 0) to_length_one(sums[m]), middles[m] = std::move(sums[m]);
  }
  return by_load(std::move(clusters), load);
}

}  // namespace stormcell::views

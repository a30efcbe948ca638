#include "views/drawing/branch_colors.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "core/summary/exits_text.h"
#include "views/words/figure_text.h"
#include "views/words/tr.h"

namespace stormcell::views {
namespace {

/// The last rank is still told from the ground.
constexpr double kPalest = 0.12;
/// Groups of BranchScheme::one.
constexpr int kChosen = 0, kRest = 1;

/// The colour that does not stand out: half way from the ground to faint text, so that it differs from a grid as well.
QColor rest_color(const Theme& theme) {
  const auto middle = [](float a, float b) { return (a + b) / 2; };
  return QColor::fromRgbF(middle(theme.faint.redF(), theme.background.redF()),
                          middle(theme.faint.greenF(), theme.background.greenF()),
                          middle(theme.faint.blueF(), theme.background.blueF()));
}

/// All tones between the strongest and the palest that a screen tells apart, in this order: no two are the same colour.
std::vector<QColor> make_tones(const Theme& theme) {
  constexpr int kSamples = 20'000;
  std::vector<QColor> tones;
  std::set<QRgb> taken;
  for (int i = 0; i <= kSamples; ++i)
    if (const QColor tone = theme.sequential(1 - (1 - kPalest) * i / kSamples); taken.insert(tone.rgb()).second)
      tones.push_back(tone);
  return tones;
}

/// The tone of place `rank` of `count` (> 1), 0: the strongest. Different ones for different places, up to more than
/// 512 of them.
QColor rank_tone(int rank, int64_t count, const Theme& theme) {
  static const std::vector<QColor> light = make_tones(Theme::light()), dark = make_tones(Theme::dim());
  const std::vector<QColor>& tones = theme.dark ? dark : light;
  const double step = static_cast<double>(tones.size() - 1) / static_cast<double>(count - 1);
  return tones[std::lround(step * std::clamp<int64_t>(rank, 0, count - 1))];
}

int number_of_clusters(const BranchKey& key) {
  return key.clusters.empty() ? 0 : std::max(0, *std::ranges::max_element(key.clusters) + 1);
}

QString group_name(int group, int branch, const BranchKey& key) {
  if (key.scheme == BranchScheme::cluster)
    return group >= 0 ? tr("cluster %1").arg(group + 1) : tr("branches without cells");
  if (key.scheme == BranchScheme::one && group == kRest) return tr("the other branches");
  return tr("branch %1").arg(branch);
}

}  // namespace

std::vector<int> load_ranks(std::span<const int64_t> load) {
  if (std::ssize(load) <= Theme::kCategories) return {};
  std::vector<int> order(load.size()), ranks(load.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [&](int a, int b) { return load[a] > load[b]; });
  for (int rank = 0; rank < std::ssize(order); ++rank) ranks[order[rank]] = rank;
  return ranks;
}

BranchKeys branch_keys(const LoadWindows& windows) {
  BranchKeys keys;
  for (const LoadWindows::Router& router : windows.routers) {
    const int branches = router.line.branches;
    if (branches <= 0) continue;
    std::vector<int64_t> load(branches);
    for (int64_t i = 0; i < std::ssize(router.load); ++i) load[i % branches] += router.load[i];
    keys[router.line.name] = {BranchScheme::load, load_ranks(load), branch_clusters(router, windows.windows)};
  }
  return keys;
}

BranchKeys with_scheme(BranchKeys keys, BranchScheme scheme, const std::string& router, int branch) {
  for (auto& [name, key] : keys) {
    key.scheme = scheme;
    key.chosen = name == router ? branch : -1;
  }
  return keys;
}

const BranchKey& key_of(const BranchKeys& keys, const std::string& router) {
  static const BranchKey none;
  const auto at = keys.find(router);
  return at == keys.end() ? none : at->second;
}

int branch_group(int branch, const BranchKey& key) {
  switch (key.scheme) {
    case BranchScheme::load:
      return branch;
    case BranchScheme::cluster:
      return branch >= 0 && branch < std::ssize(key.clusters) ? key.clusters[branch] : -1;
    case BranchScheme::one:
      return branch >= 0 && branch == key.chosen ? kChosen : kRest;
  }
  return branch;
}

QColor branch_color(int branch, const BranchKey& key, const Theme& theme) {
  if (key.scheme == BranchScheme::load) {
    if (key.ranks.empty()) return theme.category(branch);
    if (branch < 0 || branch >= std::ssize(key.ranks)) return theme.faint;
    return rank_tone(key.ranks[branch], std::ssize(key.ranks), theme);
  }
  const int group = branch_group(branch, key);
  const bool stands_out = key.scheme == BranchScheme::cluster ? group >= 0 : group == kChosen;
  return stands_out ? theme.category(group) : rest_color(theme);
}

QString key_text(const BranchKey& key) {
  switch (key.scheme) {
    case BranchScheme::load:
      return key.ranks.empty() ? QString()
                               : tr("Tone: rank of the branch by its cells in the whole run, the busier the stronger.");
    case BranchScheme::cluster:
      if (number_of_clusters(key) > 1)
        return tr("Colour: one of %1 clusters of branches that are busy in the same batches.")
            .arg(number_of_clusters(key));
      return tr("One colour: all branches are busy in the same batches, so there are no clusters.");
    case BranchScheme::one:
      return key.chosen >= 0 ? tr("In colour: branch %1. Grey: all others.").arg(key.chosen)
                             : tr("Choose a branch: it stands out, and the others are grey.");
  }
  return {};
}

QColor exit_color(int exit, int ends, const Theme& theme) {
  if (ends <= Theme::kCategories) return theme.category(exit);
  return rank_tone(ends - 1 - exit, ends, theme);
}

std::vector<ColorMeaning> meanings_of(const RouterLine& router, const BranchKey& key, const Theme& theme) {
  std::vector<ColorMeaning> meanings;
  std::set<int> groups;
  for (int b = 0; b < router.branches; ++b)
    if (const int group = branch_group(b, key); groups.insert(group).second)
      meanings.push_back({group_name(group, b, key), branch_color(b, key, theme)});
  return meanings;
}

std::vector<ColorMeaning> exit_meanings(int ends, const Theme& theme) {
  std::vector<ColorMeaning> meanings;
  for (int e = 0; e < ends; ++e)
    meanings.push_back(
        {to_qstring(exit_name(static_cast<size_t>(e), static_cast<size_t>(ends))), exit_color(e, ends, theme)});
  return meanings;
}

}  // namespace stormcell::views

// Colours that tell the branches of a router apart. No colour stands for two branches that the picture claims to tell
// apart: a few have a hue each, many a tone by load, a hue by cluster, or one of them stands out of the rest.
#pragma once
#include <QColor>
#include <QString>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "core/readings/session_view.h"
#include "views/drawing/theme.h"

namespace stormcell::views {

/// By which colours are given to branches. `load`: a hue for each of at most Theme::kCategories, of more the tone of
/// their rank. `cluster`: a hue for each group of branches that are busy in the same batches. `one`: one against the
/// rest.
enum class BranchScheme { load, cluster, one };

/// The colours of one router's branches.
struct BranchKey {
  BranchScheme scheme = BranchScheme::load;
  std::vector<int> ranks;     ///< as load_ranks() has them
  std::vector<int> clusters;  ///< as branch_clusters() has them; empty: not known
  int chosen = -1;            ///< of `one`; -1: none is
};
/// By name of the router.
using BranchKeys = std::map<std::string, BranchKey>;

/// Rank by load of every branch, 0: the busiest. Empty for so few branches that each has a hue of its own.
std::vector<int> load_ranks(std::span<const int64_t> load);
/// Cluster of every branch, 0: the one with most load; -1: the branch got nothing. Branches of a cluster have alike
/// shares over the windows. At most Theme::kCategories clusters.
std::vector<int> branch_clusters(const LoadWindows::Router& router, int64_t windows);
/// Windows of a run that ranks and clusters are taken from, at most.
inline constexpr int64_t kMostKeyWindows = 64;
/// Ranks and clusters of all routers, over all of `windows`.
BranchKeys branch_keys(const LoadWindows& windows);
/// The same with a scheme, and with what `one` puts against the rest.
BranchKeys with_scheme(BranchKeys keys, BranchScheme scheme, const std::string& router, int branch);
/// The key of a router; without ranks and clusters where it is not among them.
const BranchKey& key_of(const BranchKeys& keys, const std::string& router);

QColor branch_color(int branch, const BranchKey& key, const Theme& theme);
/// The thing that the colour of a branch stands for: branches of different groups never share one.
int branch_group(int branch, const BranchKey& key);
/// "Tone: ..." of a scale of ranks, "Colour: ..." of clusters or of one; empty where each branch has a hue of its own.
QString key_text(const BranchKey& key);

/// One of `ends` exits, the end of the network last: a hue, or of many a tone, the later the stronger.
QColor exit_color(int exit, int ends, const Theme& theme);

/// A colour and what it stands for.
struct ColorMeaning {
  QString name;
  QColor color;
};
/// A row for each group of the router's branches.
std::vector<ColorMeaning> meanings_of(const RouterLine& router, const BranchKey& key, const Theme& theme);
/// A row for each exit, the end of the network last.
std::vector<ColorMeaning> exit_meanings(int ends, const Theme& theme);

}  // namespace stormcell::views

// Colours of branches: never one for two of them, unless they are one group on purpose.
#include "views/drawing/branch_colors.h"

#include <QSet>
#include <map>
#include <numeric>

#include "tests/testing/testing.h"

namespace stormcell::views {
namespace {

/// Windows of one router: `share(branch, window)` cells each.
template <class Share>
LoadWindows windows_of_branches(int branches, int windows, const Share& share) {
  LoadWindows w;
  w.windows = w.batches = windows;
  LoadWindows::Router r;
  r.line.name = "r", r.line.branches = branches;
  for (int at = 0; at < windows; ++at) {
    int64_t cells = 0;
    for (int b = 0; b < branches; ++b) r.load.push_back(share(b, at)), cells += r.load.back();
    r.cells.push_back(cells);
  }
  w.routers.push_back(r);
  return w;
}

}  // namespace

class BranchColorsTest : public QObject {
  Q_OBJECT
 private slots:
  void no_colour_stands_for_two_groups_of_branches() {
    for (const int branches : {2, 8, 9, 12, 13, 64, 128, 512}) {
      const LoadWindows windows =
          windows_of_branches(branches, 6, [](int b, int at) { return int64_t{5} + b + (b % 6 == at ? 100 : 0); });
      for (const BranchScheme scheme : {BranchScheme::load, BranchScheme::cluster, BranchScheme::one}) {
        const BranchKeys keys = with_scheme(branch_keys(windows), scheme, "r", 1);
        const BranchKey& key = key_of(keys, "r");
        for (const Theme* theme : {&Theme::light(), &Theme::dim()}) {
          std::map<QRgb, int> group_of;
          for (int b = 0; b < branches; ++b) {
            const auto [at, fresh] = group_of.emplace(branch_color(b, key, *theme).rgb(), branch_group(b, key));
            QCOMPARE(at->second, branch_group(b, key));
          }
          if (scheme == BranchScheme::load) QCOMPARE(static_cast<int>(group_of.size()), branches);
          if (scheme == BranchScheme::one) QCOMPARE(group_of.size(), size_t{2});
          QCOMPARE(meanings_of(windows.routers[0].line, key, *theme).size(), group_of.size());
        }
      }
    }
    // Beyond the hues nothing has one.
    QCOMPARE(Theme::light().category(Theme::kCategories), Theme::light().faint);
    QCOMPARE(Theme::light().category(-1), Theme::light().faint);
  }

  void exits_have_a_colour_each() {
    for (const int ends : {2, 8, 9, 12, 40})
      for (const Theme* theme : {&Theme::light(), &Theme::dim()}) {
        QSet<QRgb> colors;
        for (const ColorMeaning& m : exit_meanings(ends, *theme)) colors << m.color.rgb();
        QCOMPARE(static_cast<int>(colors.size()), ends);
      }
  }

  void the_busier_a_branch_the_stronger_its_tone() {
    std::vector<int64_t> load(20, 3);
    load[7] = 90, load[2] = 0;
    const BranchKey key{BranchScheme::load, load_ranks(load)};
    QCOMPARE(key.ranks[7], 0);
    QCOMPARE(key.ranks[2], 19);
    const auto light = [&](int b) { return oklab_lightness(branch_color(b, key, Theme::light())); };
    QVERIFY(light(7) < light(0) && light(0) < light(2));
    QVERIFY(load_ranks(std::vector<int64_t>(8, 1)).empty());
  }

  void branches_of_a_cluster_are_busy_in_the_same_batches() {
    // Branch b is busy in every window whose number leaves b % 3; branch 11 never is.
    const LoadWindows windows = windows_of_branches(12, 9, [](int b, int at) -> int64_t {
      return b == 11 ? 0 : at % 3 == b % 3 ? 40 + (b % 3 == 2 ? 100 : 0) : 1;
    });
    const std::vector<int> clusters = branch_clusters(windows.routers[0], windows.windows);
    QCOMPARE(clusters[11], -1);
    for (int a = 0; a < 11; ++a)
      for (int b = 0; b < 11; ++b) QCOMPARE(clusters[a] == clusters[b], a % 3 == b % 3);
    QCOMPARE(clusters[2], 0);  // the one with most load
    // All alike: one cluster, and the key says so.
    const BranchKeys even = with_scheme(branch_keys(windows_of_branches(12, 9, [](int, int) { return int64_t{7}; })),
                                        BranchScheme::cluster, "r", -1);
    QCOMPARE(key_of(even, "r").clusters, std::vector<int>(12, 0));
    QVERIFY(key_text(key_of(even, "r")).contains("no clusters"));
    QCOMPARE(branch_clusters(windows_of_branches(3, 2, [](int, int) { return int64_t{0}; }).routers[0], 2),
             std::vector<int>(3, -1));
  }
};
STORMCELL_TEST(BranchColorsTest)

}  // namespace stormcell::views
#include "branch_colors_test.moc"

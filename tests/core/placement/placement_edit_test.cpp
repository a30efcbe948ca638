// A placement changed by hand, against what its end comes to when it is counted anew.
#include "core/placement/placement_edit.h"

#include <cmath>
#include <numeric>
#include <random>

#include "core/placement/step_work.h"
#include "tests/core/placement/drawn_routes.h"
#include "tests/core/placement/slow_machine.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::placement_edit_test {
namespace {

constexpr int32_t kBranches = 12, kRanks = 6, kNodes = 2, kK = 3, kLayers = 4;

/// `twice`: some tokens choose a branch twice.
TokenRoutes drawn(bool homes, bool twice, uint32_t seed) {
  return drawn_routes({.tokens = 80,
                       .layers = kLayers,
                       .branches = kBranches,
                       .k = kK,
                       .ranks = kRanks,
                       .each = 10,
                       .homes = homes,
                       .gaps = true,
                       .twice = twice},
                      seed);
}

struct Parts {
  TokenRoutes routes;
  std::vector<size_t> tokens[2];
  std::vector<std::vector<size_t>> steps[2];
  std::vector<std::vector<double>> loads[2];
  std::vector<std::vector<double>> homes[2];  // [layers][branches x ranks]
};

Parts parts_of(bool homes, bool twice, uint32_t seed) {
  Parts p{drawn(homes, twice, seed), {}, {}, {}, {}};
  for (size_t t = 0; t < p.routes.size(); ++t) {
    std::vector<size_t>& tokens = p.tokens[t >= 50];
    if (tokens.size() % 10 == 0) p.steps[t >= 50].emplace_back();
    tokens.push_back(t), p.steps[t >= 50].back().push_back(t);
  }
  for (int i = 0; i < 2; ++i) {
    p.loads[i] = loads_of_tokens(p.routes, p.tokens[i]);
    p.homes[i].assign(kLayers, std::vector<double>(kBranches * kRanks));
    for (const size_t t : p.tokens[i])
      for (int32_t l = 0; l < kLayers && homes; ++l)
        for (const int32_t b : p.routes.at(t, l))
          if (b >= 0) ++p.homes[i][static_cast<size_t>(l)][static_cast<size_t>(b * kRanks + p.routes.tokens[t].rank)];
  }
  return p;
}

ReplicaWay way_of(const ReplicaWays& ways) { return {ways.replicas, kNodes}; }

PlacementEdit edit_of(const Parts& p, const Placement& start, Backend backend,
                      const ReplicaWays& ways = kReplicaWays[0]) {
  std::vector<EditPart> parts(2);
  for (size_t i = 0; i < 2; ++i) {
    parts[i].loads = p.loads[i];
    parts[i].traffic.emplace(p.routes, p.tokens[i], start, way_of(ways));
    if (ways.replicas == ReplicaRule::nearest) parts[i].loads_of_home = p.homes[i];
    parts[i].steps.emplace(p.routes, p.steps[i], start, kNodes, backend, kStartingMachine, ways.replicas,
                           ways.residence);
  }
  return {start, std::move(parts), way_of(ways)};
}

bool near(double a, double b, double within = 1e-12) { return std::abs(a - b) <= within * std::max(1., std::abs(b)); }

/// Loads of ranks by shares, which know of empty slots.
std::vector<double> counted_loads(const Placement& p, size_t layer, const std::vector<double>& load) {
  std::vector<double> ranks(static_cast<size_t>(p.ranks));
  const std::vector<BranchShares> shares = shares_of(p.layers[layer], p.branches, p.ranks);
  for (size_t b = 0; b < shares.size(); ++b)
    for (const BranchShare& s : shares[b]) ranks[s.rank] += load[b] * s.part;
  return ranks;
}

/// What is wrong with the figures; empty: they are those of the placement as it stands.
std::string wrong_figure(const PlacementEdit& edit, const Parts& p, Backend backend,
                         const ReplicaWays& ways = kReplicaWays[0]) {
  const Placement& now = edit.placement();
  for (size_t i = 0; i < 2; ++i) {
    const EditFigures f = edit.figures(i);
    const Traffic traffic = count_traffic(p.routes, p.tokens[i], now, way_of(ways));
    const auto anew = rank_loads_of_tokens(p.routes, p.tokens[i], now, way_of(ways));
    if (!near(*f.cross_pairs, traffic.cross_pairs)) return "cross pairs";
    if (!near(*f.ranks_per_token, traffic.ranks_per_token)) return "ranks of a token";
    double imbalance = 0, ms = 0, layers = 0;
    for (size_t l = 0; l < kLayers; ++l) {
      const std::vector<double> ranks =
          ways.replicas == ReplicaRule::even ? counted_loads(now, l, p.loads[i][l]) : anew[l];
      for (size_t r = 0; r < kRanks; ++r)
        if (!near(edit.rank_loads(i, l)[r], ranks[r])) return "load of a rank";
      const std::vector<double>& of_slot = edit.slot_loads(i, l);
      if (!near(std::accumulate(of_slot.begin(), of_slot.end(), 0.), std::accumulate(ranks.begin(), ranks.end(), 0.)))
        return "loads of slots";
      if (!near(edit.layer_imbalance(i, l), imbalance_of_ranks(ranks))) return "imbalance of a layer";
      imbalance += imbalance_of_ranks(ranks) / kLayers;
      layers += *edit.layer_ms(i, l);
    }
    if (!near(f.imbalance, imbalance)) return "imbalance";
    StepWork work(now, kNodes, backend, kStartingMachine, ways.replicas, ways.residence);
    for (const std::vector<size_t>& step : p.steps[i])
      ms += work.of_tokens(p.routes, step).seconds() * 1e3 / static_cast<double>(p.steps[i].size());
    if (!near(*f.step_ms, ms, 1e-10) || !near(layers, ms, 1e-10)) return "ms of a step";
    if (*f.p95_ms < *f.step_ms / 2) return "95th percentile";
  }
  return {};
}

/// Applies it, and says what it was.
PlacementChange applied(PlacementEdit& edit, PlacementChange change) {
  edit.apply(change);
  return change;
}

/// An edit that is drawn and allowed; empty: it was not.
PlacementChange edit_somehow(PlacementEdit& edit, std::mt19937& random) {
  const Placement& now = edit.placement();
  const size_t layer = random() % kLayers, all = static_cast<size_t>(now.slot_count());
  const size_t slot = random() % all, other = random() % all;
  const auto branch = static_cast<int32_t>(random() % kBranches);
  switch (random() % 4) {
    case 0:
    case 1:
      return edit.swap_fault(layer, slot, other).empty() ? applied(edit, swap_change(now, layer, slot, other))
                                                         : PlacementChange();
    case 2:
      return edit.replicate_fault(layer, branch, slot).empty()
                 ? applied(edit, replicate_change(now, layer, branch, slot))
                 : PlacementChange();
    default:
      return edit.drop_fault(layer, slot).empty() ? applied(edit, drop_change(now, layer, slot)) : PlacementChange();
  }
}

}  // namespace

class PlacementEditTest : public QObject {
  Q_OBJECT
 private slots:
  void edits_undone_and_done_again_come_to_what_counting_anew_gives_data() {
    QTest::addColumn<int>("backend");
    QTest::addColumn<bool>("homes");
    QTest::addColumn<int>("way");
    for (size_t b = 0; b < std::size(kBackends); ++b)
      for (const bool homes : {false, true})
        for (size_t w = 0; w < std::size(kReplicaWays); ++w)
          QTest::newRow(
              (std::string(kBackends[b]) + (homes ? ", homes known" : ", homes not known") + kReplicaWays[w].name)
                  .c_str())
              << static_cast<int>(b) << homes << static_cast<int>(w);
  }
  void edits_undone_and_done_again_come_to_what_counting_anew_gives() {
    QFETCH(int, backend);
    QFETCH(bool, homes);
    QFETCH(int, way);
    const ReplicaWays& ways = kReplicaWays[way];
    const auto b = static_cast<Backend>(backend);
    for (uint32_t seed = 0; seed < 4; ++seed) {
      const Parts p = parts_of(homes, false, seed);
      const Placement start = contiguous_placement(kLayers, kBranches, seed % 2 ? 18 : 12, kRanks);
      PlacementEdit edit = edit_of(p, start, b, ways);
      testing::Drawn<std::mt19937> random(seed + 7);
      std::vector<PlacementChange> done, undone;
      for (int i = 0; i < 160; ++i) {
        if (random() % 4 == 0 && !done.empty()) {
          edit.apply(inverse(done.back()));
          undone.push_back(done.back()), done.pop_back();
        } else if (random() % 4 == 0 && !undone.empty()) {
          edit.apply(undone.back());
          done.push_back(undone.back()), undone.pop_back();
        } else if (PlacementChange change = edit_somehow(edit, random); !change.empty()) {
          done.push_back(std::move(change)), undone.clear();
        }
        if (i % 8) continue;
        const std::string wrong = wrong_figure(edit, p, b, ways);
        QVERIFY2(wrong.empty(), wrong.c_str());
      }
      while (!done.empty()) edit.apply(inverse(done.back())), done.pop_back();
      QCOMPARE(edit.placement(), start);
      const std::string wrong = wrong_figure(edit, p, b, ways);
      QVERIFY2(wrong.empty(), wrong.c_str());
    }
  }

  void a_token_that_chose_a_branch_twice_counts_once_for_its_ranks() {
    const Parts p = parts_of(false, true, 5);
    for (const Backend backend : {Backend::per_rank, Backend::per_node, Backend::gather}) {
      PlacementEdit edit = edit_of(p, contiguous_placement(kLayers, kBranches, 18, kRanks), backend);
      testing::Drawn<std::mt19937> random(3);
      for (int i = 0; i < 200; ++i) edit_somehow(edit, random);
      const std::string wrong = wrong_figure(edit, p, backend);
      QVERIFY2(wrong.empty(), wrong.c_str());
    }
  }

  // Beside replicas and where a node gets a part of what it had: what is left of the token's other choices is no whole
  // number.
  void a_branch_that_moves_brings_a_token_what_its_other_choices_leave() {
    const std::vector<BranchShares> shares = {{{0, 0.5}, {1, 0.5}}, {{0, 1}}, {{2, 1}}};
    BranchMove move;
    move.begin(shares, 1, {{0, 0.5}, {2, 0.5}}, 4);
    QCOMPARE(move.places(), size_t{2});
    move.look(std::vector<int32_t>{1, 0, -1});
    QCOMPARE(move.comes(0), -0.25);
    QCOMPARE(move.comes(1), 0.5);
    move.look(std::vector<int32_t>{2, 1, 1});
    QCOMPARE(move.times(), 2.);
    QCOMPARE(move.comes(0), -0.25);
    QCOMPARE(move.comes(1), 0.);
    QCOMPARE(move.copies(1), 1.);
    QCOMPARE(move.meets(shares[2]), 0.5);
    move.begin(shares, 1, {{0, 0.5}, {2, 0.5}}, 4, 2);
    move.look(std::vector<int32_t>{1, 0, -1});
    QCOMPARE(move.places(), size_t{2});
    QCOMPARE(move.comes(0), 0.);
    QCOMPARE(move.comes(1), 0.5);
  }

  void another_placement_is_one_change_also_where_it_has_two_replicas_on_a_rank() {
    const Parts p = parts_of(false, false, 2);
    const Placement start = contiguous_placement(kLayers, kBranches, 18, kRanks);
    Placement other = start;
    for (LayerSlots& layer : other.layers) {
      layer = {0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 11, 1, 2, 2};
    }
    for (const ReplicaWays& ways : kReplicaWays) {
      PlacementEdit whole = edit_of(p, start, Backend::per_rank, ways);
      const PlacementChange change = applied(whole, difference(start, other));
      QVERIFY(change.size() > 18);  // more than a layer: counted anew
      QCOMPARE(whole.placement(), other);
      QVERIFY(wrong_figure(whole, p, Backend::per_rank, ways).empty());
      whole.apply(inverse(change));
      QCOMPARE(whole.placement(), start);
      QVERIFY(wrong_figure(whole, p, Backend::per_rank, ways).empty());
    }
  }

  void what_may_not_be_says_why() {
    const Parts p = parts_of(false, false, 1);
    PlacementEdit edit = edit_of(p, contiguous_placement(kLayers, kBranches, 18, kRanks), Backend::per_rank);
    // With three slots a GPU: 0 to 2 on GPU 0, ..., 9 to 11 on GPU 3; again 0 to 2 on GPU 4 and 3 to 5 on GPU 5.
    QCOMPARE(edit.swap_fault(0, 0, 2), std::string("both slots are on GPU 0: nothing would change"));
    QCOMPARE(edit.swap_fault(0, 0, 12), std::string("both slots hold expert 0"));
    QCOMPARE(edit.swap_fault(0, 0, 13), std::string("expert 0 is on GPU 4 already"));
    QCOMPARE(edit.replicate_fault(0, 0, 13), std::string("expert 0 is on GPU 4 already"));
    QCOMPARE(edit.replicate_fault(0, 0, 9), std::string("expert 9 has no other slot and would be on no GPU"));
    QCOMPARE(edit.drop_fault(0, 9), std::string("expert 9 has no other slot and would be on no GPU"));
    QCOMPARE(edit.replicate_fault(0, 6, 13), std::string());
    QCOMPARE(applied(edit, replicate_change(edit.placement(), 0, 6, 13)), (PlacementChange{{0, 13, 1, 6}}));
    QCOMPARE(applied(edit, drop_change(edit.placement(), 0, 12)), (PlacementChange{{0, 12, 0, -1}}));
    QCOMPARE(edit.drop_fault(0, 12), std::string("the slot is empty"));
    QCOMPARE(edit.empty_slots(), size_t{1});
    QCOMPARE(applied(edit, swap_change(edit.placement(), 0, 3, 12)), (PlacementChange{{0, 3, 3, -1}, {0, 12, -1, 3}}));
    QVERIFY(wrong_figure(edit, p, Backend::per_rank).empty());
  }

  void counts_alone_have_balance_and_no_traffic() {
    std::vector<EditPart> parts(1);
    parts[0].loads = {{4, 0, 0, 0}, {1, 1, 1, 1}};
    PlacementEdit edit(contiguous_placement(2, 4, 4, 2), std::move(parts));
    QCOMPARE(edit.figures(0).imbalance, 0.5);
    QVERIFY(!edit.figures(0).cross_pairs && !edit.figures(0).ranks_per_token && !edit.figures(0).step_ms &&
            !edit.layer_ms(0, 0));
  }
};

STORMCELL_TEST(PlacementEditTest)

}  // namespace stormcell::testing::placement_edit_test

#include "placement_edit_test.moc"

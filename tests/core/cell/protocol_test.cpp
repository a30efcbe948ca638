// Every protocol: constructed cases, and an independent naive implementation on random scores.
#include "core/cell/protocol.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "core/base/error.h"
#include "core/cell/protocol_row.h"
#include "core/cell/route.h"
#include "tests/core/cell/decision_memory.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

using testing::broken_invariant;
using testing::Decision;
using Floats = std::vector<float>;
using Ints = std::vector<int32_t>;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInfinity = std::numeric_limits<float>::infinity();

struct Case {
  int64_t cells;
  int32_t branches;
  Floats scores;
  ScoreView view() const { return {scores.data(), cells, branches}; }
  double at(int64_t c, int32_t b) const { return scores[static_cast<size_t>(c * branches + b)]; }
};

// Scores on a coarse grid, so that ties are frequent.
Case random_case(std::mt19937& random, int64_t cells, int32_t branches) {
  Case c{cells, branches, Floats(static_cast<size_t>(cells * branches))};
  for (auto& s : c.scores) s = static_cast<float>(static_cast<int>(random() % 33) - 16) / 4;
  return c;
}

// Branches by descending score, the lowest index first among equals, NaN last.
Ints order_of(const Case& c, int64_t cell) {
  Ints order(static_cast<size_t>(c.branches));
  for (int32_t b = 0; b < c.branches; ++b) order[static_cast<size_t>(b)] = b;
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    const double x = c.at(cell, a), y = c.at(cell, b);
    return (std::isnan(x) ? -INFINITY : x) > (std::isnan(y) ? -INFINITY : y);
  });
  return order;
}
std::vector<double> softmax(const Case& c, int64_t cell) {
  std::vector<double> p(static_cast<size_t>(c.branches));
  double most = -INFINITY, sum = 0;
  for (int32_t b = 0; b < c.branches; ++b) most = std::max(most, c.at(cell, b));
  for (int32_t b = 0; b < c.branches; ++b) sum += p[static_cast<size_t>(b)] = std::exp(c.at(cell, b) - most);
  for (auto& x : p) x /= sum;
  return p;
}
bool close(double a, double b) { return std::fabs(a - b) <= 1e-5 * (1 + std::fabs(b)); }

Decision routed(const Case& c, const Protocol& protocol, int32_t branches = 0, ParentMap parents = {}) {
  if (branches == 0) branches = c.branches;
  Decision d(c.cells, fan_out_of(protocol, branches), branches);
  ScoreView scores = c.view();
  scores.parents = parents;
  route(scores, protocol, *d);
  return d;
}
Protocol top_k(int32_t k, SoftmaxPlace softmax = SoftmaxPlace::before, bool renormalize = false) {
  Protocol p;
  p.k = k;
  p.softmax = softmax;
  p.renormalize = renormalize;
  return p;
}

}  // namespace

class ProtocolTest : public QObject {
  Q_OBJECT
 private slots:
  void names_are_read_back() {
    for (const ProtocolRow& row : protocols()) QCOMPARE(parse_protocol(to_text(row.kind), "test"), row.kind);
    QVERIFY_THROWS_EXCEPTION(Error, parse_protocol("topk", "--protocol"));
  }

  // --- top-k
  void top_k_takes_the_largest_and_the_lowest_index_of_equals() {
    const Case c{3, 4, {1, 3, 3, 2, 5, 5, 5, 5, 0, -1, -2, 7}};
    Decision d = routed(c, top_k(2));
    QCOMPARE(d.choices(3), (Ints{1, 2, 0, 1, 3, 0}));
    QCOMPARE(d->margin[0], 1.0f);
    QCOMPARE(d->margin[1], 0.0f);
    QCOMPARE(d->margin[2], 1.0f);
  }
  void a_nan_never_wins_and_is_the_last_to_be_taken() {
    const Case c{2, 3, {kNan, 1, 2, kNan, kNan, -kInfinity}};
    QCOMPARE(routed(c, top_k(1)).choices(2), (Ints{2, 0}));
    QCOMPARE(routed(c, top_k(3)).choices(2), (Ints{2, 1, 0, 0, 1, 2}));
    QVERIFY(!std::isnan(routed(c, top_k(1))->margin[1]));
  }
  void all_branches_are_chosen_in_order_when_k_is_their_number() {
    const Case c{1, 3, {0, 2, 1}};
    Decision d = routed(c, top_k(3));
    QCOMPARE(d.choices(1), (Ints{1, 2, 0}));
    QCOMPARE(d->margin[0], kInfinity);
  }
  void one_branch_takes_every_cell() {
    const Case c{5, 1, {1, 2, kNan, -3, 0}};
    Decision d = routed(c, top_k(1));
    QCOMPARE(d.loads(), (Ints{5}));
    QCOMPARE(d->choice_weight[0], 1.0f);
  }
  void top_k_agrees_with_sorting() {
    testing::Drawn<std::mt19937> random(1);
    for (int round = 0; round < 300; ++round) {
      const auto branches = static_cast<int32_t>(1 + random() % 40);
      const Case c = random_case(random, 1 + static_cast<int64_t>(random() % 20), branches);
      const auto k = static_cast<int32_t>(1 + random() % static_cast<uint32_t>(std::min(branches, 12)));
      const auto place = static_cast<SoftmaxPlace>(random() % 3);
      const bool renormalize = random() % 2 && place != SoftmaxPlace::none;
      Protocol p = top_k(k, place, renormalize);
      p.scale = random() % 2 ? 2.5f : 1.0f;
      Decision d = routed(c, p);
      QCOMPARE(broken_invariant(*d, c.cells), std::string());
      for (int64_t cell = 0; cell < c.cells; ++cell) {
        const Ints order = order_of(c, cell);
        const auto probability = softmax(c, cell);
        double chosen_sum = 0;
        std::vector<double> expected;
        for (int32_t j = 0; j < k; ++j) {
          QCOMPARE(d->choice[cell * k + j], order[static_cast<size_t>(j)]);
          const auto b = static_cast<size_t>(order[static_cast<size_t>(j)]);
          expected.push_back(place == SoftmaxPlace::none ? c.at(cell, static_cast<int32_t>(b)) : probability[b]);
          chosen_sum += expected.back();
        }
        // A softmax over the chosen is the softmax over all, renormalised.
        for (int32_t j = 0; j < k; ++j) {
          double w = expected[static_cast<size_t>(j)];
          if (renormalize || place == SoftmaxPlace::after) w /= chosen_sum;
          QVERIFY(close(d->choice_weight[cell * k + j], w * p.scale));
        }
        const double margin =
            k < branches ? c.at(cell, order[static_cast<size_t>(k - 1)]) - c.at(cell, order[static_cast<size_t>(k)])
                         : INFINITY;
        QVERIFY(d->margin[cell] == static_cast<float>(margin));
      }
    }
  }
  void a_nan_score_shows_in_the_weights() {
    const Case c{1, 3, {kNan, 1, 2}};
    QVERIFY(std::isnan(routed(c, top_k(1))->choice_weight[0]));
  }

  // --- Switch
  void switch_drops_beyond_the_capacity_of_each_sequence() {
    // Two sequences of four cells; all want branch 0 but one.
    const Case c{8, 2, {1, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0}};
    Protocol p;
    p.kind = ProtocolKind::switch_top1;
    p.capacity = 2;
    Decision d = routed(c, p, 0, {4, nullptr});
    QCOMPARE(d.choices(8), (Ints{0, 0, 1, ~0, 0, 0, ~0, ~0}));
    QCOMPARE(d->dropped(0), 3);
    QCOMPARE(d.loads(), (Ints{4, 1}));
    QVERIFY(close(d->choice_weight[0], softmax(c, 0)[0]));
  }
  // As Switch Transformers (base) has it: capacity 64 for each of 8 sequences of 128: at most 512 for each expert, kept
  // + dropped = 1024.
  void switch_base_keeps_at_most_512_of_1024() {
    testing::Drawn<std::mt19937> random(2);
    const Case c = random_case(random, 1024, 8);
    Protocol p;
    p.kind = ProtocolKind::switch_top1;
    p.capacity = 4;
    for (const int32_t capacity : {4, 16, 64}) {
      p.capacity = capacity;
      Decision d = routed(c, p, 0, {128, nullptr});
      int32_t all = 0, dropped = 0;
      for (int32_t b = 0; b < 8; ++b) {
        QVERIFY(d->load(b) <= 8 * capacity);
        all += d->load(b) + d->dropped(b);
        dropped += d->dropped(b);
      }
      QCOMPARE(all, 1024);
      QVERIFY(capacity > 16 || dropped > 0);
      QCOMPARE(broken_invariant(*d, 1024), std::string());
    }
  }
  void switch_agrees_with_a_naive_count() {
    testing::Drawn<std::mt19937> random(3);
    for (int round = 0; round < 200; ++round) {
      const auto length = static_cast<int64_t>(1 + random() % 12), sequences = static_cast<int64_t>(1 + random() % 6);
      const Case c = random_case(random, length * sequences, static_cast<int32_t>(1 + random() % 9));
      Protocol p;
      p.kind = ProtocolKind::switch_top1;
      p.capacity = static_cast<int32_t>(random() % 5);
      Decision d = routed(c, p, 0, {length, nullptr});
      QCOMPARE(broken_invariant(*d, c.cells), std::string());
      for (int64_t cell = 0; cell < c.cells; ++cell) {
        const int32_t best = order_of(c, cell)[0];
        int32_t before = 0;
        for (int64_t other = cell / length * length; other < cell; ++other) before += order_of(c, other)[0] == best;
        const bool kept = p.capacity == 0 || before < p.capacity;
        QCOMPARE(d->choice[cell], kept ? best : dropped_from(best));
        QVERIFY(close(d->choice_weight[cell], softmax(c, cell)[static_cast<size_t>(best)]));
      }
    }
  }

  // --- batch-prioritised
  void the_most_confident_cells_are_served_first() {
    // Confidence rises with the cell's number; capacity int(1.0 * ceil(4 / 2)) = 2.
    const Case c{4, 2, {1, 0, 2, 0, 3, 0, 4, 0}};
    Protocol p;
    p.kind = ProtocolKind::batch_prioritized;
    p.capacity_factor = 1;
    QCOMPARE(routed(c, p).choices(4), (Ints{~0, ~0, 0, 0}));
  }
  void batch_prioritised_agrees_with_a_naive_sort() {
    testing::Drawn<std::mt19937> random(4);
    for (int round = 0; round < 200; ++round) {
      const Case c = random_case(random, static_cast<int64_t>(random() % 40), static_cast<int32_t>(1 + random() % 9));
      Protocol p;
      p.kind = ProtocolKind::batch_prioritized;
      p.capacity_factor = 0.25 * static_cast<double>(random() % 8);
      Decision d = routed(c, p);
      QCOMPARE(broken_invariant(*d, c.cells), std::string());
      const auto capacity =
          static_cast<int32_t>(p.capacity_factor * std::ceil(static_cast<double>(c.cells) / c.branches));
      for (int64_t cell = 0; cell < c.cells; ++cell) {
        const int32_t best = order_of(c, cell)[0];
        const double confidence = softmax(c, cell)[static_cast<size_t>(best)];
        int32_t before = 0;
        bool tied = false;
        for (int64_t other = 0; other < c.cells; ++other) {
          if (other == cell || order_of(c, other)[0] != best) continue;
          const double theirs = softmax(c, other)[static_cast<size_t>(best)];
          // Equal in double but maybe not in float: such a cell's place is not certain unless its scores are the same.
          const bool same = std::equal(c.scores.begin() + cell * c.branches, c.scores.begin() + (cell + 1) * c.branches,
                                       c.scores.begin() + other * c.branches);
          tied |= !same && std::fabs(theirs - confidence) < 1e-6;
          before += same ? other < cell : theirs > confidence;
        }
        if (tied) continue;
        const bool kept = p.capacity_factor == 0 || before < capacity;
        QCOMPARE(d->choice[cell], kept ? best : dropped_from(best));
      }
    }
  }
  void broken_scores_do_not_break_the_priorities() {
    testing::Drawn<std::mt19937> random(5);
    for (int round = 0; round < 50; ++round) {
      Case c = random_case(random, 200, 4);
      for (auto& s : c.scores)
        if (random() % 3 == 0) s = random() % 2 ? kNan : kInfinity;
      Protocol p;
      p.kind = ProtocolKind::batch_prioritized;
      p.capacity_factor = 0.75;
      Decision d = routed(c, p);
      QCOMPARE(broken_invariant(*d, c.cells), std::string());
    }
  }

  // --- sigmoid with bias and groups
  void the_bias_chooses_but_does_not_weigh() {
    const Case c{1, 4, {0, 1, 2, 3}};
    const Floats bias = {10, 0, 0, 0};
    Protocol p;
    p.kind = ProtocolKind::sigmoid_groups;
    p.k = 2;
    Decision d(1, 2, 4);
    ScoreView scores = c.view();
    scores.bias = bias.data();
    route(scores, p, *d);
    QCOMPARE(d.choices(1), (Ints{0, 3}));
    QVERIFY(close(d->choice_weight[0], 0.5));
    QVERIFY(close(d->choice_weight[1], 1 / (1 + std::exp(-3.0))));
  }
  void only_the_best_groups_are_looked_at() {
    // Groups {0,1} and {2,3}: the single best branch is 0, but the second group's two best sum higher.
    const Case c{1, 4, {2.0f, -8, 1.5f, 1.5f}};
    Protocol p;
    p.kind = ProtocolKind::sigmoid_groups;
    p.k = 1;
    p.groups = 2;
    p.groups_kept = 1;
    QCOMPARE(routed(c, p).choices(1), (Ints{2}));
    p.groups_kept = 2;
    QCOMPARE(routed(c, p).choices(1), (Ints{0}));
  }
  void groups_agree_with_a_naive_choice() {
    testing::Drawn<std::mt19937> random(6);
    for (int round = 0; round < 300; ++round) {
      Protocol p;
      p.kind = ProtocolKind::sigmoid_groups;
      p.groups = static_cast<int32_t>(1 + random() % 4);
      const auto per_group = static_cast<int32_t>(1 + random() % 5);
      p.groups_kept = static_cast<int32_t>(1 + random() % static_cast<uint32_t>(p.groups));
      p.k = static_cast<int32_t>(1 + random() % static_cast<uint32_t>(p.groups_kept * per_group));
      p.renormalize = random() % 2;
      p.scale = 2.5f;
      const Case c = random_case(random, 10, p.groups * per_group);
      Floats bias(static_cast<size_t>(c.branches));
      for (auto& b : bias) b = static_cast<float>(random() % 8) / 16;
      Decision d(c.cells, p.k, c.branches);
      ScoreView scores = c.view();
      scores.bias = bias.data();
      route(scores, p, *d);
      QCOMPARE(broken_invariant(*d, c.cells), std::string());
      for (int64_t cell = 0; cell < c.cells; ++cell) {
        // In float, like the rule, so that ties are the same ties.
        Floats sigmoid(bias.size()), corrected(bias.size());
        for (size_t b = 0; b < bias.size(); ++b) {
          sigmoid[b] = 1 / (1 + std::exp(-c.scores[static_cast<size_t>(cell) * bias.size() + b]));
          corrected[b] = sigmoid[b] + bias[b];
        }
        std::vector<std::pair<float, int32_t>> groups;
        for (int32_t g = 0; g < p.groups; ++g) {
          Floats own(corrected.begin() + g * per_group, corrected.begin() + (g + 1) * per_group);
          std::sort(own.rbegin(), own.rend());
          groups.emplace_back(-(0 + own[0] + (per_group > 1 ? own[1] : 0)), g);
        }
        std::sort(groups.begin(), groups.end());
        std::vector<std::pair<float, int32_t>> allowed;
        for (int32_t i = 0; i < p.groups_kept; ++i)
          for (int32_t b = 0; b < per_group; ++b) {
            const int32_t branch = groups[static_cast<size_t>(i)].second * per_group + b;
            allowed.emplace_back(-corrected[static_cast<size_t>(branch)], branch);
          }
        std::sort(allowed.begin(), allowed.end());
        double sum = 0;
        for (int32_t j = 0; j < p.k; ++j) sum += sigmoid[static_cast<size_t>(allowed[static_cast<size_t>(j)].second)];
        for (int32_t j = 0; j < p.k; ++j) {
          const int32_t branch = allowed[static_cast<size_t>(j)].second;
          QCOMPARE(d->choice[cell * p.k + j], branch);
          QVERIFY(close(d->choice_weight[cell * p.k + j],
                        2.5 * sigmoid[static_cast<size_t>(branch)] / (p.renormalize ? sum : 1)));
        }
      }
    }
  }
  void a_near_tie_of_groups_is_a_small_margin() {
    const Case c{1, 4, {3, 0, 3, 0.001f}};
    Protocol p;
    p.kind = ProtocolKind::sigmoid_groups;
    p.k = 1;
    p.groups = 2;
    p.groups_kept = 1;
    Decision d = routed(c, p);
    QCOMPARE(d.choices(1), (Ints{2}));
    QVERIFY(d->margin[0] < 0.001f);
  }

  // --- thresholds
  void threshold_takes_every_branch_above_it() {
    const Case c{4, 3, {0.5f, 0.9f, 0.7f, 0.5f, 0.1f, 0.2f, kNan, 0.6f, 0.6f, 0, 0, 0}};
    Protocol p;
    p.kind = ProtocolKind::threshold;
    p.threshold = 0.5f;
    QCOMPARE(routed(c, p).choices(4), (Ints{1, 2, kNoBranch, kNoBranch, kNoBranch, kNoBranch, 1, 2, kNoBranch,
                                            kNoBranch, kNoBranch, kNoBranch}));
    p.residual = 2;
    Decision d = routed(c, p);
    QCOMPARE(d.choices(4), (Ints{1, 2, kNoBranch, 2, kNoBranch, kNoBranch, 1, 2, kNoBranch, 2, kNoBranch, kNoBranch}));
    QCOMPARE(d->margin[0], 0.0f);
    QCOMPARE(d->margin[3], 0.5f);
    QCOMPARE(broken_invariant(*d, 4), std::string());
  }
  void residual_threshold_looks_at_the_sum() {
    const Case c{4, 2, {0.2f, 0.2f, 0.3f, 0.2f, 0.4f, 0.4f, kNan, 9}};
    Protocol p;
    p.kind = ProtocolKind::residual_threshold;
    p.threshold = 0.5f;
    p.residual = 0;
    QCOMPARE(routed(c, p).choices(4), (Ints{0, 1, 1, 0}));
    p.residual = 1;
    QCOMPARE(routed(c, p).choices(4), (Ints{1, 0, 0, 1}));
  }
  void exit_threshold_leaves_when_the_classifier_is_sure() {
    // Ten classes, two branches.
    Case c{3, 10, Floats(30)};
    c.scores[4] = 20;     // sure
    c.scores[13] = 0.5f;  // unsure
    c.scores[21] = kNan;  // broken: never exit
    c.scores[22] = 20;
    Protocol p;
    p.kind = ProtocolKind::exit_threshold;
    p.threshold = 0.9f;
    p.residual = 0;
    Decision d = routed(c, p, 2);
    QCOMPARE(d.choices(3), (Ints{0, 1, 1}));
    QCOMPARE(d.weights(3), (Floats{1, 1, 1}));
    p.residual = 1;
    QCOMPARE(routed(c, p, 2).choices(3), (Ints{1, 0, 0}));
  }
  void a_confidence_at_the_threshold_exits() {
    const Case c{1, 2, {0, 0}};  // confidence exactly 0.5
    Protocol p;
    p.kind = ProtocolKind::exit_threshold;
    p.threshold = 0.5f;
    p.residual = 0;
    QCOMPARE(routed(c, p).choices(1), (Ints{0}));
    QCOMPARE(routed(c, p)->margin[0], 0.0f);
  }

  // --- hash and label
  void hash_sends_a_label_to_a_place_and_its_mirror() {
    const Ints labels = {0, 1, 2, 3, 4, 5, 6, 7, 3, 11, -1};
    Protocol p;
    p.kind = ProtocolKind::hash;
    p.seed = 42;
    ScoreView scores;
    scores.cells = static_cast<int64_t>(labels.size());
    scores.branches = 8;
    scores.label = labels.data();
    Decision d(scores.cells, 2, 8);
    route(scores, p, *d);
    QCOMPARE(broken_invariant(*d, scores.cells), std::string());
    for (size_t i = 0; i < 8; ++i) {
      QCOMPARE(d->choice[2 * i], d->choice[2 * (7 - i) + 1]);  // the reversed permutation
      QVERIFY(d->choice[2 * i] != d->choice[2 * i + 1]);
    }
    QCOMPARE(d->choice[2 * 8], d->choice[2 * 3]);
    QCOMPARE(d->choice[2 * 9], d->choice[2 * 3]);  // 11 = 3 mod 8
    Ints firsts;
    for (size_t i = 0; i < 8; ++i) firsts.push_back(d->choice[2 * i]);
    std::sort(firsts.begin(), firsts.end());
    QCOMPARE(firsts, (Ints{0, 1, 2, 3, 4, 5, 6, 7}));
    Decision again(scores.cells, 2, 8), other(scores.cells, 2, 8);
    route(scores, p, *again);
    QCOMPARE(again.choices(scores.cells), d.choices(scores.cells));
    p.seed = 43;
    route(scores, p, *other);
    QVERIFY(other.choices(scores.cells) != d.choices(scores.cells));
  }
  void hash_with_an_odd_number_of_branches_has_a_middle() {
    const Ints labels = {0, 1, 2};
    Protocol p;
    p.kind = ProtocolKind::hash;
    ScoreView scores;
    scores.cells = 3;
    scores.branches = 3;
    scores.label = labels.data();
    Decision d(3, 2, 3);
    route(scores, p, *d);
    QCOMPARE(d->choice[3], kNoBranch);
    QCOMPARE(broken_invariant(*d, 3), std::string());
  }
  void label_goes_where_it_says() {
    const Ints labels = {2, 0, 5, -1, 1};
    Protocol p;
    p.kind = ProtocolKind::label;
    ScoreView scores;
    scores.cells = 5;
    scores.branches = 3;
    scores.label = labels.data();
    Decision d(5, 1, 3);
    route(scores, p, *d);
    QCOMPARE(d.choices(5), (Ints{2, 0, kNoBranch, kNoBranch, 1}));
    QCOMPARE(d.loads(), (Ints{1, 1, 1}));
  }
};

STORMCELL_TEST(ProtocolTest)

}  // namespace stormcell

#include "protocol_test.moc"

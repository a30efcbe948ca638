// Rules of every protocol on any scores.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "core/cell/capacity.h"
#include "core/cell/protocol_row.h"
#include "core/cell/route.h"
#include "tests/core/cell/counted_allocations.h"
#include "tests/core/cell/decision_memory.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

using testing::broken_invariant;
using testing::Decision;

struct Input {
  Protocol protocol;
  int64_t cells = 0, parents = 1;
  int32_t branches = 1, columns = 1;  // columns of the scores: classes of an exit
  std::vector<float> scores, bias;
  std::vector<int32_t> label;
  DecisionShape shape() const { return {cells, fan_out_of(protocol, branches), branches}; }
  ScoreView view() const {
    ScoreView v{scores.data(), cells, columns};
    v.bias = bias.empty() ? nullptr : bias.data();
    v.label = label.data();
    v.parents = {std::max<int64_t>(1, cells / parents), nullptr};
    return v;
  }
};

Input random_input(std::mt19937& random, ProtocolKind kind, int64_t cells, bool limited) {
  const auto up_to = [&](int32_t n) { return static_cast<int32_t>(1 + random() % static_cast<uint32_t>(n)); };
  Input in;
  Protocol& p = in.protocol;
  p.kind = kind;
  in.parents = 1 + static_cast<int64_t>(random() % 4);
  in.cells = cells / in.parents * in.parents;
  in.branches = up_to(20);
  switch (kind) {
    case ProtocolKind::top_k:
      p.k = up_to(std::min(in.branches, 8));
      p.softmax = static_cast<SoftmaxPlace>(random() % 3);
      p.renormalize = random() % 2;
      break;
    case ProtocolKind::switch_top1:
      p.capacity = limited ? up_to(5) : 0;
      break;
    case ProtocolKind::batch_prioritized:
      p.capacity_factor = limited ? 0.5 : 0;
      break;
    case ProtocolKind::sigmoid_groups:
      p.groups = up_to(4);
      p.groups_kept = up_to(p.groups);
      in.branches = p.groups * up_to(5);
      p.k = up_to(in.branches / p.groups * p.groups_kept);
      break;
    case ProtocolKind::threshold:
      p.threshold = 0.5f;
      p.residual = static_cast<int32_t>(random() % 3) - 1 < in.branches ? static_cast<int32_t>(random() % 2) - 1 : -1;
      break;
    case ProtocolKind::residual_threshold:
    case ProtocolKind::exit_threshold:
      p.residual = static_cast<int32_t>(random() % 2);
      p.threshold = 0.3f;
      break;
    default:
      p.seed = random();
  }
  in.columns = in.branches;
  if (const int32_t fixed = protocol_row(kind).branches; fixed > 0) in.branches = fixed;
  in.scores.resize(static_cast<size_t>(in.cells * in.columns));
  for (auto& s : in.scores) s = static_cast<float>(static_cast<int>(random() % 2001) - 1000) / 400;
  in.label.resize(static_cast<size_t>(in.cells));
  for (auto& l : in.label) l = static_cast<int32_t>(random() % 25) - 2;
  if (kind == ProtocolKind::sigmoid_groups) {
    in.bias.resize(static_cast<size_t>(in.branches));
    for (auto& b : in.bias) b = static_cast<float>(random() % 100) / 300;
  }
  if (random() % 2) {
    p.supported_capacities = {1, 2, 4, 8, 1024};
    p.capacity_padding = random() % 2;
  }
  return in;
}

}  // namespace

class RoutingPropertiesTest : public QObject {
  Q_OBJECT

  static void kinds() {
    QTest::addColumn<int>("kind");
    for (const ProtocolRow& row : protocols())
      QTest::newRow(std::string(row.name).c_str()) << static_cast<int>(row.kind);
  }
  static ProtocolKind kind() {
    QFETCH(int, kind);
    return static_cast<ProtocolKind>(kind);
  }

 private slots:
  void every_cell_is_accounted_for_data() { kinds(); }
  void every_cell_is_accounted_for() {
    testing::Drawn<std::mt19937> random(1);
    for (int round = 0; round < 200; ++round) {
      const Input in = random_input(random, kind(), static_cast<int64_t>(random() % 60), round % 2);
      Decision d(in.shape());
      route(in.view(), in.protocol, *d);
      QCOMPARE(broken_invariant(*d, in.cells), std::string());
      for (int32_t b = 0; b < in.branches; ++b)
        QCOMPARE(d->padded[b],
                 padded_load(d->load(b), b, {in.protocol.supported_capacities, in.protocol.capacity_padding, false}));
      for (int64_t c = 0; c < in.cells; ++c) QVERIFY(d->margin[c] >= 0);
    }
  }

  // The parts of a protocol's row that others read instead of knowing it by name.
  void its_row_says_what_it_does_data() { kinds(); }
  void its_row_says_what_it_does() {
    const ProtocolRow& row = protocol_row(kind());
    testing::Drawn<std::mt19937> random(11);
    int64_t most_chosen = 0;
    bool drops = false, reads_scores = false, has_margin = false, weighs = false;
    for (int round = 0; round < 200; ++round) {
      Input in = random_input(random, kind(), 1 + static_cast<int64_t>(random() % 60), true);
      in.cells = std::max<int64_t>(1, in.cells);
      in.scores.resize(static_cast<size_t>(in.cells * in.columns), 0.25f);
      in.label.resize(static_cast<size_t>(in.cells));
      Decision d(in.shape()), other(in.shape());
      ScoreView scores = in.view();
      if (row.by_label()) scores.data = nullptr;
      route(scores, in.protocol, *d);
      for (int64_t c = 0; c < in.cells; ++c) {
        const int32_t* choice = d->choice + c * in.shape().fan_out;
        most_chosen = std::max<int64_t>(
            most_chosen, std::count_if(choice, choice + in.shape().fan_out, [](int32_t b) { return b != kNoBranch; }));
        has_margin |= std::isfinite(d->margin[c]);
      }
      for (const int32_t choice : d.choices(in.cells)) drops |= is_dropped(choice);
      if (row.by_label()) continue;
      // The same choices beside other scores.
      const std::vector<int32_t> choices = d.choices(in.cells);
      for (float& s : in.scores) s = 1 - s * s;
      route(in.view(), in.protocol, *other);
      reads_scores |= other.choices(in.cells) != choices;
      replay(in.view(), in.protocol, choices.data(), *other);
      for (int64_t i = 0; i < in.shape().slot_count(); ++i) weighs |= d->choice_weight[i] != other->choice_weight[i];
    }
    QCOMPARE(most_chosen > 1, row.fan_out != FanOut::one);
    QCOMPARE(drops, row.places != Places::unlimited);
    QCOMPARE(reads_scores, row.decided_by == DecidedBy::scores);
    QCOMPARE(has_margin, row.margin != MarginOf::none);
    QCOMPARE(weighs, row.weighting != Weighting::one);
  }

  // A parameter that a row does not name changes nothing: so a graph may refuse it.
  void what_it_does_not_take_changes_nothing_data() { kinds(); }
  void what_it_does_not_take_changes_nothing() {
    const ProtocolRow& row = protocol_row(kind());
    const std::pair<std::string_view, void (*)(Protocol&)> parameters[] = {
        {"k", [](Protocol& p) { ++p.k; }},
        {"softmax", [](Protocol& p) { p.softmax = SoftmaxPlace::after; }},
        {"capacity", [](Protocol& p) { p.capacity = 1; }},
        {"dropped", [](Protocol& p) { p.dropped = DroppedCells::scaled_input; }},
        {"capacity_factor", [](Protocol& p) { p.capacity_factor = 0.25; }},
        {"threshold", [](Protocol& p) { p.threshold += 0.5f; }},
        {"residual", [](Protocol& p) { p.residual = 0; }},
        {"groups", [](Protocol& p) { p.groups = 2; }},
        {"groups_kept", [](Protocol& p) { ++p.groups_kept; }},
        {"seed", [](Protocol& p) { ++p.seed; }},
    };
    testing::Drawn<std::mt19937> random(12);
    for (int round = 0; round < 50; ++round) {
      const Input in = random_input(random, kind(), 40, true);
      Decision d(in.shape());
      route(in.view(), in.protocol, *d);
      for (const auto& [name, change] : parameters) {
        if (takes(row, name)) continue;
        Input changed = in;
        change(changed.protocol);
        QVERIFY(changed.shape() == in.shape());
        Decision other(in.shape());
        route(changed.view(), changed.protocol, *other);
        QVERIFY2(other.choices(in.cells) == d.choices(in.cells), std::string(name).c_str());
        QVERIFY2(std::equal(d->choice_weight, d->choice_weight + in.shape().slot_count(), other->choice_weight),
                 std::string(name).c_str());
      }
    }
  }

  void broken_scores_break_no_invariant_data() { kinds(); }
  void broken_scores_break_no_invariant() {
    testing::Drawn<std::mt19937> random(2);
    const float broken[] = {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity(),
                            -std::numeric_limits<float>::infinity(), 3e38f, -0.0f};
    for (int round = 0; round < 200; ++round) {
      Input in = random_input(random, kind(), static_cast<int64_t>(random() % 60), round % 2);
      for (auto& s : in.scores)
        if (random() % 3 == 0) s = broken[random() % 5];
      Decision d(in.shape());
      route(in.view(), in.protocol, *d);
      QCOMPARE(broken_invariant(*d, in.cells), std::string());
      for (int64_t c = 0; c < in.cells; ++c) QVERIFY(!std::isnan(d->margin[c]));
    }
  }

  void one_cell_and_no_cell_data() { kinds(); }
  void one_cell_and_no_cell() {
    testing::Drawn<std::mt19937> random(3);
    for (int round = 0; round < 50; ++round) {
      Input in = random_input(random, kind(), 8, true);
      for (const int64_t cells : {1, 0}) {
        in.cells = cells;
        in.parents = 1;
        Decision d(in.shape());
        route(in.view(), in.protocol, *d);
        QCOMPARE(broken_invariant(*d, cells), std::string());
      }
    }
  }

  void the_order_of_the_cells_changes_nothing_without_capacity_data() { kinds(); }
  void the_order_of_the_cells_changes_nothing_without_capacity() {
    testing::Drawn<std::mt19937> random(4);
    for (int round = 0; round < 100; ++round) {
      const Input in = random_input(random, kind(), 1 + static_cast<int64_t>(random() % 50), false);
      std::vector<int64_t> from(static_cast<size_t>(in.cells));
      std::iota(from.begin(), from.end(), 0);
      std::shuffle(from.begin(), from.end(), random);
      Input permuted = in;
      for (size_t c = 0; c < from.size(); ++c) {
        std::copy_n(in.scores.begin() + from[c] * in.columns, in.columns,
                    permuted.scores.begin() + static_cast<int64_t>(c) * in.columns);
        permuted.label[c] = in.label[static_cast<size_t>(from[c])];
      }
      Decision a(in.shape()), b(in.shape());
      route(in.view(), in.protocol, *a);
      route(permuted.view(), permuted.protocol, *b);
      QCOMPARE(b.loads(), a.loads());
      const int32_t k = a->fan_out;
      for (size_t c = 0; c < from.size(); ++c) {
        for (int32_t j = 0; j < k; ++j) {
          QCOMPARE(b->choice[static_cast<int64_t>(c) * k + j], a->choice[from[c] * k + j]);
          QCOMPARE(b->choice_weight[static_cast<int64_t>(c) * k + j], a->choice_weight[from[c] * k + j]);
        }
        QCOMPARE(b->margin[c], a->margin[from[c]]);
      }
    }
  }

  void a_replay_of_its_own_choices_is_the_free_decision_data() { kinds(); }
  void a_replay_of_its_own_choices_is_the_free_decision() {
    testing::Drawn<std::mt19937> random(5);
    for (int round = 0; round < 100; ++round) {
      const Input in = random_input(random, kind(), static_cast<int64_t>(random() % 50), true);
      Decision free(in.shape()), replayed(in.shape());
      route(in.view(), in.protocol, *free);
      const auto choices = free.choices(in.cells);
      replay(in.view(), in.protocol, choices.data(), *replayed);
      QCOMPARE(replayed.choices(in.cells), choices);
      QCOMPARE(replayed.weights(in.cells), free.weights(in.cells));
      QCOMPARE(replayed.loads(), free.loads());
      QCOMPARE(std::vector<float>(replayed->margin, replayed->margin + in.cells),
               std::vector<float>(free->margin, free->margin + in.cells));
      QCOMPARE(std::vector<int32_t>(replayed->padded, replayed->padded + in.branches),
               std::vector<int32_t>(free->padded, free->padded + in.branches));
    }
  }

  void a_replay_takes_others_choices_with_its_own_weights() {
    testing::Drawn<std::mt19937> random(6);
    const Input in = random_input(random, ProtocolKind::switch_top1, 40, false);
    std::vector<int32_t> others(static_cast<size_t>(in.cells));
    for (auto& c : others) c = static_cast<int32_t>(random() % static_cast<uint32_t>(in.branches));
    others[0] = dropped_from(0);
    Decision free(in.shape()), d(in.shape());
    route(in.view(), in.protocol, *free);
    // Its own choice is reported on the side, in place of what it was told too.
    std::vector<int32_t> told = others;
    replay(in.view(), in.protocol, told.data(), *d, told.data());
    QCOMPARE(told, free.choices(in.cells));
    QCOMPARE(d.choices(in.cells), others);
    QCOMPARE(broken_invariant(*d, in.cells), std::string());
    for (int64_t c = 0; c < in.cells; ++c) {
      const float* s = in.scores.data() + c * in.branches;
      double sum = 0;
      for (int32_t b = 0; b < in.branches; ++b) sum += std::exp(static_cast<double>(s[b]));
      const int32_t branch =
          others[static_cast<size_t>(c)] < 0 ? ~others[static_cast<size_t>(c)] : others[static_cast<size_t>(c)];
      QVERIFY(std::fabs(d->choice_weight[c] - std::exp(static_cast<double>(s[branch])) / sum) < 1e-5);
    }
  }

  void routing_allocates_nothing_data() { kinds(); }
  void routing_allocates_nothing() {
    testing::Drawn<std::mt19937> random(7);
    const Input in = random_input(random, kind(), 500, true);
    Decision d(in.shape());
    const ScoreView scores = in.view();
    const int64_t before = testing::allocations;
    route(scores, in.protocol, *d);
    QCOMPARE(testing::allocations - before, int64_t{0});
  }

  void a_decision_in_used_memory_is_the_same() {
    testing::Drawn<std::mt19937> random(8);
    for (const ProtocolRow& row : protocols()) {
      const Input large = random_input(random, row.kind, 60, true);
      Input small = large;
      small.cells = 7;
      small.parents = 1;
      Decision used(large.shape()), fresh(large.shape());
      route(large.view(), large.protocol, *used);
      route(small.view(), small.protocol, *used);
      route(small.view(), small.protocol, *fresh);
      QCOMPARE(used.choices(7), fresh.choices(7));
      QCOMPARE(used.loads(), fresh.loads());
    }
  }

  void empty_branches_cost_no_slots() {
    Input in;
    in.branches = in.columns = 64;
    in.cells = 10;
    in.scores.assign(640, 0);
    for (int64_t c = 0; c < 10; ++c) in.scores[static_cast<size_t>(c * 64 + 63)] = 1;
    Decision d(in.shape());
    route(in.view(), in.protocol, *d);
    QCOMPARE(d->load(63), 10);
    QCOMPARE(d->offsets[63], 0);
    QCOMPARE(broken_invariant(*d, 10), std::string());
  }

  void a_million_cells() {
    Input in;
    in.cells = 1'000'000;
    in.branches = in.columns = 16;
    in.protocol.kind = ProtocolKind::switch_top1;
    in.protocol.capacity = 100;
    in.parents = 1000;
    in.scores.resize(16'000'000);
    uint32_t state = 1;
    for (auto& s : in.scores) s = static_cast<float>((state = state * 1664525u + 1013904223u) >> 16);
    Decision d(in.shape());
    route(in.view(), in.protocol, *d);
    QCOMPARE(broken_invariant(*d, in.cells), std::string());
    std::vector<float> from(1'000'000), packed(1'000'000), to(1'000'000);
    std::iota(from.begin(), from.end(), 1.0f);
    dispatch(*d, from.data(), 1, packed.data());
    combine(*d, in.cells, packed.data(), 1, false, to.data());
    for (int64_t c = 0; c < in.cells; ++c)
      QVERIFY(to[static_cast<size_t>(c)] == (d->slot[c] < 0 ? 0 : from[static_cast<size_t>(c)]));
  }
};

STORMCELL_TEST(RoutingPropertiesTest)

}  // namespace stormcell

#include "routing_properties_test.moc"

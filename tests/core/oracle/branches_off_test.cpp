// Routers with branches off: core/cell selects among the others, the oracle sorts them. Both must choose alike, whatever
// the scores.
#include "core/oracle/reference/branches_off.h"

#include <random>

#include "core/cell/route.h"
#include "tests/core/cell/decision_memory.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int64_t kCells = 40;
constexpr int32_t kBranches = 8;

Protocol protocol_of_kind(ProtocolKind kind) {
  Protocol p;
  p.kind = kind;
  p.k = kind == ProtocolKind::top_k ? 3 : 2;
  p.groups = 4, p.groups_kept = 2;
  p.threshold = 0.5F;
  if (kind == ProtocolKind::exit_threshold) p.residual = 1;
  p.capacity = 5, p.capacity_factor = 0.75;
  return p;
}

/// On a coarse grid, so that ties are frequent; some are no numbers.
std::vector<float> coarse_scores(std::mt19937& random) {
  std::vector<float> scores(kCells * kBranches);
  for (float& s : scores)
    s = random() % 50 == 0 ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(random() % 9) / 4 - 1;
  return scores;
}

}  // namespace

class BranchesOffTest : public QObject {
  Q_OBJECT
 private slots:
  void both_choose_alike_data() {
    QTest::addColumn<int>("kind");
    for (const ProtocolRow& row : protocols())
      if (takes(row, "off")) QTest::newRow(std::string(row.name).c_str()) << static_cast<int>(row.kind);
  }
  void both_choose_alike() {
    QFETCH(int, kind);
    std::mt19937 random(7);
    const Protocol plain = protocol_of_kind(static_cast<ProtocolKind>(kind));
    const int32_t branches = protocol_row(plain.kind).branches > 0 ? 2 : kBranches;
    int differs = 0;
    for (int round = 0; round < drawn(60); ++round) {
      const std::vector<float> scores = coarse_scores(random), bias = {0.1F, -0.2F, 0, 0.3F, 0, 0, 0.2F, -0.1F};
      ScoreView view{scores.data(), kCells, kBranches};
      view.bias = plain.kind == ProtocolKind::sigmoid_groups ? bias.data() : nullptr;
      Protocol changed = plain;
      const int32_t first = static_cast<int32_t>(random() % static_cast<uint32_t>(branches));
      changed.off = {first};
      if (branches > 2 && first + 2 < branches) changed.off.push_back(first + 2);
      const int32_t fan_out = fan_out_of(plain, branches);
      Decision ours(kCells, fan_out, branches), theirs(kCells, fan_out, branches), free(kCells, fan_out, branches);
      route(view, changed, *ours);
      reference::ChoiceOfOthers(view, plain, changed.off, branches).write(*theirs);
      route(view, plain, *free);
      QVERIFY(broken_invariant(*ours, kCells).empty());
      QCOMPARE(ours.choices(kCells), theirs.choices(kCells));
      for (int64_t c = 0; c < kCells; ++c) QVERIFY(ours->margin[c] == theirs->margin[c]);
      for (const int32_t choice : ours.choices(kCells))
        for (const int32_t b : changed.off) QVERIFY(branch_of(choice) != b);
      differs += ours.choices(kCells) != free.choices(kCells);
    }
    QVERIFY(differs > 0);
  }

  void both_give_places_alike_data() {
    QTest::addColumn<int>("kind");
    QTest::newRow("switch-top1") << static_cast<int>(ProtocolKind::switch_top1);
    QTest::newRow("batch-prioritized") << static_cast<int>(ProtocolKind::batch_prioritized);
  }
  void both_give_places_alike() {
    QFETCH(int, kind);
    std::mt19937 random(11);
    const Protocol plain = protocol_of_kind(static_cast<ProtocolKind>(kind));
    const bool by_cells = plain.kind == ProtocolKind::switch_top1;
    int differs = 0;
    for (int round = 0; round < drawn(60); ++round) {
      const std::vector<float> scores = coarse_scores(random);
      ScoreView view{scores.data(), kCells, kBranches};
      if (round % 2 == 0) view.parents.per_parent = 10;
      const Capacity wanted = by_cells ? Capacity{Capacity::Unit::cells, static_cast<double>(1 + random() % 4)}
                                       : Capacity{Capacity::Unit::factor, static_cast<double>(1 + random() % 10) / 8};
      Protocol changed = plain;
      changed.capacity = static_cast<int32_t>(wanted.value), changed.capacity_factor = wanted.value;
      Decision ours(kCells, 1, kBranches), theirs(kCells, 1, kBranches), own(kCells, 1, kBranches);
      route(view, changed, *ours);
      reference::ChoiceOfOthers(view, plain, {}, kBranches, &wanted).write(*theirs);
      QCOMPARE(ours.choices(kCells), theirs.choices(kCells));
      route(view, plain, *own);
      differs += ours.choices(kCells) != own.choices(kCells);
    }
    QVERIFY(differs > 0);
  }

  void weights_are_those_of_all_scores() {
    const std::vector<float> scores = {2, 1, 0, -1};
    const ScoreView view{scores.data(), 1, 4};
    Protocol plain, changed;
    plain.k = changed.k = 2;
    changed.off = {3};  // which is not chosen: nothing changes, not even in the last bit
    Decision before(1, 2, 4), after(1, 2, 4);
    route(view, plain, *before);
    route(view, changed, *after);
    QVERIFY(before.choices(1) == after.choices(1) && before.weights(1) == after.weights(1));
    changed.off = {1};
    route(view, changed, *after);
    QCOMPARE(after.choices(1), (std::vector<int32_t>{0, 2}));
    QCOMPARE(after.weights(1)[0], before.weights(1)[0]);
  }
};

STORMCELL_TEST(BranchesOffTest)

}  // namespace stormcell::testing

#include "branches_off_test.moc"

// Thresholds for each exit, held to what trying all of them gives.
#include "core/exits/exit_search.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <set>

#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// A case whose items all cost alike at an exit.
ExitCase case_of(std::vector<std::vector<float>> confidence, std::vector<std::vector<double>> part,
                 const std::vector<double>& cost) {
  ExitCase c{std::move(confidence), std::move(part), {}};
  for (const double of_exit : cost) c.cost.emplace_back(c.part.front().size(), of_exit);
  return c;
}

/// Items that later exits answer better, and with confidences that say something of it.
ExitCase random_case(uint32_t seed, size_t tests, size_t items) {
  testing::Drawn<std::mt19937> random(seed);
  const auto number = [&] { return static_cast<double>(random() % 10'000) / 10'000; };
  ExitCase c;
  c.confidence.resize(tests);
  c.part.resize(tests + 1);
  for (size_t i = 0; i < items; ++i) {
    const double difficulty = number();
    for (size_t e = 0; e <= tests; ++e) {
      const double right = 1 - difficulty * (1 - 0.9 * static_cast<double>(e) / static_cast<double>(tests));
      c.part[e].push_back(number() < right ? 1 : 0);
      // In steps: many items are as confident as others.
      if (e < tests)
        c.confidence[e].push_back(static_cast<float>(std::round(20 * (0.6 * right + 0.4 * number())) / 20));
    }
  }
  for (size_t e = 0; e <= tests; ++e)
    c.cost.emplace_back(items, 0.3 + 0.7 * static_cast<double>(e) / static_cast<double>(tests));
  return c;
}

struct Means {
  double part = 0, cost = 0;
};
Means means_of(const ExitCase& c, const std::vector<double>& thresholds) {
  const std::vector<int32_t> taken = exits_taken(c.confidence, thresholds);
  Means m;
  for (size_t i = 0; i < taken.size(); ++i)
    m.part += c.part[static_cast<size_t>(taken[i])][i], m.cost += c.cost[static_cast<size_t>(taken[i])][i];
  return {m.part / static_cast<double>(taken.size()), m.cost / static_cast<double>(taken.size())};
}

bool meets(const Means& m, const ExitAim& aim) {
  return aim.of == ExitAim::Of::part ? m.part >= aim.value - 1e-9 : m.cost <= aim.value + 1e-9;
}

/// Every confidence that occurs as the threshold of every test, and one that none reaches. Nothing where none meets the
/// aim.
std::optional<Means> brute_force(const ExitCase& c, const ExitAim& aim) {
  std::vector<double> tried(c.confidence.size());
  std::optional<Means> best;
  const auto try_from = [&](const auto& self, size_t test) -> void {
    if (test == tried.size()) {
      const Means m = means_of(c, tried);
      if (meets(m, aim) && (!best || (aim.of == ExitAim::Of::part ? m.cost < best->cost : m.part > best->part)))
        best = m;
      return;
    }
    std::set<float> list(c.confidence[test].begin(), c.confidence[test].end());
    list.insert(2);
    for (const float t : list) tried[test] = static_cast<double>(t), self(self, test + 1);
  };
  try_from(try_from, 0);
  return best;
}

}  // namespace

class ExitSearchTest : public QObject {
  Q_OBJECT
 private slots:
  void of_three_exits_it_finds_what_trying_all_thresholds_finds() {
    int met = 0, beyond = 0;
    for (uint32_t seed = 1; seed <= 30; ++seed) {
      const ExitCase c = random_case(seed, 2, 40);
      for (const ExitAim aim : {ExitAim{ExitAim::Of::part, 0.8},
                                {ExitAim::Of::part, 0.95},
                                {ExitAim::Of::cost, 0.5},
                                {ExitAim::Of::cost, 0.2}}) {
        const FoundExits found = find_exits(c, aim, {0.9, 0.9}, {});
        const std::optional<Means> best = brute_force(c, aim);
        QVERIFY(found.is_optimum);
        QCOMPARE(found.met, best.has_value());
        ++(best ? met : beyond);
        const Means really = means_of(c, found.thresholds);
        QVERIFY(std::fabs(really.part - found.part) < 1e-9 && std::fabs(really.cost - found.cost) < 1e-9);
        if (!best) continue;
        QVERIFY(meets(really, aim));
        if (aim.of == ExitAim::Of::part)
          QVERIFY2(std::fabs(found.cost - best->cost) < 1e-9,
                   qPrintable(QString("%1, %2 of all").arg(found.cost).arg(best->cost)));
        else
          QVERIFY2(std::fabs(found.part - best->part) < 1e-9,
                   qPrintable(QString("%1, %2 of all").arg(found.part).arg(best->part)));
      }
    }
    QVERIFY(met > 20 && beyond > 20);
  }

  void of_four_it_is_near_and_says_that_it_may_not_be_the_best() {
    double lost = 0;
    for (uint32_t seed = 1; seed <= 8; ++seed) {
      const ExitCase c = random_case(seed, 3, 30);
      const ExitAim aim{ExitAim::Of::cost, 0.6};
      const FoundExits found = find_exits(c, aim, {0.9, 0.9, 0.9}, {});
      const std::optional<Means> best = brute_force(c, aim);
      QVERIFY(!found.is_optimum && found.met && best.has_value());
      QVERIFY(found.part <= best->part + 1e-9);
      lost = std::max(lost, best->part - found.part);
      for (int percent = 0; percent <= 100; ++percent)
        if (const Means one = means_of(c, std::vector<double>(3, percent / 100.0)); meets(one, aim))
          QVERIFY(found.part >= one.part - 1e-9);
    }
    QVERIFY2(lost <= 2.0 / 30, qPrintable(QString::number(lost)));  // two items of thirty
  }

  void what_cannot_be_met_is_come_as_close_to_as_can_be() {
    const ExitCase c = random_case(3, 2, 50);
    const FoundExits cheapest = find_exits(c, {ExitAim::Of::cost, 0.1}, {0.9, 0.9}, {});
    QVERIFY(!cheapest.met && std::fabs(cheapest.cost - 0.3) < 1e-9);
    const FoundExits best = find_exits(c, {ExitAim::Of::part, 1.01}, {0.9, 0.9}, {});
    QVERIFY(!best.met);
    for (const double t : {0.2, 0.5, 0.7, 0.9, 2.0}) QVERIFY(best.part >= means_of(c, {t, t}).part - 1e-9);
  }

  void thresholds_are_short_numbers_between_confidences() {
    const ExitCase c = case_of({{0.2F, 0.6F, 0.9F}}, {{0, 1, 1}, {1, 1, 1}}, {0.5, 1});
    const FoundExits found = find_exits(c, {ExitAim::Of::part, 1}, {0.9}, {});
    QVERIFY(found.met && found.is_optimum);
    QCOMPARE(found.thresholds, std::vector<double>{0.4});
    const FoundExits all = find_exits(c, {ExitAim::Of::cost, 0.5}, {0.9}, {});
    QCOMPARE(all.thresholds, std::vector<double>{0});
    const ExitCase late = case_of({{0.6F, 0.7F}}, {{0, 0}, {1, 1}}, {0.5, 1});
    const FoundExits none = find_exits(late, {ExitAim::Of::part, 1}, {0.9}, {});
    QCOMPARE(none.thresholds, std::vector<double>{0.9});  // as none leaves: what stood there stays
    const FoundExits changed = find_exits(late, {ExitAim::Of::part, 1}, {0.5}, {});
    QCOMPARE(changed.thresholds, std::vector<double>{2});
  }

  void what_stood_there_out_of_range_stays_as_a_configuration_may_say_it() {
    const ExitCase c = case_of({{0.6F, 0.7F}, {0.8F, 0.9F}}, {{1, 1}, {1, 1}, {1, 1}}, {0.5, 0.7, 1});
    QCOMPARE(find_exits(c, {ExitAim::Of::cost, 1}, {-1, -1}, {}).thresholds, (std::vector<double>{0, 0}));
    QCOMPARE(find_exits(c, {ExitAim::Of::part, 1}, {-1, 1000}, {}).thresholds, (std::vector<double>{0, 2}));
    const ExitCase late = case_of({{0.6F, 0.7F}}, {{0, 0}, {1, 1}}, {0.5, 1});
    QCOMPARE(find_exits(late, {ExitAim::Of::part, 1}, {1000}, {}).thresholds, std::vector<double>{2});
  }

  void an_item_may_cost_more_than_another_at_the_same_exit() {
    // Equally right everywhere; only one of the two may go on within the cost, and the first is dear there.
    const ExitCase c{{{0.5F, 0.6F}}, {{0, 0}, {1, 1}}, {{1, 1}, {9, 2}}};
    const FoundExits found = find_exits(c, {ExitAim::Of::cost, 5}, {0}, {});
    QVERIFY(found.met && found.is_optimum);
    QCOMPARE(found.part, 0.5);
    QCOMPARE(found.cost, 5.0);
    QCOMPARE(find_exits(c, {ExitAim::Of::cost, 4.9}, {0}, {}).thresholds, std::vector<double>{0});
  }

  void two_exits_of_many_items_say_that_not_all_was_tried_and_lose_to_no_single_threshold() {
    ExitCase c = random_case(5, 2, 3000);
    testing::Drawn<std::mt19937> random(1);
    for (auto& of : c.confidence)
      for (float& confidence : of) confidence = static_cast<float>(random() % 1'000'000) / 1'000'000;
    const ExitAim aim{ExitAim::Of::part, 0.8};
    const FoundExits found = find_exits(c, aim, {0.9, 0.9}, {});
    QVERIFY(!found.is_optimum && found.met);
    for (int percent = 0; percent <= 100; ++percent)
      if (const Means one = means_of(c, {percent / 100.0, percent / 100.0}); meets(one, aim))
        QVERIFY(found.cost <= one.cost + 1e-9);
  }

  /// The large item's half is as much as all of two small ones.
  void each_item_costs_what_its_own_size_does() {
    const ExitCase c{{{0.9F, 0.5F, 0.4F}}, {{1, 0, 0}, {1, 1, 1}}, {{4, 1, 1}, {8, 2, 2}}};
    const FoundExits found = find_exits(c, {ExitAim::Of::cost, 8.0 / 3}, {2}, {});
    QVERIFY(found.met && std::fabs(found.cost - 8.0 / 3) < 1e-9);
    QCOMPARE(exits_taken(c.confidence, found.thresholds), (std::vector<int32_t>{0, 1, 1}));
    const FoundExits unmet = find_exits(c, {ExitAim::Of::cost, 1.9}, {2}, {});
    QVERIFY(!unmet.met && std::fabs(unmet.cost - 2) < 1e-9);
  }

  void a_broken_score_never_leaves_early_and_a_full_one_may() {
    const float nan = std::nanf("");
    const ExitCase c = case_of({{nan, 1.0F, 1.0F, 0.9999999F}}, {{1, 1, 1, 0}, {1, 1, 1, 1}}, {0.5, 1});
    const FoundExits found = find_exits(c, {ExitAim::Of::part, 1}, {0.9}, {});
    QVERIFY(found.met && std::fabs(found.cost - 0.75) < 1e-9);
    QCOMPARE(exits_taken(c.confidence, found.thresholds), (std::vector<int32_t>{1, 0, 0, 1}));
    QCOMPARE(exits_taken(c.confidence, {0}), (std::vector<int32_t>{1, 0, 0, 0}));
  }

  void many_items_take_a_moment_and_can_be_cancelled() {
    const ExitCase c = random_case(1, 4, 3000);
    QVERIFY(find_exits(c, {ExitAim::Of::cost, 0.5}, {0.9, 0.9, 0.9, 0.9}, {}).met);
    CancellationToken cancel;
    cancel.cancel();
    QVERIFY_THROWS_EXCEPTION(Error, find_exits(c, {ExitAim::Of::cost, 0.5}, {0.9, 0.9, 0.9, 0.9}, cancel));
  }
};

STORMCELL_TEST(ExitSearchTest)
#include "exit_search_test.moc"

#include "core/profile/statistics.h"

#include <cmath>
#include <map>
#include <random>
#include <set>

#include "core/base/error.h"
#include "core/profile/accumulator.h"
#include "core/profile/layout_edges.h"
#include "tests/core/profile/synthetic.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

using testing::BatchSize;
using testing::fill;
using testing::two_stacks;

bool close(double a, double b) { return std::fabs(a - b) <= 1e-9 * (1 + std::fabs(b)); }

std::vector<int64_t> random_loads(std::mt19937& random, size_t n) {
  std::vector<int64_t> loads(n);
  for (auto& x : loads) x = random() % 5 == 0 ? 0 : static_cast<int64_t>(random() % 1000);
  return loads;
}

// Who had which choices at which row of the space, by the decisions' own words.
std::map<int64_t, std::vector<int32_t>> kept_by_row(const DecisionRecord& d, int32_t k, std::span<const uint8_t> mask) {
  std::map<int64_t, std::vector<int32_t>> rows;
  for (size_t i = 0; i < d.choice.size(); ++i) {
    const size_t cell = i / static_cast<size_t>(k);
    const int64_t row = d.ancestor.empty() ? static_cast<int64_t>(cell) : d.ancestor[cell];
    if (!mask.empty() && !mask[static_cast<size_t>(row)]) continue;
    auto& choices = rows[row];
    if (d.choice[i] >= 0) choices.push_back(d.choice[i]);
  }
  return rows;
}

using Pairs = std::map<std::pair<int32_t, int32_t>, int64_t>;
Pairs map_of(const PairTable& table) {
  Pairs pairs;
  for (const PairCount& e : table.entries) pairs[{e.from, e.to}] += e.count;
  return pairs;
}

struct Window {
  int32_t router, level;
  int64_t number;
  auto operator<=>(const Window&) const = default;
};
// Keeps every window; a window that comes twice is a defect.
struct Windows : WindowSink {
  std::map<Window, RouterLoads> load;
  using PairKey = std::tuple<int, int32_t, int32_t, int64_t, int32_t>;  // kind, router, level, window, next router
  std::map<PairKey, PairTable> pair;
  std::map<PairKey, int64_t> pair_batches;
  int twice = 0;
  void loads(const WindowKey& key, const RouterLoads& loads) override {
    twice += !load.emplace(Window{key.router, key.level, key.window}, loads).second;
  }
  void pairs(PairKind kind, const WindowKey& key, int32_t to, int64_t batches, const PairTable& table) override {
    twice += !pair.emplace(PairKey{static_cast<int>(kind), key.router, key.level, key.window, to}, table).second;
    pair_batches[{static_cast<int>(kind), key.router, key.level, key.window, to}] = batches;
  }
};

}  // namespace

class StatisticsTest : public QObject {
  Q_OBJECT
 private slots:
  void even_loads_have_no_imbalance() {
    const std::vector<int64_t> even(8, 5);
    QCOMPARE(imbalance(even), 0.0);
    QCOMPARE(entropy_bits(even), 3.0);
    QVERIFY(close(gini(even), 0));
  }
  void all_in_one_branch_is_the_extreme() {
    std::vector<int64_t> one(8);
    one[3] = 100;
    QCOMPARE(imbalance(one), 7.0);
    QCOMPARE(entropy_bits(one), 0.0);
    QVERIFY(close(gini(one), 1 - 1.0 / 8));
    QCOMPARE(touched(one), 1);
  }
  void nothing_at_all_gives_zeros() {
    const std::vector<int64_t> none(4);
    QCOMPARE(imbalance(none), 0.0);
    QCOMPARE(entropy_bits(none), 0.0);
    QCOMPARE(gini(none), 0.0);
    QCOMPARE(imbalance({}), 0.0);
    QCOMPARE(mutual_information_bits(none, 2, 2), 0.0);
  }
  void formulas_hold_for_random_loads() {
    testing::Drawn<std::mt19937> random(1);
    for (int round = 0; round < 200; ++round) {
      const auto loads = random_loads(random, 1 + random() % 40);
      const auto n = static_cast<double>(loads.size());
      double sum = 0, most = 0, differences = 0;
      for (const int64_t x : loads) {
        sum += static_cast<double>(x);
        most = std::max(most, static_cast<double>(x));
        for (const int64_t y : loads) differences += std::fabs(static_cast<double>(x - y));
      }
      if (sum == 0) continue;
      QVERIFY(close(imbalance(loads), most / (sum / n) - 1));
      QVERIFY(close(gini(loads), differences / (2 * n * n * (sum / n))));
      QVERIFY(entropy_bits(loads) <= std::log2(n) + 1e-9);
      QVERIFY(gini(loads) <= 1 - 1 / n + 1e-9 && gini(loads) >= -1e-9);
    }
  }
  void scaling_and_order_change_no_statistic() {
    testing::Drawn<std::mt19937> random(2);
    for (int round = 0; round < 50; ++round) {
      auto loads = random_loads(random, 12);
      const double a = imbalance(loads), b = entropy_bits(loads), c = gini(loads);
      std::shuffle(loads.begin(), loads.end(), random);
      for (auto& x : loads) x *= 7;
      QVERIFY(close(imbalance(loads), a) && close(entropy_bits(loads), b) && close(gini(loads), c));
    }
  }
  void mutual_information_of_independent_and_of_identical_tables() {
    // Rows proportional to each other: nothing is known. A permutation: everything.
    const std::vector<int64_t> independent = {1, 2, 3, 2, 4, 6};
    QVERIFY(close(mutual_information_bits(independent, 2, 3), 0));
    const std::vector<int64_t> permutation = {0, 5, 0, 0, 0, 0, 5, 0, 5, 0, 0, 0, 0, 0, 0, 5};
    QVERIFY(close(mutual_information_bits(permutation, 4, 4), 2));
  }
  void mutual_information_is_the_entropies_difference() {
    testing::Drawn<std::mt19937> random(3);
    for (int round = 0; round < 100; ++round) {
      const size_t rows = 1 + random() % 6, columns = 1 + random() % 9;
      const auto table = random_loads(random, rows * columns);
      std::vector<int64_t> row(rows), column(columns);
      for (size_t i = 0; i < table.size(); ++i) {
        row[i / columns] += table[i];
        column[i % columns] += table[i];
      }
      const double expected = entropy_bits(row) + entropy_bits(column) - entropy_bits(table);
      const double got = mutual_information_bits(table, static_cast<int64_t>(rows), static_cast<int64_t>(columns));
      QVERIFY(std::fabs(got - expected) < 1e-9);
      QVERIFY(got <= std::min(entropy_bits(row), entropy_bits(column)) + 1e-9);
    }
  }

  void loads_of_a_decision_by_hand() {
    // Four cells, two choices each, three branches; the last cell is padding.
    const std::vector<int32_t> choice = {0, 1, 2, dropped_from(0), kNoBranch, 1, 0, 2};
    const std::vector<float> weight = {0.5f, 0.25f, 1, 9, 9, 0.5f, 0.125f, 2};
    const std::vector<uint8_t> mask = {1, 1, 1, 0};
    RouterLoads loads(3);
    DecisionRecord d;
    d.choice = choice;
    d.weight = weight;
    add_loads(d, 2, mask, loads);
    QCOMPARE(loads.cells, int64_t{4});
    QCOMPARE(loads.batches, int64_t{1});
    QCOMPARE(loads.load, (std::vector<int64_t>{2, 2, 2}));
    QCOMPARE(loads.padding, (std::vector<int64_t>{1, 0, 1}));
    QCOMPARE(loads.dropped, (std::vector<int64_t>{1, 0, 0}));
    QCOMPARE(loads.padded, loads.load);
    QCOMPARE(loads.weight, (std::vector<double>{0.625, 0.75, 3}));
  }
  void padded_loads_are_taken_as_given() {
    const std::vector<int32_t> choice = {0, 0, 1}, padded = {4, 2};
    RouterLoads loads(2);
    DecisionRecord d;
    d.choice = choice;
    d.padded = padded;
    add_loads(d, 1, {}, loads);
    QCOMPARE(loads.load, (std::vector<int64_t>{2, 1}));
    QCOMPARE(loads.padded, (std::vector<int64_t>{4, 2}));
  }
  void a_branch_that_is_not_there_is_an_error() {
    const std::vector<int32_t> choice = {0, 5};
    RouterLoads loads(2);
    DecisionRecord d;
    d.choice = choice;
    QVERIFY_THROWS_EXCEPTION(Error, add_loads(d, 1, {}, loads));
  }

  void pairs_agree_with_a_naive_count() {
    const RunLayout layout = two_stacks();
    std::vector<int32_t> scratch;
    for (int64_t number = 0; number < 20; ++number) {
      BatchRecord batch;
      fill(layout, number, {3, 9}, batch);
      const auto mask = batch.space(1).mask;
      for (const auto& [from, to] : {std::pair{2, 3}, std::pair{3, 4}, std::pair{2, 4}}) {
        const DecisionRecord a = batch.decision(static_cast<size_t>(from)), b = batch.decision(static_cast<size_t>(to));
        const int32_t edge = find_edge(layout, from, to);
        const std::vector<uint8_t> flags = branch_flags(layout, layout.edges[static_cast<size_t>(edge)]);
        const RouterInfo &ra = layout.routers[static_cast<size_t>(from)], &rb = layout.routers[static_cast<size_t>(to)];
        Pairs expected;
        const auto rows_a = kept_by_row(a, ra.fan_out, mask), rows_b = kept_by_row(b, rb.fan_out, mask);
        for (const auto& [row, choices] : rows_a)
          if (rows_b.count(row))
            for (const int32_t x : choices)
              for (const int32_t y : rows_b.at(row)) expected[{x, y}] += flags.empty() || flags[static_cast<size_t>(x)];
        std::erase_if(expected, [](const auto& pair) { return pair.second == 0; });
        PairCounter counter(ra.branches, rb.branches);
        add_transitions({a, ra.fan_out}, {b, rb.fan_out}, flags, mask, scratch, counter);
        QCOMPARE(map_of(counter.take()), expected);
        QVERIFY(counter.empty());
      }
      Pairs expected;
      for (const auto& [row, choices] : kept_by_row(batch.decision(2), 2, mask))
        if (choices.size() == 2) ++expected[std::minmax(choices[0], choices[1])];
      PairCounter counter(8, 8);
      add_coactivation({batch.decision(2), 2}, mask, counter);
      QCOMPARE(map_of(counter.take()), expected);
    }
  }
  void dense_and_sparse_counters_agree() {
    testing::Drawn<std::mt19937> random(4);
    PairCounter dense(200, 300), sparse(2000, 3000);
    Pairs expected;
    for (int i = 0; i < 50000; ++i) {
      const auto from = static_cast<int32_t>(random() % 200),
                 to = static_cast<int32_t>(random() % 300 * (random() % 2));
      dense.add(from, to);
      sparse.add(from, to);
      ++expected[{from, to}];
    }
    const PairTable a = dense.take(), b = sparse.take();
    QCOMPARE(map_of(a), expected);
    QCOMPARE(a.entries, b.entries);
    QVERIFY(std::is_sorted(a.entries.begin(), a.entries.end(),
                           [](auto& x, auto& y) { return std::pair(x.from, x.to) < std::pair(y.from, y.to); }));
    QVERIFY(sparse.take().entries.empty());
  }
  void tables_add_like_their_dense_forms() {
    testing::Drawn<std::mt19937> random(5);
    for (int round = 0; round < 50; ++round) {
      PairCounter x(5, 7), y(5, 7);
      for (int i = 0; i < static_cast<int>(random() % 40); ++i)
        x.add(static_cast<int32_t>(random() % 5), static_cast<int32_t>(random() % 7));
      for (int i = 0; i < static_cast<int>(random() % 40); ++i)
        y.add(static_cast<int32_t>(random() % 5), static_cast<int32_t>(random() % 7));
      PairTable a = x.take();
      const PairTable b = y.take();
      auto expected = a.dense();
      for (size_t i = 0; i < expected.size(); ++i) expected[i] += b.dense()[i];
      a.add(b);
      QCOMPARE(a.dense(), expected);
      QCOMPARE(a.total(), std::accumulate(expected.begin(), expected.end(), int64_t{0}));
    }
  }

  void routers_follow_each_other_within_a_stack_and_space() {
    RunLayout layout;
    layout.spaces = {"a", "b"};
    layout.routers = {{"0", 2, 1, "", 0, "x"},
                      {"1", 2, 1, "", 1, "x"},
                      {"2", 2, 1, "", 0, "y"},
                      {"3", 2, 1, "", 0, "x"},
                      {"4", 2, 1, "", 1, "x"}};
    QCOMPARE(chain_edges(layout), (std::vector<LayoutEdge>{{0, 3, {}}, {1, 4, {}}}));
  }
  void edges_that_are_no_graph_of_the_routers_are_refused_data() {
    QTest::addColumn<std::vector<LayoutEdge>>("edges");
    QTest::addColumn<QString>("fault");
    const auto row = [](const char* name, std::vector<LayoutEdge> edges, const char* fault) {
      QTest::newRow(name) << edges << fault;
    };
    row("no router", {{0, 5, {}}}, "names no router");
    row("a negative router", {{-1, 1, {}}}, "names no router");
    row("itself", {{1, 1, {}}}, "leads back");
    row("a cycle", {{0, 1, {}}, {1, 0, {}}}, "leads back");
    row("another space", {{1, 2, {}}}, "another cell space");
    row("twice", {{0, 1, {}}, {0, 1, {2}}}, "twice");
    row("no branch", {{0, 1, {8}}}, "branches");
    row("branches out of order", {{0, 1, {3, 2}}}, "branches");
  }
  void edges_that_are_no_graph_of_the_routers_are_refused() {
    QFETCH(std::vector<LayoutEdge>, edges);
    QFETCH(QString, fault);
    RunLayout layout = two_stacks();
    QCOMPARE(edge_fault(layout), std::string());
    layout.edges = edges;
    QVERIFY2(edge_fault(layout).find(fault.toStdString()) != std::string::npos, edge_fault(layout).c_str());
    QVERIFY_THROWS_EXCEPTION(Error, ProfileAccumulator{layout});
  }

  void coarsest_level_has_at_most_256_windows() {
    QCOMPARE(coarsest_level(0), 0);
    QCOMPARE(coarsest_level(256), 0);
    QCOMPARE(coarsest_level(257), 1);
    QCOMPARE(coarsest_level(1024), 1);
    QCOMPARE(coarsest_level(1025), 2);
    for (const int64_t batches : {1, 300, 5000, 100000, 7654321}) {
      const int32_t level = coarsest_level(batches);
      QVERIFY(window_count(batches, level) <= 256);
      QVERIFY(level == 0 || window_count(batches, level - 1) > 256);
    }
  }

  void every_window_is_the_sum_of_its_batches_data() {
    QTest::addColumn<int64_t>("batches");
    QTest::addColumn<int64_t>("stride");
    QTest::newRow("one batch") << int64_t{1} << int64_t{1};
    QTest::newRow("a full window") << int64_t{64} << int64_t{1};
    QTest::newRow("an open end") << int64_t{147} << int64_t{1};
    QTest::newRow("gaps in the numbers") << int64_t{60} << int64_t{7};
  }
  void every_window_is_the_sum_of_its_batches() {
    QFETCH(int64_t, batches);
    QFETCH(int64_t, stride);
    const RunLayout layout = two_stacks();
    Windows windows;
    ProfileAccumulator profile(layout, &windows);
    std::vector<std::map<int64_t, RouterLoads>> loads(layout.routers.size());
    std::map<int64_t, Pairs> pairs;  // of routers 0 -> 1 by batch
    std::vector<int32_t> scratch;
    for (int64_t i = 0; i < batches; ++i) {
      BatchRecord batch;
      fill(layout, i * stride, BatchSize{}, batch);
      profile.batch(batch);
      for (size_t r = 0; r < layout.routers.size(); ++r) {
        RouterLoads one(layout.routers[r].branches);
        add_loads(batch.decision(r), layout.routers[r].fan_out,
                  batch.space(static_cast<size_t>(layout.routers[r].space)).mask, one);
        loads[r].emplace(batch.number, one);
      }
      PairCounter counter(8, 8);
      add_transitions({batch.decision(0), 1}, {batch.decision(1), 1}, {}, batch.space(0).mask, scratch, counter);
      pairs[batch.number] = map_of(counter.take());
    }
    profile.finish();
    QCOMPARE(windows.twice, 0);
    std::set<int32_t> levels;
    for (const auto& [key, window] : windows.load) {
      RouterLoads expected(layout.routers[static_cast<size_t>(key.router)].branches);
      for (const auto& [number, one] : loads[static_cast<size_t>(key.router)])
        if (window_of(number, key.level) == key.number) expected.add(one);
      QCOMPARE(window.load, expected.load);
      QCOMPARE(window.padding, expected.padding);
      QCOMPARE(window.dropped, expected.dropped);
      QCOMPARE(window.batches, expected.batches);
      QCOMPARE(window.cells, expected.cells);
      for (size_t b = 0; b < expected.weight.size(); ++b) QVERIFY(close(window.weight[b], expected.weight[b]));
      levels.insert(key.level);
    }
    // No window of any level is missing.
    for (const int32_t level : levels) {
      std::set<int64_t> expected, got;
      for (const auto& [number, one] : loads[0]) expected.insert(window_of(number, level));
      for (const auto& [key, window] : windows.load)
        if (key.router == 0 && key.level == level) got.insert(key.number);
      QCOMPARE(got, expected);
    }
    Pairs all;
    for (const auto& [number, one] : pairs)
      for (const auto& [pair, count] : one) all[pair] += count;
    QCOMPARE(map_of(profile.transitions(0)), all);
    for (const auto& [key, table] : windows.pair) {
      const auto& [kind, router, level, number, to] = key;
      if (kind != static_cast<int>(PairKind::transition) || router != 0) continue;
      Pairs expected;
      for (const auto& [batch, one] : pairs)
        if (window_of(batch, level) == number)
          for (const auto& [pair, count] : one) expected[pair] += count;
      QCOMPARE(map_of(table), expected);
    }
  }

  void totals_labels_and_tokens_agree_with_a_naive_count() {
    const RunLayout layout = two_stacks();
    ProfileAccumulator profile(layout);
    std::map<std::pair<std::string, int32_t>, int64_t> by_label;
    std::map<std::pair<int32_t, int32_t>, int64_t> by_token;
    std::vector<int64_t> total(8), profiled(8);
    int64_t real = 0, real_profiled = 0;
    for (int64_t i = 0; i < 30; ++i) {
      BatchRecord batch;
      fill(layout, i, BatchSize{}, batch);
      if (i % 4 == 0) batch.part = kProfiled;
      profile.batch(batch);
      const DecisionRecord d = batch.decision(2);
      const SpaceRecord space = batch.space(1);
      std::vector<int64_t> load(8);
      for (size_t c = 0; c < space.mask.size(); ++c)
        for (size_t j = 0; j < 2; ++j) {
          const int32_t choice = d.choice[2 * c + j];
          if (choice < 0) continue;
          ++load[static_cast<size_t>(choice)];
          if (!space.mask[c]) continue;
          const std::string label(batch.label(c / 12));
          if (!label.empty()) ++by_label[{label, choice}];
          ++by_token[{space.tokens[c], choice}];
        }
      for (size_t c = 0; c < space.mask.size(); ++c)
        real += space.mask[c], real_profiled += batch.part == kProfiled && space.mask[c];
      for (size_t b = 0; b < 8; ++b) total[b] += load[b], profiled[b] += batch.part == kProfiled ? load[b] : 0;
    }
    QCOMPARE(profile.loads(2).load, total);
    QCOMPARE(profile.counts(2).cells_real, real);
    QCOMPARE(profile.profiled(2).loads.load, profiled);
    QCOMPARE(profile.profiled(2).cells_real, real_profiled);
    QCOMPARE(profile.profiled_batches(), int64_t{8});
    std::map<std::pair<std::string, int32_t>, int64_t> labels;
    const KeyedLoads& l = profile.label_loads(2);
    for (size_t i = 0; i < profile.labels().size(); ++i)
      for (int32_t b = 0; b < 8; ++b)
        if (const int64_t n = l.load[i * 8 + static_cast<size_t>(b)]) labels[{profile.labels()[i], b}] = n;
    QVERIFY(labels == by_label);
    std::map<std::pair<int32_t, int32_t>, int64_t> tokens;
    const KeyedLoads& t = profile.token_loads(2);
    for (size_t i = 0; i < t.cells.size(); ++i)
      for (int32_t b = 0; b < 8; ++b)
        if (const int64_t n = t.load[i * 8 + static_cast<size_t>(b)]) tokens[{profile.tokens(1)[i], b}] = n;
    QVERIFY(tokens == by_token);
    QVERIFY(std::all_of(t.rest.begin(), t.rest.end(), [](int64_t x) { return x == 0; }));
  }

  void tokens_beyond_the_table_are_counted_together() {
    RunLayout layout;
    layout.spaces = {"s"};
    layout.routers = {{"r", 4096, 1, "top-k", 0, "s"}};  // 2^18 / 4096 = 64, but at least 1024 tokens
    ProfileAccumulator profile(layout);
    BatchRecord batch;
    std::vector<int32_t> tokens(3000), choice(3000, 7);
    std::iota(tokens.begin(), tokens.end(), 0);
    batch.add_space(0, {0, 1, 3000}, {}, tokens);
    DecisionRecord d;
    d.choice = choice;
    batch.add_decision(d);
    profile.batch(batch);
    QCOMPARE(profile.token_loads(0).cells.size(), size_t{1024});
    QCOMPARE(profile.token_loads(0).rest[7], int64_t{3000 - 1024});
  }

  void a_record_that_contradicts_the_layout_is_refused_data() {
    QTest::addColumn<int>("defect");
    for (int i = 0; i < 9; ++i) QTest::newRow(qPrintable(QString::number(i))) << i;
  }
  void a_record_that_contradicts_the_layout_is_refused() {
    QFETCH(int, defect);
    RunLayout layout;
    layout.spaces = {"s"};
    layout.routers = {{"r", 4, 2, "top-k", 0, "s"}};
    ProfileAccumulator profile(layout);
    const std::vector<int32_t> mask(6, 1);
    std::vector<int32_t> choice(12, 1), ancestor;
    std::vector<float> weight(12);
    BatchRecord batch;
    DecisionRecord d;
    const auto give = [&](int32_t space, CellTable cells) {
      batch.add_space(space, cells, defect == 0 ? std::span(mask).first(3) : std::span(mask));
      d.choice = choice;
      d.weight = weight;
      d.ancestor = ancestor;
      batch.add_decision(d);
    };
    if (defect == 1) d.router = 3;
    if (defect == 2) choice[4] = 4;
    if (defect == 3) choice[4] = dropped_from(4);
    if (defect == 4) weight.pop_back();
    if (defect == 5) ancestor.assign(6, 6);
    if (defect == 6) batch.number = -1;
    if (defect == 7) batch.set_items(std::vector<int64_t>{4, 9, 2});
    if (defect == 8) batch.set_items(std::vector<int64_t>{4, -1});
    give(0, {0, 2, 3});
    QVERIFY_THROWS_EXCEPTION(Error, profile.batch(batch));
    QCOMPARE(profile.batches(), int64_t{0});
    QCOMPARE(profile.loads(0).cells, int64_t{0});
  }
};

STORMCELL_TEST(StatisticsTest)

}  // namespace stormcell

#include "statistics_test.moc"

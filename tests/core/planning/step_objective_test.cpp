// Which steps placements are judged by: whole ones, whatever was held out.
#include "core/planning/step_objective.h"

#include <numeric>

#include "core/planning/place_task.h"
#include "tests/core/planning/pair_of_gpus.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int32_t kBranches = 4, kRanks = 2;

/// `tokens` of as many requests in each of `steps`; request i takes branch i % 4 and the next one.
SplitRoutes together(int64_t steps, int64_t tokens) {
  SplitRoutes out;
  out.routes.layers = 1, out.routes.branches = kBranches, out.routes.k = 2;
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t item = 0; item < tokens; ++item) {
      out.routes.tokens.push_back({item, step, 0, Phase::decode, -1});
      for (int64_t k = 0; k < 2; ++k) out.routes.choice.push_back(static_cast<int32_t>((item + k) % kBranches));
    }
  out.step_tokens.assign(static_cast<size_t>(steps), tokens);
  std::vector<size_t> all(out.routes.size());
  std::iota(all.begin(), all.end(), size_t{0});
  out.parts = part_tokens(out.routes, all, 0.7, kFewestRequests);
  return out;
}

}  // namespace

class StepObjectiveTest : public QObject {
  Q_OBJECT
 private slots:
  void steps_of_requests_on_both_sides_keep_their_size() {
    const SplitRoutes routes = together(12, 200);
    QVERIFY(routes.parts.requests_fit > 0);
    const Cluster cluster = pair_of_gpus();
    const StepObjective objective({}, cluster, small_model_on(cluster), routes, routes.parts);
    QCOMPARE(objective.steps(), StepSource::filled_up);
    QCOMPARE(objective.filled_steps(), int64_t{24});
    for (const DataPart part : kDataParts) {
      QCOMPARE(objective.count(part), int64_t{12});
      for (const std::vector<size_t>& step : objective.tokens(part)) {
        QCOMPARE(step.size(), size_t{200});
        for (const size_t t : step)
          QCOMPARE(routes.routes.tokens[t].item >= routes.parts.requests_fit, part == DataPart::held_out);
      }
    }
    // Requests are alike here, so both sides cost about the same; a third of the tokens would cost about a third.
    const Placement p = contiguous_placement(1, kBranches, kBranches, kRanks);
    const double fit = objective.mean_step(p, DataPart::fitted, {})->objective_ms,
                 held_out = objective.mean_step(p, DataPart::held_out, {})->objective_ms;
    QVERIFY2(held_out > 0.8 * fit && held_out < 1.25 * fit,
             (std::to_string(fit) + " " + std::to_string(held_out)).c_str());
  }

  void whole_steps_are_left_as_they_are() {
    SplitRoutes routes = together(20, 1);
    for (size_t t = 0; t < routes.routes.size(); ++t) routes.routes.tokens[t].item = static_cast<int64_t>(t) / 2;
    std::vector<size_t> all(routes.routes.size());
    std::iota(all.begin(), all.end(), size_t{0});
    routes.parts = part_tokens(routes.routes, all, 0.7, kFewestRequests);
    QCOMPARE(routes.parts.requests_fit, int64_t{7});
    const Cluster cluster = pair_of_gpus();
    const StepObjective objective({}, cluster, small_model_on(cluster), routes, routes.parts);
    QCOMPARE(objective.steps(), StepSource::recorded);
    QCOMPARE(objective.count(DataPart::fitted), int64_t{14});
    QCOMPARE(objective.count(DataPart::held_out), int64_t{6});
  }

  /// The begin of a search of the nearest replicas.
  void steps_are_placed_by_either_rule_of_replicas() {
    const SplitRoutes routes = together(4, 20);
    const Cluster cluster = pair_of_gpus();
    StepOptions by_nearest;
    by_nearest.replicas = "nearest";
    const StepObjective even({}, cluster, small_model_on(cluster), routes, routes.parts),
        nearest(by_nearest, cluster, small_model_on(cluster), routes, routes.parts);
    QVERIFY(even.homes_of_token() == 1 && nearest.homes_of_token() == kRanks);
    const Placement p = contiguous_placement(1, kBranches, 2 * kBranches, kRanks);  // each GPU holds all experts
    QCOMPARE(nearest.placed_by(ReplicaRule::even, p).mean_s(), even.placed(p).mean_s());
    QVERIFY(nearest.placed(p).mean_s() < even.placed(p).mean_s());
  }

  void the_rows_of_experts_are_those_of_any_step_and_part() {
    const Cluster cluster = pair_of_gpus();
    SplitLoads loads;
    loads.fit_steps = {{{3, 0, 9, 2}}, {{4, 5, 0, 0}}}, loads.held_out_steps = {{{0, 0, 70, 2.5}}};
    const RowRange counts = *StepObjective({}, cluster, small_model_on(cluster), loads, 1).row_range();
    QVERIFY(counts.least == 2 && counts.most == 70);
    loads.fit_steps = {{{0, 0, 0, 0}}}, loads.held_out_steps.clear();
    QVERIFY(!StepObjective({}, cluster, small_model_on(cluster), loads, 1).row_range());
    const SplitRoutes routes = together(3, 20);
    const StepObjective objective({}, cluster, small_model_on(cluster), routes, routes.parts);
    double most = 0;
    for (const DataPart part : kDataParts)
      for (const std::vector<size_t>& step : objective.tokens(part)) {
        std::vector<double> rows(kBranches);
        for (const size_t t : step)
          for (const int32_t c : routes.routes.at(t, 0)) most = std::max(most, ++rows[static_cast<size_t>(c)]);
      }
    QCOMPARE(objective.row_range()->most, most);
  }

  void tokens_of_counts_are_those_of_the_layer_that_most_met() {
    const Cluster cluster = pair_of_gpus();
    SplitLoads loads;
    loads.fit_steps = {{{4, 4, 4, 4}, {1, 1, 0, 0}}, {{2, 0, 0, 0}, {3, 3, 1, 1}}};
    QCOMPARE(*StepObjective({}, cluster, small_model_on(cluster), loads, 2).mean_tokens(), 6.);
    StepOptions options;
    options.capacity_factor = 0.5;  // what it drops were tokens
    QCOMPARE(*StepObjective(options, cluster, small_model_on(cluster), loads, 2).mean_tokens(), 6.);
    QVERIFY(!StepObjective({}, cluster, small_model_on(cluster), loads, 0).mean_tokens());
  }

  void a_search_that_sees_a_part_of_a_step_says_so() {
    const Cluster cluster = pair_of_gpus();
    const SplitRoutes small = together(2, 100), large = together(1, 20000);
    QVERIFY(StepObjective({}, cluster, small_model_on(cluster), small, small.parts).search_sees_all());
    TokenParts all;
    all.fit.resize(large.routes.size());
    std::iota(all.fit.begin(), all.fit.end(), size_t{0});
    const StepObjective one({}, cluster, small_model_on(cluster), large, all);
    QCOMPARE(one.count(DataPart::fitted), int64_t{1});
    QVERIFY(!one.search_sees_all());
  }

  void the_validation_part_is_of_whole_requests_where_the_rest_is() {
    for (const int64_t requests : {8, 9, 10, 11, 20}) {
      PlaceTask task;
      task.cluster = pair_of_gpus();
      task.routes = together(6, requests);
      QVERIFY(task.routes->parts.requests_fit > 0);
      const auto split = split_for_validation({}, task);
      QVERIFY(split && !split->tokens.fit.empty() && !split->tokens.held_out.empty());
      int64_t last = -1, first = requests;
      for (const size_t t : split->tokens.fit) last = std::max(last, task.routes->routes.tokens[t].item);
      for (const size_t t : split->tokens.held_out) first = std::min(first, task.routes->routes.tokens[t].item);
      QVERIFY2(last < first, std::to_string(requests).c_str());
    }
  }
};

STORMCELL_TEST(StepObjectiveTest)

}  // namespace stormcell::testing

#include "step_objective_test.moc"

// The choices that a capacity drops in each step, by hand; and steps that are costed without it.
#include "core/planning/capped_steps.h"

#include <numeric>

#include "core/base/error.h"
#include "core/planning/step_objective.h"
#include "tests/core/planning/pair_of_gpus.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// One layer of 4 branches, two choices of a token.
TokenRoutes one_layer(const std::vector<int32_t>& choice) {
  TokenRoutes routes;
  routes.layers = 1, routes.branches = 4, routes.k = 2, routes.choice = choice;
  for (size_t t = 0; t < choice.size() / 2; ++t)
    routes.tokens.push_back({static_cast<int64_t>(t), 0, 0, Phase::decode, -1});
  return routes;
}

/// The same as one step, which is fitted to.
SplitRoutes one_step(const std::vector<int32_t>& choice) {
  SplitRoutes routes;
  routes.routes = one_layer(choice);
  routes.step_tokens = {static_cast<int64_t>(routes.routes.size())};
  routes.parts.fit.resize(routes.routes.size());
  std::iota(routes.parts.fit.begin(), routes.parts.fit.end(), size_t{0});
  return routes;
}

std::vector<int32_t> choices_of(const TokenRoutes& routes, const std::vector<size_t>& step) {
  std::vector<int32_t> out;
  for (const size_t t : step) out.insert(out.end(), routes.at(t, 0).begin(), routes.at(t, 0).end());
  return out;
}

}  // namespace

class CappedStepsTest : public QObject {
  Q_OBJECT
 private slots:
  void a_branch_takes_its_even_share_times_the_factor_rounded_up() {
    QCOMPARE(capacity_of_step(1, 100, 8), 13.);
    QCOMPARE(capacity_of_step(1.25, 64, 8), 10.);
    QCOMPARE(capacity_of_step(1.1, 80, 8), 11.);  // and not 12 for the last bit of 1.1
    QCOMPARE(capacity_of_step(0.1, 8, 8), 1.);
    QCOMPARE(capacity_of_step(2, 0, 8), 0.);
  }

  void who_comes_first_is_served() {
    // Eight choices of four branches: two each. Of branch 0 the third and later ones go, what is kept moves to the
    // front.
    const TokenRoutes routes = one_layer({0, 1, 0, 2, 0, 3, 0, 1});
    const auto [capped, steps, told] = cap_steps(routes, {{{0, 1, 2, 3}, {2, 3}}, {{3}}}, 1);
    QCOMPARE(capped.size(), size_t{7});
    QCOMPARE(told.held_out.factor, 1.);
    QVERIFY((choices_of(capped, steps.fitted[0]) == std::vector<int32_t>{0, 1, 0, 2, 3, -1, 1, -1}));
    // The same tokens by themselves, of four choices one each: another one is dropped.
    QVERIFY((choices_of(capped, steps.fitted[1]) == std::vector<int32_t>{0, 3, 1, -1}));
    QVERIFY((choices_of(capped, steps.held_out[0]) == std::vector<int32_t>{0, 1}));
    QVERIFY(told.fitted.choices == 12 && told.fitted.dropped == 3 && told.fitted.dropped_share() == .25 &&
            told.fitted.lost_visits == 0);
    QVERIFY(told.held_out.choices == 2 && told.held_out.dropped == 0);
    for (size_t i = 0; i < 4; ++i) QCOMPARE(capped.tokens[steps.fitted[0][i]].item, static_cast<int64_t>(i));
  }

  void a_token_may_lose_all_of_its_choices() {
    const TokenRoutes routes = one_layer({0, -1, 0, -1, 0, -1, -1, -1});
    const auto [capped, steps, told] = cap_steps(routes, {{{0, 1, 2, 3}}, {}}, 1);
    QVERIFY((choices_of(capped, steps.fitted[0]) == std::vector<int32_t>{0, -1, -1, -1, -1, -1, -1, -1}));
    QVERIFY(told.fitted.choices == 3 && told.fitted.dropped == 2 &&
            told.fitted.lost_visits == 2);  // the last one had none before
  }

  void counts_are_cut_off() {
    std::vector<LayerLoads> steps = {{{6, 1, 1, 0}, {2, 2, 2, 2}}};
    const CapacityFigures told = cap_steps(steps, 2, 1);
    QVERIFY((steps[0] == LayerLoads{{2, 1, 1, 0}, {2, 2, 2, 2}}));
    QVERIFY(told.choices == 16 && told.dropped == 4 && told.lost_visits == 2);
  }

  void steps_are_costed_without_what_is_dropped() {
    const SplitRoutes routes = one_step({0, 1, 0, 2, 0, 3, 0, 1});
    const Cluster cluster = pair_of_gpus();
    const auto with = [&](double factor, int64_t drawn) {
      StepOptions options;
      options.capacity_factor = factor, options.tokens_per_step = drawn;
      return StepObjective(options, cluster, small_model_on(cluster), routes, routes.parts);
    };
    QCOMPARE(with(0, 0).capacity(DataPart::fitted).factor, 0.);
    QCOMPARE(with(0, 0).row_range()->most, 4.);
    const StepObjective capped = with(1, 0);
    QVERIFY(capped.capacity(DataPart::fitted).dropped == 2 && capped.row_range()->most == 2 &&
            *capped.mean_tokens() == 4);
    // Enough places for all: the very same steps, drawn ones too, in which a token may come twice.
    const Placement p = contiguous_placement(1, 4, 4, 2);
    for (const int64_t tokens : {0, 64}) {
      QCOMPARE(with(4, tokens).capacity(DataPart::fitted).dropped, 0.);
      QCOMPARE(with(4, tokens).mean_step(p, DataPart::fitted, {})->objective_ms,
               with(0, tokens).mean_step(p, DataPart::fitted, {})->objective_ms);
      QCOMPARE(with(4, tokens).placed(p).mean_s(), with(0, tokens).placed(p).mean_s());
    }
    QVERIFY(with(0.5, 64).mean_step(p, DataPart::fitted, {})->objective_ms <
            with(0, 64).mean_step(p, DataPart::fitted, {})->objective_ms);
  }

  void bytes_are_told_by_all_tokens_of_a_step() {
    SplitRoutes routes = one_step({0, -1, 0, -1, 0, -1, -1, -1});
    for (TokenRoutes::Token& t : routes.routes.tokens) t.rank = 1;  // where branch 0 is not
    const Cluster cluster = pair_of_gpus();
    const auto remote_bytes = [&](double factor) {
      StepOptions options;
      options.capacity_factor = factor;
      const StepObjective objective(options, cluster, small_model_on(cluster), routes, routes.parts);
      return *objective.mean_step(contiguous_placement(1, 4, 4, 2), DataPart::fitted, {})->remote_bytes;
    };
    QCOMPARE(remote_bytes(1), remote_bytes(0) / 3);  // one of three is sent
  }

  void tokens_of_counts_stay_as_many() {
    const Cluster cluster = pair_of_gpus();
    SplitLoads loads;
    loads.fit_steps = {{{6, 1, 1, 0}, {2, 2, 2, 2}}};
    StepOptions options;
    options.capacity_factor = 1;
    const StepObjective capped(options, cluster, small_model_on(cluster), loads, 2);
    QCOMPARE(capped.capacity(DataPart::fitted).dropped, 4.);
    QCOMPARE(*capped.mean_tokens(), 4.);
    QCOMPARE(capped.loads_of_step(DataPart::fitted, 0)[0][0], 2.);
    options.backend = "gather";
    QVERIFY_THROWS_EXCEPTION(Error, StepObjective(options, cluster, small_model_on(cluster), loads, 2));
  }
};

STORMCELL_TEST(CappedStepsTest)

}  // namespace stormcell::testing

#include "capped_steps_test.moc"

// Steps of a placement against sums by hand and against what placements are judged by.
#include "simulator/run_simulation.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "core/placement/placement.h"
#include "simulator/step_rate.h"
#include "tests/core/placement/drawn_routes.h"
#include "tests/testing/counts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::run_simulation_test {
namespace {

constexpr int32_t kBranches = 8, kRanks = 4, kNodes = 2, kLayers = 3, kK = 2;

bool near(double a, double b, double share = 1e-9) {
  return std::abs(a - b) <= share * std::max({1e-12, std::abs(a), std::abs(b)});
}

Cluster two_nodes() {
  Cluster c;
  c.name = "two", c.nodes = kNodes, c.gpus_per_node = 2;
  c.memory_bytes_per_s = 1e6, c.flops_per_s = 1e7, c.fabric_bytes_per_s = 1e4, c.network_bytes_per_s = 1e3,
  c.memory_bytes = 1e9;
  return c;
}
ModelSizes sizes() {
  ModelSizes s;
  s.hidden = 4, s.branch_bytes = 100, s.flops_per_row = 50;
  return s;
}

TokenRoutes drawn(size_t tokens, int64_t each, uint32_t seed) {
  return drawn_routes({.tokens = tokens,
                       .layers = kLayers,
                       .branches = kBranches,
                       .k = kK,
                       .ranks = kRanks,
                       .branch_bytes = 100,
                       .each = each},
                      seed);
}
/// All of it to fit.
SplitRoutes whole(TokenRoutes routes) {
  SplitRoutes out{std::move(routes), {}, {}};
  out.step_tokens.resize(static_cast<size_t>(out.routes.steps()));
  for (size_t t = 0; t < out.routes.size(); ++t) {
    out.parts.fit.push_back(t);
    ++out.step_tokens[static_cast<size_t>(out.routes.tokens[t].step)];
  }
  return out;
}

SimulateFigures empty_figures(Overlap overlap) {
  SimulateFigures f;
  f.nodes = kNodes, f.ranks = kRanks, f.overlap = overlap;
  f.layers.resize(kLayers);
  return f;
}

struct Simulated {
  explicit Simulated(Overlap overlap = Overlap::none, const Cluster& on = two_nodes(), double oversubscription = 1)
      : cluster(on),
        routes(whole(drawn(60, 12, 4))),
        objective({}, cluster, cost_model_of(cluster, sizes(), oversubscription), routes, routes.parts),
        placement(contiguous_placement(kLayers, kBranches, kBranches, kRanks)),
        figures(empty_figures(overlap)) {
    simulate_steps(objective, placement, {}, figures);
  }
  Cluster cluster;
  SplitRoutes routes;
  StepObjective objective;
  Placement placement;
  SimulateFigures figures;
};

}  // namespace

class RunSimulationTest : public QObject {
  Q_OBJECT
 private slots:
  void two_micro_batches_by_hand() {
    // Dispatch 1, experts 4, combine 1 of each; two layers.
    const std::vector<LayerCost> one(2, {1, 4, 1});
    QCOMPARE(scheduled_s({one}), 12.);
    // GPUs begin at 1 and compute 4 pieces of 4: the second's messages travel meanwhile, and the last come back.
    QCOMPARE(scheduled_s({one, one}), 18.);
    // If messages take longer, the links are never idle.
    const std::vector<LayerCost> slow(1, {4, 1, 4});
    QCOMPARE(scheduled_s({slow}), 9.);
    QCOMPARE(scheduled_s({slow, slow}), 16.);
  }

  void overlap_lies_between_its_bounds() {
    testing::Drawn<std::mt19937> random(8);
    for (int round = 0; round < 50; ++round) {
      std::vector<std::vector<LayerCost>> both(2);
      double links = 0, gpus = 0;
      for (auto& batch : both)
        for (int l = 0; l < 5; ++l) {
          batch.push_back({static_cast<double>(random() % 9), static_cast<double>(random() % 9),
                           static_cast<double>(random() % 9)});
          links += batch.back().dispatch_s + batch.back().combine_s, gpus += batch.back().compute_s;
        }
      const double seconds = scheduled_s(both);
      QVERIFY(seconds >= std::max(links, gpus) && seconds <= links + gpus);
      QVERIFY(seconds >= std::max(scheduled_s({both[0]}), scheduled_s({both[1]})));
    }
  }

  void steps_cost_what_placements_are_judged_by() {
    const Simulated s;
    const auto judged = s.objective.mean_step(s.placement, DataPart::fitted, {});
    QVERIFY(judged.has_value());
    QVERIFY(near(s.figures.mean_ms, judged->objective_ms) && near(s.figures.p95_ms, judged->p95_ms) &&
            near(s.figures.serial_ms, s.figures.mean_ms));
    double dispatch = 0, compute = 0, combine = 0;
    for (const SimulatedLayer& l : s.figures.layers)
      dispatch += l.dispatch_ms, compute += l.compute_ms, combine += l.combine_ms;
    QVERIFY(near(dispatch, judged->dispatch_ms) && near(compute, judged->compute_ms) &&
            near(combine, judged->combine_ms));
    QCOMPARE(s.figures.steps, int64_t{5});
    QVERIFY(near(*s.figures.tokens_per_step, 12));
  }

  void tokens_of_a_step_are_all_though_the_last_layer_sees_one() {
    TokenRoutes last_only = drawn(60, 12, 4);
    for (size_t t = 0; t < last_only.size(); ++t)
      if (t % 12 != 11) std::ranges::fill(last_only.at(t, kLayers - 1), -1);
    const SplitRoutes routes = whole(std::move(last_only));
    const Cluster cluster = two_nodes();
    const Placement placement = contiguous_placement(kLayers, kBranches, kBranches, kRanks);
    for (const int64_t asked : {0, 512}) {
      StepOptions options;
      options.tokens_per_step = asked;
      const StepObjective objective(options, cluster, cost_model_of(cluster, sizes()), routes, routes.parts);
      SimulateFigures f = empty_figures(Overlap::none);
      simulate_steps(objective, placement, {}, f);
      const double tokens = asked > 0 ? 512 : 12;
      QCOMPARE(*f.tokens_per_step, tokens);
      QVERIFY(!f.tokens_per_s);
      f.rest_ms = 3;
      state_rate(f);
      QVERIFY(near(*f.tokens_per_s, tokens / f.mean_ms * 1e3) && f.why_no_tokens_per_s.empty());
    }
  }

  void a_rate_needs_a_calibration_or_a_rest() {
    struct Case {
      const char* name;
      bool calibrated;
      double share;
      std::optional<double> rest_ms, tokens;
      bool stated;
    };
    for (const Case& c :
         {Case{"data sheets", false, 0, {}, 64, false}, Case{"a calibration", true, 0.3, {}, 64, true},
          Case{"a calibration of other calls", true, 0, {}, 64, false}, Case{"a rest", false, 0, 2, 64, true},
          Case{"both", true, 1, 2, 64, true}, Case{"no tokens", true, 1, 2, {}, false}}) {
      SimulateFigures f;
      f.mean_ms = 8, f.rest_ms = c.rest_ms, f.tokens_per_step = c.tokens;
      if (c.calibrated) f.calibration.emplace(), f.trust = StepTrust{PredictionKind::interpolated, c.share, {}};
      state_rate(f);
      QVERIFY2(f.tokens_per_s.has_value() == c.stated && f.why_no_tokens_per_s.empty() == c.stated, c.name);
      if (c.stated) QCOMPARE(*f.tokens_per_s, 8000.);
    }
  }

  void a_stated_rest_is_of_every_step() {
    for (const Overlap overlap : {Overlap::none, Overlap::two_batch}) {
      const Simulated bare(overlap);
      SimulateFigures f = empty_figures(overlap);
      f.rest_ms = 250;
      simulate_steps(bare.objective, bare.placement, {}, f);
      QVERIFY(near(f.mean_ms, bare.figures.mean_ms + 250) && near(f.p50_ms, bare.figures.p50_ms + 250));
      QVERIFY(near(f.p95_ms, bare.figures.p95_ms + 250) && near(f.serial_ms, bare.figures.serial_ms + 250));
      QCOMPARE(f.sensitivity.back().figure, std::string("stated rest"));
      QVERIFY(near(f.sensitivity.back().value, 250 / f.mean_ms) &&
              near(f.layers[0].compute_ms, bare.figures.layers[0].compute_ms));
      // The weights of the other phases are shares of a longer step.
      QVERIFY(near(f.sensitivity[0].value * f.mean_ms, bare.figures.sensitivity[0].value * bare.figures.mean_ms, 1e-6));
    }
  }

  void shares_of_gpus_are_within_the_phases_of_their_layer() {
    for (const double oversubscription : {1., 4.}) {
      const Simulated s(Overlap::none, two_nodes(), oversubscription);
      std::vector<double> computes(kRanks);
      for (const SimulatedLayer& l : s.figures.layers) {
        QCOMPARE(l.gpus.size(), size_t{kRanks});
        double messages = 0;
        for (size_t r = 0; r < l.gpus.size(); ++r) {
          const SimulatedShare& share = l.gpus[r];
          QVERIFY(share.dispatch_ms <= l.dispatch_ms * (1 + 1e-12) && share.compute_ms <= l.compute_ms * (1 + 1e-12) &&
                  share.combine_ms <= l.combine_ms * (1 + 1e-12));
          computes[r] += share.compute_ms, messages += share.dispatch_ms;
        }
        QVERIFY(messages > 0);
      }
      for (size_t r = 0; r < computes.size(); ++r) QVERIFY(near(computes[r], s.figures.gpus[r].compute_ms));
    }
  }

  void bytes_are_conserved() {
    const Simulated s;
    double sent = 0, received = 0, ports = 0;
    for (const SimulatedGpu& g : s.figures.gpus) sent += g.sent_bytes, received += g.received_bytes;
    for (const SimulatedLink& l : s.figures.links) ports += l.bytes;
    QVERIFY(sent > 0 && near(sent, received) && near(sent, s.figures.wire_bytes) && near(ports, sent + received));
    QVERIFY(s.figures.remote_bytes <= s.figures.wire_bytes * (1 + 1e-12));
  }

  void elasticities_of_rates_are_what_the_phases_weigh() {
    const Simulated s;
    double sum = 0;
    for (const Elasticity& e : s.figures.sensitivity) {
      const bool rate = e.figure.ends_with("bandwidth") || e.figure == "operations a second";
      QVERIFY2(rate ? e.value <= 0 : e.value >= 0, e.figure.c_str());
      if (rate) sum += e.value;
    }
    // All rates a tenth faster make the step 1 / 1.1; one after the other saves no more than that, and where each phase
    // has one rate that binds, nearly as much.
    QVERIFY2(sum < 0 && sum >= (1 / 1.1 - 1) / 0.1 - 1e-9, std::to_string(sum).c_str());
  }

  void faster_is_never_slower() {
    const double base = Simulated().figures.mean_ms;
    for (double Cluster::*rate : {&Cluster::memory_bytes_per_s, &Cluster::flops_per_s, &Cluster::fabric_bytes_per_s,
                                  &Cluster::network_bytes_per_s})
      for (const double factor : {1.01, 1.5, 10., 1e6}) {
        Cluster faster = two_nodes();
        faster.*rate *= factor;
        QVERIFY(Simulated(Overlap::none, faster).figures.mean_ms <= base * (1 + 1e-12));
      }
    QVERIFY(Simulated(Overlap::none, two_nodes(), 4).figures.mean_ms > base);
    QVERIFY(Simulated(Overlap::two_batch).figures.mean_ms <= Simulated(Overlap::two_batch).figures.serial_ms * 2);
  }
};

STORMCELL_TEST(RunSimulationTest)

}  // namespace stormcell::testing::run_simulation_test

#include "run_simulation_test.moc"

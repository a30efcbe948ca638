// The change of a step's cost by measured calls, on planted laws; and what stays as it was.
#include "core/planning/calibrated_model.h"

#include <cmath>

#include "core/planning/step_objective.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int64_t kHidden = 7168, kFfn = 2048, kK = 8;
constexpr int32_t kExperts = 256;

Cluster cluster_of(int32_t nodes, int32_t gpus_per_node) {
  Cluster c;
  c.name = "c", c.nodes = nodes, c.gpus_per_node = gpus_per_node, c.gpu = "G SXM 80GB";
  c.memory_bytes = 8e10, c.memory_bytes_per_s = 3e12, c.flops_per_s = 1e15, c.fabric_bytes_per_s = 4.5e11,
  c.network_bytes_per_s = 5e10;
  return c;
}
ModelSizes sizes_of(double bits = 8) {
  ModelSizes s;
  s.hidden = kHidden, s.ffn = kFfn, s.matrices = 3;
  s.branch_bytes = 3. * kHidden * kFfn * bits / 8, s.flops_per_row = 6. * kHidden * kFfn;
  return s;
}

MeasuredCall exchange_call(const std::string& op, int64_t nodes, int64_t ranks, int64_t tokens, double us) {
  MeasuredCall c;
  c.id = op + std::to_string(ranks) + "x" + std::to_string(tokens), c.op = op, c.mode = "m", c.dtype = "fp8",
  c.gpu = "G";
  c.laboratory = "here", c.nodes = nodes, c.ranks = ranks, c.gpus_per_node = 8, c.nic_gbit = nodes > 1 ? 400 : 0;
  c.tokens_per_rank = tokens, c.tokens_total = tokens * ranks, c.top_k = kK, c.experts = kExperts, c.hidden = kHidden;
  c.bytes_per_copy = 7408, c.source = "planted", c.us = us;
  return c;
}
MeasuredCall product_call(const std::string& gpu, int64_t ranks, double us) {
  MeasuredCall c;
  c.id = gpu + std::to_string(ranks), c.op = "experts", c.mode = "decode", c.dtype = "fp8-block", c.gpu = gpu,
  c.laboratory = "here";
  c.ranks = ranks, c.tokens_total = 256, c.top_k = kK, c.experts = kExperts, c.hidden = kHidden, c.ffn = kFfn;
  c.source = "planted", c.us = us;
  return c;
}

/// Over 2 to 8 nodes: start-up, and `slope` for what 128 tokens send times the share that leaves the node.
std::vector<MeasuredCall> network_calls(double t0, double slope) {
  std::vector<MeasuredCall> calls;
  for (const char* op : {"dispatch", "combine"})
    for (const int64_t nodes : {2, 4, 8})
      calls.push_back(exchange_call(op, nodes, 8 * nodes, 128, t0 + slope * (1 - 1. / static_cast<double>(nodes))));
  for (const int64_t ranks : {8, 64})
    calls.push_back(product_call("G", ranks, 20 + 11 * 256. / static_cast<double>(ranks)));
  return calls;
}
std::vector<MeasuredCall> times(std::vector<MeasuredCall> calls, double factor) {
  for (MeasuredCall& c : calls) c.us *= factor;
  return calls;
}

struct Calibrated {
  Calibrated(std::vector<MeasuredCall> calls, const Cluster& cluster, double tokens,
             const ModelSizes& sizes = sizes_of())
      : before(cost_model_of(cluster, sizes)), model(before) {
    use = calibrate_model(Calibration(std::move(calls)), cluster, sizes, {tokens, kK, kExperts}, model);
  }
  const CalibratedPhase& phase(std::string_view name) const {
    for (const CalibratedPhase& p : use.phases)
      if (to_text(p.phase) == name) return p;
    qFatal("no phase %s", std::string(name).c_str());
  }
  CostModel before, model;
  CalibrationUse use;
};

/// Returns what each of so many ranks does of `tokens` tokens each, routed evenly: over the network, and of all its
/// experts.
std::vector<RankWork> even_work(const Cluster& cluster, double tokens) {
  RankWork w;
  w.active = static_cast<double>(kExperts) / cluster.ranks(), w.rows = kRowTile * w.active;
  w.network_out = w.network_in = tokens * kK * (1 - 1. / cluster.nodes);
  w.fabric_out = w.fabric_in = tokens * kK * (1. / cluster.nodes - 1. / cluster.ranks());
  return std::vector<RankWork>(static_cast<size_t>(cluster.ranks()), w);
}

bool close(double a, double b, double share = 1e-9) { return std::fabs(a / b - 1) < share; }
bool same(const CostModel& a, const CostModel& b) {
  return a.memory_bytes_per_s == b.memory_bytes_per_s && a.product_t0_s == b.product_t0_s &&
         a.dispatch.t0_s == b.dispatch.t0_s && a.combine.t0_s == b.combine.t0_s &&
         a.dispatch.network_factor == b.dispatch.network_factor &&
         a.combine.network_factor == b.combine.network_factor && a.dispatch.fabric_factor == b.dispatch.fabric_factor &&
         a.combine.fabric_factor == b.combine.fabric_factor;
}

}  // namespace

class CalibratedModelTest : public QObject {
  Q_OBJECT
 private slots:
  void a_step_of_measured_calls_takes_their_times() {
    const Cluster cluster = cluster_of(2, 8);
    const Calibrated c(network_calls(40, 150), cluster, 128 * 16);
    const LayerCost cost = cost_of_layer(even_work(cluster, 128), c.model);
    QVERIFY2(close(cost.dispatch_s, 115e-6) && close(cost.combine_s, 115e-6),
             std::to_string(1e6 * cost.dispatch_s).c_str());
    for (const char* way : {"dispatch", "combine"}) {
      const CalibratedPhase& p = c.phase(way);
      QCOMPARE(p.kind, PredictionKind::interpolated);
      QVERIFY(close(p.us, 115) && close(p.t0_us, 40) && close(p.size, 1) && p.held_out && p.why_not.empty() &&
              !p.from.empty());
    }
    // 2048 tokens of 8 of 256 experts are 64 rows each, as many as products cost their weights alone: beyond what was
    // measured in tokens but not in weights.
    QVERIFY2(close(cost.compute_s, (20 + 11 * 16) * 1e-6, 1e-3), std::to_string(1e6 * cost.compute_s).c_str());
    // Rows alone, without a start: the slope.
    QVERIFY(close(1e6 * cost_of_layer(even_work(cluster, 64), c.model).dispatch_s, 40 + 75. / 2));
  }

  void within_a_node_the_fabric_is_calibrated() {
    std::vector<MeasuredCall> calls;
    for (const int64_t tokens : {128, 256, 512}) {
      calls.push_back(exchange_call("dispatch", 1, 8, tokens, 10 + 0.2 * static_cast<double>(tokens)));
      calls.push_back(exchange_call("combine", 1, 8, tokens, 12 + 0.4 * static_cast<double>(tokens)));
    }
    const Cluster cluster = cluster_of(1, 8);
    const Calibrated c(calls, cluster, 200 * 8);
    RankWork w;
    w.fabric_out = w.fabric_in = 200. * kK * 7 / 8, w.rows = 64, w.active = 1;
    const LayerCost cost = cost_of_layer(std::vector<RankWork>(8, w), c.model);
    QVERIFY(close(1e6 * cost.dispatch_s, 50) && close(1e6 * cost.combine_s, 92));
    // No products were measured: as the data sheet has it.
    QVERIFY(c.phase("experts").kind == PredictionKind::none &&
            c.phase("experts").why_not.starts_with("no products of G"));
    QCOMPARE(c.model.memory_bytes_per_s, c.before.memory_bytes_per_s);
    QCOMPARE(cost.compute_s, cost_of_layer(std::vector<RankWork>(8, w), c.before).compute_s);
  }

  void small_steps_pay_the_start_up() {
    const Cluster cluster = cluster_of(2, 8);
    const Calibrated c(network_calls(40, 150), cluster, 1);
    const CalibratedPhase& p = c.phase("dispatch");
    QVERIFY2(p.kind == PredictionKind::extrapolated && p.size < 0.01 && close(p.t0_us, 40),
             std::to_string(p.t0_us).c_str());
    RankWork w;
    w.network_out = w.network_in = 1;
    const double us = 1e6 * cost_of_layer(std::vector<RankWork>(16, w), c.model).dispatch_s;
    QVERIFY2(us > 40 && us < 41, std::to_string(us).c_str());
    QCOMPARE(cost_of_layer(std::vector<RankWork>(16), c.model).dispatch_s, 0.);  // nothing sent, nothing started
  }

  void times_follow_what_was_measured() {
    const Cluster cluster = cluster_of(2, 8);
    for (const double tokens : {1., 700., 2048., 4000.}) {
      const Calibrated before(network_calls(40, 150), cluster, tokens),
          after(times(network_calls(40, 150), 1.3), cluster, tokens);
      for (const double own : {1., 50., 128., 300.}) {
        const LayerCost a = cost_of_layer(even_work(cluster, own), before.model),
                        b = cost_of_layer(even_work(cluster, own), after.model);
        QVERIFY(close(b.dispatch_s, 1.3 * a.dispatch_s) && close(b.combine_s, 1.3 * a.combine_s));
      }
      for (size_t i = 0; i < before.use.phases.size(); ++i) {
        const CalibratedPhase &a = before.use.phases[i], &b = after.use.phases[i];
        QCOMPARE(a.kind, b.kind);
        if (a.calibrated())
          QVERIFY(close(b.us, 1.3 * a.us) && close(b.bytes_per_s * 1.3, a.bytes_per_s) && a.from == b.from);
      }
    }
    // Weights alone bound these products.
    const Calibrated before(network_calls(40, 150), cluster, 64),
        after(times(network_calls(40, 150), 1.3), cluster, 64);
    RankWork w;
    w.active = 12, w.rows = 64;
    QVERIFY(before.phase("experts").kind != PredictionKind::none &&
            close(compute_s(w, after.model), 1.3 * compute_s(w, before.model)));
  }

  void another_gpu_lends_over_the_network_alone() {
    std::vector<MeasuredCall> calls = network_calls(40, 150);
    for (MeasuredCall& c : calls) c.gpu = "H";
    const Cluster cluster = cluster_of(4, 8);
    const Calibrated c(calls, cluster, 128 * 32);
    QVERIFY(c.phase("dispatch").kind == PredictionKind::borrowed && close(c.phase("dispatch").us, 40 + 150 * .75));
    QCOMPARE(c.phase("experts").kind, PredictionKind::none);
  }

  void what_is_not_told_stays_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("words");
    QTest::newRow("another GPU within a node")
        << "gpu"
        << "no dispatch was measured on such links (8 ranks of G SXM 80GB in one node)";
    QTest::newRow("more ranks") << "ranks"
                                << "more ranks than were measured";
    QTest::newRow("another card") << "card"
                                  << "8 a node, 200 Gbit/s";
    QTest::newRow("larger steps") << "large"
                                  << "times the largest measured size";
    QTest::newRow("one size") << "one"
                              << "only one size was measured";
    QTest::newRow("falling") << "falling"
                             << "more bytes took no longer";
    QTest::newRow("one GPU") << "alone"
                             << "one GPU exchanges nothing";
    QTest::newRow("no tokens") << "tokens"
                               << "the tokens of a step are not known";
  }
  void what_is_not_told_stays() {
    QFETCH(QString, what);
    QFETCH(QString, words);
    std::vector<MeasuredCall> calls = network_calls(40, 150);
    calls.resize(6);  // without products
    Cluster cluster = cluster_of(2, 8);
    double tokens = 2048;
    if (what == "gpu") {
      calls.clear(), cluster = cluster_of(1, 8);
      for (const int64_t t : {128, 256})
        calls.push_back(exchange_call("dispatch", 1, 8, t, static_cast<double>(t))), calls.back().gpu = "H";
    }
    if (what == "ranks") cluster = cluster_of(16, 8);
    if (what == "card") cluster.network_bytes_per_s = 2.5e10;
    if (what == "large") tokens = 1e6;
    if (what == "one") calls = {calls[0]};
    if (what == "falling") calls = network_calls(140, -50), calls.resize(6);
    if (what == "alone") cluster = cluster_of(1, 1);
    CostModel model = cost_model_of(cluster, sizes_of());
    const CostModel before = model;
    MeanStep step{tokens, kK, kExperts};
    if (what == "tokens") step.tokens.reset();
    const CalibrationUse use = calibrate_model(Calibration(calls), cluster, sizes_of(), step, model);
    QVERIFY2(use.phases[0].kind == PredictionKind::none &&
                 use.phases[0].why_not.find(words.toStdString()) != std::string::npos,
             use.phases[0].why_not.c_str());
    QVERIFY(same(model, before));
    const StepTrust trust = trust_in(use, 1, 1, 1);
    QVERIFY(trust.kind == PredictionKind::none && trust.share == 0 && !trust.held_out);
  }

  void products_of_other_numbers_say_nothing() {
    const Cluster cluster = cluster_of(2, 8);
    const Calibrated wide(network_calls(40, 150), cluster, 64, sizes_of(16));
    QVERIFY2(wide.phase("experts").why_not ==
                 "products of G SXM 80GB were measured in fp8-block, the model's weights take 16 bits",
             wide.phase("experts").why_not.c_str());
    const Calibrated many(network_calls(40, 150), cluster, 3000);
    QVERIFY2(many.phase("experts").why_not.find("64 rows") != std::string::npos, many.phase("experts").why_not.c_str());
    ModelSizes plain = sizes_of();
    plain.matrices = 2;
    QCOMPARE(Calibrated(network_calls(40, 150), cluster, 64, plain).phase("experts").kind, PredictionKind::none);
  }

  // 30 us for the weights, beyond 120 rows 1/4 us a row; of a call of 4 weights four times that.
  static std::vector<MeasuredCall> rows_calls(int64_t inputs, int64_t outputs, double factor = 1) {
    std::vector<MeasuredCall> calls;
    for (const int64_t rows : {1, 16, 64, 120, 256, 1024}) {
      MeasuredCall c;
      c.id = std::to_string(inputs) + "x" + std::to_string(rows), c.op = "product", c.dtype = "fp8", c.gpu = "G",
      c.experts = 4;
      c.inputs = inputs, c.outputs = outputs, c.rows = rows, c.source = "planted";
      c.us = 4 * factor * std::max(30., static_cast<double>(rows) / 4);
      calls.push_back(c);
    }
    return calls;
  }
  static std::vector<MeasuredCall> both_ways(double factor = 1) {
    std::vector<MeasuredCall> calls = rows_calls(kHidden, kFfn, factor), down = rows_calls(kFfn, kHidden, factor);
    calls.insert(calls.end(), down.begin(), down.end());
    return calls;
  }
  static CalibratedPhase experts_of(const std::vector<MeasuredCall>& calls, RowRange rows, CostModel& model,
                                    double tokens = 2048, const ModelSizes& sizes = sizes_of()) {
    const Cluster cluster = cluster_of(1, 8);
    return calibrate_model(Calibration(calls), cluster, sizes, {tokens, kK, kExperts, rows}, model).phases[1];
  }

  void experts_go_by_the_times_of_their_rows() {
    CostModel model = cost_model_of(cluster_of(1, 8), sizes_of()), slower = model;
    const CalibratedPhase p = experts_of(both_ways(), {1, 1000}, model);
    QVERIFY2(p.kind == PredictionKind::interpolated && p.rows && p.like == "product fp8 of G", p.why_not.c_str());
    QVERIFY(p.rows->least_measured == 1 && p.rows->most_measured == 1024 && p.rows->least == 1 && p.rows->most == 1000);
    // Three products of 30 us each for 32 experts of a GPU, all of which get rows.
    QVERIFY2(close(p.us, 32 * 90, 1e-6) && close(p.rows->mean, 64, 1e-6) && p.held_out && !p.from.empty(),
             std::to_string(p.us).c_str());
    for (const double rows : {1., 40., 64.}) QVERIFY(close(model.expert_curve->us(rows), 90));
    for (const double rows : {120., 500., 1000.}) QVERIFY(close(model.expert_curve->us(rows), 0.75 * rows));
    // More than 64 rows an expert no longer are the data sheet's.
    CostModel large = cost_model_of(cluster_of(1, 8), sizes_of());
    QVERIFY(close(experts_of(both_ways(), {100, 1000}, large, 16384).us, 32 * 0.75 * 512, 1e-6));
    const CalibratedPhase after = experts_of(both_ways(1.3), {1, 1000}, slower);
    QVERIFY(close(after.us, 1.3 * p.us) && after.from == p.from && std::fabs(*after.held_out - *p.held_out) < 1e-9);
    for (double rows = 0.5; rows < 3000; rows *= 1.1)
      QVERIFY(close(slower.expert_curve->us(rows), 1.3 * model.expert_curve->us(rows)));
  }

  void times_over_rows_end_where_they_were_measured_data() {
    QTest::addColumn<QString>("what");
    QTest::addColumn<QString>("kind");
    QTest::addColumn<QString>("words");
    QTest::newRow("beyond") << "1500"
                            << "extrapolated"
                            << "";
    QTest::newRow("far beyond") << "2100"
                                << "none"
                                << "experts get 1 to 2100 rows, and the measured calls cover 1 to 2048";
    QTest::newRow("one way alone") << "one way"
                                   << "borrowed"
                                   << "";
    QTest::newRow("gate and up in one") << "joined"
                                        << "interpolated"
                                        << "";
    QTest::newRow("other weights") << "other weights"
                                   << "none"
                                   << "with weights of 512 x 512, an expert's are 7168 x 2048 and 2048 x 7168";
    QTest::newRow("other numbers") << "other numbers"
                                   << "none"
                                   << "were measured in fp8, the model's weights take 16 bits";
    QTest::newRow("one number of rows") << "one number"
                                        << "none"
                                        << "no products of G SXM 80GB were measured";
    QTest::newRow("apart") << "apart"
                           << "none"
                           << "with other numbers of rows each";
    QTest::newRow("another GPU") << "gpu"
                                 << "none"
                                 << "no products of G SXM 80GB were measured";
  }
  void times_over_rows_end_where_they_were_measured() {
    QFETCH(QString, what);
    QFETCH(QString, kind);
    QFETCH(QString, words);
    std::vector<MeasuredCall> calls = both_ways();
    if (what == "one way") calls.resize(6);
    if (what == "joined") {
      calls = rows_calls(kFfn, kHidden);
      for (MeasuredCall& c : rows_calls(kHidden, 2 * kFfn)) calls.push_back(c), calls.back().id += "up";
    }
    if (what == "other weights") calls = rows_calls(512, 512);
    if (what == "one number") calls = {calls[0], calls[6]};
    if (what == "apart") calls.erase(calls.begin() + 2, calls.begin() + 10);
    if (what == "gpu")
      for (MeasuredCall& c : calls) c.gpu = "H";
    const ModelSizes sizes = sizes_of(what == "other numbers" ? 16 : 8);
    CostModel model = cost_model_of(cluster_of(1, 8), sizes);
    const CalibratedPhase p = experts_of(calls, {1, what.toInt() > 0 ? what.toDouble() : 1000}, model, 2048, sizes);
    QVERIFY2(to_text(p.kind) == kind.toStdString() && p.why_not.find(words.toStdString()) != std::string::npos,
             (std::string(to_text(p.kind)) + ": " + p.why_not).c_str());
    QCOMPARE(model.expert_curve != nullptr, kind != "none");
    if (what == "joined") QVERIFY(close(model.expert_curve->us(10), 60));
    if (what == "one way") QVERIFY(close(model.expert_curve->us(10), 90));
  }

  void of_several_the_one_of_about_as_many_experts_is_taken() {
    std::vector<MeasuredCall> calls = both_ways();
    for (MeasuredCall c : both_ways()) c.experts = 32, c.us *= 6, c.id += "of32", calls.push_back(c);
    CostModel model = cost_model_of(cluster_of(1, 8), sizes_of());
    experts_of(calls, {1, 1000}, model);
    QVERIFY(close(model.expert_curve->us(10), 90 * 6. / 8));
    // A step of a token: one expert of a GPU at a time, so of 4 weights a call rather than of 32.
    CostModel small = cost_model_of(cluster_of(1, 8), sizes_of());
    experts_of(calls, {1, 1}, small, 1);
    QVERIFY(close(small.expert_curve->us(1), 90));
  }

  void trust_weighs_what_is_calibrated() {
    CalibrationUse use;
    use.phases = {{.phase = LayerPhase::dispatch, .kind = PredictionKind::interpolated, .held_out = -0.04},
                  {.phase = LayerPhase::experts, .kind = PredictionKind::none, .why_not = "nobody did"},
                  {.phase = LayerPhase::combine, .kind = PredictionKind::borrowed, .held_out = 0.08}};
    const StepTrust t = trust_in(use, 1, 4, 3);
    QVERIFY(t.kind == PredictionKind::borrowed && close(t.share, 0.5) && close(*t.held_out, (0.04 + 3 * 0.08) / 4));
    use.phases[2].held_out.reset();
    QVERIFY(!trust_in(use, 1, 4, 3).held_out);
    QCOMPARE(trust_in(use, 1, 4, 0).kind, PredictionKind::interpolated);
  }
};

STORMCELL_TEST(CalibratedModelTest)

}  // namespace stormcell::testing

#include "calibrated_model_test.moc"

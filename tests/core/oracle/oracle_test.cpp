// The oracle: small cases computed by hand, and properties on random graphs of every operator and protocol.
#include <algorithm>
#include <array>
#include <cmath>

#include "core/base/error.h"
#include "core/oracle/oracle.h"
#include "tests/core/oracle/hand.h"
#include "tests/testing/oracle_replay.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

template <class Scalar>
OracleInputs<Scalar> inputs_of(const RandomCase& made) {
  OracleInputs<Scalar> inputs;
  for (const auto& [name, value] : made.inputs) {
    if (const auto* integers = std::get_if<std::vector<int32_t>>(&value)) inputs[name].integers = *integers;
    if (const auto* reals = std::get_if<std::vector<float>>(&value))
      inputs[name].reals.assign(reals->begin(), reals->end());
  }
  return inputs;
}
template <class Scalar>
OracleResult<Scalar> run(const RandomCase& made, const OracleOptions& options = {}) {
  return Oracle<Scalar>(made.graph, *made.weights).run(inputs_of<Scalar>(made), made.bindings, options);
}
template <class A, class B>
double difference(const std::vector<A>& a, const std::vector<B>& b) {
  if (a.size() != b.size()) return INFINITY;
  double most = 0, size = 1e-30;
  for (size_t i = 0; i < a.size(); ++i) {
    most = std::max(most, std::fabs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
    size = std::max(size, std::fabs(static_cast<double>(b[i])));
  }
  return most / size;
}

}  // namespace

class OracleTest : public QObject {
  Q_OBJECT
 private slots:
  void linear_with_all_its_extras() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2));
    const ValueId x = h.reals("x", s, {2}, {3, 4, 0, 2});
    const ValueId y = h.value(
        "linear",
        {x, h.held("w", {2, 2}, {1, 2, -1, 0}), h.held("g", {2}, {1, 2}), h.held("b", {2}, {1, 0.5}),
         h.reals("m", s, {2}, {2, 3, 4, 5}), h.reals("r", s, {2}, {10, 20, 30, 40})},
        {{"extras", std::string("gain+bias+multiply+residual")}, {"eps", 0.0}, {"activation", std::string("relu")}});
    // Row 0: rms sqrt(12.5); row 1: rms sqrt(2).
    const double a = 3 / std::sqrt(12.5), b = 8 / std::sqrt(12.5), d = 4 / std::sqrt(2.0);
    compare(h.result(y).reals, {(a + 2 * b + 1) * 2 + 10, 20, (2 * d + 1) * 4 + 30, 0.5 * 5 + 40});
  }

  void linear_with_its_residual_first() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2));
    const ValueId x = h.reals("x", s, {2}, {3, 4, 0, 2}), r = h.reals("r", s, {2}, {-20, 4, 1, -0.25});
    const ValueId y = h.value("linear", {x, h.held("w", {2, 2}, {1, 2, -1, 0}), h.held("b", {2}, {1, 0.5}), r},
                              {{"extras", std::string("bias+residual")},
                               {"activation", std::string("relu")},
                               {"residual_first", int64_t{1}}});
    // 12 - 20, -2.5 + 4, 5 + 1, 0.5 - 0.25.
    compare(h.result(y).reals, {0, 1.5, 6, 0.25});
  }

  void products_of_any_size_match_plain_sums() {
    for (const auto& [rows, k, n] : {std::array<int64_t, 3>{1, 1, 1}, {3, 129, 65}, {2, 300, 64}, {5, 7, 200}}) {
      Hand h;
      const SpaceId s = h.root_space("s", h.bound("N", rows));
      std::vector<double> x;
      std::vector<float> w;
      for (int64_t i = 0; i < rows * k; ++i) x.push_back(std::sin(static_cast<double>(i)));
      for (int64_t i = 0; i < n * k; ++i) w.push_back(std::cos(static_cast<float>(i)));
      std::vector<double> expected;
      for (int64_t r = 0; r < rows; ++r)
        for (int64_t j = 0; j < n; ++j) {
          double sum = 0;
          for (int64_t i = 0; i < k; ++i)
            sum += x[static_cast<size_t>(r * k + i)] * static_cast<double>(w[static_cast<size_t>(j * k + i)]);
          expected.push_back(sum);
        }
      const ValueId in = h.reals("x", s, {k}, x);
      compare(h.result(h.value("linear", {in, h.held("w", {n, k}, w)})).reals, expected);
    }
  }

  void a_query_that_may_see_nothing_attends_to_every_key_alike() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2)), t = h.dense_space("t", s, h.bound("T", 2));
    const ValueId x = h.reals("x", t, {1}, {1, 3, 2, 6});
    const ValueId mask = h.integers("mask", t, {0, 0, 0, 1});
    const ValueId y = h.value(
        "attention", {x, x, x, mask},
        {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}, {"causal", int64_t{1}}, {"extras", std::string("mask")}});
    // Sequence 0 sees nothing, its future included; the first query of sequence 1 sees nothing, its second one key.
    compare(h.result(y).reals, {2, 2, 4, 6});
  }

  void a_sink_takes_its_share_of_a_head_and_all_of_a_query_that_sees_nothing() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2)), t = h.dense_space("t", s, h.bound("T", 2));
    const ValueId zero = h.reals("zero", t, {2}, {0, 0, 0, 0, 0, 0, 0, 0}),
                  v = h.reals("v", t, {2}, {3, 8, 6, 4, 1, 2, 5, 6});
    const ValueId y = h.value("attention",
                              {zero, zero, v, h.integers("mask", t, {1, 1, 0, 1}),
                               h.held("sinks", {2}, {0, static_cast<float>(std::log(3.0))})},
                              {{"heads", int64_t{2}},
                               {"kv_heads", int64_t{2}},
                               {"causal", int64_t{1}},
                               {"extras", std::string("mask+sinks")}});
    // All scores are 0: n keys weigh 1 / (n + 1) each in head 0, and 1 / (n + 3) in head 1.
    compare(h.result(y).reals, {1.5, 2, 3, 2.4, 0, 0, 2.5, 1.5});
  }

  void a_step_attends_to_what_is_in_the_cache() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2)), t = h.dense_space("t", s, h.bound("T", 4)),
                  one = h.dense_space("one", s, 1);
    const ValueId keys = h.reals("keys", t, {1}, {1, 1, 1, 99, 1, 1, 1, 99}), q = h.reals("q", one, {1}, {0, 0});
    const ValueId values = h.reals("values", t, {1}, {1, 2, 6, 99, 1, 4, 99, 99});
    const ValueId step = h.integers("step", s, {2, 1});
    const ValueId y = h.value(
        "attention", {q, keys, values, step},
        {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}, {"causal", int64_t{1}}, {"extras", std::string("step")}});
    compare(h.result(y).reals, {3, 2.5});
  }

  void queries_of_unlike_number_stand_behind_what_their_parents_have() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2)), t = h.dense_space("t", s, h.bound("T", 4)),
                  more = h.dense_space("more", s, 2);
    const ValueId keys = h.reals("keys", t, {1}, {1, 1, 1, 1, 1, 1, 1, 1}),
                  values = h.reals("values", t, {1}, {1, 3, 5, 99, 2, 99, 99, 99});
    const ValueId real = h.value("compact", {h.integers("mask", more, {1, 1, 0, 1})});
    const ValueId q = h.pack(h.reals("q", more, {1}, {0, 0, 0, 0}), real, s), step = h.integers("step", s, {1, 0});
    const ValueId y = h.value(
        "attention", {q, keys, values, step},
        {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}, {"causal", int64_t{1}}, {"extras", std::string("step")}});
    const ValueId ones = h.pack(h.integers("ones", more, {1, 1, 1, 1}), real, s);
    const ValueId count = h.value("reduce", {h.integers("flags", more, {1, 1, 0, 1})}, {{"mode", std::string("sum")}});
    h.output("y", y);
    h.output("places", h.value("positions", {ones, step}, {{"extras", std::string("from")}}));
    h.output("count", count);
    h.output("next", h.value("add", {count, step}));
    const Graph graph = h.finish();
    const OracleResult<double> came = Oracle<double>(graph, *h.weights).run(h.inputs, h.bindings);
    // Two queries at places 1 and 2; one, which stands second among its parent's cells, at place 0.
    compare(came.output("y").reals, {2, 3, 2});
    QCOMPARE(came.output("places").integers, (std::vector<int32_t>{1, 2, 0}));
    QCOMPARE(came.output("count").integers, (std::vector<int32_t>{2, 1}));
    QCOMPARE(came.output("next").integers, (std::vector<int32_t>{3, 1}));
  }

  void a_window_hides_what_is_further_back() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1)), t = h.dense_space("t", s, h.bound("T", 4));
    const ValueId zero = h.reals("zero", t, {1}, {0, 0, 0, 0}), v = h.reals("v", t, {1}, {1, 2, 4, 8});
    const ValueId y =
        h.value("attention", {zero, zero, v},
                {{"heads", int64_t{1}}, {"kv_heads", int64_t{1}}, {"causal", int64_t{1}}, {"window", int64_t{2}}});
    compare(h.result(y).reals, {1, 1.5, 3, 6});
  }

  void dropped_cells_give_zero_or_their_weighted_input() {
    for (const bool scaled : {false, true}) {
      Hand h;
      const SpaceId s = h.root_space("s", h.bound("N", 1)), t = h.dense_space("t", s, h.bound("T", 3));
      const ValueId x = h.reals("x", t, {1}, {1, 2, 3});
      const ValueId scores = h.reals("scores", t, {2}, {0, 0, 0, 0, 0, 1});
      Protocol rule;
      rule.kind = ProtocolKind::switch_top1;
      rule.capacity = 1;
      const ValueId decision = h.route(scores, rule, "router");
      const auto parts = h.scatter(x, decision, {0, 1});
      const ValueId a = h.value("scale", {parts[0]}, {{"factor", 10.0}}),
                    b = h.value("scale", {parts[1]}, {{"factor", 100.0}});
      const ValueId y = h.gather({a, b}, t, "weighted", scaled ? x : kNone);
      const double p = 1 / (1 + std::exp(-1.0));
      // Equal scores go to branch 0, which takes one cell.
      compare(h.result(y).reals, {5, scaled ? 1.0 : 0.0, 300 * p});
    }
  }

  void places_count_what_is_not_masked() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2)), t = h.dense_space("t", s, h.bound("T", 3));
    const ValueId places = h.value("positions", {h.integers("mask", t, {0, 1, 1, 1, 0, 1})});
    QCOMPARE(h.result(places).integers, (std::vector<int32_t>{1, 0, 1, 0, 1, 1}));
  }

  void the_last_cell_may_hold_integers() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 2)), t = h.dense_space("t", s, h.bound("T", 3));
    const ValueId y = h.value("reduce", {h.integers("x", t, {1, 2, 3, 4, 5, 6})}, {{"mode", std::string("last")}});
    QCOMPARE(h.result(y).integers, (std::vector<int32_t>{3, 6}));
  }

  void convolution_by_groups_with_stride_and_padding() {
    Hand h;
    const SpaceId s = h.root_space("s", h.bound("N", 1));
    const ValueId x = h.reals("x", s, {2, 2, 2}, {1, 10, 2, 20, 3, 30, 4, 40});
    // 3x3, all ones for group 0, twos for group 1: each output sums the whole map.
    std::vector<float> w(18, 1.0f);
    std::fill(w.begin() + 9, w.end(), 2.0f);
    const ValueId y = h.value(
        "conv2d", {x, h.held("w", {2, 3, 3, 1}, w), h.held("b", {2}, {0.5, -0.5})},
        {{"groups", int64_t{2}}, {"padding", int64_t{1}}, {"stride", int64_t{2}}, {"extras", std::string("bias")}});
    compare(h.result(y).reals, {10.5, 199.5});
  }

  void random_graphs_agree_in_float_and_double() {
    double worst = 0;
    for (uint64_t seed = 0; seed < 150; ++seed) {
      const RandomCase made = make_random_case(seed);
      const auto exact = run<double>(made);
      OracleOptions options;
      options.replay = replay_of(exact.decisions);
      options.threads = 2;
      const auto rounded = run<float>(made, options);
      QCOMPARE(rounded.decisions.size(), exact.decisions.size());
      QCOMPARE(rounded.outputs.size(), exact.outputs.size());
      for (size_t i = 0; i < exact.outputs.size(); ++i) {
        const double d = difference(rounded.outputs[i].second.reals, exact.outputs[i].second.reals);
        QVERIFY2(
            d <= 2e-5,
            qPrintable(QString("%1, output %2: %3").arg(made.name.c_str(), exact.outputs[i].first.c_str()).arg(d)));
        worst = std::max(worst, d);
      }
    }
    qInfo("worst of 150 graphs, float against double: %.1e", worst);
  }

  void replaying_its_own_decisions_changes_nothing() {
    for (uint64_t seed = 200; seed < 240; ++seed) {
      const RandomCase made = make_random_case(seed);
      const auto free = run<float>(made);
      OracleOptions options;
      options.replay = replay_of(free.decisions);
      options.keep_values = true;  // and neither does keeping every value
      const auto again = run<float>(made, options);
      for (size_t i = 0; i < free.outputs.size(); ++i) {
        QVERIFY(free.outputs[i].second.reals == again.outputs[i].second.reals);
        QVERIFY(free.outputs[i].second.integers == again.outputs[i].second.integers);
      }
      for (size_t i = 0; i < free.decisions.size(); ++i) QVERIFY(free.decisions[i].weight == again.decisions[i].weight);
      QVERIFY(again.values.size() >= free.outputs.size());
    }
  }

  void forced_choices_are_taken_for_the_cells_that_come() {
    const RandomCase made = exit_chain_toy();
    const auto free = run<float>(made);
    OracleOptions options;
    for (const OracleDecision& d : free.decisions) {
      std::vector<int32_t>& forced = options.forced[d.router];
      const int64_t k = d.shape.fan_out;
      forced.assign(d.dense_cells * k, kNotRecorded);
      for (int64_t i = 0; i < d.shape.cells; ++i)
        std::copy_n(d.choice.begin() + i * k, k, forced.begin() + (d.ancestor.empty() ? i : d.ancestor[i]) * k);
    }
    const auto again = run<float>(made, options);
    QCOMPARE(again.decisions.size(), free.decisions.size());
    for (size_t i = 0; i < free.decisions.size(); ++i) QVERIFY(again.decisions[i].choice == free.decisions[i].choice);
    for (size_t i = 0; i < free.outputs.size(); ++i)
      QVERIFY(again.outputs[i].second.reals == free.outputs[i].second.reals);
    options.forced.begin()->second.pop_back();
    QVERIFY_THROWS_EXCEPTION(Error, run<float>(made, options));
  }

  void nested_decisions_name_their_cells() {
    const auto result = run<float>(exit_chain_toy());
    size_t nested = 0;
    for (const OracleDecision& d : result.decisions) {
      QCOMPARE(d.dense_cells, int64_t{6});
      if (d.ancestor.empty()) {
        QCOMPARE(d.shape.cells, d.dense_cells);
        continue;
      }
      ++nested;
      QCOMPARE(static_cast<int64_t>(d.ancestor.size()), d.shape.cells);
      for (size_t i = 1; i < d.ancestor.size(); ++i) QVERIFY(d.ancestor[i] > d.ancestor[i - 1]);
    }
    QVERIFY(nested >= 2);
  }

  void an_iterated_router_decides_once_a_turn() {
    const auto result = run<float>(iterated_router_toy());
    std::map<std::string, int64_t> turns;
    for (const OracleDecision& d : result.decisions) QCOMPARE(d.execution, turns[d.router]++);
    QVERIFY(turns.at("loop.exit") >= 2);
  }

  void what_is_missing_or_wrong_is_named() {
    const RandomCase made = make_random_case(1);
    auto inputs = inputs_of<float>(made);
    const std::string name = inputs.begin()->first;
    const Oracle<float> oracle(made.graph, *made.weights);
    inputs.begin()->second.integers.push_back(1);
    inputs.begin()->second.reals.push_back(1);
    QVERIFY_THROWS_EXCEPTION(Error, oracle.run(inputs, made.bindings));
    inputs.erase(name);
    try {
      oracle.run(inputs, made.bindings);
      QFAIL("ran without an input");
    } catch (const Error& e) {
      QVERIFY(std::string(e.what()).find(name) != std::string::npos);
    }
    OracleOptions cancelled;
    cancelled.cancel.cancel();
    QVERIFY_THROWS_EXCEPTION(Error, run<float>(made, cancelled));
    OracleOptions short_replay;
    for (const OracleDecision& d : run<float>(make_random_case(3)).decisions) short_replay.replay[d.router] = {};
    if (!short_replay.replay.empty()) QVERIFY_THROWS_EXCEPTION(Error, run<float>(make_random_case(3), short_replay));
  }
};
STORMCELL_TEST(OracleTest)
#include "oracle_test.moc"

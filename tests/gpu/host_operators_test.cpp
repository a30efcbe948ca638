// Mixtures of experts, attention and norms on the host device, in several orders, against the oracle.
#include <cstdio>

#include "core/graph/operator.h"
#include "tests/gpu/host_cases.h"
#include "tests/gpu/host_run.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int kOrders = 3;

/// A layer of an encoder: norms, attention with T5's bias and a mask with padding, a mixture of experts, the head.
RandomCase encoder_layer(uint64_t seed, bool causal) {
  MixtureBuilder b(seed);
  const SpaceId root = b.root_space("sequences", b.bound_symbol("N", 3));
  const SpaceId space = b.dense_space("tokens", root, b.bound_symbol("T", 37));
  ValueId x = b.value("embedding", {b.integers("ids", space, 19), b.drawn("table", {19, 12}, 1)}, {}, "start");
  const ValueId mask = b.mask("mask", space, true), bias = b.drawn("bias", {8, 3}, 1);
  const ValueId flow = b.norm(x, "attention.norm");
  const ValueId q = b.product(flow, 15, "q"), k = b.product(flow, 15, "k"), v = b.product(flow, 9, "v");
  const ValueId mixed = b.value("attention", {q, k, v, bias, mask},
                                {{"heads", int64_t{3}},
                                 {"kv_heads", int64_t{3}},
                                 {"causal", int64_t{causal}},
                                 {"buckets", int64_t{8}},
                                 {"max_distance", int64_t{16}},
                                 {"bidirectional", int64_t{!causal}},
                                 {"extras", std::string("bias+mask")}},
                                "attention");
  x = b.add(x, b.product(mixed, 12, "o"), "attended");
  Mixture shape;
  shape.branches = 5, shape.width = 20, shape.mode = "weighted", shape.otherwise = true;
  Protocol rule;
  rule.kind = ProtocolKind::switch_top1;
  rule.capacity = 4;
  x = b.mixture(x, b.scored(x, rule, shape.branches, "moe"), shape, "moe");
  b.output("y", b.product(b.norm(x, "last"), 23, "head"));
  return b.take(causal ? "decoder layer" : "encoder layer");
}

/// Small operators: over parents, joined columns, the largest number, integers.
RandomCase small_operators(uint64_t seed) {
  MixtureBuilder b(seed);
  const SpaceId root = b.root_space("sequences", b.bound_symbol("N", 4));
  const SpaceId space = b.dense_space("tokens", root, b.bound_symbol("T", 5));
  const ValueId x = b.floats("x", space, {7}), ids = b.integers("ids", space, 9);
  for (const char* mode : {"mean", "sum", "last"})
    b.output(mode, b.value("reduce", {x}, {{"mode", std::string(mode)}}, std::string("by.") + mode));
  const ValueId whole = b.value("reduce", {x}, {{"mode", std::string("mean")}}, "whole");
  const ValueId spread = b.value("broadcast", {whole}, {{"space", int64_t{space}}}, "spread");
  b.output("joined", b.value("concat", {x, spread, x}, {}, "joined"));
  b.output("largest", b.value("argmax", {x}, {}, "largest"));
  b.output("next", b.value("add_constant", {b.value("add", {ids, ids}, {}, "twice")}, {{"value", int64_t{3}}}, "next"));
  b.output("normed", b.value("layer_norm", {x, b.drawn("gain", {7}, 0.2, 1), b.drawn("shift", {7}, 0.2)},
                             {{"eps", 1e-5}}, "normed"));
  const ValueId flags = b.flags("flags", space), places = b.value("positions", {flags}, {}, "places");
  b.output("places", places);
  b.output("places.from", b.value("positions", {flags, b.integers("from", root, 4)}, {{"extras", std::string("from")}},
                                  "places.from"));
  b.output("turned", b.value("rotary", {b.floats("heads", space, {12}), places},
                             {{"heads", int64_t{2}}, {"theta", 100.0}}, "turned"));
  b.output("extent", b.value("extent", {}, {{"extent", std::string("T")}}, "extent"));
  b.output("all", b.value("all_set", {flags, ids}, {}, "all"));
  return b.take("small operators");
}

}  // namespace

class HostOperatorsTest : public QObject {
  Q_OBJECT
  static RandomCase make(const QString& name, int seed) {
    if (name == "mixtures") return random_mixtures(static_cast<uint64_t>(seed));
    if (name == "encoder") return encoder_layer(static_cast<uint64_t>(seed), false);
    if (name == "decoder") return encoder_layer(static_cast<uint64_t>(seed), true);
    if (name == "many") return many_cells(static_cast<uint64_t>(seed), false);
    if (name == "dropped") return many_cells(static_cast<uint64_t>(seed), true);
    if (name == "chains") return chains(static_cast<uint64_t>(seed));
    return small_operators(static_cast<uint64_t>(seed));
  }

 private slots:
  void plans_give_the_oracle_s_answers_in_several_orders_data() {
    QTest::addColumn<QString>("name");
    QTest::addColumn<int>("seed");
    const auto add = [](const char* name, int count) {
      for (int seed = 1; seed <= count; ++seed)
        QTest::newRow(qPrintable(QString("%1 %2").arg(name).arg(seed))) << name << seed;
    };
    add("small", 2), add("chains", 3), add("encoder", 2), add("decoder", 2), add("many", 1), add("dropped", 1);
    add("mixtures", kSanitized ? 4 : 24);
  }
  void plans_give_the_oracle_s_answers_in_several_orders() {
    QFETCH(QString, name);
    QFETCH(int, seed);
    run_in_orders(make(name, seed), seed);
  }

  void optimised_plans_give_the_oracle_s_answers_in_several_orders() {
    int grouped = 0;
    for (int seed = 1; seed <= (kSanitized ? 4 : 12); ++seed) {
      RandomCase c = random_mixtures(static_cast<uint64_t>(seed));
      c.graph = optimised_for(HostDevice(), c.graph);
      c.name += ", optimised";
      c.graph.for_each_node([&](NodeId id, int) { grouped += c.graph.node(id).op->name == "grouped_linear"; });
      run_in_orders(c, seed);
    }
    QVERIFY(grouped > 10);
  }

 private:
  static void run_in_orders(const RandomCase& c, int seed) {
    HostDevice device;
    device.order_seed = static_cast<uint64_t>(seed) + 1;
    HostRun run(device, c);
    for (int i = 0; i < kOrders; ++i) {
      const std::string wrong = difference(c, run.program(), run.run());
      QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
      QCOMPARE(run.synchronizations(), kSynchronizationsOfARun);
    }
    std::printf("%s: %zu nodes, %lld edges, %d regions\n", c.name.c_str(), device.plan().nodes.size(),
                static_cast<long long>(device.plan().edges()), device.plan().regions);
  }
};

STORMCELL_TEST(HostOperatorsTest)

}  // namespace stormcell::testing
#include "host_operators_test.moc"

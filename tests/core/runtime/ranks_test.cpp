// Expert parallelism over in-process ranks gives what one rank gives.
#include <chrono>
#include <thread>

#include "core/cpu/cpu_device.h"
#include "core/graph/builder.h"
#include "core/runtime/communicator.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int64_t kWidth = 24, kHidden = 40, kBranches = 6;

// x + weighted sum of two of six experts, all experts in one grouped product; with ranks > 0 the rows travel to the branches' owners.
Graph mixture(int ranks, int rank, const std::vector<int64_t>& owners) {
  GraphBuilder b;
  const SpaceId sequence = b.root_space("sequence", b.symbol("N"));
  const SpaceId token = b.dense_space("token", sequence, b.symbol("T"));
  const ValueId x = b.input("x", DType::f32, token, {kWidth});
  const ValueId scores = b.value("linear", {x, b.weight("router", DType::f32, {kBranches, kWidth})}, {{"precise", int64_t{1}}}, "scores");
  Protocol protocol;
  protocol.k = 2;
  protocol.renormalize = true;
  const ValueId d = b.route(scores, protocol, "mixture");
  const SpaceId all_slots = b.routed_space(d, kAllBranches);
  ValueId rows = b.scatter(x, d, {kAllBranches})[0];
  ValueId decision = d;
  SpaceId space = all_slots;
  if (ranks > 0) {
    const Dim bound = b.graph().space(all_slots).count * Dim(ranks);
    const SpaceId arrived = b.root_space("arrived", bound);
    decision = b.value("exchange_decision", {d}, {{"ranks", int64_t{ranks}}, {"owners", owners}, {"arrived", int64_t{arrived}}}, "arrived");
    space = b.routed_space(decision, kAllBranches);
    rows = b.value("exchange_rows", {rows, d, decision}, {{"slots", int64_t{space}}}, "sent");
  }
  const auto grouped = [&](ValueId in, const char* part, std::vector<int64_t> shape, const char* activation) {
    std::vector<ValueId> inputs = {in, decision};
    std::vector<int64_t> branches;
    for (int64_t e = 0; e < kBranches; ++e) {
      if (ranks > 0 && owners[static_cast<size_t>(e)] != rank) continue;
      branches.push_back(e);
      inputs.push_back(b.weight("expert" + std::to_string(e) + part, DType::f32, shape));
    }
    return b.value("grouped_linear", inputs, {{"slots", int64_t{space}}, {"branches", branches}, {"activation", std::string(activation)}},
                   part);
  };
  ValueId y = grouped(grouped(rows, "wi", {kHidden, kWidth}, "relu"), "wo", {kWidth, kHidden}, "none");
  if (ranks > 0) y = b.value("exchange_back", {y, decision, d}, {{"slots", int64_t{all_slots}}}, "returned");
  b.output("y", b.value("add", {x, b.gather({y}, token, "weighted", kNone, "joined")}, {}, "y"));
  return b.finish();
}

std::shared_ptr<MemoryWeights> weights() {
  auto w = std::make_shared<MemoryWeights>();
  Random random(7);
  const auto draw = [&](const std::string& name, std::vector<int64_t> shape) {
    std::vector<float> values(static_cast<size_t>(shape[0] * shape[1]));
    for (float& v : values) v = static_cast<float>(random.normal() * 0.3);
    w->add(name, DType::f32, shape, values);
  };
  draw("router", {kBranches, kWidth});
  for (int64_t e = 0; e < kBranches; ++e) {
    draw("expert" + std::to_string(e) + "wi", {kHidden, kWidth});
    draw("expert" + std::to_string(e) + "wo", {kWidth, kHidden});
  }
  return w;
}

std::vector<float> run(Graph graph, std::shared_ptr<const WeightSource> source, std::vector<float> x, int64_t sequences,
                       Communicator* communicator) {
  cpu::CpuDevice device(1, communicator);
  WeightStore store(device, std::move(source));
  const Bindings bindings = {sequences, 5};
  Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(std::move(graph)))), bindings);
  InputValues inputs;
  inputs.reals["x"] = std::move(x);
  ExecuteOptions options;
  options.outputs = true;
  ExecutionResult result;
  for (int turn = 0; turn < 2; ++turn) executor.run(inputs, bindings, options, result);
  return result.outputs.at(0).reals;
}

}  // namespace

class RanksTest : public QObject {
  Q_OBJECT
 private slots:
  void experts_on_several_ranks_give_the_same_bits_as_on_one_data() {
    QTest::addColumn<int>("ranks");
    QTest::addColumn<QList<qint64>>("owners");
    QTest::newRow("one rank that sends to itself") << 1 << QList<qint64>{0, 0, 0, 0, 0, 0};
    QTest::newRow("two ranks, contiguous") << 2 << QList<qint64>{0, 0, 0, 1, 1, 1};
    QTest::newRow("three ranks, interleaved") << 3 << QList<qint64>{2, 0, 1, 1, 2, 0};
    QTest::newRow("two ranks, uneven") << 2 << QList<qint64>{1, 1, 1, 0, 1, 1};
  }
  void experts_on_several_ranks_give_the_same_bits_as_on_one() {
    QFETCH(int, ranks);
    QFETCH(QList<qint64>, owners);
    const std::vector<int64_t> owner_list(owners.begin(), owners.end());
    const auto source = weights();
    constexpr int64_t kTokens = 5, kEach = 2;
    Random random(3);
    std::vector<float> all(static_cast<size_t>(ranks * kEach * kTokens * kWidth));
    for (float& v : all) v = static_cast<float>(random.normal());
    const std::vector<float> expected = run(mixture(0, 0, {}), source, all, ranks * kEach, nullptr);

    auto ends = in_process_ranks(ranks);
    const size_t part = all.size() / static_cast<size_t>(ranks);
    std::vector<std::vector<float>> parts(static_cast<size_t>(ranks));
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r)
      threads.emplace_back([&, r] {
        const auto begin = all.begin() + static_cast<std::ptrdiff_t>(part) * r;
        parts[static_cast<size_t>(r)] = run(mixture(ranks, r, owner_list), source, {begin, begin + static_cast<std::ptrdiff_t>(part)},
                                            kEach, ends[static_cast<size_t>(r)].get());
      });
    for (std::thread& t : threads) t.join();
    std::vector<float> joined;
    for (const auto& p : parts) joined.insert(joined.end(), p.begin(), p.end());
    QCOMPARE(joined.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) QCOMPARE(joined[i], expected[i]);
    if (ranks > 1) QVERIFY(ends[0]->sent_bytes() > 0 || ends[1]->sent_bytes() > 0);
  }

  void a_rank_that_waits_can_be_cancelled() {
    auto ends = in_process_ranks(2);
    const CancellationToken cancel;
    std::string why;
    std::thread waits([&] {
      try {
        ends[0]->all_to_all({}, {}, &cancel);
      } catch (const Error& e) {
        why = e.what();
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    cancel.cancel();
    waits.join();
    QVERIFY2(why.find("interrupted") != std::string::npos, why.c_str());
    // Who comes later does not wait for it.
    QVERIFY_EXCEPTION_THROWN(ends[1]->all_to_all({}, {}, nullptr), Error);
  }

  void a_rank_whose_step_fails_leaves_nobody_waiting() {
    auto ends = in_process_ranks(2);
    std::string why;
    std::thread waits([&] {
      try {
        run(mixture(2, 0, {0, 0, 0, 1, 1, 1}), weights(), std::vector<float>(2 * 5 * kWidth, 0.5f), 2, ends[0].get());
      } catch (const Error& e) {
        why = e.what();
      }
    });
    // Its plan is one of three ranks: the first exchange step refuses to run on two.
    QVERIFY_EXCEPTION_THROWN(run(mixture(3, 1, {0, 0, 0, 1, 1, 2}), weights(), std::vector<float>(2 * 5 * kWidth, 0.5f), 2, ends[1].get()),
                             Error);
    waits.join();
    QVERIFY2(why.find("another rank ended") != std::string::npos, why.c_str());
  }
};

STORMCELL_TEST(RanksTest)

}  // namespace stormcell::testing
#include "ranks_test.moc"

// Expert parallelism over in-process ranks gives what one rank gives; ranks meet between submissions, and one that
// fails ends all.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "core/base/error.h"
#include "core/cpu/cpu_device.h"
#include "core/graph/builder.h"
#include "core/runtime/communicator.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/failing_weights.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::ranks_test {
namespace {

constexpr int64_t kWidth = 24, kHidden = 40, kBranches = 6, kPlaces = 6;

// y = x + weighted sum of two of six experts, all experts in one grouped product; with ranks > 0 the rows travel to the
// branches' owners. With turns > 0 y becomes x, at most so many times, until the input `stop` is set. `keeping` puts
// the rows of x into kPlaces places from the input `at` on, before anything travels.
class Mixture {
 public:
  Mixture(int ranks, int rank, std::vector<int64_t> owners) : ranks_(ranks), rank_(rank), owners_(std::move(owners)) {
    sequence_ = b_.root_space("sequence", b_.symbol("N"));
    token_ = b_.dense_space("token", sequence_, b_.symbol("T"));
    x_ = b_.input("x", DType::f32, token_, {kWidth});
    stop_ = b_.input("stop", DType::i32, sequence_);
  }
  Graph once() {
    b_.value("all_set", {stop_}, {}, "stopped");
    b_.output("y", layer(x_));
    return b_.finish();
  }
  Graph keeping() {
    const SpaceId places = b_.dense_space("places", sequence_, kPlaces);
    const ValueId kept = b_.state("kept", DType::f32, places, {kWidth});
    const ValueId at = b_.input("at", DType::i32, sequence_);
    b_.add("state_fill", {kept}, {{"value", 0.0}}, "clear");
    b_.add("state_put", {kept, x_, at}, {{"extras", std::string("at")}}, "keep");
    return once();
  }
  Graph in_turns(int turns) {
    const ValueId hidden = b_.state("hidden", DType::f32, token_, {kWidth});
    b_.add("state_write", {hidden, x_}, {}, "begin");
    b_.begin_body();
    b_.add("state_write", {hidden, layer(hidden)}, {}, "keep");
    b_.end_body({b_.value("all_set", {stop_}, {}, "stopped")});
    b_.add_region("repeat", {}, {{"most", std::to_string(turns)}}, "rounds");
    b_.output("y", b_.value("scale", {hidden}, {{"factor", 1.0}}, "y"));
    return b_.finish();
  }

 private:
  ValueId layer(ValueId x) {
    const ValueId scores = b_.value("linear", {x, b_.weight("router", DType::f32, {kBranches, kWidth})},
                                    {{"precise", int64_t{1}}}, "scores");
    Protocol protocol;
    protocol.k = 2;
    protocol.renormalize = true;
    const ValueId d = b_.route(scores, protocol, "mixture");
    const SpaceId all_slots = b_.routed_space(d, kAllBranches);
    ValueId rows = b_.scatter(x, d, {kAllBranches})[0];
    ValueId decision = d;
    SpaceId space = all_slots;
    if (ranks_ > 0) {
      const SpaceId arrived = b_.root_space("arrived", b_.graph().space(all_slots).count * Dim(ranks_));
      decision = b_.value("exchange_decision", {d},
                          {{"ranks", int64_t{ranks_}}, {"owners", owners_}, {"arrived", int64_t{arrived}}}, "arrived");
      space = b_.routed_space(decision, kAllBranches);
      rows = b_.value("exchange_rows", {rows, d, decision}, {{"slots", int64_t{space}}}, "sent");
    }
    ValueId y = grouped(grouped(rows, decision, space, "wi", {kHidden, kWidth}, "relu"), decision, space, "wo",
                        {kWidth, kHidden}, "none");
    if (ranks_ > 0) y = b_.value("exchange_back", {y, decision, d}, {{"slots", int64_t{all_slots}}}, "returned");
    return b_.value("add", {x, b_.gather({y}, token_, "weighted", kNone, "joined")}, {}, "sum");
  }
  ValueId grouped(ValueId in, ValueId decision, SpaceId space, const char* part, std::vector<int64_t> shape,
                  const char* activation) {
    std::vector<ValueId> inputs = {in, decision};
    std::vector<int64_t> branches;
    for (int64_t e = 0; e < kBranches; ++e) {
      if (ranks_ > 0 && owners_[static_cast<size_t>(e)] != rank_) continue;
      branches.push_back(e);
      inputs.push_back(b_.weight("expert" + std::to_string(e) + part, DType::f32, shape));
    }
    return b_.value("grouped_linear", inputs,
                    {{"slots", int64_t{space}}, {"branches", branches}, {"activation", std::string(activation)}}, part);
  }

  GraphBuilder b_;
  int ranks_, rank_;
  std::vector<int64_t> owners_;
  SpaceId sequence_ = kNone, token_ = kNone;
  ValueId x_ = kNone, stop_ = kNone;
};

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

constexpr int64_t kTokens = 5, kEach = 2;  // of each of a rank's sequences; of each rank

/// How ranks run.
struct Setup {
  std::vector<int64_t> owners;
  int turns = 0;
  bool emulated = false;
  bool least_budget = false;  ///< one branch at a time; else all weights are loaded
  int batches = 2;            ///< the same one, so many times
  std::function<void(int rank, int batch)> before = [](int, int) {};
  std::function<std::shared_ptr<const WeightSource>(int rank)> source = [](int) { return weights(); };
  std::function<int32_t(int rank)> stop = [](int) { return 0; };
  std::function<int32_t(int rank)> at = nullptr;  ///< null: nothing is kept
};
struct RanAsRanks {
  ExecutionResult last;
  WeightCounters counters;
  int64_t held_copies = 0;  ///< of the emulated device: those that may hold the calling thread
  std::vector<float> y() const { return last.outputs.at(0).reals; }
};

RanAsRanks run_rank(Graph graph, const Setup& setup, std::span<const float> x, int64_t sequences, int rank,
                    Communicator* communicator, const Progress& progress = {}) {
  cpu::CpuDevice cpu(1);
  EmulatedDevice emulated(1);
  Device& device = setup.emulated ? static_cast<Device&>(emulated) : cpu;
  const auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(std::move(graph))));
  const Bindings bindings = {sequences, kTokens};
  const std::shared_ptr<const WeightSource> source = setup.source(rank);
  int64_t budget = 0;
  if (setup.least_budget) {
    WeightStore all(device, source, kBudgetForAll);
    device.layout_of(program, all, {bindings});
    budget = all.least_budget();
  }
  WeightStore store(device, source, budget);
  CompileOptions options;
  options.bounds = bindings;
  options.communicator = communicator;
  Executor executor(device, store, program, options, progress);
  InputValues inputs;
  inputs.reals["x"].assign(x.begin(), x.end());
  inputs.integers["stop"].assign(static_cast<size_t>(sequences), setup.stop(rank));
  if (setup.at) inputs.integers["at"].assign(static_cast<size_t>(sequences), setup.at(rank));
  ExecuteOptions execute;
  execute.outputs = true;
  RanAsRanks ran;
  for (int batch = 0; batch < setup.batches; ++batch) {
    setup.before(rank, batch);
    executor.run(inputs, bindings, execute, ran.last);
  }
  ran.counters = store.counters();
  ran.held_copies = emulated.held_copies();
  return ran;
}

Graph graph_of(Mixture mixture, const Setup& setup) {
  if (setup.at) return mixture.keeping();
  return setup.turns > 0 ? mixture.in_turns(setup.turns) : mixture.once();
}

std::vector<float> cells(int ranks) {
  Random random(3);
  std::vector<float> all(static_cast<size_t>(ranks * kEach * kTokens * kWidth));
  for (float& v : all) v = static_cast<float>(random.normal());
  return all;
}

struct Ended {
  std::vector<RanAsRanks> ran;    ///< by rank
  std::vector<std::string> told;  ///< by rank, what its work threw; empty: nothing
  std::string thrown;             ///< for all
};
Ended run_all(int ranks, const Setup& setup, const std::vector<float>& all,
              const std::vector<Progress>& progress = {}) {
  const size_t part = all.size() / static_cast<size_t>(ranks);
  Ended ended;
  ended.ran.resize(static_cast<size_t>(ranks));
  ended.told.resize(static_cast<size_t>(ranks));
  try {
    run_ranks(ranks, [&](Communicator& communicator) {
      const int rank = communicator.rank();
      const auto r = static_cast<size_t>(rank);
      try {
        ended.ran[r] =
            run_rank(graph_of(Mixture(ranks, rank, setup.owners), setup), setup, std::span(all).subspan(part * r, part),
                     kEach, rank, &communicator, progress.empty() ? Progress() : progress[r]);
      } catch (const Error& e) {
        ended.told[r] = e.what();
        throw;
      }
    });
  } catch (const Error& e) {
    ended.thrown = e.what();
  }
  return ended;
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
    const std::vector<float> all = cells(ranks);
    for (const int turns : {0, 3}) {
      Setup setup;
      setup.owners = {owners.begin(), owners.end()};
      setup.turns = turns;
      const std::vector<float> expected =
          run_rank(graph_of(Mixture(0, 0, {}), setup), setup, all, ranks * kEach, 0, nullptr).y();
      for (const bool emulated : {false, true})
        for (const bool least_budget : {false, true}) {
          setup.emulated = emulated;
          setup.least_budget = least_budget;
          const Ended ended = run_all(ranks, setup, all);
          QCOMPARE(ended.thrown, std::string());
          std::vector<float> joined;
          int64_t waves = 0;
          for (const RanAsRanks& r : ended.ran) {
            const std::vector<float> y = r.y();
            joined.insert(joined.end(), y.begin(), y.end());
            // Decision, rows, and back, each once a turn.
            QCOMPARE(r.last.exchanges, int64_t{3} * std::max(turns, 1));
            QVERIFY(r.counters.slot_bytes <= r.counters.budget);
            QCOMPARE(r.held_copies, int64_t{0});
            waves += r.last.waves;
          }
          QVERIFY(std::ranges::equal(joined, expected));
          QCOMPARE(waves > 0, least_budget);
        }
    }
  }

  void what_waits_for_other_ranks_is_no_device() {
    // The tree: each of the three exchanges ends a leaf, and without them there would be one.
    const Program program = lower(std::make_shared<Graph>(Mixture(2, 0, {0, 0, 0, 1, 1, 1}).once()));
    cpu::CpuDevice device(1);
    WeightStore store(device, weights());
    const ExecutableLayout layout =
        device.layout_of(std::make_shared<Program>(program), store, {Bindings{kEach, kTokens}});
    QCOMPARE(program.ranks, 2);
    QCOMPARE(layout.segments.leaves.size(), size_t{4});
    for (size_t l = 0; l < 4; ++l) QCOMPARE(layout.segments.leaves[l].ends == SegmentEnd::exchange, l < 3);
    QCOMPARE(complaint([&] {
               run_rank(Mixture(2, 0, {0, 0, 0, 1, 1, 1}).once(), {}, cells(1), kEach, 0, nullptr);
             }),
             std::string("plan: is one of 2 ranks, and got no way to the others"));
  }

  void a_rank_that_waits_can_be_cancelled() {
    auto ends = in_process_ranks(2);
    const CancellationToken cancel, none;
    std::string why;
    std::thread waits([&] { why = complaint([&] { ends[0]->all_to_all("here", {}, {}, cancel); }); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    cancel.cancel();
    waits.join();
    QVERIFY2(why.find("interrupted") != std::string::npos, why.c_str());
    // Who comes later does not wait for it.
    QCOMPARE(complaint([&] { ends[1]->all_to_all("here", {}, {}, none); }),
             std::string("rank 1: ended because rank 0 failed: interrupted"));
  }

  void who_is_cancelled_does_not_take_back_what_another_still_copies() {
    // Rank 0 copies long before it comes to what rank 1 sends: 128 MiB of its own. Rank 1 has nothing to copy, is
    // cancelled, and writes over what it has sent as soon as its call ends.
    constexpr size_t kLong = size_t{128} << 20, kSent = size_t{1} << 20;
    const std::unique_ptr<void, decltype(&std::free)> own(std::calloc(kLong, 1), &std::free);
    std::string why = "never ran";
    std::vector<std::byte> arrived;
    // Rank 1 comes last, does not wait, and so is not asked for its token before they have met. On a busy machine it
    // may come first.
    for (auto late = std::chrono::milliseconds(20); !why.empty() && late < std::chrono::seconds(2); late *= 4) {
      const auto copied = std::make_unique_for_overwrite<std::byte[]>(kLong);
      std::vector<std::byte> sent(kSent, std::byte{1});
      arrived.assign(kSent, std::byte{0});
      auto ends = in_process_ranks(2);
      const CancellationToken none, cancelled;
      cancelled.cancel();
      std::thread copies([&] {
        const std::vector<std::span<const std::byte>> send = {{static_cast<const std::byte*>(own.get()), kLong}, {}};
        const std::vector<std::span<std::byte>> receive = {{copied.get(), kLong}, arrived};
        complaint([&] { ends[0]->all_to_all("here", send, receive, none); });
      });
      std::this_thread::sleep_for(late);
      const std::vector<std::span<const std::byte>> send = {sent, {}};
      const std::vector<std::span<std::byte>> receive(2);
      why = complaint([&] { ends[1]->all_to_all("here", send, receive, cancelled); });
      std::ranges::fill(sent, std::byte{2});
      copies.join();
    }
    QCOMPARE(why, std::string());
    QVERIFY(std::ranges::all_of(arrived, [](std::byte b) { return b == std::byte{1}; }));
  }

  void a_batch_that_is_cancelled_on_one_rank_ends_on_all() {
    const CancellationToken mine;
    std::vector<Progress> own = {Progress{mine, nullptr}, Progress{CancellationToken(), nullptr}};
    Setup setup;
    setup.owners = {0, 0, 0, 1, 1, 1};
    setup.batches = 1000000;
    setup.before = [&](int rank, int batch) {
      if (rank == 1 && batch == 20) mine.cancel(ErrorKind::terminated);
    };
    const Ended ended = run_all(2, setup, cells(2), own);
    QVERIFY2(ended.told[0].find("interrupted") != std::string::npos, ended.told[0].c_str());
    QVERIFY2(ended.told[1].starts_with("rank 1: ended because rank 0 failed: "), ended.told[1].c_str());
    QCOMPARE(ended.thrown, ended.told[0]);
  }

  /// The other rank waits for rows that never come.
  void a_step_that_its_data_makes_impossible_on_one_rank_ends_all() {
    for (const bool emulated : {false, true}) {
      Setup setup;
      setup.owners = {0, 0, 0, 1, 1, 1};
      setup.emulated = emulated;
      setup.at = [](int) { return kPlaces - kTokens; };
      QCOMPARE(run_all(2, setup, cells(2)).thrown, std::string());
      setup.at = [](int rank) { return kPlaces - kTokens + rank; };
      const Ended ended = run_all(2, setup, cells(2));
      QCOMPARE(ended.told[1], std::string("keep: expected rows that fit 6 places, got 5 from place 2"));
      QVERIFY2(ended.told[0].starts_with("rank 0: ended because rank 1 failed: "), ended.told[0].c_str());
      QCOMPARE(ended.thrown, ended.told[1]);
    }
  }

  void a_shard_that_gives_out_on_one_rank_ends_all_with_one_line() {
    for (const bool emulated : {false, true}) {
      std::vector<std::shared_ptr<FailingWeights>> sources;
      for (int r = 0; r < 2; ++r) sources.push_back(std::make_shared<FailingWeights>(weights()));
      Setup setup;
      setup.owners = {0, 0, 0, 1, 1, 1};
      setup.turns = 3;
      setup.emulated = emulated;
      setup.least_budget = true;
      setup.source = [&](int rank) { return sources[static_cast<size_t>(rank)]; };
      setup.before = [&](int rank, int batch) {
        if (rank == 1 && batch == 1) sources[1]->left = 2;  // the first batch is done, and this one has begun
      };
      const Ended ended = run_all(2, setup, cells(2));
      QCOMPARE(ended.thrown, std::string("shard: gave out"));
      QCOMPARE(ended.told[1], std::string("shard: gave out"));
      QCOMPARE(ended.told[0], std::string("rank 0: ended because rank 1 failed: shard: gave out"));
    }
  }

  void a_rank_that_cannot_begin_leaves_nobody_waiting() {
    // Its plan is one of three ranks: it is refused where two meet.
    std::vector<std::string> told(2);
    const std::string thrown = complaint([&] {
      run_ranks(2, [&](Communicator& c) {
        const int ranks = c.rank() == 0 ? 2 : 3;
        const std::vector<int64_t> owners = {0, 0, 0, 1, 1, ranks - 1};
        try {
          run_rank(Mixture(ranks, c.rank(), owners).once(), {}, cells(1), kEach, c.rank(), &c);
        } catch (const Error& e) {
          told[static_cast<size_t>(c.rank())] = e.what();
          throw;
        }
      });
    });
    QCOMPARE(told[1], std::string("rank 1: a plan of 3 ranks runs on 2"));
    QCOMPARE(thrown, told[1]);
    QCOMPARE(told[0], "rank 0: ended because rank 1 failed: " + told[1]);
  }

  void ranks_that_do_not_go_the_same_way_are_told() {
    // Rank 1 stops after its first turn, rank 0 goes on: without a word it would take the rows of another turn, or wait
    // for ever.
    Setup setup;
    setup.owners = {0, 0, 0, 1, 1, 1};
    setup.turns = 3;
    setup.stop = [](int rank) { return rank; };
    const Ended ended = run_all(2, setup, cells(2));
    const std::string here = "exchange arrived, turn 1 of rounds", end = "the end of a batch";
    QVERIFY2(ended.thrown == "rank 0: is at " + here + ", where rank 1 is at " + end ||
                 ended.thrown == "rank 1: is at " + end + ", where rank 0 is at " + here,
             ended.thrown.c_str());
    for (const std::string& told : ended.told) QVERIFY(!told.empty());
  }

  void rows_beyond_a_rank_s_bounds_are_refused() {
    // Rank 0 has planned for less than rank 1 sends it.
    std::vector<std::string> told(2);
    const std::string thrown = complaint([&] {
      run_ranks(2, [&](Communicator& c) {
        const int64_t sequences = c.rank() == 0 ? 1 : 40;
        Random random(5);
        std::vector<float> x(static_cast<size_t>(sequences * kTokens * kWidth));
        for (float& v : x) v = static_cast<float>(random.normal());
        try {
          run_rank(Mixture(2, c.rank(), {0, 0, 0, 0, 0, 1}).once(), {}, x, sequences, c.rank(), &c);
        } catch (const Error& e) {
          told[static_cast<size_t>(c.rank())] = e.what();
          throw;
        }
      });
    });
    QVERIFY2(told[0].starts_with("rank 0: exchange arrived: expected at most 20 rows, got "), told[0].c_str());
    QCOMPARE(thrown, told[0]);
  }
};

STORMCELL_TEST(RanksTest)

}  // namespace stormcell::testing::ranks_test
#include "ranks_test.moc"

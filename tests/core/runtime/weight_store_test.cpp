// The memory of weights, known before they are loaded; and their parts under a budget: which give way, who waits for
// whom, what a failure leaves.
#include "core/runtime/weight_store.h"

#include <QTest>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include "core/base/error.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "core/weights/recipe_weights.h"
#include "tests/core/runtime/numbered_parts.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Products of odd widths, a convolution, one by each channel alone, an embedding, norms and biases.
RandomCase every_layout(DType dtype) {
  CaseBuilder b(1);
  b.weight_dtype = dtype;
  const SpaceId images = b.root_space("images", b.bound_symbol("N", 2));
  const ValueId x = b.floats("x", images, {33}), maps = b.floats("maps", images, {6, 6, 8}),
                ids = b.integers("ids", images, 9);
  ValueId y = b.linear(b.norm(x, "norm"), 70, "odd");
  y = b.value("linear", {y, b.drawn("precise.weight", {5, 70}, 1)}, {{"precise", int64_t{1}}}, "precise");
  b.output("y", y);
  b.output("picture", b.conv(maps, 5, 3, 1, "conv"));
  b.output("each", b.value("conv2d", {maps, b.drawn("each.weight", {8, 3, 3, 1}, 1)},
                           {{"groups", int64_t{8}}, {"padding", int64_t{1}}}, "each"));
  b.output("embedded", b.value("embedding", {ids, b.drawn("table", {9, 7}, 1)}, {}, "embedded"));
  return b.take("every layout");
}

}  // namespace

class WeightStoreTest : public QObject {
  Q_OBJECT
 private slots:
  void bytes_before_loading_are_those_after_it() {
    cpu::CpuDevice cpu_device(1);
    EmulatedDevice emulated(1);
    for (Device* device : {static_cast<Device*>(&cpu_device), static_cast<Device*>(&emulated)})
      for (const DType dtype : {DType::f32, DType::f16, DType::bf16}) {
        const RandomCase c = every_layout(dtype);
        WeightStore store(*device, c.weights);
        const auto executable =
            device->compile(std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), store, {c.bindings});
        QVERIFY(executable->layout().always.size() == 8);
        for (const WeightHandle handle : executable->layout().always) {
          const int64_t before = store.counters().dense_bytes;
          store.load(handle);
          const int64_t took = store.counters().dense_bytes - before;
          QVERIFY2(took == store.bytes(handle), (store.key(handle).tensor + " as " + store.key(handle).layout + ": " +
                                                 std::to_string(store.bytes(handle)) + " and " + std::to_string(took))
                                                    .c_str());
        }
      }
  }

  void the_part_whose_next_use_is_farthest_gives_way() {
    // Beside a model of the rule: random uses, random distances of the next ones, with ties.
    for (uint64_t seed = 1; seed <= 30; ++seed) {
      Random random(seed);
      const auto parts = static_cast<int>(random.between(3, 12)),
                 slot_count = static_cast<int>(random.between(1, parts));
      Parts p(parts, slot_count);
      std::vector<int> there;  // least recently used first
      int64_t reads = 0, evictions = 0;
      for (int turn = 0; turn < 120; ++turn) {
        const auto part = static_cast<int>(random.below(parts));
        std::vector<int64_t> next(static_cast<size_t>(parts));
        for (int64_t& n : next) n = random.below(4);
        const auto next_of = [&](int i) { return next[static_cast<size_t>(i)]; };
        if (const auto at = std::find(there.begin(), there.end(), part); at != there.end()) {
          there.erase(at);
        } else {
          ++reads;
          if (static_cast<int>(there.size()) == slot_count) {
            ++evictions;
            there.erase(
                std::max_element(there.begin(), there.end(), [&](int a, int b) { return next_of(a) < next_of(b); }));
          }
        }
        there.push_back(part);
        p.use(part, [&](WeightHandle handle) { return next_of(static_cast<int>(handle)); });
        for (int i = 0; i < parts; ++i) {
          const bool expected = std::find(there.begin(), there.end(), i) != there.end();
          QVERIFY2(p.store.is_loaded(p.handles[static_cast<size_t>(i)]) == expected,
                   qPrintable(QString("seed %1, turn %2, part %3").arg(seed).arg(turn).arg(i)));
        }
      }
      const WeightCounters c = p.store.counters();
      QCOMPARE(c.reads, reads);
      QCOMPARE(c.evictions, evictions);
      QCOMPARE(c.bytes_read, reads * kPart);
      QCOMPARE(c.bytes_filled, reads * kPart);
      QCOMPARE(c.ready_bytes, static_cast<int64_t>(there.size()) * kPart);
      QCOMPARE(c.slot_bytes, slot_count * kPart);
    }
  }

  void batch_after_batch_slots_save_reads_where_the_longest_unused_would_save_none() {
    // n parts in order, C slots: C - 1 of n - 1 are hits (the least recently used would be gone each time).
    for (const auto& [n, slot_count] : {std::pair{4, 3}, std::pair{5, 3}, std::pair{10, 4}}) {
      Parts p(n, slot_count);
      const int rounds = 60 * (n - 1);
      for (int i = 0; i < rounds * n; ++i) p.use(i % n, p.cyclic_after(i % n));
      const double hits = 1 - static_cast<double>(p.store.counters().reads) / (rounds * n);
      QVERIFY2(std::abs(hits - (slot_count - 1.0) / (n - 1.0)) < 0.01,
               qPrintable(QString("%1 of %2: %3").arg(slot_count).arg(n).arg(hits)));
    }
  }

  void one_reading_serves_all_who_wait() {
    Parts p(3, 2);
    p.source->close();
    std::vector<std::thread> threads;
    for (int i = 0; i < 6; ++i) threads.emplace_back([&] { p.store.hold(p.handles[1], p.cyclic_after(0), {}); });
    std::this_thread::sleep_for(std::chrono::milliseconds(30));
    p.source->open();
    for (std::thread& t : threads) t.join();
    QCOMPARE(p.source->reads.load(), 1);
    QCOMPARE(first_value(p.store.address(p.handles[1])), 1.0f);
    QVERIFY(p.store.counters().stall_seconds > 0);
    p.store.end_use(std::vector<WeightHandle>(6, p.handles[1]));
  }

  void many_threads_find_what_they_use() {
    Parts p(12, 7);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (uint64_t t = 0; t < 6; ++t)
      threads.emplace_back([&, t] {
        Random random(t);
        for (int i = 0; i < 400; ++i) {
          const int32_t part = static_cast<int32_t>(random.below(12));
          const WeightStore::NextUse next = [&](WeightHandle handle) { return (static_cast<int>(handle) * 7 + i) % 5; };
          if (random.chance(0.3)) p.store.fetch_ahead(p.handles[static_cast<size_t>((part + 1) % 12)], next);
          p.store.hold(p.handles[static_cast<size_t>(part)], next, {});
          wrong += first_value(p.store.address(p.handles[static_cast<size_t>(part)])) != static_cast<float>(part);
          p.store.end_use({p.handles[static_cast<size_t>(part)]});
        }
      });
    for (std::thread& t : threads) t.join();
    QCOMPARE(wrong.load(), 0);
    const WeightCounters c = p.store.counters();
    QVERIFY(c.ready_bytes <= c.slot_bytes);
    QVERIFY(c.reads > 12 && c.evictions >= c.reads - 7 - 1);
  }

  void what_is_in_use_stays() {
    Parts p(4, 2);
    p.store.hold(p.handles[0], p.cyclic_after(0), {});
    for (int i = 1; i < 4; ++i) p.use(i, p.cyclic_after(i));
    QVERIFY(p.store.is_loaded(p.handles[0]));
    QCOMPARE(p.source->reads.load(), 4);
    p.store.end_use({p.handles[0]});
    // Reading ahead takes no slot of what is used before.
    QVERIFY(!p.store.fetch_ahead(p.handles[2], [](WeightHandle handle) { return handle == WeightHandle(2) ? 9 : 1; }));
    QVERIFY(p.store.fetch_ahead(p.handles[2], [](WeightHandle handle) { return handle == WeightHandle(2) ? 1 : 9; }));
  }

  void a_failure_is_told_to_who_waits_and_leaves_the_slots() {
    Parts p(3, 1);
    p.source->broken = true;
    for (int i = 0; i < 5; ++i) {
      ErrorKind kind{};
      QCOMPARE(complaint([&] { p.use(i % 3, p.cyclic_after(0)); }, &kind), std::string("shard: gave out"));
      QVERIFY(kind == ErrorKind::failed);
    }
    QCOMPARE(p.store.counters().reads, int64_t{0});
    QCOMPARE(p.store.counters().ready_bytes, int64_t{0});
    p.source->broken = false;
    for (int i = 0; i < 3; ++i) p.use(i, p.cyclic_after(i));
    QCOMPARE(p.store.counters().reads, int64_t{3});
  }

  void who_waits_can_be_interrupted() {
    Parts p(2, 1);
    p.source->close();
    CancellationToken cancel;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(30));
      cancel.cancel();
    });
    ErrorKind kind{};
    QVERIFY(!complaint([&] { p.store.hold(p.handles[0], p.cyclic_after(0), cancel); }, &kind).empty());
    QVERIFY(kind == ErrorKind::interrupted);
    other.join();
    p.source->open();
    p.use(0, p.cyclic_after(0));
    QCOMPARE(p.source->reads.load(), 1);
  }

  void who_needs_a_part_while_every_slot_is_busy_looks_again_when_one_came() {
    Parts p(3, 2);
    p.source->close();
    for (int i = 0; i < 2; ++i) QVERIFY(p.store.fetch_ahead(p.handles[static_cast<size_t>(i)], p.cyclic_after(0)));
    const auto now = [&] { return p.store.fetch_now(p.handles[2], p.cyclic_after(0), {}); };
    QVERIFY(!now());
    QVERIFY(p.store.counters().stall_seconds > 0);
    CancellationToken cancelled;
    cancelled.cancel();
    ErrorKind kind{};
    QVERIFY(!complaint([&] { p.store.fetch_now(p.handles[2], p.cyclic_after(0), cancelled); }, &kind).empty());
    QVERIFY(kind == ErrorKind::interrupted);
    p.source->open();
    while (!p.store.is_loaded(p.handles[0]) || !p.store.is_loaded(p.handles[1])) std::this_thread::yield();
    // Nothing has given way to it so far.
    QCOMPARE(p.store.counters().evictions, int64_t{0});
    QVERIFY(now());
    QCOMPARE(p.store.counters().evictions, int64_t{1});
    p.use(2, p.cyclic_after(0));
    QCOMPARE(p.source->reads.load(), 3);
  }

  // Between the look of who waits and his call a part of the same step may come.
  void what_is_used_as_soon_gives_way_to_nobody_but_who_holds() {
    Parts p(3, 2);
    const auto at_this_step = [](WeightHandle) { return 0; };
    for (int i = 0; i < 2; ++i) p.use(i, at_this_step);
    QVERIFY(!p.store.fetch_ahead(p.handles[2], at_this_step));
    QVERIFY(!p.store.fetch_now(p.handles[2], at_this_step, {}));
    QCOMPARE(p.store.counters().evictions, int64_t{0});
    p.use(2, at_this_step);
    QCOMPARE(p.store.counters().evictions, int64_t{1});
  }

  void what_waits_to_be_read_can_be_dropped() {
    Parts p(8, 8);
    p.source->close();
    for (int i = 0; i < 8; ++i) QVERIFY(p.store.fetch_ahead(p.handles[static_cast<size_t>(i)], p.cyclic_after(0)));
    while (p.source->reads.load() < kWeightReaders) std::this_thread::yield();
    p.store.drop_waiting();
    p.source->open();
    for (int i = 0; i < kWeightReaders; ++i) p.use(i, p.cyclic_after(i));
    QCOMPARE(p.source->reads.load(), kWeightReaders);
    QCOMPARE(p.store.counters().ready_bytes, kWeightReaders * kPart);
    // And who asks gets it.
    p.use(7, p.cyclic_after(7));
    QCOMPARE(p.source->reads.load(), kWeightReaders + 1);
  }

  void who_waits_for_slots_or_for_a_part_that_becomes_dense_can_be_interrupted() {
    Parts p(3, 2);
    p.store.hold(p.handles[0], p.cyclic_after(0), {});
    CancellationToken cancel;
    cancel.cancel();
    ErrorKind kind{};
    // More slots than there are, while one is in use.
    Parts unlike(2, 4);
    unlike.store.hold(unlike.handles[0], unlike.cyclic_after(0), {});
    for (int i = 0; i < 2; ++i) unlike.store.request({std::to_string(i), "plain_f32", DType::f32}, {"other", i});
    QVERIFY(!complaint([&] { unlike.store.arrange(cancel); }, &kind).empty());
    QVERIFY(kind == ErrorKind::interrupted);
    unlike.store.end_use({unlike.handles[0]});
    // One that nobody may take away.
    QCOMPARE(p.store.request({"0", "plain", DType::f32}), p.handles[0]);
    kind = {};
    QVERIFY(!complaint([&] { p.store.load(p.handles[0], cancel); }, &kind).empty());
    QVERIFY(kind == ErrorKind::interrupted);
    p.store.end_use({p.handles[0]});
    p.store.load(p.handles[0]);
    QVERIFY(p.store.is_loaded(p.handles[0]));
  }

  void bytes_of_the_source_are_counted_apart_from_those_of_slots() {
    cpu::CpuDevice device(1);
    WeightStore store(device, make_recipe_weights(std::make_shared<NumberedWeights>(2)), 4 * kPart);
    const WeightHandle half = store.request({R"(convert("1", bf16))", "plain", DType::bf16}, {"router", 0});
    store.arrange();
    store.hold(half, [](WeightHandle) { return 0; }, {});
    store.end_use({half});
    QCOMPARE(store.counters().bytes_read, kPart);
    QCOMPARE(store.counters().bytes_filled, kPart / 2);
  }

  /// However many a branch has.
  void a_budget_below_the_largest_part_is_refused() {
    cpu::CpuDevice device(1);
    // a slot is a little larger
    const auto source = std::make_shared<NumberedWeights>(5, std::vector<int64_t>{kWidth - 1});
    for (const int64_t budget : {kPart - 1, kPart}) {
      WeightStore store(device, source, budget);
      for (int i = 0; i < 5; ++i) store.request({std::to_string(i), "plain", DType::f32}, {"layer.1", 7});
      ErrorKind kind{};
      const std::string told = complaint([&] { store.arrange(); }, &kind);
      QCOMPARE(told.empty(), budget == kPart);
      QCOMPARE(store.slot_count(), int64_t{budget == kPart});
      if (told.empty()) continue;
      QVERIFY(kind == ErrorKind::bad_input);
      for (const char* word : {"--weight-budget", "7 of router layer.1", "at least 64 bytes"})
        QVERIFY2(told.find(word) != std::string::npos, told.c_str());
    }
  }

  void what_no_executable_reads_any_more_counts_no_more() {
    cpu::CpuDevice device(1);
    WeightStore store(device, std::make_shared<NumberedWeights>(4), 3 * kPart);
    const auto ask = [&](int i, PartResidency residency = PartResidency::streamed) {
      return store.request({std::to_string(i), "plain", DType::f32}, {"a", i}, residency);
    };
    const WeightHandle kept = ask(0, PartResidency::pinned), both = ask(1), first = ask(2),
                       dense = store.request({"3", "plain", DType::f32});
    auto one = std::make_unique<RetainedWeights>(store, std::vector{kept, both, first, dense});
    store.arrange();
    store.load({kept, dense});
    QCOMPARE(store.counters().pinned_bytes, kPart);
    QCOMPARE(store.counters().slot_bytes, 2 * kPart);
    store.hold(both, [](WeightHandle) { return 0; }, {});
    store.end_use({both});

    // Another plan, of which nothing is pinned; it reads what had been dense as a part.
    one.reset();
    QVERIFY(store.parts().empty());
    QCOMPARE(ask(0), kept);
    QCOMPARE(ask(1), both);
    QCOMPARE(ask(3), dense);
    const RetainedWeights other(store, {kept, both, dense});
    QVERIFY(store.is_part(kept) && store.is_part(dense));
    QCOMPARE(store.parts(), (std::vector{kept, both, dense}));
    store.arrange();
    const WeightCounters now = store.counters();
    QCOMPARE(now.pinned_bytes, int64_t{0});
    QCOMPARE(now.dense_bytes, int64_t{0});
    QCOMPARE(now.branch_weight_bytes, 3 * kPart);
    QCOMPARE(now.slot_bytes, 3 * kPart);
    for (const WeightHandle handle : {kept, both, dense}) {
      QVERIFY(!store.is_loaded(handle));
      store.hold(handle, [](WeightHandle) { return 0; }, {});
      store.end_use({handle});
    }
    QCOMPARE(first_value(store.address(dense)), 3.0f);
    QCOMPARE(first_value(store.address(kept)), 0.0f);
  }

  void what_a_plan_that_lives_reads_stays_whatever_others_ask() {
    cpu::CpuDevice device(1);
    WeightStore store(device, std::make_shared<NumberedWeights>(2), 2 * kPart);
    const WeightHandle dense = store.request({"0", "plain", DType::f32}),
                       part = store.request({"1", "plain", DType::f32}, {"a", 1});
    const RetainedWeights lives(store, {dense, part});
    store.arrange();
    store.load({dense});
    const DeviceAddress at = store.address(dense);
    {
      const RetainedWeights goes(
          store, {store.request({"0", "plain", DType::f32}), store.request({"1", "plain", DType::f32}, {"a", 1})});
    }
    store.arrange();
    QCOMPARE(store.address(dense).value, at.value);
    QCOMPARE(store.counters().slot_bytes, kPart);
    QCOMPARE(store.parts(), std::vector{part});
  }

  void slots_go_with_the_last_part() {
    cpu::CpuDevice device(1);
    WeightStore store(device, std::make_shared<NumberedWeights>(2), 2 * kPart);
    for (int i = 0; i < 2; ++i) store.request({std::to_string(i), "plain", DType::f32}, {"a", i});
    store.arrange();
    QCOMPARE(store.slot_count(), int64_t{2});
    for (int i = 0; i < 2; ++i) store.request({std::to_string(i), "plain", DType::f32});
    store.arrange();
    QCOMPARE(store.slot_count(), int64_t{0});
    QCOMPARE(store.counters().slot_bytes, int64_t{0});
  }

  void what_two_branches_read_is_dense() {
    cpu::CpuDevice device(1);
    WeightStore store(device, std::make_shared<NumberedWeights>(3), 3 * kPart);
    const auto ask = [&](int i, const BranchGroup& group) {
      return store.request({std::to_string(i), "plain", DType::f32}, group);
    };
    const WeightHandle one = ask(0, {"a", 0}), two = ask(1, {"a", 1}), three = ask(2, {"a", 2});
    QVERIFY(store.is_part(one) && store.is_part(two) && store.is_part(three));
    QCOMPARE(ask(0, {"a", 0}), one);
    QVERIFY(store.is_part(one));
    store.arrange();
    store.hold(two, [](WeightHandle) { return 0; }, {});
    store.end_use({two});
    QCOMPARE(ask(1, {"b", 1}), two);
    QCOMPARE(store.request({"2", "plain", DType::f32}), three);
    QVERIFY(store.is_part(one) && !store.is_part(two) && !store.is_part(three));
    for (const WeightHandle handle : {two, three}) store.load(handle);
    QCOMPARE(first_value(store.address(two)), 1.0f);
    QCOMPARE(first_value(store.address(three)), 2.0f);
    QCOMPARE(store.counters().dense_bytes, 2 * kPart);
    QCOMPARE(store.counters().ready_bytes, int64_t{0});
    // Once dense, dense.
    QCOMPARE(ask(1, {"a", 1}), two);
    QVERIFY(!store.is_part(two));
  }

  void without_a_budget_there_are_no_parts() {
    cpu::CpuDevice device(1);
    WeightStore store(device, std::make_shared<NumberedWeights>(1));
    const WeightHandle handle = store.request({"0", "plain", DType::f32}, {"a", 0});
    QVERIFY(!store.is_part(handle));
    store.arrange();
    QCOMPARE(store.counters().slot_bytes, int64_t{0});
    store.load(handle);
    std::vector<DeviceAddress> table;
    std::vector<WeightHandle> in_use;
    uint64_t version = 0;
    QVERIFY(store.take(table, in_use, version) && in_use.empty() && table.at(0).value == store.address(handle).value);
    QVERIFY(!store.take(table, in_use, version));
  }
};
STORMCELL_TEST(WeightStoreTest)

}  // namespace stormcell::testing
#include "weight_store_test.moc"

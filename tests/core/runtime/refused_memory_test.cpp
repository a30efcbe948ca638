// Memory is refused while weights are asked for or loaded: the store is as before, and who asks again gets what it
// asked for.
#include "tests/core/runtime/refused_memory.h"

#include <new>
#include <thread>

#include "tests/core/runtime/numbered_parts.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// The part that is read last in the order of the numbers gives way first.
int64_t number_of(WeightHandle handle) { return static_cast<int64_t>(handle); }

/// Makes things anew by `make`, refuses `call` its first allocation, then its second, until none is left to refuse, and
/// has `check` look at what each refusal left. How many there were.
template <class Make, class Call, class Check>
int refuse_each(Make make, Call call, Check check) {
  for (int refusals = 0;; ++refusals) {
    const auto things = make();
    bool refused = false;
    allocations_until_refusal = refusals;
    try {
      call(*things);
    } catch (const std::bad_alloc&) {
      refused = true;
    } catch (const Error&) {
      refused = true;  // who allocates for a weight says for which
    }
    allocations_until_refusal = INT64_MAX;
    if (!refused) return refusals;
    check(*things);
  }
}

/// A device whose memory for slots is limited.
class Small final : public cpu::CpuDevice {
 public:
  Small() : cpu::CpuDevice(1) {}
  std::unique_ptr<DeviceBuffer> allocate(int64_t bytes, const std::string& what) override {
    if (what == "weights of branches" && bytes > most) failed(what, "no memory");
    return cpu::CpuDevice::allocate(bytes, what);
  }
  int64_t most = INT64_MAX;
};

}  // namespace

class RefusedMemoryTest : public QObject {
  Q_OBJECT
 private slots:
  void init() {
#ifndef STORMCELL_COUNTS_ALLOCATIONS
    if (QString(QTest::currentTestFunction()) != "slots_that_the_device_refuses_leave_those_of_before")
      QSKIP("sanitizers allocate by themselves: memory is refused in the ordinary build");
#endif
  }

  void a_part_that_was_refused_memory_takes_no_slot() {
    const auto two_of_three_are_there = [] {
      auto p = std::make_unique<Parts>(3, 2);
      for (int i = 0; i < 2; ++i) p->use(i, number_of);
      return p;
    };
    const auto nothing_gave_way = [](Parts& p) {
      QVERIFY(p.store.is_loaded(p.handles[0]) && p.store.is_loaded(p.handles[1]));
      QCOMPARE(p.store.counters().evictions, int64_t{0});
      p.use(2, number_of);  // would wait for ever for a reading that nobody was told of
      QCOMPARE(p.store.counters().evictions, int64_t{1});
      QCOMPARE(p.store.counters().reads, int64_t{3});
      p.store.request({"2", "plain_f32", DType::f32}, {"router", 3});
      p.store.arrange();  // would wait for ever for a slot that is being read
    };
    const auto before_the_others = [](WeightHandle handle) { return handle == WeightHandle(2) ? 0 : 1; };
    QVERIFY(refuse_each(
                two_of_three_are_there, [&](Parts& p) { p.store.fetch_now(p.handles[2], before_the_others, {}); },
                nothing_gave_way) >= 2);
    QVERIFY(refuse_each(
                two_of_three_are_there, [&](Parts& p) { p.store.fetch_ahead(p.handles[2], before_the_others); },
                nothing_gave_way) >= 2);
  }

  void a_weight_that_was_refused_memory_can_be_asked_for_again() {
    const auto ask = [](Parts& p) { p.handles.push_back(p.store.request({"4", "plain", DType::f32}, {"router", 4})); };
    const auto asked_again = [&](Parts& p) {
      if (p.handles.size() == 5) return;  // it was refused behind the store
      ask(p);
      QCOMPARE(p.handles[4], WeightHandle(4));
      QCOMPARE(p.store.bytes(p.handles[4]), kPart);
      QCOMPARE(p.store.parts().size(), size_t{5});
    };
    const auto make = [] {
      auto p = std::make_unique<Parts>(5, 5, 4);
      p->handles.reserve(8);
      return p;
    };
    QVERIFY(refuse_each(make, ask, asked_again) >= 2);
  }

  void a_dense_weight_that_was_refused_memory_can_be_loaded_again() {
    struct Dense {
      cpu::CpuDevice device{1};
      WeightStore store{device, std::make_shared<NumberedWeights>(1)};
      WeightHandle handle = store.request({"0", "plain", DType::f32});
    };
    const auto not_there = [](Dense& d) {
      QVERIFY(!d.store.is_loaded(d.handle));
      QCOMPARE(d.store.counters().dense_bytes, int64_t{0});
      d.store.load(d.handle);
      QCOMPARE(d.store.counters().dense_bytes, kPart);
      QCOMPARE(first_value(d.store.address(d.handle)), 0.0f);
    };
    QVERIFY(refuse_each([] { return std::make_unique<Dense>(); }, [](Dense& d) { d.store.load(d.handle); },
                        not_there) >= 2);
  }

  void a_table_that_was_refused_memory_is_given_the_next_time() {
    struct Taker {
      cpu::CpuDevice device{1};
      WeightStore store{device, std::make_shared<NumberedWeights>(1)};
      std::vector<DeviceAddress> table;
      std::vector<WeightHandle> in_use;
      uint64_t version = 0;
      bool take() { return store.take(table, in_use, version); }
    };
    const auto make = [] {
      auto t = std::make_unique<Taker>();
      t->store.load(t->store.request({"0", "plain", DType::f32}));
      return t;
    };
    QCOMPARE(refuse_each(
                 make, [](Taker& t) { t.take(); }, [](Taker& t) { QVERIFY(t.take() && t.table.size() == 1); }),
             1);
  }

  void what_waits_is_dropped_without_memory() {
    Parts p(6, 6);
    p.source->close();
    for (int i = 0; i < 6; ++i) QVERIFY(p.store.fetch_ahead(p.handles[static_cast<size_t>(i)], number_of));
    while (p.source->reads.load() < kWeightReaders) std::this_thread::yield();
    allocations_until_refusal = 0;
    p.store.drop_waiting();
    const bool asked_for_none = allocations_until_refusal == 0;
    allocations_until_refusal = INT64_MAX;
    p.source->open();
    QVERIFY(asked_for_none);
  }

  void a_reader_that_is_refused_memory_tells_who_waits() {
    // The name of the tensor is all that this size is allocated for.
    const std::string name(299, '0');
    cpu::CpuDevice device(1);
    WeightStore store(device, std::make_shared<NumberedWeights>(1), kPart);
    const WeightHandle handle = store.request({name, "plain", DType::f32}, {"router", 0});
    store.arrange();
    refused_bytes = name.size() + 1;
    bool told = false;
    try {
      store.hold(handle, number_of, {});
    } catch (const std::bad_alloc&) {
      told = true;
    }
    refused_bytes = 0;
    QVERIFY(told);
    store.hold(handle, number_of, {});
    QCOMPARE(first_value(store.address(handle)), 0.0f);
    store.end_use({handle});
  }

  void slots_that_the_device_refuses_leave_those_of_before() {
    Small device;
    WeightStore store(device, std::make_shared<NumberedWeights>(4), 4 * kPart);
    std::vector<WeightHandle> handles;
    const auto ask = [&] {
      const auto i = static_cast<int32_t>(handles.size());
      handles.push_back(store.request({std::to_string(i), "plain", DType::f32}, {"router", i}));
    };
    const auto holds = [&](size_t i) {
      store.hold(handles[i], number_of, {});
      const float value = first_value(store.address(handles[i]));
      store.end_use({handles[i]});
      return value == static_cast<float>(i);
    };
    for (int i = 0; i < 2; ++i) ask();
    store.arrange();
    QVERIFY(holds(0) && holds(1));
    for (int i = 0; i < 2; ++i) ask();
    device.most = 3 * kPart;
    std::string told;
    try {
      store.arrange();
    } catch (const Error& e) {
      told = e.what();
    }
    QCOMPARE(told, std::string("weights of branches: no memory"));
    QCOMPARE(store.slot_count(), int64_t{2});
    QCOMPARE(store.counters().slot_bytes, 2 * kPart);
    // Whose plan runs already goes on with them, and who comes later may find memory.
    QVERIFY(holds(0) && holds(1) && holds(3));
    device.most = INT64_MAX;
    store.arrange();
    QCOMPARE(store.slot_count(), int64_t{4});
    for (size_t i = 0; i < 4; ++i) QVERIFY(holds(i));
  }
};
STORMCELL_TEST(RefusedMemoryTest)

}  // namespace stormcell::testing
#include "refused_memory_test.moc"

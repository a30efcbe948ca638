// The emulator itself: what it must notice, and that lanes and barriers mean what they mean on a card.
#include "tests/gpu/emulator.h"

#include <vector>

#include "gpu/base/execution.h"
#include "tests/testing/testing.h"

namespace stormcell::emulator_test {
namespace {
using testing::emulate;
using testing::HostExecution;
using testing::run_grid;
using testing::ThreadOrder;

constexpr ThreadOrder kOrders[] = {ThreadOrder::ascending, ThreadOrder::descending, ThreadOrder::shuffled};

// Each block turns its 64 numbers round by way of shared memory.
struct TurnKernel {
  struct Args {
    const int* from;
    int* to;
    bool with_barrier;
  };
  struct Shared {
    int value[64];
  };
  static constexpr int kThreads = 64;
  template <class X>
  static void run(X& x, const Args& a) {
    auto& shared = x.template shared<Shared>();
    shared.value[x.thread()] = a.from[x.block() * 64 + x.thread()];
    if (a.with_barrier) x.sync();
    a.to[x.block() * 64 + x.thread()] = shared.value[63 - x.thread()];
  }
};
}  // namespace

class EmulatorTest : public QObject {
  Q_OBJECT
 private slots:
  void barriers_order_shared_memory() {
    std::vector<int> from(192), to(192), turned(192);
    for (int i = 0; i < 192; ++i)
      from[static_cast<size_t>(i)] = i, turned[static_cast<size_t>(i)] = i / 64 * 64 + 63 - i % 64;
    for (const ThreadOrder order : kOrders) {
      QCOMPARE(emulate<TurnKernel>(3, {from.data(), to.data(), true}, order), std::string());
      QVERIFY(to == turned);
    }
  }
  void a_missing_barrier_shows() {
    std::vector<int> from(64, 7), to(64), right(64, 7);
    QCOMPARE(emulate<TurnKernel>(1, {from.data(), to.data(), false}), std::string());
    QVERIFY(to != right);
  }
  void threads_that_miss_a_barrier_are_noticed() {
    const std::string wrong = run_grid(1, 64, 0, ThreadOrder::ascending, [](HostExecution& x) {
      if (x.thread() != 5) x.sync();
    });
    QVERIFY2(wrong.find("miss a barrier") != std::string::npos, wrong.c_str());
    const std::string half = run_grid(2, 32, 0, ThreadOrder::ascending, [](HostExecution& x) {
      if (x.thread() < 16) x.sync_warp();
    });
    QVERIFY2(half.find("miss a barrier") != std::string::npos, half.c_str());
  }
  void lanes_that_exchange_different_things_are_noticed() {
    const auto noticed = [](const auto& body) {
      const std::string wrong = run_grid(1, 64, 0, ThreadOrder::shuffled, body);
      return wrong.find("warp 1 exchange different things") != std::string::npos;
    };
    const auto odd = [](const HostExecution& x) { return x.thread() >= 32 && x.thread() % 2 == 1; };
    QVERIFY(noticed([&](HostExecution& x) { odd(x) ? static_cast<void>(x.ballot(true)) : x.sync_warp(); }));
    QVERIFY(noticed([&](HostExecution& x) { odd(x) ? x.match(1) : x.ballot(true); }));
    QVERIFY(noticed([&](HostExecution& x) { x.shuffle_xor(1, odd(x) ? 2 : 4); }));
  }
  void writes_past_shared_memory_are_noticed() {
    const std::string wrong =
        run_grid(1, 32, 128, ThreadOrder::ascending, [](HostExecution& x) { x.shared<int[40]>()[x.thread() + 1] = 1; });
    QVERIFY2(wrong.find("past its shared memory") != std::string::npos, wrong.c_str());
  }
  void threads_wait_for_what_others_do() {
    for (const ThreadOrder order : kOrders) {
      int turns = 0;
      const std::string wrong = run_grid(1, 64, 0, order, [&](HostExecution& x) {
        x.until([&] { return turns == 63 - x.thread(); });
        ++turns;
      });
      QCOMPARE(wrong, std::string());
      QCOMPARE(turns, 64);
    }
  }
  void nobody_can_go_on_unless_something_happens() {
    int happened = 0;
    const auto waits = [&](HostExecution& x) { x.until([&] { return happened >= 3; }); };
    const std::string wrong = run_grid(1, 32, 0, ThreadOrder::ascending, waits);
    QVERIFY2(wrong.find("nobody can go on") != std::string::npos, wrong.c_str());
    QCOMPARE(run_grid(1, 32, 0, ThreadOrder::ascending, waits, [&](int) { return ++happened < 10; }), std::string());
  }
  void lanes_see_each_other() {
    for (const ThreadOrder order : kOrders) {
      std::vector<int> sums(64), first(64);
      std::vector<uint32_t> odd(64), same(64);
      const std::string wrong = run_grid(1, 64, 0, order, [&](HostExecution& x) {
        const auto t = static_cast<size_t>(x.thread());
        int sum = x.thread();
        for (int mask = 16; mask > 0; mask /= 2) sum += x.shuffle_xor(sum, mask);
        sums[t] = sum;
        odd[t] = x.ballot(x.thread() % 2 == 1);
        same[t] = x.match(x.thread() % 4);
      });
      QCOMPARE(wrong, std::string());
      for (size_t t = 0; t < 64; ++t) {
        QCOMPARE(sums[t], t < 32 ? 496 : 1520);
        QCOMPARE(odd[t], 0xaaaaaaaau);
        QCOMPARE(same[t], 0x11111111u << t % 4);
      }
    }
  }
  void sums_over_a_block() {
    for (const ThreadOrder order : kOrders) {
      std::vector<int32_t> before(128), totals(128);
      const std::string wrong = run_grid(1, 128, 64, order, [&](HostExecution& x) {
        auto* warps = x.shared<int32_t[16]>();
        const auto t = static_cast<size_t>(x.thread());
        for (int repeat = 0; repeat < 3; ++repeat)
          before[t] = gpu::sum_before<128>(x, x.thread() * 3 + repeat, warps, totals[t]);
      });
      QCOMPARE(wrong, std::string());
      int32_t sum = 0;
      for (size_t t = 0; t < 128; ++t) {
        QCOMPARE(before[t], sum);
        sum += static_cast<int32_t>(t) * 3 + 2;
      }
      for (const int32_t total : totals) QCOMPARE(total, sum);
    }
  }
};

STORMCELL_TEST(EmulatorTest)
}  // namespace stormcell::emulator_test
#include "emulator_test.moc"

// Blocks that are used again: the same memory, and no page fault for what was there.
#include "core/base/reused_memory.h"

#include <sys/resource.h>

#include <cstring>
#include <thread>

#include "core/base/error.h"
#include "tests/testing/testing.h"

namespace stormcell {
namespace {

int64_t page_faults() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return used.ru_minflt;
}

constexpr int64_t kBytes = 8 << 20;

}  // namespace

class ReusedMemoryTest : public QObject {
  Q_OBJECT
 private slots:
  void what_is_let_go_of_is_given_again() {
    const ReusedMemory reused;
    const std::byte* first = reusable_block(kBytes, "block").get();
    QCOMPARE(reusable_block(kBytes, "block").get(), first);
    QCOMPARE(reusable_block(kBytes / 2, "block").get(), first);
    QCOMPARE(reinterpret_cast<uintptr_t>(first) % 64, uintptr_t{0});
    // Two at one time are two; of those the smaller one that is large enough.
    {
      const auto large = reusable_block(kBytes, "block"), small = reusable_block(1000, "block");
      QVERIFY(large.get() == first && small.get() != first);
    }
    QVERIFY(reusable_block(500, "block").get() != first);
    QCOMPARE(reusable_block(2000, "block").get(), first);
  }
  void blocks_used_again_cost_no_page_faults() {
    const ReusedMemory reused;
    std::memset(reusable_block(kBytes, "block").get(), 1, kBytes);
    const int64_t before = page_faults();
    for (int i = 0; i < 20; ++i) std::memset(reusable_block(kBytes, "block").get(), i, kBytes);
    QVERIFY2(page_faults() - before < kBytes / 4096, std::to_string(page_faults() - before).c_str());
  }
  void a_block_may_outlive_the_thread_that_asked_for_it() {
    std::shared_ptr<std::byte> left;
    std::thread([&] {
      const ReusedMemory reused;
      left = reusable_block(kBytes, "block");
    }).join();
    std::memset(left.get(), 7, kBytes);
    left.reset();
    // And another thread may let go of it while the one that asked goes on.
    const ReusedMemory reused;
    for (int i = 0; i < 50; ++i) {
      auto block = reusable_block(1 << 16, "block");
      std::thread([given = std::move(block)] { std::memset(given.get(), 1, 1 << 16); }).join();
    }
  }
  void without_it_blocks_come_and_go() {
    const auto block = reusable_block(kBytes, "block");
    std::memset(block.get(), 1, kBytes);
    QVERIFY(reusable_block(0, "block") != nullptr);
  }
  void what_there_is_no_memory_for_is_named() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    QSKIP("sanitizers end a program that asks for so much");
#endif
    try {
      reusable_block(int64_t{1} << 60, "tensor x");
      QFAIL("there was memory");
    } catch (const Error& e) {
      QVERIFY2(std::string(e.what()).starts_with("tensor x: no memory for "), e.what());
      QVERIFY(e.kind() == ErrorKind::failed);
    }
  }
};
STORMCELL_TEST(ReusedMemoryTest)

}  // namespace stormcell
#include "reused_memory_test.moc"

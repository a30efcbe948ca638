// Nothing is allocated between the submission of a batch and its end, once a batch of that shape was seen.
#include <atomic>
#include <cstdlib>
#include <new>

#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/core/runtime/refused_memory.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"

namespace {
std::atomic<int64_t> allocations{0};
std::atomic<bool> counting{false};
}  // namespace

#ifdef STORMCELL_COUNTS_ALLOCATIONS
void* operator new(size_t size) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  if (stormcell::testing::is_refused(size)) throw std::bad_alloc();
  if (void* p = std::malloc(size ? size : 1)) return p;
  throw std::bad_alloc();
}
void* operator new(size_t size, std::align_val_t align) {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  if (void* p =
          std::aligned_alloc(static_cast<size_t>(align), (size + static_cast<size_t>(align) - 1) /
                                                             static_cast<size_t>(align) * static_cast<size_t>(align)))
    return p;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, size_t, std::align_val_t) noexcept { std::free(p); }
void* operator new(size_t size, const std::nothrow_t&) noexcept {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
  return std::malloc(size ? size : 1);
}
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
#endif

namespace stormcell::testing {

class AllocationTest : public QObject {
  Q_OBJECT
 private slots:
  void the_hot_path_allocates_nothing() {
#ifndef STORMCELL_COUNTS_ALLOCATIONS
    QSKIP("sanitizers allocate by themselves: allocations are counted in the ordinary build");
#endif
    for (uint64_t seed = 0; seed < 30; ++seed) {
      const RandomCase c = make_random_case(seed);
      const InputValues inputs = input_values(c);
      cpu::CpuDevice device(2);
      WeightStore store(device, c.weights);
      Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings);
      ExecutionResult result;
      executor.run(inputs, c.bindings, {}, result);
      allocations = 0;
      counting = true;
      executor.run(inputs, c.bindings, {}, result);
      counting = false;
      QVERIFY2(allocations == 0,
               qPrintable(QString("%1: %2 allocations").arg(QString::fromStdString(c.name)).arg(allocations.load())));
    }
  }
};

STORMCELL_TEST(AllocationTest)

}  // namespace stormcell::testing
#include "allocation_test.moc"

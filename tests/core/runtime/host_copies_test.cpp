// Copies of the host pass through pinned memory where a device copies on its own, and through none where copies are
// done at once.
#include <cstring>
#include <memory>
#include <numeric>
#include <vector>

#include "core/cpu/cpu_device.h"
#include "core/runtime/executor.h"
#include "core/runtime/host_copies.h"
#include "core/runtime/lower.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing {
namespace {

/// Counts what is allocated of pinned memory.
template <class DeviceOf>
class CountsPinned final : public DeviceOf {
 public:
  using DeviceOf::DeviceOf;
  std::unique_ptr<PinnedBuffer> allocate_pinned(int64_t bytes, const std::string& what) override {
    ++pinned;
    return DeviceOf::allocate_pinned(bytes, what);
  }
  int64_t pinned = 0;
};

/// Writes numbers to a device in pieces, each from the same memory of the host, and reads them back in pieces.
std::vector<int32_t> there_and_back(Device& device, HostCopies& copies, Stream& stream, int32_t first, size_t pieces,
                                    size_t size) {
  const auto bytes = static_cast<int64_t>(size * sizeof(int32_t));
  const auto there = device.allocate(static_cast<int64_t>(pieces) * bytes, "numbers");
  copies.begin();
  std::vector<int32_t> piece(size);
  for (size_t i = 0; i < pieces; ++i) {
    std::iota(piece.begin(), piece.end(), first + static_cast<int32_t>(i * size));
    copies.to_device(stream, there->address() + static_cast<int64_t>(i) * bytes, piece.data(), bytes);
  }
  std::fill(piece.begin(), piece.end(), -1);
  std::vector<int32_t> came(pieces * size);
  for (size_t i = 0; i < pieces; ++i)
    copies.to_host(stream, came.data() + i * size, there->address() + static_cast<int64_t>(i) * bytes, bytes);
  copies.synchronize(stream);
  return came;
}
std::vector<int32_t> numbers_from(int32_t first, size_t count) {
  std::vector<int32_t> numbers(count);
  std::iota(numbers.begin(), numbers.end(), first);
  return numbers;
}

}  // namespace

class HostCopiesTest : public QObject {
  Q_OBJECT
 private slots:
  void the_caller_s_memory_is_free_at_once_and_results_are_whole() {
    // Pieces of which many fit into a block, and pieces that are larger than one.
    for (const size_t size : {size_t{3}, size_t{1000}, size_t{100000}}) {
      EmulatedDevice emulated(1);
      cpu::CpuDevice cpu(1);
      for (Device* device : {static_cast<Device*>(&emulated), static_cast<Device*>(&cpu)}) {
        HostCopies copies(*device);
        const auto stream = device->create_stream();
        for (const int32_t first : {0, 7})
          QVERIFY(there_and_back(*device, copies, *stream, first, 9, size) == numbers_from(first, 9 * size));
      }
      QCOMPARE(emulated.held_copies(), int64_t{0});
    }
  }

  void what_is_brought_stays_until_the_next_copy() {
    EmulatedDevice device(1);
    HostCopies copies(device);
    const auto stream = device.create_stream();
    const auto there = device.allocate(8, "two numbers");
    const std::vector<int32_t> numbers{3, 5};
    copies.begin();
    copies.to_device(*stream, there->address(), numbers.data(), 8);
    const std::byte* brought = copies.bring(*stream, there->address(), 8);
    copies.synchronize(*stream);
    QVERIFY(std::memcmp(brought, numbers.data(), 8) == 0);
    QCOMPARE(reinterpret_cast<uintptr_t>(brought) % 64, uintptr_t{0});
  }

  void a_batch_like_one_before_takes_no_more_memory() {
    CountsPinned<EmulatedDevice> device(1);
    HostCopies copies(device);
    const auto stream = device.create_stream();
    for (const size_t size : {size_t{10}, size_t{50000}}) {
      for (int batch = 0; batch < 2; ++batch) there_and_back(device, copies, *stream, 0, 5, size);
      const int64_t before = device.pinned;
      for (int batch = 0; batch < 3; ++batch) there_and_back(device, copies, *stream, 0, 5, size);
      QCOMPARE(device.pinned, before);
    }
    // A smaller one finds room, too.
    const int64_t before = device.pinned;
    there_and_back(device, copies, *stream, 0, 3, 100);
    QCOMPARE(device.pinned, before);
  }

  void many_synchronisations_in_a_batch_take_no_more_memory() {
    CountsPinned<EmulatedDevice> device(1);
    HostCopies copies(device);
    copies.reserve(4000);
    const auto stream = device.create_stream();
    const auto there = device.allocate(4000, "numbers");
    const std::vector<int32_t> numbers = numbers_from(0, 1000);
    copies.begin();
    for (int leaf = 0; leaf < 200; ++leaf) {
      copies.to_device(*stream, there->address(), numbers.data(), 4000);
      copies.synchronize(*stream);
    }
    QCOMPARE(device.pinned, int64_t{1});
  }

  void a_device_that_copies_at_once_reads_the_caller_s_memory() {
    CountsPinned<cpu::CpuDevice> device(1);
    HostCopies copies(device);
    copies.reserve(int64_t{1} << 30);
    const auto stream = device.create_stream();
    QVERIFY(there_and_back(device, copies, *stream, 2, 4, 5000) == numbers_from(2, 20000));
    QCOMPARE(device.pinned, int64_t{0});
  }

  void a_batch_that_failed_leaves_nothing_behind() {
    EmulatedDevice device(1);
    HostCopies copies(device);
    const auto stream = device.create_stream();
    const auto there = device.allocate(8, "two numbers");
    const std::vector<int32_t> numbers{3, 5};
    copies.begin();
    copies.to_device(*stream, there->address(), numbers.data(), 8);
    {
      std::vector<int32_t> gone(2);
      copies.to_host(*stream, gone.data(), there->address(), 8);
      stream->synchronize();  // as an executor does that hands nothing over
    }
    QVERIFY(there_and_back(device, copies, *stream, 1, 2, 8) == numbers_from(1, 16));
  }

  // Weights of the least plan, inputs, outputs, records, events, replays: all that an executor copies.
  void no_copy_of_an_executor_holds_the_thread() {
    std::vector<RandomCase> cases;
    for (uint64_t seed = 0; seed < 6; ++seed) cases.push_back(make_random_case(seed));
    for (const Toy& toy : toys()) cases.push_back(toy.make(1));
    for (const RandomCase& c : cases) {
      CountsPinned<EmulatedDevice> device(2);
      WeightStore store(device, c.weights);
      Executor executor(device, store, std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph))), c.bindings);
      ExecuteOptions options;
      options.outputs = options.record = options.events = true;
      ExecutionResult free, replayed;
      executor.run(input_values(c), c.bindings, options, free);
      ReplayedDecisions decisions(executor.program().routers.size());
      for (const ExecutedDecision& d : free.decisions) decisions[d.router].push_back({d.choice, d.ancestor});
      options.replayed = &decisions;
      executor.run(input_values(c), c.bindings, options, replayed);
      executor.run(input_values(c), c.bindings, options, replayed);
      const int64_t before = device.pinned;
      executor.run(input_values(c), c.bindings, options, replayed);
      QVERIFY2(device.held_copies() == 0, c.name.c_str());
      QVERIFY2(device.pinned == before, c.name.c_str());
      for (size_t i = 0; i < free.outputs.size(); ++i) {
        const OutputValue &one = free.outputs[i], &other = replayed.outputs[i];
        QVERIFY2(one.integers == other.integers && one.reals.size() == other.reals.size(), c.name.c_str());
        QVERIFY2(one.reals.empty() || std::memcmp(one.reals.data(), other.reals.data(), one.reals.size() * 4) == 0,
                 c.name.c_str());
      }
    }
  }
};

STORMCELL_TEST(HostCopiesTest)

}  // namespace stormcell::testing
#include "host_copies_test.moc"

// Work on several streams: what keeps an order between them, and that the emulated device shows where nothing does.
#include <array>
#include <chrono>
#include <numeric>
#include <string>

#include "core/base/error.h"
#include "core/cpu/cpu_device.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr StreamOrder kOrders[] = {StreamOrder::only_what_is_waited_for, StreamOrder::all_others_before};
constexpr size_t kCount = 64;
constexpr auto kBytes = static_cast<int64_t>(kCount * sizeof(int32_t));

/// Holds what a device with a loading stream beside the computing one does: `second` comes into the buffer from which
/// `first` is still read.
class Loading {
 public:
  explicit Loading(Device& device)
      : here_(device.allocate_pinned(2 * kBytes, "loads")),
        there_(device.allocate(kBytes, "weights")),
        computing_(device.create_stream()),
        loading_(device.create_stream()),
        is_loaded_(device.create_event()),
        is_read_(device.create_event()) {
    std::iota(loads(), loads() + 2 * kCount, 0);
  }

  /// Loads and reads twice; each wait may be left out.
  void run(bool reads_wait, bool writes_wait) {
    for (size_t i = 0; i < 2; ++i) {
      if (i > 0 && writes_wait) loading_->wait(*is_read_);
      loading_->copy_pinned_to_device(there_->address(), loads() + i * kCount, kBytes);
      loading_->record(*is_loaded_);
      if (reads_wait) computing_->wait(*is_loaded_);
      computing_->copy_to_host(came_[i].data(), there_->address(), kBytes);
      computing_->record(*is_read_);
    }
    computing_->synchronize();
  }
  bool is_right() const {
    for (size_t i = 0; i < 2; ++i)
      for (size_t k = 0; k < kCount; ++k)
        if (came_[i][k] != static_cast<int32_t>(i * kCount + k)) return false;
    return true;
  }

 private:
  int32_t* loads() { return reinterpret_cast<int32_t*>(here_->data()); }
  std::unique_ptr<PinnedBuffer> here_;
  std::unique_ptr<DeviceBuffer> there_;
  std::unique_ptr<Stream> computing_, loading_;
  std::unique_ptr<Event> is_loaded_, is_read_;
  std::array<std::array<int32_t, kCount>, 2> came_{};
};

bool is_right(StreamOrder order, bool reads_wait, bool writes_wait) {
  EmulatedDevice device(1, order);
  Loading loading(device);
  loading.run(reads_wait, writes_wait);
  return loading.is_right();
}

}  // namespace

class StreamsTest : public QObject {
  Q_OBJECT
 private slots:
  void who_waits_for_all_it_needs_is_right_in_any_order() {
    for (const StreamOrder order : kOrders) QVERIFY(is_right(order, true, true));
    cpu::CpuDevice device(1);
    Loading loading(device);
    loading.run(true, true);
    QVERIFY(loading.is_right());
  }

  void a_read_that_does_not_wait_comes_too_early() {
    QVERIFY(!is_right(StreamOrder::only_what_is_waited_for, false, true));
  }

  void a_write_that_does_not_wait_comes_too_early() {
    QVERIFY(!is_right(StreamOrder::all_others_before, true, false));
    // The other order cannot show it: nothing is written before it is waited for.
    QVERIFY(is_right(StreamOrder::only_what_is_waited_for, true, false));
  }

  void nothing_is_there_before_a_synchronisation() {
    for (const StreamOrder order : kOrders) {
      EmulatedDevice device(1, order);
      const auto there = device.allocate(4, "x");
      const auto stream = device.create_stream();
      const int32_t from = 7;
      int32_t to = 0;
      stream->copy_to_device(there->address(), &from, 4);
      stream->copy_to_host(&to, there->address(), 4);
      QCOMPARE(to, 0);
      stream->synchronize();
      QCOMPARE(to, 7);
      QCOMPARE(device.synchronizations(), int64_t{1});
    }
  }

  void an_event_stands_for_what_was_there_when_it_was_waited_for() {
    EmulatedDevice device(1);
    const auto here = device.allocate_pinned(8, "two numbers");
    auto* numbers = reinterpret_cast<int32_t*>(here->data());
    numbers[0] = 1, numbers[1] = 2;
    const auto there = device.allocate(4, "x");
    const auto writing = device.create_stream(), reading = device.create_stream();
    const auto event = device.create_event();
    writing->copy_pinned_to_device(there->address(), numbers, 4);
    writing->record(*event);
    reading->wait(*event);
    writing->copy_pinned_to_device(there->address(), numbers + 1, 4);
    writing->record(*event);
    int32_t first = 0, second = 0;
    reading->copy_to_host(&first, there->address(), 4);
    reading->wait(*event);
    reading->copy_to_host(&second, there->address(), 4);
    reading->synchronize();
    QCOMPARE(first, 1);
    QCOMPARE(second, 2);
  }

  void what_fails_on_a_stream_fails_who_waits_for_it() {
    EmulatedDevice device(1);
    const auto failing = device.create_stream(), waiting = device.create_stream();
    const auto event = device.create_event();
    EmulatedDevice::put(*failing, [] { failed("a copy", "went wrong"); });
    failing->record(*event);
    waiting->wait(*event);
    QCOMPARE(complaint([&] { waiting->synchronize(); }), std::string("a copy: went wrong"));
    QCOMPARE(complaint([&] { failing->synchronize(); }), std::string("a copy: went wrong"));
    failing->synchronize();  // said once
  }

  void an_event_that_was_never_recorded_cannot_be_waited_for() {
    cpu::CpuDevice cpu(1);
    EmulatedDevice emulated(1);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
      const auto stream = device->create_stream();
      const auto event = device->create_event();
      QVERIFY(complaint([&] { stream->wait(*event); }).find("never recorded") != std::string::npos);
      stream->record(*event);
      stream->wait(*event);
      stream->synchronize();
    }
  }

  void copies_that_hold_nobody_up_need_pinned_memory() {
    EmulatedDevice device(1);
    const auto there = device.allocate(kBytes, "x");
    const auto stream = device.create_stream();
    const auto pinned = device.allocate_pinned(kBytes, "y");
    std::array<std::byte, kBytes> ordinary{};
    const auto refused = [&](auto&& f) { return complaint(f).find("not pinned") != std::string::npos; };
    QVERIFY(refused([&] { stream->copy_pinned_to_device(there->address(), ordinary.data(), kBytes); }));
    QVERIFY(refused([&] { stream->copy_to_pinned(ordinary.data(), there->address(), kBytes); }));
    QVERIFY(refused([&] { stream->copy_pinned_to_device(there->address(), pinned->data() + 4, kBytes); }));
    stream->copy_pinned_to_device(there->address(), pinned->data() + 4, kBytes - 4);
    stream->copy_to_pinned(pinned->data(), there->address(), kBytes);
    stream->synchronize();
  }

  void pinned_memory_is_aligned() {
    cpu::CpuDevice cpu(1);
    EmulatedDevice emulated(1);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)})
      for (const int64_t bytes : {int64_t{1}, int64_t{100}, int64_t{5000}}) {
        const auto buffer = device->allocate_pinned(bytes, "x");
        QCOMPARE(buffer->bytes(), bytes);
        QCOMPARE(reinterpret_cast<uint64_t>(buffer->data()) % 64, uint64_t{0});
      }
  }

  void a_cancelled_probe_ends_early() {
    cpu::CpuDevice device(1);
    CancellationToken token;
    token.cancel();
    const auto begin = std::chrono::steady_clock::now();
    device.probe({}, token);
    QVERIFY(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
    QVERIFY(!device.team().cancelled());
  }
};
STORMCELL_TEST(StreamsTest)

}  // namespace stormcell::testing
#include "streams_test.moc"

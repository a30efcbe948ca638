// A device with memory of its own: what it needs and what the host needs are counted and refused apart.
#include "core/base/error.h"
#include "core/bench/memory_check.h"
#include "core/cpu/cpu_device.h"
#include "core/models/model.h"
#include "core/runtime/lower.h"
#include "tests/core/bench/memory_sums.h"
#include "tests/testing/complaint.h"
#include "tests/testing/counts.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr int64_t kMuchMemory = int64_t{1} << 40, kLittleMemory = 1024;

/// A small mixture of experts for four sequences of four tokens.
struct MixtureInMemory {
  std::shared_ptr<const Model> model = open_model(reference_path("switch/encoder-decoder-8-experts"));
  EmulatedDevice device{1};
  WeightStore store{device, model->weights};
  std::vector<PlannedGraph> graphs{{model->forward, CompileOptions{Bindings(model->forward->symbols.size(), 4)}}};
  std::shared_ptr<const Program> program = std::make_shared<const Program>(lower(model->forward));

  MemoryNeed need() { return memory_need(device, store, graphs); }
  /// The refusal for so much room; empty: it fits.
  std::string refusal(const MemoryRoom& room) {
    return bad_input_complaint([&] { check_memory(device, store, graphs, room, "MODEL"); });
  }
  /// The same of one more plan.
  MemoryNeed further_need() { return further_memory_need(device, store, program, graphs.front().options); }
  std::string further_refusal(const MemoryRoom& room) {
    return bad_input_complaint(
        [&] { check_further_plan(device, store, program, graphs.front().options, room, "plan", "MODEL"); });
  }
};

bool refusal_says(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

class DeviceMemoryTest : public QObject {
  Q_OBJECT
 private slots:
  void one_memory_holds_what_both_need() {
    MixtureInMemory m;
    const MemoryNeed need = m.need();
    QVERIFY(need.device > 0 && need.host > 0);
    QCOMPARE(need.shared, need.device + need.host);
    QCOMPARE(memory_needed(m.device, m.store, m.graphs), need.shared);
    QCOMPARE(m.refusal(need.shared), std::string());
    const std::string told = m.refusal(std::max(need.device, need.host));
    QVERIFY2(told.starts_with("MODEL: needs ") && refusal_says(told, " of memory, ") && !refusal_says(told, "host's") &&
                 !refusal_says(told, "device's"),
             told.c_str());
  }

  void graphs_that_run_one_at_a_time_need_the_most_of_each_memory() {
    MixtureInMemory m;
    std::vector<PlannedGraph> two = m.graphs;
    two.push_back({m.model->forward, CompileOptions{Bindings(m.model->forward->symbols.size(), 2)}});
    const MemoryNeed one = m.need(), both = memory_need(m.device, m.store, two);
    QCOMPARE(both.device, one.device);
    QCOMPARE(both.host, one.host);
    QCOMPARE(both.shared, one.shared);
  }

  void each_memory_is_held_against_its_own_need() {
    MixtureInMemory m;
    const MemoryNeed need = m.need();
    QCOMPARE(m.refusal({need.host, need.device}), std::string());
    // Much of the one memory does not make up for little of the other.
    const std::string device = m.refusal({kMuchMemory, kLittleMemory});
    QVERIFY2(refusal_says(device, " of the device's memory, 1.0 KiB are available"), device.c_str());
    QVERIFY2(!refusal_says(device, "host"), device.c_str());
    const std::string host = m.refusal({kLittleMemory, kMuchMemory});
    QVERIFY2(refusal_says(host, " of the host's memory, ") && !refusal_says(host, "device's"), host.c_str());
    QVERIFY2(refusal_says(host, "the oracle computes a batch on the host: take a smaller batch, or shorter sequences"),
             host.c_str());
  }

  void of_two_memories_that_are_too_small_the_device_is_told_first() {
    MixtureInMemory m;
    const std::string told = m.refusal({kLittleMemory, kLittleMemory});
    QVERIFY2(refusal_says(told, " of the device's memory, "), told.c_str());
  }

  void a_budget_is_advised_for_the_memory_that_weights_lie_in() {
    MixtureInMemory m;
    WeightStore all(m.device, m.model->weights, kMuchMemory);
    const int64_t with_all = memory_need(m.device, all, m.graphs).device, least = all.least_budget();
    QVERIFY(least > 0 && least < all.planned_slot_bytes());
    const int64_t left = with_all - all.planned_slot_bytes() + least;
    const std::string told = m.refusal({kMuchMemory, left});
    QVERIFY2(refusal_says(told, "the device's memory") && refusal_says(told, "--weight-budget "), told.c_str());
    const size_t number = told.find_first_of("0123456789", told.find("--weight-budget "));
    const int64_t advised = std::stoll(told.substr(number));
    QVERIFY2(advised >= least, told.c_str());
    WeightStore small(m.device, m.model->weights, advised);
    check_memory(m.device, small, m.graphs, {kMuchMemory, left}, "MODEL");
    // A budget would not help if the host is short too.
    const std::string of_both = m.refusal({kLittleMemory, left});
    QVERIFY2(!refusal_says(of_both, "--weight-budget"), of_both.c_str());
  }

  void a_further_plan_is_refused_by_the_device_alone() {
    MixtureInMemory m;
    const MemoryNeed need = m.further_need();
    QCOMPARE(m.further_refusal({need.host, need.device}), std::string());
    const std::string device = m.further_refusal({kMuchMemory, kLittleMemory}),
                      shared = m.further_refusal(kLittleMemory);
    QVERIFY2(refusal_says(device, "the plan \"plan\" needs ") && refusal_says(device, " more of the device's memory, "),
             device.c_str());
    QVERIFY2(refusal_says(shared, "the plan \"plan\" needs ") && refusal_says(shared, " more memory, "),
             shared.c_str());
  }

  void copies_of_a_device_with_memory_of_its_own_take_pinned_memory_of_the_host() {
    MixtureInMemory shared, own;
    own.device.memory_limit = kMuchMemory;
    const CompileOptions& options = own.graphs.front().options;
    int64_t copies = own.device.layout_of(own.program, own.store, options).record_bytes;
    QVERIFY(copies > 0);
    const Graph& graph = *own.model->forward;
    for (const ValueId id : graph.values.ids()) {
      if (graph.value(id).kind != ValueKind::input) continue;
      int64_t bytes = 4;
      for (const Dim& extent : graph.shape(id)) bytes *= extent.evaluate(options.bounds);
      copies += bytes;
    }
    QCOMPARE(own.need().device, shared.need().device);
    QCOMPARE(own.need().host, shared.need().host + copies);
    QCOMPARE(own.further_need().host, shared.further_need().host + copies);
  }

  void devices_say_what_they_have_left() {
    QVERIFY(!cpu::CpuDevice(1).free_bytes());
    EmulatedDevice device(1);
    QVERIFY(!device.free_bytes() && !memory_room(device).device);
    device.memory_limit = 10'000;
    const auto held = device.allocate(4000, "weights");
    QCOMPARE(device.free_bytes(), std::optional(int64_t{6000}));
    QCOMPARE(memory_room(device).device, std::optional(int64_t{6000}));
    QVERIFY(memory_room(device).host > 0);
    const std::string told = complaint([&] { device.allocate(6001, "activations"); });
    QVERIFY2(refusal_says(told, "activations: the emulated device has 6000 bytes left"), told.c_str());
    QCOMPARE(memory_room(device).with_more(5).device, std::optional(int64_t{6005}));
    QCOMPARE(MemoryRoom(10).with_more(5).host, int64_t{15});
  }
};
STORMCELL_TEST(DeviceMemoryTest)

}  // namespace stormcell::testing

#include "device_memory_test.moc"

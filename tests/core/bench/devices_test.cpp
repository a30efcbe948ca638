// The façade knows no device: what a device says of itself is what the figures say.
#include "core/bench/devices.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/error.h"
#include "core/bench/device_names.h"
#include "core/bench/experiment_figures.h"
#include "core/bench/memory_check.h"
#include "core/bench/workload.h"
#include "core/models/model.h"
#include "core/verification/judged_plan.h"
#include "core/verification/references.h"
#include "tests/testing/complaint.h"
#include "tests/testing/counts.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

namespace stormcell::testing::devices_test {
namespace {

/// A card beside a host of several cores: it computes with one thread of its own, and the host's stay free.
class OneThread final : public EmulatedDevice {
 public:
  explicit OneThread(int host_threads) : EmulatedDevice(1), host_threads_(host_threads) {}
  DeviceInfo info() const override {
    DeviceInfo info = EmulatedDevice::info();
    info.host_threads = host_threads_;
    return info;
  }

 private:
  int host_threads_;
};

/// A small model on a device, open as an experiment opens it.
struct Opened {
  ExperimentState state;
  explicit Opened(std::unique_ptr<Device> device) {
    ExperimentState& s = state;
    s.model = open_model(reference_path("switch/encoder-decoder-8-experts"));
    DataOptions options;
    options.vocabulary = s.model->vocabulary, options.inputs = s.model->inputs;
    options.batch = 3;
    s.data = Dataset::open("random:6x7", s.model->tokenizer, options);
    s.device = std::move(device);
    s.graph = s.model->forward, s.dtype = s.model->dtype;
    s.options.most_new_tokens = 6;
    s.store = std::make_unique<WeightStore>(*s.device, s.model->weights);
    s.memory = std::make_shared<SharedMemory>(*s.device);
  }
  std::vector<int32_t> decoded() {
    Decoding work(state);
    const auto plan = work.make_baseline({});
    state.run_batch(*plan, state.data->batch(0), {});
    return plan->decoded.at(0);
  }
};

}  // namespace

class DevicesTest : public QObject {
  Q_OBJECT
 private slots:
  void every_device_of_the_list_can_be_opened() {
    QCOMPARE(list_devices().front(), std::string("cpu"));  // of this test program: other tests may have added some
    for (const DeviceRow& row : devices()) {
      if (row.name == "cuda") continue;  // most machines have none
      const auto device = open_device(row.name, {2});
      QCOMPARE(device->info().threads, 2);
      QVERIFY(!device->info().name.empty() && !device->info().formats.empty());
    }
    QVERIFY(bad_input_complaint([] { open_device("tpu", {}); }).starts_with("--device: \"tpu\" is not a device"));
    QVERIFY(bad_input_complaint([] { open_device("cuda:1", {}); }).starts_with("--device: \"cuda:1\" is not a device"));
  }

  /// No module is beside this program.
  void a_gpu_that_is_not_there_is_refused_with_the_reason() {
    QCOMPARE(list_devices().at(1), std::string("cuda"));
    const std::string told = bad_input_complaint([] { open_device("cuda", {}); });
    QVERIFY2(told.starts_with("--device: \"cuda\": no module: stormcell_cuda.so is not in "), told.c_str());
    QVERIFY2(told.ends_with("(use --device cpu)"), told.c_str());
    QVERIFY(!device_row("cuda").kernels("linear").empty());
  }

  void a_probe_tells_what_shares_of_the_limit_refer_to() {
    const auto device = open_device("cpu", {1});
    const DeviceProbe probe = device->probe({int64_t{16} << 20, 0}, {});
    QVERIFY(probe.f32_gflops > 0 && probe.bf16_gflops >= probe.f32_gflops && probe.read_gbs > 0);
    QVERIFY(!probe.kernels.empty());
    QCOMPARE(probe.placement, std::string("one thread"));
  }

  void figures_are_those_of_the_device_at_hand() {
    Opened opened(std::make_unique<EmulatedDevice>(1));
    opened.state.probe(ExperimentState::ProbeTime::whole, {});
    const DeviceFigures d = device_figures(opened.state);
    QCOMPARE(d.name, std::string("emulated"));
    QCOMPARE(d.backend, std::string("emulated"));
    QCOMPARE(d.core_placement, std::string("made up"));
    QCOMPARE(d.peak_gflops, 100.0);
    QCOMPARE(d.read_gbps, 10.0);
  }

  void threads_of_the_host_are_told_apart_from_the_devices() {
    constexpr int kMany = 100'000;
    Opened opened(std::make_unique<OneThread>(kMany));
    QCOMPARE(device_figures(opened.state).threads, 1);
    QVERIFY(settings_json(opened.state, WorkPhase::forward).find(std::to_string(kMany)) != std::string::npos);
    const auto warns = [](const ExperimentState& state) {
      const std::vector<std::string> list = warnings_of(state);
      return std::any_of(list.begin(), list.end(),
                         [](const std::string& w) { return w.starts_with("--threads 100000 is more than the "); });
    };
    QVERIFY(warns(opened.state));
    QVERIFY(!warns(Opened(std::make_unique<OneThread>(1)).state));
  }

  void without_the_same_bits_a_plan_is_held_to_the_tolerance_of_the_format() {
    for (const bool keeps : {true, false}) {
      auto device = std::make_unique<EmulatedDevice>(1);
      device->keeps_bits = keeps;
      Opened opened(std::move(device));
      opened.state.tolerance = 2e-2;  // as of a model in bf16
      ForwardPass work(opened.state);
      const auto plan = work.make_baseline({});
      QCOMPARE(work.tolerance(), 2e-2);
      QCOMPARE(work.tolerance_beside_baseline(*plan), keeps ? kF32Tolerance : 2e-2);
      QCOMPARE(work.tolerance_beside_itself(), keeps ? kF32Tolerance : 2e-2);
      plan->promises.same_bits = false;
      QCOMPARE(work.tolerance_beside_baseline(*plan), 2e-2);
    }
  }

  /// Its choices are judged as beside the oracle, which tells the scores, and how far a cell reaches others.
  void without_the_same_bits_a_baseline_is_a_reference_as_the_oracle_is() {
    for (const bool keeps : {true, false}) {
      auto device = std::make_unique<EmulatedDevice>(1);
      device->keeps_bits = keeps;
      Opened opened(std::move(device));
      ForwardPass work(opened.state);
      const auto plan = work.make_baseline({});
      const Batch batch = opened.state.data->batch(0);
      const Progress quiet;
      const std::unique_ptr<WorkloadJudge> judge = judge_of(work);
      const Observed by_device = judge->judged(*plan, 0, quiet)->run(batch, nullptr),
                     by_oracle = References(*judge, 0, quiet).running(batch);
      QVERIFY(!by_device.decisions.empty());
      for (const JudgedDecision& r : by_oracle.decisions) {
        const JudgedDecision* d = find_decision(by_device.decisions, r);
        QVERIFY(d);
        QCOMPARE(d->together, keeps ? int64_t{0} : r.together);
        QCOMPARE(d->scores.size(), keeps ? size_t{0} : r.scores.size());
        for (size_t i = 0; i < d->scores.size(); ++i)
          QVERIFY(std::fabs(d->scores[i] - r.scores[i]) < 1e-4F * (1 + std::fabs(r.scores[i])));
      }
    }
  }

  void a_device_with_memory_of_its_own_runs_with_what_was_counted_for_it() {
    constexpr int64_t kSlack = 256 << 10;  // addresses of weights, status, rounding
    const auto need_of = [](ExperimentState& s) {
      const Bindings bounds = bounds_of(*s.graph, *s.data, 0, s.picture);
      return memory_need(*s.device, *s.store, {PlannedGraph{s.graph, CompileOptions{bounds}}}).device;
    };
    for (const bool enough : {true, false}) {
      auto owned = std::make_unique<EmulatedDevice>(1);
      EmulatedDevice& device = *owned;
      Opened opened(std::move(owned));
      const int64_t need = need_of(opened.state);
      device.memory_limit = enough ? need + kSlack : need / 2;
      ForwardPass work(opened.state);
      const std::string told = bad_input_complaint([&] {
        const auto plan = work.make_baseline({});
        ExecuteOptions execute;
        execute.record = execute.outputs = true;
        opened.state.run_batch(*plan, opened.state.data->batch(0), execute);
        QVERIFY(!plan->result.outputs.empty());
      });
      QCOMPARE(told.empty(), enough);
      QCOMPARE(told.find(" more of the device's memory, ") != std::string::npos, !enough);
      if (!enough) QCOMPARE(device.free_bytes(), device.memory_limit);  // nothing was allocated
    }
  }

  void another_device_decodes_the_same_tokens() {
    Opened here(std::make_unique<cpu::CpuDevice>(1)), there(std::make_unique<EmulatedDevice>(1)),
        others_first(std::make_unique<EmulatedDevice>(1, StreamOrder::all_others_before));
    const std::vector<int32_t> tokens = here.decoded();
    QCOMPARE(there.decoded(), tokens);
    QCOMPARE(others_first.decoded(), tokens);
  }
};

STORMCELL_TEST(DevicesTest)

}  // namespace stormcell::testing::devices_test

#include "devices_test.moc"

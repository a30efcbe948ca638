// The façade knows no device: what a device says of itself is what the figures say.
#include "core/bench/devices.h"

#include <functional>

#include "core/base/error.h"
#include "core/bench/device_list.h"
#include "core/bench/experiment_figures.h"
#include "core/bench/workload.h"
#include "core/models/model.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

std::string error_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return (e.kind() == ErrorKind::bad_input ? "bad input: " : "") + std::string(e.what());
  }
  return "";
}

/// A small model on a device, open as an experiment opens it.
struct Opened {
  ExperimentState state;
  explicit Opened(std::unique_ptr<Device> device) {
    ExperimentState& s = state;
    s.model = open_model(source_folder() + "/tests/reference/switch/encoder-decoder-8-experts");
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
    QCOMPARE(list_devices(), (std::vector<std::string>{"cpu"}));
    for (const DeviceRow& row : devices()) {
      const auto device = open_device(row.name, {2});
      QCOMPARE(device->info().threads, 2);
      QVERIFY(!device->info().name.empty() && !device->info().formats.empty());
    }
    QVERIFY(error_of([] { open_device("tpu", {}); }).starts_with("bad input: --device: \"tpu\" is no device"));
    QVERIFY(error_of([] { open_device("cuda:1", {}); }).starts_with("bad input: --device: \"cuda:1\": not in this version"));
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

  void another_device_decodes_the_same_tokens() {
    Opened here(std::make_unique<cpu::CpuDevice>(1)), there(std::make_unique<EmulatedDevice>(1)),
        others_first(std::make_unique<EmulatedDevice>(1, StreamOrder::all_others_before));
    const std::vector<int32_t> tokens = here.decoded();
    QCOMPARE(there.decoded(), tokens);
    QCOMPARE(others_first.decoded(), tokens);
  }
};

STORMCELL_TEST(DevicesTest)

}  // namespace stormcell::testing

#include "devices_test.moc"

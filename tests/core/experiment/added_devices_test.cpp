// Devices that a module adds while the program runs: the list of them, and experiments on one by the façade, with a
// fault planted in its products and with operators left out.
#include <algorithm>
#include <atomic>
#include <thread>

#include "core/base/error.h"
#include "core/bench/device_names.h"
#include "core/bench/devices.h"
#include "core/cpu/cpu_device.h"
#include "core/experiment/experiment.h"
#include "core/graph/operator.h"
#include "tests/testing/complaint.h"
#include "tests/testing/counts.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// Facts that the emulated device states when it is opened next, and the fault of its products.
struct AddedDevice {
  bool keeps_bits = true;
  double factor = 1;  ///< of the first grouped product: plans have some, their baselines have none
  std::set<std::string_view> lacks = {};
};
AddedDevice added_device;

class FaultyProducts final : public EmulatedDevice {
 public:
  FaultyProducts(int threads, const AddedDevice& about) : EmulatedDevice(threads), factor_(about.factor) {
    keeps_bits = about.keeps_bits;
    lacks = about.lacks;
  }
  std::unique_ptr<Executable> compile(std::shared_ptr<const Program> program, WeightStore& weights,
                                      const CompileOptions& options) override {
    if (factor_ == 1) return EmulatedDevice::compile(std::move(program), weights, options);
    Graph graph = *program->graph;
    const auto faulty = std::find_if(graph.nodes.begin(), graph.nodes.end(),
                                     [](const Node& node) { return node.op->name == "grouped_linear"; });
    if (faulty != graph.nodes.end()) faulty->attributes.set("scale", real_of(*faulty, "scale") * factor_);
    auto changed = std::make_shared<Program>(*program);
    changed->graph = std::make_shared<const Graph>(std::move(graph));
    return EmulatedDevice::compile(std::move(changed), weights, options);
  }

 private:
  double factor_;
};

DeviceRow row_named(const char* name) {
  return {name,
          [](const DeviceOptions& options) -> std::unique_ptr<Device> {
            return std::make_unique<FaultyProducts>(std::max(options.threads, 1), added_device);
          },
          cpu::kernel_names};
}

constexpr const char* kAddedDevice = "emulated:1";

ExperimentOptions options_on_added_device() {
  ExperimentOptions o;
  o.model = reference_path("switch/encoder-decoder-8-experts");
  o.data = "random:16x9x5";
  o.batch = 2;
  o.threads = 1;
  o.verify_seconds = 0.01;
  o.probe_seconds = 0;
  o.most_new_tokens = 5;
  o.device = kAddedDevice;
  // Some products hold weights in bf16, so that the tolerance is that of bf16 whatever the processor rounds.
  o.annotations = {"*mlp.wi.weight.format=bf16"};
  return o;
}

/// The verification of a plan with grouped products, beside the oracle and the baseline.
Verification verification_of_plan(const AddedDevice& about, const std::string& phase = "forward") {
  added_device = about;
  ExperimentOptions options = options_on_added_device();
  options.phase = phase;
  options.keep_all = true;
  OptimizeOptions optimize;
  optimize.passes.only = {"horizontal-fusion"};
  optimize.measure_seconds = 0;
  const auto figures = Experiment::open(options)->optimize(optimize);
  if (figures->passes.size() != 1 || !figures->passes[0].applied)
    QTest::qFail("the plan has no grouped products", __FILE__, __LINE__);
  return *figures->verified;
}

std::string reasons_on_added_device(const Verification& v) {
  std::string text;
  for (const std::string& reason : v.reasons) text += reason + "; ";
  return text;
}

std::vector<DeviceRow> rows_named(std::initializer_list<const char*> names) {
  std::vector<DeviceRow> rows;
  for (const char* name : names) rows.push_back(row_named(name));
  return rows;
}

std::vector<std::string> names_of_rows(const DeviceList& list) {
  std::vector<std::string> names;
  for (const DeviceRow& row : list.rows()) names.push_back(row.name);
  return names;
}

/// One unit in the last place of a number in bf16: far beyond the rounding of f32, and within the tolerance of bf16.
constexpr double kOneUlpOfBf16 = 1 + 0x1p-7;

}  // namespace

class AddedDevicesTest : public QObject {
  Q_OBJECT
 private slots:
  void initTestCase() { add_device_rows(rows_named({"emulated", kAddedDevice})); }

  void rows_stand_behind_the_others_and_are_found_by_their_names() {
    DeviceList list(rows_named({"cpu"}));
    list.add(rows_named({"cuda", "cuda:1"}));
    QCOMPARE(names_of_rows(list), (std::vector<std::string>{"cpu", "cuda", "cuda:1"}));
    const std::vector<std::string> names = list_devices();
    QCOMPARE(names.front(), std::string("cpu"));
    QVERIFY(std::count(names.begin(), names.end(), kAddedDevice) == 1);
    check_device(kAddedDevice);
    QCOMPARE(open_device(kAddedDevice, {1})->info().backend, std::string("emulated"));
    QCOMPARE(device_row(kAddedDevice).kernels("linear"), cpu::kernel_names("linear"));
    const std::string told = bad_input_complaint([] { check_device("emulated:7"); });
    QVERIFY2(told.starts_with("--device: \"emulated:7\" is not a device"), told.c_str());
  }

  void duplicates_and_what_is_no_name_are_refused_and_nothing_is_added() {
    DeviceList list(rows_named({"cpu"}));
    for (const auto& rows :
         {rows_named({"cuda", "cpu"}), rows_named({"cuda", "cuda"}), rows_named({"cuda", "cuda:"}),
          rows_named({"cuda", ""}), rows_named({"cuda", ":1"}), rows_named({"cuda", "cuda:one"}),
          rows_named({"cuda", "two words"}), std::vector<DeviceRow>{row_named("cuda"), {"nothing", {}, {}}}}) {
      ErrorKind kind = ErrorKind::bad_input;
      const std::string told = complaint([&] { list.add(rows); }, &kind);
      QVERIFY2(kind == ErrorKind::failed && told.starts_with("device \""), told.c_str());
      QCOMPARE(names_of_rows(list), std::vector<std::string>{"cpu"});
    }
    QVERIFY(complaint([] { add_device_rows(rows_named({kAddedDevice})); }).find("is in the list of devices already") !=
            std::string::npos);
  }

  void a_device_that_computes_nothing_is_refused() {
    const std::vector<std::string_view> all = cpu::operators_with_kernels();
    added_device = {.lacks = {all.begin(), all.end()}};
    const std::string told = complaint([] { open_device(kAddedDevice, {1}); });
    QVERIFY2(told.starts_with("device \"emulated:1\": names no operator"), told.c_str());
    added_device = {};
  }

  void rows_are_read_while_others_are_added() {
    DeviceList list(rows_named({"cpu"}));
    std::atomic<bool> done = false, wrong = false;
    std::thread reader([&] {
      while (!done)
        for (const DeviceRow& row : list.rows())
          if (row.name.empty() || !row.open) wrong = true;
    });
    for (int i = 0; i < 200; ++i) list.add({row_named(("cuda:" + std::to_string(i)).c_str())});
    done = true;
    reader.join();
    QVERIFY(!wrong);
    QCOMPARE(list.rows().size(), size_t{201});
  }

  void plans_verify_whether_the_device_keeps_bits_or_not() {
    for (const bool keeps : {true, false})
      for (const char* phase : {"forward", "decode"}) {
        const Verification v = verification_of_plan({.keeps_bits = keeps}, phase);
        QVERIFY2(v.passed, (std::string(phase) + ": " + reasons_on_added_device(v)).c_str());
      }
  }

  void one_ulp_in_a_product_is_refused_only_where_bits_are_kept() {
    const Verification kept = verification_of_plan({.keeps_bits = true, .factor = kOneUlpOfBf16});
    QVERIFY2(!kept.passed && reasons_on_added_device(kept).find("beside the baseline: ") != std::string::npos,
             reasons_on_added_device(kept).c_str());
    const Verification not_kept = verification_of_plan({.keeps_bits = false, .factor = kOneUlpOfBf16});
    QVERIFY2(not_kept.passed, reasons_on_added_device(not_kept).c_str());
  }

  void a_larger_fault_is_refused_in_any_case() {
    for (const bool keeps : {true, false}) {
      const Verification v = verification_of_plan({.keeps_bits = keeps, .factor = 2});
      QVERIFY2(!v.passed && reasons_on_added_device(v).find("beside the baseline: ") != std::string::npos,
               reasons_on_added_device(v).c_str());
    }
  }

  void an_optimisation_leaves_alone_what_the_device_lacks() {
    added_device = {.lacks = {"grouped_linear"}};
    OptimizeOptions optimize;
    optimize.measure_seconds = 0;
    ExperimentOptions options = options_on_added_device();
    options.keep_all = true;
    const auto figures = Experiment::open(options)->optimize(optimize);
    QVERIFY2(figures->verified->passed, reasons_on_added_device(*figures->verified).c_str());
    const auto fusion = std::find_if(figures->passes.begin(), figures->passes.end(),
                                     [](const PassReport& pass) { return pass.name == "horizontal-fusion"; });
    QVERIFY(fusion != figures->passes.end() && !fusion->applied);
    QVERIFY2(fusion->reason.find("the device has no kernel for grouped_linear") != std::string::npos,
             fusion->reason.c_str());
    QVERIFY(std::any_of(figures->passes.begin(), figures->passes.end(),
                        [](const PassReport& pass) { return pass.applied; }));
  }

  void cleanupTestCase() { added_device = {}; }
};

STORMCELL_TEST(AddedDevicesTest)

}  // namespace stormcell::testing

#include "added_devices_test.moc"

// What the toys are for: cells of patches keep their names, labels decide, weights of several routers meet.
#include "tests/testing/toys.h"
#include "core/oracle/oracle.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// The decisions of a free run, by the routers' names.
std::map<std::string, ExecutedDecision> decisions_of(Device& device, const RandomCase& c) {
  WeightStore store(device, c.weights);
  auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(c.graph)));
  Executor executor(device, store, program, c.bindings);
  ExecuteOptions options;
  options.record = true;
  ExecutionResult result;
  executor.run(input_values(c), c.bindings, options, result);
  std::map<std::string, ExecutedDecision> decisions;
  for (const ExecutedDecision& d : result.decisions) decisions[program->routers[static_cast<size_t>(d.router)].name] = d;
  return decisions;
}

const std::vector<int32_t>& labels_of(const RandomCase& c) { return std::get<std::vector<int32_t>>(c.inputs.at("class")); }

}  // namespace

class ToysTest : public QObject {
  Q_OBJECT
 private slots:
  void patches_go_where_their_labels_say() {
    const RandomCase c = labelled_patches_toy();
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)})
      QCOMPARE(decisions_of(*device, c).at("class.router").choice, labels_of(c));
  }

  void patches_of_routed_pictures_are_named_by_picture_and_place() {
    constexpr int32_t kPatches = 6;
    bool some = false;
    for (uint64_t seed = 1; seed < 9; ++seed) {
      const RandomCase c = patches_of_routed_pictures_toy(seed);
      cpu::CpuDevice cpu(2);
      EmulatedDevice emulated(2);
      for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
        const auto decisions = decisions_of(*device, c);
        std::vector<int32_t> rows, labels;
        const std::vector<int32_t>& went = decisions.at("whole.router").choice;
        for (int32_t picture = 0; picture < static_cast<int32_t>(went.size()); ++picture)
          for (int32_t place = 0; went[static_cast<size_t>(picture)] == 1 && place < kPatches; ++place) {
            rows.push_back(picture * kPatches + place);
            labels.push_back(labels_of(c)[static_cast<size_t>(rows.back())]);
          }
        QCOMPARE(decisions.at("class.router").ancestor, rows);
        QCOMPARE(decisions.at("class.router").choice, labels);
        some = some || (!rows.empty() && rows.size() < labels_of(c).size() && rows[0] > 0);
      }
    }
    QVERIFY(some);  // a picture before one that is cut went elsewhere
  }

  void ways_of_a_path_network_open_alone_together_and_not_at_all() {
    std::array<int, 4> open{};
    for (uint64_t seed = 1; seed < 4; ++seed) {
      cpu::CpuDevice cpu(2);
      for (const auto& [router, d] : decisions_of(cpu, path_network_toy(seed)))
        for (int64_t cell = 0; cell < d.shape.cells; ++cell) {
          const auto* begin = d.choice.data() + cell * d.shape.fan_out;
          ++open.at(static_cast<size_t>(std::count_if(begin, begin + d.shape.fan_out, [](int32_t choice) { return is_kept(choice); })));
        }
    }
    for (const int times : open)
      QVERIFY2(times > 2, qPrintable(QString("%1 %2 %3 %4").arg(open[0]).arg(open[1]).arg(open[2]).arg(open[3])));
  }
};
STORMCELL_TEST(ToysTest)

}  // namespace stormcell::testing
#include "toys_test.moc"

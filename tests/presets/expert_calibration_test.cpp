// The presets of SwinV2-MoE send even shares of random pictures' tokens to their experts, within 2 points: as a network
// does that was trained to balance them. tests/reference/fit_swin_moe.py fitted them to pictures 32 to 79; these are
// the first 32.
#include <cmath>
#include <numeric>

#include "core/cpu/cpu_device.h"
#include "core/data/dataset.h"
#include "core/models/model.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

constexpr int64_t kPictures = 32, kBatch = 8;
constexpr size_t kExperts = 16, kRouters = 10;

/// The tokens that chose each expert of each router, with those that got no place.
std::vector<std::vector<int64_t>> chosen_experts(const Model& model) {
  DataOptions data_options;
  data_options.batch = kBatch;
  data_options.inputs = model.inputs;
  const auto data = Dataset::open("random:" + std::to_string(kPictures), nullptr, data_options);
  cpu::CpuDevice device(1);  // a second thread would spin beside other tests
  WeightStore store(device, model.weights);
  const Bindings bindings(model.forward->symbols.size(), kBatch);
  Executor executor(device, store, std::make_shared<Program>(lower(model.forward)), bindings);
  ExecuteOptions options;
  options.record = true;
  ExecutionResult result;
  std::vector<std::vector<int64_t>> chosen(kRouters, std::vector<int64_t>(kExperts, 0));
  for (int64_t b = 0; b < data->batch_count(); ++b) {
    InputValues values;
    values.reals["pixels"] = data->batch(b).find_input("pixels")->reals;
    executor.run(values, bindings, options, result);
    for (size_t router = 0; router < result.decisions.size(); ++router)
      for (const int32_t choice : result.decisions[router].choice)
        ++chosen.at(router).at(static_cast<size_t>(branch_of(choice)));
  }
  return chosen;
}

}  // namespace

class ExpertCalibrationTest : public QObject {
  Q_OBJECT
 private slots:
  /// The four presets differ in their capacity factor alone.
  void presets_send_even_shares_to_their_experts() {
    const auto model = open_model("preset:swinv2-moe-small-c1.25");
    QCOMPARE(model->origin, WeightOrigin::calibrated);
    const std::vector<std::vector<int64_t>> chosen = chosen_experts(*model);
    for (size_t router = 0; router < kRouters; ++router) {
      const int64_t cells = kPictures * (router + 1 < kRouters ? 12 * 12 : 6 * 6);
      QCOMPARE(std::accumulate(chosen[router].begin(), chosen[router].end(), int64_t{0}), cells);
      for (const int64_t n : chosen[router]) {
        const double share = static_cast<double>(n) / static_cast<double>(cells);
        QVERIFY2(std::fabs(share - 1.0 / kExperts) < 0.02,
                 qPrintable(QString("router %1: a share of %2").arg(router).arg(share)));
      }
    }
  }
};
STORMCELL_TEST(ExpertCalibrationTest)
#include "expert_calibration_test.moc"

// Activations of the presets of pictures neither vanish nor overflow, though 80 blocks without a norm follow each
// other.
#include <cmath>

#include "core/cpu/cpu_device.h"
#include "core/data/dataset.h"
#include "core/models/model.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/testing.h"

using namespace stormcell;

namespace {

/// Root mean square of the first output.
double rms_of_output(const std::string& preset) {
  const auto model = open_model(preset);
  DataOptions of_model;
  of_model.inputs = model->inputs;
  const auto data = Dataset::open("random:1", nullptr, of_model);
  const Batch batch = data->batch(0);
  cpu::CpuDevice device(1);  // a second thread would spin beside other tests
  WeightStore store(device, model->weights);
  const Bindings bindings(model->forward->symbols.size(), batch.size());
  Executor executor(device, store, std::make_shared<Program>(lower(model->forward)), bindings);
  ExecuteOptions options;
  options.outputs = true;
  InputValues values;
  values.reals["pixels"] = batch.find_input("pixels")->reals;
  ExecutionResult result;
  executor.run(values, bindings, options, result);
  double squares = 0;
  for (const float v : result.outputs.at(0).reals) squares += static_cast<double>(v) * static_cast<double>(v);
  return std::sqrt(squares / static_cast<double>(result.outputs.at(0).reals.size()));
}

}  // namespace

class ActivationCalibrationTest : public QObject {
  Q_OBJECT
 private slots:
  void activations_of_pictures_neither_vanish_nor_overflow() {
    for (const char* preset : {"preset:livesr-k4-f8", "preset:msdnet-e1", "preset:swinv2-moe-small-c1.25"}) {
      const double rms = rms_of_output(preset);
      qInfo("%s: rms %.3g", preset, rms);
      QVERIFY2(rms > 0.01 && rms < 100, preset);  // false of what is no number, too
    }
  }
};
STORMCELL_TEST(ActivationCalibrationTest)
#include "activation_calibration_test.moc"

#include "core/traces/exit_tensors.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "core/base/dtype.h"
#include "core/base/error.h"
#include "core/base/quantile.h"
#include "core/formats/safetensors.h"

namespace stormcell {
namespace {

constexpr int64_t kMostExits = 1024;
constexpr const char* kRecordExitsAgain = "record it again: stormcell recorder exits";

template <class T>
T exit_element(const StoredTensor& tensor, int64_t i) {
  T value;
  std::memcpy(&value, tensor.bytes.data() + static_cast<size_t>(i) * sizeof(T), sizeof(T));
  return value;
}

class ExitReader {
 public:
  ExitReader(const SafetensorsFile& file, int64_t cells, const std::string& path)
      : file_(file), cells_(cells), path_(path) {}

  ExitTensors read() {
    found_.confidence = file_.find("exit.confidence");
    if (!found_.confidence) return {};
    const std::vector<int64_t>& shape = found_.confidence->shape;
    exits_ = shape.size() == 2 ? shape[1] : 0;
    if (exits_ < 1 || exits_ > kMostExits) wrong("exit.confidence is not a table of a confidence an exit");
    expect(found_.confidence, "exit.confidence", DType::f32, {cells_, exits_});
    const StoredTensor* prediction =
        expect(file_.find("exit.prediction"), "exit.prediction", DType::i32, {cells_, exits_});
    found_.label = expect(file_.find("exit.label"), "exit.label", DType::i32, {cells_});
    check_labels();
    found_.figures.items = cells_;
    for (int64_t e = 0; e < exits_; ++e) found_.figures.exits.push_back(figures_of(e, prediction));
    if (found_.figures.labelled == 0) found_.label = nullptr;
    read_seconds();
    return std::move(found_);
  }

 private:
  [[noreturn]] void wrong(const std::string& what) const { bad_input(path_, what, kRecordExitsAgain); }

  const StoredTensor* expect(const StoredTensor* tensor, const std::string& name, DType type,
                             const std::vector<int64_t>& shape) const {
    if (tensor && (tensor->dtype != type || tensor->shape != shape))
      wrong(name + " is " + std::string(to_text(tensor->dtype)) + " " + shape_text(tensor->shape) + ", expected " +
            std::string(to_text(type)) + " " + shape_text(shape));
    return tensor;
  }

  void check_labels() {
    for (int64_t c = 0; found_.label && c < cells_; ++c) {
      const auto label = exit_element<int32_t>(*found_.label, c);
      if (label < -1) wrong("element [" + std::to_string(c) + "] of exit.label is " + std::to_string(label));
      found_.figures.labelled += label >= 0;
    }
  }

  TracedExit figures_of(int64_t exit, const StoredTensor* prediction) const {
    TracedExit figures;
    int64_t right = 0, numbers = 0;
    for (int64_t c = 0; c < cells_; ++c) {
      const auto confidence = exit_element<float>(*found_.confidence, c * exits_ + exit);
      // A broken score is no number: the cell does not leave.
      if (confidence < 0 || confidence > 1.001f)
        wrong("element [" + std::to_string(c) + ", " + std::to_string(exit) +
              "] of exit.confidence is not a probability");
      if (!std::isnan(confidence)) figures.confidence += static_cast<double>(confidence), ++numbers;
      const int32_t label = found_.label ? exit_element<int32_t>(*found_.label, c) : -1;
      right += prediction && label >= 0 && exit_element<int32_t>(*prediction, c * exits_ + exit) == label;
    }
    figures.confidence /= static_cast<double>(std::max<int64_t>(numbers, 1));
    if (prediction && found_.figures.labelled > 0)
      figures.right = static_cast<double>(right) / static_cast<double>(found_.figures.labelled);
    return figures;
  }

  void read_seconds() {
    const StoredTensor* seconds = file_.find("exit.seconds");
    if (!seconds) return;
    const int64_t passes = seconds->shape.empty() ? 0 : seconds->shape[0];
    expect(seconds, "exit.seconds", DType::f64, {passes, exits_});
    for (int64_t e = 0; e < exits_; ++e) {
      std::vector<double> ms;
      for (int64_t p = 0; p < passes; ++p)
        if (const auto s = exit_element<double>(*seconds, p * exits_ + e); std::isfinite(s) && s >= 0)
          ms.push_back(1e3 * s);
      if (!ms.empty()) found_.figures.exits.at(static_cast<size_t>(e)).ms = median(std::move(ms));
    }
  }

  const SafetensorsFile& file_;
  const int64_t cells_;
  const std::string& path_;
  int64_t exits_ = 0;
  ExitTensors found_;
};

}  // namespace

ExitTensors read_exit_tensors(const SafetensorsFile& file, int64_t cells, const std::string& path) {
  return ExitReader(file, cells, path).read();
}

}  // namespace stormcell

// Reads .npy [tokens, layers, k] of whole numbers, which users save from router logits or routed experts: int32, or
// int16 and uint8 from vLLM. -1 names no branch, and so does -1 in an unsigned type (255, 65535) if the model has fewer
// branches. Some systems write zeros for layers without branches and for cells that were not recorded, so equal choices
// with k > 1 are no choice.
#include <algorithm>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/npy.h"
#include "core/formats/safetensors.h"
#include "core/formats/whole_number.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

constexpr const char* kSave = "numpy.save(FILE, ids.astype('int32')) of [tokens, layers, k]";

class NpyTrace {
 public:
  NpyTrace(const TraceSource& source, TraceSink& sink, const Progress& progress)
      : source_(source), sink_(sink), progress_(progress) {}

  TraceCounts read() {
    open();
    look_over();
    if (!counts_.nothing.empty()) return counts_;
    begin();
    hand_on();
    return counts_;
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = kSave) const {
    bad_input(source_.path(), what, advice);
  }
  std::string element(int64_t token, int64_t layer, int64_t choice) const {
    return "[" + std::to_string(token) + ", " + std::to_string(layer) + ", " + std::to_string(choice) + "]";
  }

  void open() {
    array_ = open_npy(source_.path(), progress_, NpyTypes::whole);
    if (array_.shape.size() != 3)
      wrong("has the shape " + shape_text(array_.shape) + ", expected [tokens, layers, k]",
            array_.shape.size() == 2 ? "of one choice a layer: numpy.save(FILE, ids[:, :, None])" : kSave);
    tokens_ = array_.shape[0], layers_ = array_.shape[1], k_ = array_.shape[2];
    if (tokens_ == 0 || layers_ == 0 || k_ == 0)
      wrong("has the shape " + shape_text(array_.shape) + ": nothing is in it");
    if (layers_ > kMostTracedLayers || k_ > kMostTracedChoices || tokens_ >= int64_t{1} << 31)
      wrong("has the shape " + shape_text(array_.shape) + "; at most 2^31 tokens, 4096 layers and 1024 choices",
            "is the order [tokens, layers, k]?");
  }

  /// Reads the elements of tokens [first, end), which value() gives until the next call.
  void read_tokens(int64_t first, int64_t end) {
    const int64_t row = layers_ * k_ * static_cast<int64_t>(element_size(array_.dtype));
    held_.resize((end - first) * row);
    array_.bytes.read(static_cast<size_t>(first * row), held_);
    held_from_ = first * layers_ * k_;
  }

  int64_t value(int64_t index) const {
    const int64_t v = whole_number_at(held_.data(), array_.dtype, static_cast<size_t>(index - held_from_));
    return v == no_branch_ ? -1 : v;
  }

  /// Programs that store ids in an unsigned type turn -1 into its largest number. Without a model, 255 may be a branch;
  /// no model has 65536 branches.
  void find_no_branch(int64_t most) {
    const int64_t largest = array_.dtype == DType::u8    ? UINT8_MAX
                            : array_.dtype == DType::u16 ? UINT16_MAX
                            : array_.dtype == DType::u32 ? UINT32_MAX
                                                         : int64_t{-1};
    const bool is_branch = source_.model.branches > 0 ? largest < most : array_.dtype == DType::u8;
    if (!is_branch) no_branch_ = largest;
  }

  // Ranges, the number of branches, and which layers are zeros all over.
  void look_over() {
    const int64_t most = source_.model.branches > 0
                             ? source_.model.branches + std::max(source_.model.shared, source_.model.zero_experts)
                             : kMostTracedBranches,
                  row = layers_ * k_;
    find_no_branch(most);
    const int64_t group = std::max(int64_t{1}, (int64_t{1} << 17) / row);  // 1 MiB of i64
    std::vector<uint8_t> used(layers_), recorded(used.size());
    int64_t largest = -1;
    for (int64_t t = 0; t < tokens_; ++t) {
      if (t % group == 0) {
        progress_.report("looking at tokens", t, tokens_);
        read_tokens(t, std::min(t + group, tokens_));
      }
      for (int64_t i = 0; i < row; ++i) {
        const int64_t v = value(t * row + i);
        if (v < -1 || v >= most)
          wrong("element " + element(t, i / k_, i % k_) + " is " + std::to_string(v) + ", -1 to " +
                    std::to_string(most - 1) + " are allowed",
                source_.model.branches > 0 ? source_.model.source + " says " + counted(most, "branch") : kSave);
        largest = std::max(largest, v);
        used[i / k_] |= v > 0;
        recorded[i / k_] |= v >= 0;
      }
    }
    // With k = 1, zeros are choices.
    if (largest < 0 || (k_ > 1 && largest == 0)) {
      counts_.nothing = largest < 0 ? "names no branch: every element is -1" : kNothingChosen;
      return;
    }
    const TracedModel& model = source_.model;
    if (model.branches == 0 && array_.dtype == DType::u8 && largest == UINT8_MAX)
      counts_.warnings.push_back(
          source_.path() +
          ": holds 255 in uint8, which is read as branch 255; if it was -1, which is not a branch, "
          "name the model: --model-config config.json");
    branches_ = model.branches == 0                                    ? static_cast<int32_t>(std::max(largest + 1, k_))
                : largest >= model.branches && model.zero_experts == 0 ? model.branches + model.shared
                                                                       : model.branches;
    const bool whole = model.layers == layers_, only = std::ssize(model.moe_layers) == layers_;
    if (model.layers > 0 && !whole && !only)
      wrong("has " + counted(layers_, "layer") + "; " + model.source + " has " + std::to_string(model.layers) + ", " +
                std::to_string(model.moe_layers.size()) + " of them with branches",
            "check that both are of one model");
    if (whole && k_ > 1) check(used, recorded);
    doubt_order();
    for (int64_t l = 0; l < layers_; ++l) {
      const bool has =
          !model.moe_layers.empty()
              ? only || std::binary_search(model.moe_layers.begin(), model.moe_layers.end(), static_cast<int32_t>(l))
              : k_ == 1 || used[l] != 0;
      if (has) taken_.push_back(l);
    }
    numbered_ = only && !whole;
  }

  /// Doubts an array that may be [layers, tokens, k]. Only a model can say how many layers there are.
  void doubt_order() {
    constexpr int64_t kMostUsualLayers = 128;
    if (source_.model.layers > 0 || layers_ <= kMostUsualLayers || tokens_ >= layers_) return;
    counts_.warnings.push_back(source_.path() + ": is read as " + counted(tokens_, "token") + " of " +
                               counted(layers_, "layer") +
                               "; if it is [layers, tokens, k]: numpy.save(FILE, ids.transpose(1, 0, 2))");
  }

  /// Refuses an array that contradicts the model. Layers that were not recorded contradict nothing; with k = 1, zeros
  /// may be choices.
  void check(std::vector<uint8_t> used, const std::vector<uint8_t>& recorded) const {
    for (const int32_t layer : source_.model.moe_layers) used[layer] |= recorded[layer] == 0;
    routers_of_layers(source_, used);
  }

  void begin() {
    TraceHeader header;
    const TracedModel& model = source_.model;
    header.model = model.name;
    header.family = model.family;
    header.model_layers = model.layers;
    header.origin["format"] = "npy " + shape_text(array_.shape);
    for (const int64_t l : taken_) {
      TraceRouter router;
      router.layer = numbered_ ? model.moe_layers[l] : static_cast<int32_t>(l);
      router.name = "layer." + std::to_string(router.layer);
      router.branches = branches_;
      router.fan_out = static_cast<int32_t>(k_);
      header.routers.push_back(std::move(router));
    }
    header.lacks = lacks_without(
        {{"model", !model.name.empty()}, {"branches", model.branches > 0}, "k", "decisions", "steps", "order"});
    sink_.begin(header);
  }

  void hand_on() {
    const int64_t group = cells_a_batch(std::ssize(taken_) * k_);
    choice_.resize(taken_.size());
    for (int64_t first = 0; first < tokens_; first += group) {
      progress_.report("reading tokens", first, tokens_);
      const int64_t end = std::min(first + group, tokens_);
      read_tokens(first, end);
      for (size_t i = 0; i < taken_.size(); ++i) {
        choice_[i].clear();
        for (int64_t t = first; t < end; ++t) take(t, taken_[i], choice_[i]);
      }
      const TraceCells table{
          0, {0, 1, static_cast<int32_t>(end - first), static_cast<int32_t>(first), Phase::forward}, {}};
      decisions_.clear();
      for (size_t i = 0; i < choice_.size(); ++i)
        decisions_.push_back({.router = static_cast<int32_t>(i), .choice = choice_[i]});
      sink_.batch({&table, 1}, decisions_);
    }
    counts_.rows_skipped = tokens_ * k_ * (layers_ - std::ssize(taken_));
  }

  void take(int64_t token, int64_t layer, std::vector<int32_t>& choice) {
    const int64_t at = (token * layers_ + layer) * k_;
    const size_t begin = choice.size();
    int64_t sum = 0;
    for (int64_t j = 0; j < k_; ++j) {
      int32_t v = value(at + j);
      if (source_.model.zero_experts > 0 && v >= source_.model.branches) v = kNoBranch;
      sum += v;
      choice.push_back(v < 0 ? kNoBranch : v);
      counts_.rows_masked += v < 0;
      counts_.rows_read += v >= 0;
    }
    if (k_ == 1) return;
    const auto mine = std::span(choice).subspan(begin);
    if (sum == 0 && std::all_of(mine.begin(), mine.end(), [](int32_t c) { return c == 0; })) {
      std::fill(mine.begin(), mine.end(), kNoBranch);
      counts_.rows_masked += k_;
      counts_.rows_read -= k_;
      return;
    }
    for (size_t j = 1; j < mine.size(); ++j)
      if (mine[j] >= 0 && std::find(mine.begin(), mine.begin() + j, mine[j]) != mine.begin() + j)
        wrong("element " + element(token, layer, static_cast<int64_t>(j)) + " is " + std::to_string(mine[j]) +
                  ", which the same cell chose already",
              "the k choices of a cell differ; is the order [tokens, layers, k]?");
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  NpyArray array_;
  int64_t tokens_ = 0, layers_ = 0, k_ = 0;
  std::vector<std::byte> held_;  // of the file, from element `held_from_` on
  int64_t held_from_ = 0;
  int64_t no_branch_ = -1;  // the number in the file that names no branch, beside -1
  int32_t branches_ = 1;
  bool numbered_ = false;       // the array's layers are the model's layers with branches
  std::vector<int64_t> taken_;  // layers of the array that have branches
  std::vector<std::vector<int32_t>> choice_;
  std::vector<DecisionRecord> decisions_;
  TraceCounts counts_;
};

}  // namespace

TraceCounts read_npy_trace(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return NpyTrace(source, sink, progress).read();
}

}  // namespace stormcell

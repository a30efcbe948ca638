// llama.cpp's importance matrix as GGUF: beside each stack of experts' weights, `blk.N.ffn_{gate,up,down}_exps.weight.counts` f32 [1,
// experts] says how many tokens came to each expert while it was made: one sum over all of its text.
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_marks.h"
#include "core/formats/file_text.h"
#include "core/formats/gguf.h"
#include "core/formats/trace/trace.h"

namespace stormcell {
namespace {

constexpr double kMostCalls = 1e12;
constexpr std::array<std::string_view, 4> kStacks = {"gate", "up", "down", "gate_up"};
constexpr const char* kMakeAgain = "make it again with llama-imatrix";

class Imatrix {
 public:
  Imatrix(const TraceSource& source, TraceSink& sink) : source_(source), sink_(sink), file_(source.file->bytes(), source.path()) {}

  TraceCounts read() {
    for (const auto& [name, tensor] : file_.tensors())
      if (const auto layer = layer_of(name)) take(*layer, name, tensor);
    if (loads_.empty()) wrong("holds no counts of experts", "make it from a model with experts");
    begin();
    int32_t router = 0;
    for (const auto& [layer, loads] : loads_) {
      counts_.rows_read += static_cast<int64_t>(loads.size());
      sink_.loads(0, router++, loads);
    }
    return counts_;
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = kMakeAgain) const {
    bad_input(source_.path(), what, advice);
  }

  /// Of "blk.12.ffn_gate_exps.weight.counts"; empty: another tensor.
  static std::optional<int32_t> layer_of(std::string_view name) {
    constexpr std::string_view kBlock = "blk.";
    if (!name.starts_with(kBlock)) return {};
    int32_t layer = 0;
    const char* end = name.data() + name.size();
    const auto [after, error] = std::from_chars(name.data() + kBlock.size(), end, layer);
    if (error != std::errc() || layer < 0 || layer >= kMostTracedLayers) return {};
    const std::string_view rest(after, static_cast<size_t>(end - after));
    for (const std::string_view stack : kStacks)
      if (rest == ".ffn_" + std::string(stack) + "_exps.weight.counts") return layer;
    return {};
  }

  void take(int32_t layer, const std::string& name, const GgufTensor& tensor) {
    const int64_t experts = tensor.dims.back();
    if (tensor.type != GgufFile::kF32 || tensor.bytes.size() != static_cast<size_t>(experts) * sizeof(float))
      wrong(name + " is no f32 [1, experts]");
    if (experts > kMostTracedBranches) wrong(name + " counts " + counted(experts, "expert"));
    std::vector<int64_t> loads;
    for (int64_t e = 0; e < experts; ++e) {
      float count;
      std::memcpy(&count, tensor.bytes.data() + static_cast<size_t>(e) * sizeof count, sizeof count);
      if (!(count >= 0 && count < kMostCalls)) wrong(name + ": the count of expert " + std::to_string(e) + " is out of range");
      loads.push_back(std::llround(count));
    }
    const auto [at, is_new] = loads_.emplace(layer, loads);
    if (!is_new && at->second != loads) wrong("layer " + std::to_string(layer) + ": its stacks of weights counted unlike tokens");
    if (loads.size() != loads_.begin()->second.size())
      wrong(name + " counts " + counted(experts, "expert") + ", the first layer " + std::to_string(loads_.begin()->second.size()));
  }

  /// Choices of a token, where it says how many tokens there were; 0: they do not divide.
  int64_t k() const {
    const auto number = [&](const char* key) {
      const auto found = file_.numbers().find(key);
      return found == file_.numbers().end() ? int64_t{0} : found->second;
    };
    const int64_t chunks = number("imatrix.chunk_count"), size = number("imatrix.chunk_size");
    if (chunks <= 0 || size <= 0 || size > INT32_MAX || chunks > INT32_MAX) return 0;
    int64_t all = 0;
    for (const int64_t load : loads_.begin()->second) all += load;
    const int64_t k = all / (chunks * size);
    return all % (chunks * size) == 0 && k <= static_cast<int64_t>(loads_.begin()->second.size()) ? k : 0;
  }

  void begin() {
    const TracedModel& model = source_.model;
    const auto branches = static_cast<int32_t>(loads_.begin()->second.size());
    if (model.branches > 0 && model.branches != branches)
      wrong("counts " + counted(branches, "expert") + ", " + model.source + " says " + std::to_string(model.branches),
            "check that both are of one model");
    const int64_t told = model.k > 0 ? model.k : k();
    TraceHeader header;
    header.model = model.name, header.family = model.family;
    header.origin["format"] = "llama.cpp imatrix";
    if (const auto text = file_.texts().find("imatrix.datasets"); text != file_.texts().end())
      header.origin["dataset"] = text->second.substr(0, 1000);
    header.counts = true;
    header.model_layers = std::max(model.layers, loads_.rbegin()->first + 1);
    for (const auto& [layer, loads] : loads_) {
      TraceRouter& router = header.routers.emplace_back();
      router.layer = layer, router.name = "layer." + std::to_string(layer);
      router.branches = branches, router.fan_out = static_cast<int32_t>(std::clamp<int64_t>(told, 1, branches));
    }
    header.lacks = lacks_without({{"model", !model.name.empty()}, "branches", {"k", told > 0}, "order"});
    sink_.begin(header);
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const GgufFile file_;
  std::map<int32_t, std::vector<int64_t>> loads_;  // by layer
  TraceCounts counts_;
};

}  // namespace

bool is_imatrix_gguf(std::string_view content) { return is_imatrix_header(content); }

TraceCounts read_imatrix_gguf(const TraceSource& source, TraceSink& sink, const Progress&) { return Imatrix(source, sink).read(); }

}  // namespace stormcell

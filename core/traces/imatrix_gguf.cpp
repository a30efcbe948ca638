// llama.cpp's importance matrix as GGUF: beside each stack of experts' weights,
// `blk.N.ffn_{gate,up,down}_exps.weight.counts` f32 [1, experts] says how many tokens came to each expert while it was
// made: one sum over all of its text. Counts of other weights of a layer, f32 [1, 1], say how many tokens there were. A
// file that was made from the older .dat has one count for a whole stack of experts; one that a .dat was merged into
// has counted, in every expert, all tokens of that .dat besides.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <functional>
#include <iomanip>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/gguf.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

constexpr double kMostCalls = 1e12;
constexpr int64_t kMostTokens = 1'000'000'000'000;
constexpr std::array<std::string_view, 4> kStacks = {"gate", "up", "down", "gate_up"};
constexpr const char* kMakeAgain = "make it again with llama-imatrix";
constexpr const char* kFreshRun = "llama-imatrix --output-format gguf in a fresh run, with no .dat under --in-file";

class Imatrix {
 public:
  Imatrix(const TraceSource& source, TraceSink& sink)
      : source_(source), sink_(sink), file_(source.file->bytes(), source.path()) {}

  TraceCounts read() {
    for (const auto& [name, tensor] : file_.tensors()) {
      const auto [layer, of_experts] = layer_of(name);
      if (layer >= 0) of_experts ? take(layer, name, tensor) : take_tokens(layer, tensor);
    }
    if (loads_.empty()) wrong("holds no counts of experts", "make it from a model with experts");
    for (const auto& [layer, loads] : loads_) check_choices(layer, loads);
    doubt_equal_counts();
    begin();
    int32_t router = 0;
    for (const auto& [layer, loads] : loads_) {
      counts_.rows_read += std::ssize(loads);
      sink_.loads(0, router++, loads);
    }
    return counts_;
  }

 private:
  [[noreturn]] void wrong(const std::string& what, const std::string& advice = kMakeAgain) const {
    bad_input(source_.path(), what, advice);
  }

  struct Counted {
    int32_t layer = -1;  ///< -1: the tensor is not counted by layers
    bool experts = false;
  };
  /// Reads a name as "blk.12.ffn_gate_exps.weight.counts".
  static Counted layer_of(std::string_view name) {
    constexpr std::string_view kBlock = "blk.", kCounts = ".weight.counts";
    if (!name.starts_with(kBlock) || !name.ends_with(kCounts)) return {};
    int32_t layer = 0;
    const char* end = name.data() + name.size();
    const auto [after, error] = std::from_chars(name.data() + kBlock.size(), end, layer);
    if (error != std::errc() || layer < 0 || layer >= kMostTracedLayers) return {};
    const std::string_view rest(after, static_cast<size_t>(end - after));
    for (const std::string_view stack : kStacks)
      if (rest == ".ffn_" + std::string(stack) + "_exps.weight.counts") return {layer, true};
    return {layer, false};
  }

  void check_whole(float count, const std::string& name) const {
    if (count == std::floor(count)) return;
    std::ostringstream text;
    text << count;
    wrong(name + " is " + text.str() + ", no whole number", kFreshRun);
  }

  /// The other weights of a layer count all of its tokens.
  void take_tokens(int32_t layer, const GgufTensor& tensor) {
    float count;
    if (tensor.type != GgufFile::kF32 || tensor.bytes.size() != sizeof count) return;
    std::memcpy(&count, tensor.bytes.data(), sizeof count);
    if (!(count >= 0 && count < kMostCalls)) return;
    check_whole(count, "layer " + std::to_string(layer) + ": the count of its tokens");
    int64_t& tokens = tokens_[layer];
    tokens = std::max<int64_t>(tokens, std::llround(count));
  }

  void take(int32_t layer, const std::string& name, const GgufTensor& tensor) {
    const int64_t experts = tensor.dims.back();
    if (tensor.type != GgufFile::kF32 || tensor.bytes.size() != static_cast<size_t>(experts) * sizeof(float))
      wrong(name + " is not f32 [1, experts]");
    if (experts == 1)
      wrong(name +
                " is one count of all experts together, not one of each: it was made from a .dat, which does not count "
                "experts",
            kFreshRun);
    if (experts > kMostTracedBranches) wrong(name + " counts " + counted(experts, "expert"));
    std::vector<int64_t> loads;
    for (int64_t e = 0; e < experts; ++e) {
      float count;
      std::memcpy(&count, tensor.bytes.data() + static_cast<size_t>(e) * sizeof count, sizeof count);
      if (!(count >= 0 && count < kMostCalls))
        wrong(name + ": the count of expert " + std::to_string(e) + " is out of range");
      check_whole(count, name + ": the count of expert " + std::to_string(e));
      loads.push_back(std::llround(count));
    }
    const auto [at, is_new] = loads_.emplace(layer, loads);
    if (!is_new && at->second != loads)
      wrong("layer " + std::to_string(layer) + ": its stacks of weights counted different numbers of tokens");
    if (loads.size() != loads_.begin()->second.size())
      wrong(name + " counts " + counted(experts, "expert") + ", the first layer " +
            std::to_string(loads_.begin()->second.size()));
  }

  int64_t number(const char* key) const {
    const auto found = file_.numbers().find(key);
    return found == file_.numbers().end() ? int64_t{0} : found->second;
  }
  /// The number of tokens in the text; 0: not stated. If merged files had chunks of different sizes, it is too small.
  int64_t tokens_of_chunks() const {
    const int64_t chunks = number("imatrix.chunk_count"), size = number("imatrix.chunk_size");
    return chunks <= 0 || size <= 0 || size > INT32_MAX || chunks > INT32_MAX || chunks * size > kMostTokens
               ? 0
               : chunks * size;
  }

  /// A token chooses k different experts.
  void check_choices(int32_t layer, const std::vector<int64_t>& loads) {
    const auto counted_tokens = tokens_.find(layer);
    const bool exact = counted_tokens != tokens_.end() && counted_tokens->second > 0;
    const int64_t tokens = exact ? counted_tokens->second : tokens_of_chunks();
    if (tokens == 0) {
      const bool all_equal = std::adjacent_find(loads.begin(), loads.end(), std::not_equal_to<>()) == loads.end();
      if (all_equal && loads[0] > 0) equal_layers_.push_back(layer);
      return;
    }
    const auto experts = std::ssize(loads);
    const int64_t all = std::accumulate(loads.begin(), loads.end(), int64_t{0}),
                  most = *std::max_element(loads.begin(), loads.end());
    // number of merged chunks
    const int64_t slack = exact ? 0 : std::max<int64_t>(number("imatrix.chunk_size") - 1, 0);
    const std::string where = "layer " + std::to_string(layer) + " counts ";
    if (most > tokens + slack)
      wrong(where + counted(most, "token") + " of one expert, and " + std::to_string(tokens) + " in all", kFreshRun);
    const std::string choices = choices_text(all, tokens) + " of a token";
    if (const int64_t k = source_.model.k; k > 0) {
      if (exact && all < k * tokens)
        wrong(where + choices + ", " + source_.model.source + " says " + std::to_string(k),
              "check that both are of one model");
      if (all > k * (tokens + slack))
        wrong(where + choices + ", " + source_.model.source + " says " + std::to_string(k) +
                  ": a .dat, which counts every token for every expert, was merged into it",
              kFreshRun);
    } else if (experts > 2 && all >= experts * tokens) {
      wrong(where + choices +
                ", which are all experts: it was made from a .dat, which counts every token for every expert",
            kFreshRun);
    } else if (exact && all % tokens != 0) {
      wrong(
          where + choices + ", no whole number: a .dat, which counts every token for every expert, was merged into it",
          kFreshRun);
    } else if (counts_.warnings.empty() && (all % tokens != 0 || (experts > 2 && 2 * all > experts * tokens))) {
      counts_.warnings.push_back(
          source_.path() + ": " + where + choices + " among " + counted(experts, "expert") +
          "; a .dat that was merged into it would do that (--model-config config.json says how many there are)");
    }
  }
  /// Without a number of tokens, a .dat (which counts every token for every expert) looks like experts that are chosen
  /// equally often.
  void doubt_equal_counts() {
    if (equal_layers_.empty()) return;
    const int32_t first = equal_layers_[0];
    const std::vector<int64_t>& loads = loads_.at(first);
    counts_.warnings.push_back(
        source_.path() + ": layer " + std::to_string(first) + " counts " + counted(loads[0], "token") +
        " of each of its " + counted(std::ssize(loads), "expert") + " (" + std::to_string(equal_layers_.size()) +
        " of " + counted(std::ssize(loads_), "layer") +
        " do so), and no chunk count says how many tokens there were: " +
        "a file made from a .dat, which counts every token for every expert, looks like this (" + kFreshRun + ")");
  }
  static std::string choices_text(int64_t all, int64_t tokens) {
    if (all % tokens == 0) return counted(all / tokens, "choice");
    std::ostringstream text;
    text << std::fixed << std::setprecision(2) << static_cast<double>(all) / tokens << " choices";
    return text.str();
  }

  /// Choices of a token, if the file states the number of tokens; 0: they do not divide.
  int64_t k() const {
    const auto& [layer, loads] = *loads_.begin();
    const auto of_layer = tokens_.find(layer);
    const int64_t tokens = of_layer != tokens_.end() && of_layer->second > 0 ? of_layer->second : tokens_of_chunks();
    if (tokens == 0) return 0;
    const int64_t all = std::accumulate(loads.begin(), loads.end(), int64_t{0}), k = all / tokens;
    return all % tokens == 0 && k <= std::ssize(loads) ? k : 0;
  }

  void begin() {
    const TracedModel& model = source_.model;
    const int32_t branches = loads_.begin()->second.size();
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
  std::map<int32_t, int64_t> tokens_;              // tokens of each layer, as its other weights count them
  std::vector<int32_t> equal_layers_;  // layers whose experts have equal counts, of an unknown number of tokens
  TraceCounts counts_;
};

}  // namespace

TraceCounts read_imatrix_gguf(const TraceSource& source, TraceSink& sink, const Progress&) {
  return Imatrix(source, sink).read();
}

}  // namespace stormcell

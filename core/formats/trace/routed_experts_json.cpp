// Answers of an SGLang server that was asked for routed experts: meta_info.routed_experts is base64 of int32 [tokens, layers, k], prompt
// and answer of one request. One answer, a list of them, or one a line. How many layers and choices there are stands in no answer. Servers
// keep the routed choices alone; early builds kept columns of fused shared experts behind, with any number in them.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/base64.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_lines.h"
#include "core/formats/trace/json_cursor.h"
#include "core/formats/trace/json_values.h"
#include "core/formats/trace/trace.h"

namespace stormcell {
namespace {

class RoutedExperts {
 public:
  RoutedExperts(const TraceSource& source, TraceSink& sink, const Progress& progress) : source_(source), sink_(sink), progress_(progress) {}

  TraceCounts read() {
    const TracedModel& model = source_.model;
    if (model.layers == 0 || model.k == 0 || model.moe_layers.empty())
      bad_input(source_.path(), "does not say how many layers and choices of a token there are",
                "--model-config config.json of the model that answered");
    begin();
    JsonLines answers(source_.text(), source_.path());
    for (nlohmann::json answer; answers.next(answer);) {
      progress_.report("reading answers", requests_, 0);
      hand_on(answer, JsonRow(answer, source_.path(), answers.line()));
    }
    counts_.empty_lines = answers.lines().empty_lines();
    if (requests_ == 0) bad_input(source_.path(), "has no answer with routed_experts", "send return_routed_experts in each request");
    return counts_;
  }

 private:
  void begin() {
    const TracedModel& model = source_.model;
    TraceHeader header;
    header.model = model.name, header.family = model.family;
    header.origin["format"] = "SGLang routed_experts";
    header.model_layers = model.layers;
    std::vector<int32_t> router_of(static_cast<size_t>(model.layers), -1);
    for (size_t i = 0; i < model.moe_layers.size(); ++i) router_of[static_cast<size_t>(model.moe_layers[i])] = static_cast<int32_t>(i);
    header.routers = routers_by_layer(router_of, model.branches, std::min(model.k, model.branches));
    k_ = std::min(model.k, model.branches);
    header.lacks =
        lacks_without({{"model", !model.name.empty()}, "branches", "k", "decisions", "steps", "order", "requests", "positions", "phases"});
    sink_.begin(header);
  }

  void hand_on(const nlohmann::json& answer, const JsonRow& row) {
    const nlohmann::json& about = value_at(answer, "meta_info");
    const std::string text = text_at(about, "routed_experts");
    if (text.empty()) return;  // answered without them
    const auto bytes = decode_base64(text);
    if (!bytes || bytes->size() % sizeof(int32_t)) row.wrong("routed_experts is no base64 of int32");
    const auto values = static_cast<int64_t>(bytes->size() / sizeof(int32_t));
    const auto count = [&](const char* key) { return std::clamp<int64_t>(whole_at(about, key), 0, INT32_MAX); };
    const int64_t prompt = count("prompt_tokens"), tokens = layers_of(values, prompt + count("completion_tokens"), row);
    const bool told = prompt > 0;  // else nobody knows where decoding begins
    const int64_t cut = told ? std::min(prompt, tokens) : tokens;
    if (cut > 0) hand_on_tokens(*bytes, 0, cut, told ? Phase::prefill : Phase::forward, row);
    if (tokens > cut) hand_on_tokens(*bytes, cut, tokens, Phase::decode, row);
    ++requests_;
  }

  /// Finds whether all layers of the model are there or those with experts alone; returns the number of tokens. The last token of an answer
  /// is not computed on.
  int64_t layers_of(int64_t values, int64_t told, const JsonRow& row) {
    const TracedModel& model = source_.model;
    const int64_t moe = static_cast<int64_t>(model.moe_layers.size());
    for (const int64_t width : {int64_t{model.k}, int64_t{model.k} + model.shared})
      for (const int64_t layers : {int64_t{model.layers}, moe}) {
        const int64_t tokens = values / (layers * width);
        if (values == 0 || values % (layers * width) || tokens > INT32_MAX / 2) continue;
        if (told > 0 && tokens != told && tokens != told - 1) continue;
        layers_ = layers, width_ = width;
        return tokens;
      }
    row.wrong("routed_experts holds " + counted(values, "number") + ", no whole number of tokens of " + counted(model.layers, "layer") +
              " and " + counted(model.k, "choice"));
  }

  void hand_on_tokens(const std::string& bytes, int64_t first, int64_t end, Phase phase, const JsonRow& row) {
    const TracedModel& model = source_.model;
    const int64_t tokens = end - first;
    std::vector<std::vector<int32_t>> choice;
    std::vector<TraceDecision> decisions;
    choice.reserve(model.moe_layers.size());
    for (size_t r = 0; r < model.moe_layers.size(); ++r) {
      const int64_t layer = layers_ == model.layers ? model.moe_layers[r] : static_cast<int64_t>(r);
      std::vector<int32_t>& chosen = choice.emplace_back(static_cast<size_t>(tokens * k_), kNoBranch);
      for (int64_t t = 0; t < tokens; ++t)
        for (int64_t j = 0; j < model.k; ++j) {
          int32_t v;
          std::memcpy(&v, bytes.data() + static_cast<size_t>(((first + t) * layers_ + layer) * width_ + j) * sizeof v, sizeof v);
          if (v < -1 || v >= model.branches)
            row.wrong("token " + std::to_string(first + t) + ", layer " + std::to_string(layer) + " names expert " + std::to_string(v) +
                      ", " + model.source + " has " + std::to_string(model.branches));
          if (v < 0 || j >= k_) {
            ++counts_.rows_masked;
            continue;
          }
          chosen[static_cast<size_t>(t * k_ + j)] = v;
          ++counts_.rows_read;
        }
    }
    for (size_t r = 0; r < choice.size(); ++r) decisions.push_back({static_cast<int32_t>(r), choice[r], {}, {}, {}, {}});
    counts_.rows_skipped += tokens * model.k * (layers_ - static_cast<int64_t>(choice.size()));
    counts_.rows_shared += tokens * (width_ - model.k) * static_cast<int64_t>(choice.size());
    const TraceCells cells{0, {requests_, 1, static_cast<int32_t>(tokens), static_cast<int32_t>(first), phase}, {}};
    sink_.batch({&cells, 1}, decisions);
  }

  const TraceSource& source_;
  TraceSink& sink_;
  const Progress& progress_;
  int64_t layers_ = 0, width_ = 0, requests_ = 0;  // of the answer at hand; read so far
  int32_t k_ = 1;
  TraceCounts counts_;
};

}  // namespace

bool is_routed_experts_json(std::string_view content) { return is_json_with(content, "{[", "\"routed_experts\""); }

TraceCounts read_routed_experts_json(const TraceSource& source, TraceSink& sink, const Progress& progress) {
  return RoutedExperts(source, sink, progress).read();
}

}  // namespace stormcell

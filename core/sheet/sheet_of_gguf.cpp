#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/gguf_header.h"
#include "core/formats/gguf_parts.h"
#include "core/formats/header_bytes.h"
#include "core/formats/open_file.h"
#include "core/models/gguf_model.h"
#include "core/sheet/lacks.h"
#include "core/sheet/routing_rule.h"
#include "core/sheet/sheet_parts.h"
#include "core/sheet/text_parts.h"

namespace stormcell {
namespace {

/// The "model_type" that transformers has for an architecture of llama.cpp.
struct ArchitectureRow {
  std::string_view architecture, family;
};
constexpr std::array kArchitectures = {
    ArchitectureRow{"afmoe", "afmoe"},
    ArchitectureRow{"arctic", "arctic"},
    ArchitectureRow{"bailingmoe", "bailing_moe"},
    ArchitectureRow{"bailingmoe2", "bailing_moe_v2"},
    ArchitectureRow{"dbrx", "dbrx"},
    ArchitectureRow{"deepseek", "deepseek"},
    ArchitectureRow{"deepseek2", "deepseek_v3"},
    ArchitectureRow{"dots1", "dots1"},
    ArchitectureRow{"ernie4_5-moe", "ernie4_5_moe"},
    ArchitectureRow{"exaone-moe", "exaone_moe"},
    ArchitectureRow{"gemma4", "gemma4_text"},
    ArchitectureRow{"glm4moe", "glm4_moe"},
    ArchitectureRow{"gpt-oss", "gpt_oss"},
    ArchitectureRow{"granitehybrid", "granitemoehybrid"},
    ArchitectureRow{"granitemoe", "granitemoe"},
    ArchitectureRow{"grok", "grok-1"},
    ArchitectureRow{"hunyuan-moe", "hunyuan_v1_moe"},
    ArchitectureRow{"jamba", "jamba"},
    ArchitectureRow{"kimi-linear", "kimi_linear"},
    ArchitectureRow{"lfm2moe", "lfm2_moe"},
    ArchitectureRow{"llama4", "llama4_text"},
    ArchitectureRow{"mimo2", "mimo_v2_flash"},
    ArchitectureRow{"minimax-m2", "minimax_m2"},
    ArchitectureRow{"nemotron_h_moe", "nemotron_h"},
    ArchitectureRow{"olmoe", "olmoe"},
    ArchitectureRow{"phimoe", "phimoe"},
    ArchitectureRow{"qwen2moe", "qwen2_moe"},
    ArchitectureRow{"qwen35moe", "qwen3_5_moe_text"},
    ArchitectureRow{"qwen3moe", "qwen3_moe"},
    ArchitectureRow{"qwen3next", "qwen3_next"},
    ArchitectureRow{"qwen3vlmoe", "qwen3_vl_moe_text"},
    ArchitectureRow{"step35", "step3p5"},
};

/// Kinds of tokenizers by "tokenizer.ggml.model".
struct TokenizerRow {
  std::string_view model, words;
};
constexpr std::array kTokenizers = {TokenizerRow{"gpt2", "BPE"}, TokenizerRow{"llama", "SentencePiece"},
                                    TokenizerRow{"t5", "Unigram"}, TokenizerRow{"bert", "WordPiece"}};

/// Keys below the architecture: "qwen3moe.expert_count".
class ArchitectureKeys {
 public:
  explicit ArchitectureKeys(const GgufEntries& entries)
      : entries_(entries), prefix_(std::string(entries.text("general.architecture")) + ".") {}
  std::string architecture() const { return prefix_.substr(0, prefix_.size() - 1); }
  /// At most 2^31; of a list its largest number; 0: there is none.
  int64_t number(std::string_view key) const {
    const std::string name = prefix_ + std::string(key);
    int64_t value = entries_.number(name).value_or(0);
    if (const auto list = entries_.lists.find(name); list != entries_.lists.end())
      for (const int64_t n : list->second.numbers) value = std::max(value, n);
    return std::clamp<int64_t>(value, 0, INT32_MAX);
  }
  double real(std::string_view key, double otherwise) const {
    const auto found = entries_.reals.find(prefix_ + std::string(key));
    return found == entries_.reals.end() ? otherwise : found->second;
  }
  bool has(std::string_view key) const { return entries_.number(prefix_ + std::string(key)).has_value(); }

 private:
  const GgufEntries& entries_;
  std::string prefix_;
};

std::string family_of_keys(const ArchitectureKeys& keys) {
  const std::string architecture = keys.architecture();
  constexpr int64_t kSigmoid = 2;
  if (architecture == "llama" && keys.number("expert_count") > 0) return "mixtral";
  if (architecture == "deepseek2" && keys.number("expert_gating_func") != kSigmoid) return "deepseek_v2";
  const auto row = std::find_if(kArchitectures.begin(), kArchitectures.end(),
                                [&](const ArchitectureRow& r) { return r.architecture == architecture; });
  return row == kArchitectures.end() ? architecture : std::string(row->family);
}

/// The rule of the family, overruled by what the file itself says.
RoutingRule rule_of(const std::string& family, const ArchitectureKeys& keys, bool choice_bias) {
  using Score = RoutingRule::Score;
  RoutingRule rule = routing_rule(family, nlohmann::json::object());
  constexpr std::array kScores = {Score::unknown, Score::softmax, Score::sigmoid, Score::softmax_of_chosen};
  const auto gate = static_cast<size_t>(keys.number("expert_gating_func"));
  if (gate > 0 && gate < kScores.size()) rule.score = kScores.at(gate);
  // llama.cpp's programs of these let weights sum to 1, without a key.
  if (keys.architecture().starts_with("qwen3") && rule.sum == RoutingRule::Sum::as_scored)
    rule.sum = RoutingRule::Sum::one;
  if (keys.has("expert_weights_norm"))
    rule.sum = keys.number("expert_weights_norm") > 0 ? RoutingRule::Sum::one : RoutingRule::Sum::as_scored;
  rule.scale = keys.real("expert_weights_scale", rule.scale);
  if (rule.scale == 0) rule.scale = 1;  // llama.cpp's word for none
  rule.groups = keys.number("expert_group_count"), rule.kept_groups = keys.number("expert_group_used_count");
  rule.choice_bias = choice_bias;
  return rule;
}

/// Types of a file that is no model of its own.
void refuse_parts_of_models(const GgufEntries& keys, const std::string& path) {
  if (const std::string_view type = keys.text("general.type"); !type.empty() && type != "model")
    bad_input(path, "is of the type " + in_quotes(type) + ", not a model", "name the model that it belongs to");
}

/// One part of a model that may be split.
class GgufParts {
 public:
  GgufParts(const ModelPlace& place, ModelSheet& sheet) : place_(place), sheet_(sheet) {}

  void read() {
    const size_t parts = place_.files.size();
    for (size_t i = 0; i < parts; ++i) read_part(i);
    check_gguf_tensors(first_, parts, tally.tensors(), place_.files.front());
    if (parts == 1)
      if (const int64_t of = first_.number("split.count").value_or(0); of > 1)
        sheet_.lacks.push_back(
            {"the file is one of " + counted(of, "part") + ", and its name does not lead to the others", "", of});
  }
  const GgufEntries& keys() const { return first_; }

  TensorTally tally;

 private:
  void read_part(size_t i) {
    const std::string& path = place_.files.at(i);
    const OpenFile file = OpenFile::open_regular(path);
    HeaderBytes bytes(file);
    uint64_t end = 0;
    std::string last;
    const GgufHeader header = header_of(bytes, [&](GgufPlace&& tensor) {
      const uint64_t size = tensor.bytes().value_or(0);
      const uint64_t tensor_end = std::min(tensor.offset, UINT64_MAX / 2) + size;
      if (tensor_end > end) end = tensor_end, last = tensor.name;
      add(std::move(tensor), size);
    });
    check_gguf_end(header, last, end, bytes.size(), path);
    check_gguf_part(header.keys, first_, i, place_.files.size(), path);
    if (i == 0) first_ = header.keys;
    ++sheet_.files;
  }

  /// A part may be a pointer or the page of a server.
  static GgufHeader header_of(HeaderBytes& bytes, const auto& see) {
    try {
      return read_gguf_header(bytes, see);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::bad_input) refuse_unlike(bytes.where(), {"gguf"});
      throw;
    }
  }

  void add(GgufPlace&& tensor, uint64_t size) {
    const GgmlType* type = ggml_type(tensor.type);
    DescribedTensor described{std::move(tensor.name),
                              type ? std::string(type->name) : "type " + std::to_string(tensor.type),
                              {tensor.dims.rbegin(), tensor.dims.rend()},
                              static_cast<int64_t>(std::min<uint64_t>(size, INT64_MAX))};
    tally.add(described);
  }

  const ModelPlace& place_;
  ModelSheet& sheet_;
  GgufEntries first_;
};

std::string tokenizer_words(const GgufEntries& keys) {
  const std::string_view model = keys.text("tokenizer.ggml.model");
  if (model.empty()) return {};
  const auto row =
      std::find_if(kTokenizers.begin(), kTokenizers.end(), [&](const TokenizerRow& r) { return r.model == model; });
  std::string words = row == kTokenizers.end() ? std::string(model.substr(0, 64)) : std::string(row->words);
  if (const std::string_view pre = keys.text("tokenizer.ggml.pre"); !pre.empty() && pre != "default")
    words += " by the pattern " + std::string(pre.substr(0, 64));
  if (const auto tokens = keys.lists.find("tokenizer.ggml.tokens"); tokens != keys.lists.end())
    words += ", " + counted(static_cast<int64_t>(std::min<uint64_t>(tokens->second.count, INT64_MAX)), "token");
  return words;
}

}  // namespace

void fill_from_gguf(const ModelPlace& place, ModelSheet& sheet) {
  GgufParts parts(place, sheet);
  parts.read();
  const GgufEntries& entries = parts.keys();
  refuse_parts_of_models(entries, place.files.front());
  const ArchitectureKeys keys(entries);
  constexpr size_t kMostShown = 128;
  if (const std::string_view name = entries.text("general.name"); !name.empty())
    sheet.name = name.substr(0, kMostShown);
  sheet.family = family_of_keys(keys);
  sheet.layers = keys.number("block_count") > 0 ? keys.number("block_count") : parts.tally.layers();
  sheet.experts = keys.number("expert_count") > 0 ? keys.number("expert_count") : parts.tally.experts();
  sheet.k = keys.number("expert_used_count");
  sheet.layers_with_experts = parts.tally.layers_with_experts();
  set_weights(parts.tally, sheet);
  sheet.routing = routing_text(rule_of(sheet.family, keys, parts.tally.has_choice_bias()), sheet.experts, sheet.k,
                               keys.number("expert_shared_count"));
  sheet.tokenizer = tokenizer_words(entries);
  sheet.chat_template = chat_form(entries.text("tokenizer.chat_template"));
  if (family_of_gguf(keys.architecture()).empty())
    sheet.lacks.push_back({"this version runs no GGUF of the architecture `" + keys.architecture() + "`", "", 0});
  for (const std::string& key : missing_gguf_keys(entries))
    sheet.lacks.push_back({"the file has no key `" + key + "`", "", 0});
  add_lacks(sheet, lacking_family(sheet.family));
  add_lacks(sheet, lacking_operations(parts.tally, sheet.layers));
  add_lacks(sheet, lacking_formats(parts.tally));
  sheet.runnable = sheet.lacks.empty();
  if (sheet.experts > 0 && !sheet.runnable) sheet.recorder = "llama-cpp";
}

}  // namespace stormcell

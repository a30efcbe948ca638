#include "core/formats/token_frame.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {
namespace {

/// The names of one side of a text in messages.
struct Side {
  const char *token, *usual, *key, *flag, *place;
};
constexpr Side kBegin{"begin token", "<s>", "bos_token", "add_bos_token", "before"};
constexpr Side kEnd{"end token", "</s>", "eos_token", "add_eos_token", "after"};

std::vector<int32_t> tokens_of(const Side& side, const ConfiguredToken& configured, bool by_family,
                               int32_t of_vocabulary, const SpecialIds& ids, const TokenizerConfig& config,
                               const std::string& where) {
  // A token that is null is never added, whatever the flag says: all readers do so.
  if (!configured.is_added.value_or(by_family) || configured.is_null) return {};
  if (!configured.text.empty()) {
    if (const std::optional<int32_t> id = ids.find(configured.text)) return {*id};
    bad_input(config.path, in_quotes(side.key) + ": " + in_quotes(configured.text) + " is not a token of " + where,
              "get both files again, of one model, or give token ids as .npy or .safetensors");
  }
  if (of_vocabulary >= 0) return {of_vocabulary};
  bad_input(
      where,
      std::string("has no ") + side.token + " " + side.usual + ", which the model expects " + side.place + " a text",
      std::string("name it in tokenizer_config.json as ") + in_quotes(side.key) + ", or set " + in_quotes(side.flag) +
          " to false there");
}

}  // namespace

std::vector<int32_t> TokenFrame::around(std::vector<int32_t> ids) const {
  ids.insert(ids.begin(), before.begin(), before.end());
  ids.insert(ids.end(), behind.begin(), behind.end());
  return ids;
}

bool TokenFrame::holds(int32_t id) const {
  return std::find(before.begin(), before.end(), id) != before.end() ||
         std::find(behind.begin(), behind.end(), id) != behind.end();
}

TokenFrame frame_by(const TokenizerConfig& config, FrameRule rule, const SpecialIds& ids, const std::string& where) {
  return {tokens_of(kBegin, config.begin, rule.begin, ids.begin, ids, config, where),
          tokens_of(kEnd, config.end, rule.end, ids.end, ids, config, where)};
}

std::vector<std::string> frame_contradictions(const TokenizerConfig& config, const TokenFrame& used,
                                              const std::string& where) {
  std::vector<std::string> sentences;
  const auto compare = [&](const Side& side, const ConfiguredToken& configured, const std::vector<int32_t>& tokens) {
    if (!configured.is_added || *configured.is_added == !tokens.empty()) return;
    sentences.push_back(config.path + ": " + in_quotes(side.flag) + " is " + (*configured.is_added ? "true" : "false") +
                        ", and the post-processor of " + where + " puts " + (tokens.empty() ? "no token" : "a token") +
                        " " + side.place + " a text; the post-processor is used, as transformers 5 does");
  };
  compare(kBegin, config.begin, used.before);
  compare(kEnd, config.end, used.behind);
  return sentences;
}

}  // namespace stormcell

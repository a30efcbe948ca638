#include "core/formats/tokenizer_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/base64.h"
#include "core/formats/byte_pairs_json.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/formats/post_processor.h"
#include "core/formats/tokenizer_parts.h"

namespace stormcell {
namespace {
using Json = nlohmann::json;

class Parser : private TokenizerParts {
 public:
  explicit Parser(const std::string& where) : TokenizerParts(where) {}

  TokenizerJson parse(const Json& root) {
    if (!root.is_object()) refuse("is not a JSON object");
    parse_model(member(root, "model", "the file"));
    parse_added(root);
    add_normalizer(optional_member(root, "normalizer"));
    add_pre_tokenizer(optional_member(root, "pre_tokenizer"));
    result_.frame = parse_post_processor(optional_member(root, "post_processor"), *this);
    parse_decoder(optional_member(root, "decoder"));
    if (const Json& padding = optional_member(root, "padding"); padding.is_object() && padding.contains("pad_id"))
      result_.pad_id = id_of(padding["pad_id"], "padding");
    else
      result_.pad_id = result_.find("<pad>").value_or(-1);
    return std::move(result_);
  }

 private:
  void parse_model(const Json& model) {
    const std::string& type = text(model, "type", "the model");
    if (type == "BPE") {
      BytePairModel pairs = parse_byte_pairs(model, *this);
      result_.byte_fallback = pairs.rules.byte_fallback;
      result_.unknown_id = pairs.rules.unknown;
      result_.pieces = std::move(pairs.pieces);
      result_.byte_pairs = std::move(pairs.rules);
      return;
    }
    if (type != "Unigram") unsupported("the model", type);
    for (const Json& entry : list(model, "vocab", "the model")) {
      const std::string name = "piece " + std::to_string(result_.pieces.size());
      if (!entry.is_array() || entry.size() != 2 || !entry[0].is_string() || !entry[1].is_number())
        refuse(name + " is not [text, score]");
      result_.pieces.push_back(
          {entry[0].get<std::string>(), static_cast<float>(entry[1].get<double>()), PieceType::normal});
    }
    if (result_.pieces.empty()) refuse("the model has no pieces");
    if (result_.pieces.size() >= kMaxId) refuse("the model has too many pieces");
    result_.byte_fallback = flag(model, "byte_fallback", false);
    const Json& unknown = optional_member(model, "unk_id");
    if (unknown.is_null()) return;
    result_.unknown_id = id_of(unknown, "unk_id");
    if (static_cast<size_t>(*result_.unknown_id) >= result_.pieces.size()) refuse("unk_id is outside the vocabulary");
  }

  void parse_added(const Json& root) {
    const Json& tokens = optional_member(root, "added_tokens");
    if (tokens.is_null()) return;
    if (!tokens.is_array()) refuse("added_tokens is not a list");
    for (const Json& entry : tokens) {
      const std::string part = "an added token";
      AddedToken token;
      token.id = id_of(member(entry, "id", part), part);
      token.content = text(entry, "content", part);
      if (token.content.empty()) refuse(part + " is empty");
      if (flag(entry, "single_word", false)) unsupported("for added tokens", "single_word");
      token.special = flag(entry, "special", false);
      token.strip_left = flag(entry, "lstrip", false);
      token.strip_right = flag(entry, "rstrip", false);
      token.in_normalized_text = flag(entry, "normalized", !token.special);
      result_.added.push_back(std::move(token));
    }
  }

  void add_normalizer(const Json& step) {
    if (step.is_null()) return;
    const std::string part = "the normalizer";
    const std::string& type = text(step, "type", part);
    if (type == "Sequence") {
      for (const Json& inner : list(step, "normalizers", part)) add_normalizer(inner);
    } else if (type == "Precompiled") {
      const auto table = decode_base64(text(step, "precompiled_charsmap", part));
      if (!table) refuse("precompiled_charsmap is not base64");
      result_.normalizations.push_back(precompiled_normalization(CharsMap(*table, where())));
    } else if (type == "Strip") {
      result_.normalizations.push_back(
          strip_normalization(flag(step, "strip_left", true), flag(step, "strip_right", true)));
    } else if (type == "Prepend") {
      result_.normalizations.push_back(prepend_normalization(text(step, "prepend", part)));
    } else if (type == "Replace") {
      add_replace(step);
    } else {
      unsupported(part, type);
    }
  }
  void add_replace(const Json& step) {
    const std::string part = "the normalizer Replace";
    const Json& pattern = member(step, "pattern", part);
    const std::string& content = text(step, "content", part);
    if (pattern.is_object() && pattern.contains("String")) {
      result_.normalizations.push_back(replace_normalization(text(pattern, "String", part), content));
    } else {
      const std::string& regex = text(pattern, "Regex", part);
      if (regex != " {2,}") unsupported(part + " with the pattern", regex);
      result_.normalizations.push_back(replace_space_runs_normalization(content));
    }
  }

  void add_pre_tokenizer(const Json& step) {
    if (step.is_null()) return;
    const std::string part = "the pre-tokenizer";
    const std::string& type = text(step, "type", part);
    PreTokenization& words = result_.pre_tokenization;
    if (type == "Sequence") {
      for (const Json& inner : list(step, "pretokenizers", part)) add_pre_tokenizer(inner);
    } else if (type == "WhitespaceSplit" && !words.metaspace) {
      words.split_white_space = true;
    } else if (type == "Metaspace" && !words.metaspace) {
      words.metaspace = true;
      words.replacement = metaspace_replacement(step);
      words.prepend = prepend_scheme(step);
      words.split_words = flag(step, "split", true);
    } else {
      unsupported(part, type);
    }
  }
  std::string metaspace_replacement(const Json& step) const {
    const std::string& replacement = text(step, "replacement", "Metaspace");
    if (replacement.empty() || replacement.size() > 4) refuse("the replacement of Metaspace is not one character");
    return replacement;
  }
  PrependScheme prepend_scheme(const Json& step) const {
    if (step.contains("prepend_scheme")) {
      const std::string& scheme = text(step, "prepend_scheme", "Metaspace");
      if (scheme == "always") return PrependScheme::always;
      if (scheme == "first") return PrependScheme::first;
      if (scheme == "never") return PrependScheme::never;
      unsupported("Metaspace with the prepend_scheme", scheme);
    }
    return flag(step, "add_prefix_space", true) ? PrependScheme::always : PrependScheme::never;
  }

  void parse_decoder(const Json& step) {
    if (step.is_null()) return;
    const std::string part = "the decoder";
    const std::string& type = text(step, "type", part);
    static constexpr std::array<std::string_view, 4> kHarmless = {"ByteFallback", "Fuse", "Strip", "Replace"};
    if (type == "Sequence") {
      for (const Json& inner : list(step, "decoders", part)) parse_decoder(inner);
    } else if (type == "Metaspace") {
      result_.drop_first_space = prepend_scheme(step) != PrependScheme::never;
    } else if (std::find(kHarmless.begin(), kHarmless.end(), type) == kHarmless.end()) {
      unsupported(part, type);
    }
  }

  TokenizerJson result_;
};
}  // namespace

std::optional<int32_t> TokenizerJson::find(std::string_view content) const {
  for (const AddedToken& token : added)
    if (token.content == content) return token.id;
  for (size_t i = 0; i < pieces.size(); ++i)
    if (pieces[i].text == content) return static_cast<int32_t>(i);
  return {};
}

TokenizerJson parse_tokenizer_json(std::string_view json, const std::string& where) {
  if (json.find_first_not_of(" \t\r\n") == std::string_view::npos || json[json.find_first_not_of(" \t\r\n")] != '{')
    refuse_other_kind(where, json, FileUse::tokenizer);
  return Parser(where).parse(parse_json_text(json, where));
}

}  // namespace stormcell

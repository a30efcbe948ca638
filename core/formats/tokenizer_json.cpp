#include "core/formats/tokenizer_json.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/base64.h"
#include "core/formats/byte_pairs_json.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/formats/post_processor.h"
#include "core/formats/pre_tokenizer_json.h"
#include "core/formats/taken_vocabulary.h"
#include "core/formats/tokenizer_parts.h"

namespace stormcell {
namespace {
using Json = nlohmann::json;

class Parser : private TokenizerParts {
 public:
  explicit Parser(const std::string& where) : TokenizerParts(where), taken_(*this) {}

  TokenizerJson parse(std::string_view json) { return read(parse_json_with(json, where(), taken_)); }

 private:
  TokenizerJson read(const Json& root) {
    if (!root.is_object()) refuse("is not a JSON object");
    parse_model(member(root, "model", "the file"));
    parse_added(root);
    add_normalizer(optional_member(root, "normalizer"));
    parse_pre_tokenizer(optional_member(root, "pre_tokenizer"), *this, result_);
    result_.frame = parse_post_processor(optional_member(root, "post_processor"), *this);
    parse_decoder(optional_member(root, "decoder"));
    if (const Json& padding = optional_member(root, "padding"); padding.is_object() && padding.contains("pad_id"))
      result_.pad_id = id_of(padding["pad_id"], "padding");
    else
      result_.pad_id = result_.find("<pad>").value_or(-1);
    return std::move(result_);
  }

  void parse_model(const Json& model) {
    const std::string& type = text(model, "type", "the model");
    if (type == "BPE") {
      BytePairModel pairs = parse_byte_pairs(model, taken_, *this);
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
      token.whole_word = flag(entry, "single_word", false);
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
    } else if (type == "NFC" || type == "NFD") {
      result_.normalizations.push_back(canonical_normalization(type == "NFC"));
    } else if (type == "Lowercase") {
      result_.normalizations.push_back(small_letters_normalization());
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

  void parse_decoder(const Json& step) {
    if (step.is_null()) return;
    // Without a step that strips it, the first space is kept.
    if (text(step, "type", "the decoder") == "Sequence") result_.drop_first_space = false;
    add_decoder(step);
  }
  void add_decoder(const Json& step) {
    const std::string part = "the decoder";
    const std::string& type = text(step, "type", part);
    if (type == "Sequence") {
      for (const Json& inner : list(step, "decoders", part)) add_decoder(inner);
    } else if (type == "Metaspace") {
      result_.drop_first_space = prepend_scheme_of(step, *this) != PrependScheme::never;
    } else if (type == "ByteLevel") {
      result_.bytes_as_characters = true;
    } else if (type == "Strip") {
      const Json &start = optional_member(step, "start"), &stop = optional_member(step, "stop");
      if (!stop.is_null() && stop != 0) unsupported(part, "Strip at the end");
      if (!start.is_null() && start != 0) result_.drop_first_space = true;
    } else if (type == "Replace") {
      const Json& pattern = member(step, "pattern", part);
      if (!pattern.is_object() || !pattern.contains("String")) unsupported(part, "Replace by an expression");
      if (text(pattern, "String", part) != result_.blank || text(step, "content", part) != " ")
        unsupported(part + " Replace of", text(pattern, "String", part));
    } else if (type != "ByteFallback" && type != "Fuse") {
      unsupported(part, type);
    }
  }

  TakenVocabulary taken_;
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
  return Parser(where).parse(json);
}

}  // namespace stormcell

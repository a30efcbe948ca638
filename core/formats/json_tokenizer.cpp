// A tokenizer from a tokenizer.json: its text pipeline and BPE models here, Unigram models in the SentencePiece
// library.
#include <sentencepiece_processor.h>

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "core/base/error.h"
#include "core/formats/byte_alphabet.h"
#include "core/formats/file_text.h"
#include "core/formats/sentencepiece_library.h"
#include "core/formats/tokenizer.h"
#include "core/formats/tokenizer_json.h"

namespace stormcell {
namespace {
std::string normalized(const TokenizerJson& parts, std::string text) {
  for (const auto& step : parts.normalizations) text = step->apply(text);
  return text;
}

/// The added tokens that are searched in the raw text, or those searched after normalisation; the latter are normalised
/// themselves.
AddedTokens those_in(const TokenizerJson& parts, bool in_normalized_text) {
  std::vector<AddedToken> some;
  for (AddedToken token : parts.added) {
    if (token.in_normalized_text != in_normalized_text) continue;
    if (in_normalized_text) token.content = normalized(parts, token.content);
    some.push_back(std::move(token));
  }
  return AddedTokens(std::move(some));
}

/// The tokens around a text. Releases of transformers differ if a model expects a begin token and no file mentions it.
TokenFrame frame_of(const TokenizerJson& parts, const std::string& where, FrameRule rule,
                    const TokenizerConfig& config) {
  if (parts.frame) return *parts.frame;
  if (rule.begin && !config.begin.is_added && !config.begin.is_null)
    bad_input(
        where, "has no post-processor, so no file says whether a text begins with a begin token",
        "set \"add_bos_token\" in tokenizer_config.json to true or false, or give token ids as .npy or .safetensors");
  const auto find = [&](std::string_view token) { return parts.find(token); };
  return frame_by(config, rule, {parts.find("<s>").value_or(-1), parts.find("</s>").value_or(-1), find}, where);
}

class JsonTokenizer : public Tokenizer {
 public:
  JsonTokenizer(TokenizerJson parts, const std::string& where, FrameRule rule, const TokenizerConfig& config)
      : where_(where),
        parts_(std::move(parts)),
        all_added_(parts_.added),
        in_raw_text_(those_in(parts_, false)),
        in_normalized_text_(those_in(parts_, true)) {
    check_added();
    vocabulary_size_ = static_cast<int32_t>(parts_.pieces.size());
    for (const AddedToken& token : parts_.added) vocabulary_size_ = std::max(vocabulary_size_, token.id + 1);
    if (parts_.byte_pairs)
      byte_pairs_.emplace(parts_.pieces, *parts_.byte_pairs);
    else
      library_ = load_sentencepiece(
          checked_sentencepiece_model(plain_unigram_model(pieces_for_library(), parts_.byte_fallback), where), where);
    frame_ = frame_of(parts_, where, rule, config);
    check_frame();
    if (parts_.frame)
      for (std::string& sentence : frame_contradictions(config, frame_, where)) warn(std::move(sentence));
    else if (config.begin.is_added.value_or(false) || config.end.is_added.value_or(false))
      warn(config.path + ": its add_bos_token and add_eos_token are used, because " + where +
           " has no post-processor (transformers 4 reads them, transformers 5 ignores them)");
  }

  std::vector<int32_t> encode(std::string_view utf8, bool framed) const override {
    std::vector<int32_t> ids = encode_typed(utf8, {});
    return framed ? frame_.around(std::move(ids)) : ids;
  }

  std::vector<int32_t> encode_typed(std::string_view utf8, std::span<const TextRange> typed) const override {
    check_text(utf8, where_);
    std::vector<int32_t> ids;
    const auto counts = [&](size_t at, const AddedToken& token) {
      return !token.special || std::none_of(typed.begin(), typed.end(),
                                            [&](const TextRange& part) { return at >= part.begin && at < part.end; });
    };
    in_raw_text_.split(
        utf8,
        [&](std::string_view raw, const AddedToken* token) {
          if (token)
            ids.push_back(token->id);
          else
            encode_raw(raw, raw.data() == utf8.data(), typed.empty(), ids);
        },
        counts);
    return ids;
  }

  std::string decode(std::span<const int32_t> ids) const override {
    if (parts_.bytes_as_characters) return decode_bytes(ids);
    PieceDecoder decoder(parts_.blank, parts_.drop_first_space);
    for (const int32_t id : ids) {
      const AddedToken* token = all_added_.find(id);
      if (is_silent(token, id)) continue;
      if (token)
        decoder.add(token->content);
      else if (id >= 0 && static_cast<size_t>(id) < parts_.pieces.size())
        decoder.add_piece(parts_.pieces[id].text, parts_.byte_fallback);
    }
    return decoder.take();
  }

  std::string piece(int32_t id) const override {
    if (const AddedToken* token = all_added_.find(id)) return token->content;
    return id >= 0 && static_cast<size_t>(id) < parts_.pieces.size() ? parts_.pieces[id].text : std::string();
  }
  std::vector<AddedToken> added_tokens() const override { return parts_.added; }
  const TokenFrame& frame() const override { return frame_; }
  int32_t pad_id() const override { return parts_.pad_id; }
  int32_t vocabulary_size() const override { return vocabulary_size_; }
  const std::string& path() const override { return where_; }

 private:
  // The library knows no unknown piece that also occurs in text, as <unk> does here: it gets one of its own behind the
  // others.
  std::vector<Piece> pieces_for_library() const {
    std::vector<Piece> pieces = parts_.pieces;
    if (parts_.byte_fallback)
      for (Piece& piece : pieces)
        if (is_byte_piece(piece.text)) piece.type = PieceType::byte;
    pieces.push_back({"\xEF\xBF\xBF unknown", 0, PieceType::unknown});
    return pieces;
  }

  void check_added() const {
    std::vector<int32_t> ids;
    for (const AddedToken& token : parts_.added) {
      const size_t id = token.id;
      if (id < parts_.pieces.size() && !parts_.pieces[id].text.empty() && parts_.pieces[id].text != token.content)
        bad_input(where_,
                  "the added token " + in_quotes(token.content) + " has the id of the piece " +
                      in_quotes(parts_.pieces[id].text),
                  "get the file again");
      ids.push_back(token.id);
    }
    check_pieces_of_added();
    std::sort(ids.begin(), ids.end());
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end())
      bad_input(where_, "two added tokens have the same id", "get the file again");
  }

  void check_frame() const {
    for (const std::vector<int32_t>* ids : {&frame_.before, &frame_.behind})
      for (const int32_t id : *ids)
        if (id >= vocabulary_size_)
          bad_input(where_,
                    "the post-processor puts the id " + std::to_string(id) + " around a text, the vocabulary has " +
                        std::to_string(vocabulary_size_),
                    "get the file again");
  }

  /// A piece that is also an added token must have one id: some readers use that of the vocabulary, others that of the
  /// list.
  void check_pieces_of_added() const {
    std::unordered_map<std::string_view, int32_t> added;
    for (const AddedToken& token : parts_.added) added.emplace(token.content, token.id);
    for (size_t id = 0; id < parts_.pieces.size(); ++id) {
      const auto token = added.find(parts_.pieces[id].text);
      if (token == added.end() || token->second == static_cast<int32_t>(id)) continue;
      bad_input(where_,
                "the added token " + in_quotes(token->first) + " has the id " + std::to_string(token->second) +
                    ", in the vocabulary it has " + std::to_string(id),
                "get the file again");
    }
  }

  /// Padding, the frame and special tokens are not written.
  bool is_silent(const AddedToken* token, int32_t id) const {
    return token ? token->special : id == parts_.pad_id || frame_.holds(id);
  }

  std::string decode_bytes(std::span<const int32_t> ids) const {
    std::string bytes;
    for (const int32_t id : ids)
      if (!is_silent(all_added_.find(id), id)) add_bytes_of_characters(piece(id), bytes);
    return text_of_bytes(bytes);
  }

  /// Without `special`, a special token that is searched after normalisation is text: its place in what was typed is
  /// not known then.
  void encode_raw(std::string_view raw, bool at_begin, bool special, std::vector<int32_t>& ids) const {
    const std::string text = normalized(parts_, std::string(raw));
    in_normalized_text_.split(
        text,
        [&](std::string_view part, const AddedToken* token) {
          if (token) {
            ids.push_back(token->id);
            return;
          }
          for (const Word& word : parts_.pre_tokenization.words(part, at_begin && part.data() == text.data()))
            encode_word(word.text, ids);
        },
        [&](size_t, const AddedToken& token) { return special || !token.special; });
  }

  void encode_word(const std::string& word, std::vector<int32_t>& ids) const {
    if (byte_pairs_) {
      if (!byte_pairs_->encode(word, ids)) refuse_unknown(word);
      return;
    }
    std::vector<int> encoded;
    if (!library_->Encode(word, &encoded).ok())
      bad_input(where_, "cannot encode " + in_quotes(word), "check that the tokenizer is the model's");
    const int32_t unknown_in_library = parts_.pieces.size();
    bool after_unknown = false;
    for (const int id : encoded) {
      const bool unknown = id == unknown_in_library || id == parts_.unknown_id;
      if (unknown && !parts_.unknown_id) refuse_unknown(word);
      if (!(unknown && after_unknown))
        ids.push_back(unknown ? *parts_.unknown_id : id);  // neighbours that are unknown are one token
      after_unknown = unknown;
    }
  }

  [[noreturn]] void refuse_unknown(const std::string& word) const {
    bad_input(where_, "has no piece for the unknown text in " + in_quotes(word),
              "check that the tokenizer is the model's");
  }

  std::string where_;
  TokenizerJson parts_;
  AddedTokens all_added_, in_raw_text_, in_normalized_text_;
  TokenFrame frame_;
  std::optional<BytePairs> byte_pairs_;                                   // of a BPE model
  std::shared_ptr<const sentencepiece::SentencePieceProcessor> library_;  // of a Unigram model
  int32_t vocabulary_size_ = 0;
};
}  // namespace

std::shared_ptr<Tokenizer> Tokenizer::from_json(std::string_view json, const std::string& where, FrameRule rule,
                                                const TokenizerConfig& config) {
  return tokenizer_of(parse_tokenizer_json(json, where), where, rule, config);
}

std::shared_ptr<Tokenizer> tokenizer_of(TokenizerJson parts, const std::string& where, FrameRule rule,
                                        const TokenizerConfig& config) {
  return std::make_shared<JsonTokenizer>(std::move(parts), where, rule, config);
}

}  // namespace stormcell

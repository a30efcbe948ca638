// A tokenizer from a tokenizer.json: its text pipeline here, its Unigram model in the SentencePiece library.
#include <sentencepiece_processor.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/formats/file_text.h"
#include "core/formats/sentencepiece_library.h"
#include "core/formats/tokenizer.h"
#include "core/formats/tokenizer_json.h"

namespace stormcell {
namespace {
AddedTokens those_in(const std::vector<AddedToken>& all, bool normalized) {
  std::vector<AddedToken> some;
  std::copy_if(all.begin(), all.end(), std::back_inserter(some),
               [&](const AddedToken& token) { return token.in_normalized_text == normalized; });
  return AddedTokens(std::move(some));
}

class JsonTokenizer : public Tokenizer {
 public:
  JsonTokenizer(TokenizerJson parts, const std::string& where)
      : where_(where),
        parts_(std::move(parts)),
        all_added_(parts_.added),
        in_raw_text_(those_in(parts_.added, false)),
        in_normalized_text_(those_in(parts_.added, true)) {
    check_added();
    vocabulary_size_ = static_cast<int32_t>(parts_.pieces.size());
    for (const AddedToken& token : parts_.added) vocabulary_size_ = std::max(vocabulary_size_, token.id + 1);
    library_ =
        load_sentencepiece(checked_sentencepiece_model(plain_unigram_model(pieces_for_library(), parts_.byte_fallback), where), where);
  }

  std::vector<int32_t> encode(std::string_view utf8, bool add_end) const override {
    check_text(utf8, where_);
    std::vector<int32_t> ids;
    in_raw_text_.split(utf8, [&](std::string_view raw, const AddedToken* token) {
      if (token)
        ids.push_back(token->id);
      else
        encode_raw(raw, raw.data() == utf8.data(), ids);
    });
    if (add_end && parts_.end_id >= 0) ids.push_back(parts_.end_id);
    return ids;
  }

  std::string decode(std::span<const int32_t> ids) const override {
    PieceDecoder decoder(parts_.pre_tokenization.replacement, parts_.drop_first_space);
    for (const int32_t id : ids) {
      const AddedToken* token = all_added_.find(id);
      if (token ? token->special : id == parts_.pad_id || id == parts_.end_id) continue;
      if (token)
        decoder.add(token->content);
      else if (id >= 0 && static_cast<size_t>(id) < parts_.pieces.size())
        decoder.add_piece(parts_.pieces[static_cast<size_t>(id)].text, parts_.byte_fallback);
    }
    return decoder.take();
  }

  std::string piece(int32_t id) const override {
    if (const AddedToken* token = all_added_.find(id)) return token->content;
    return id >= 0 && static_cast<size_t>(id) < parts_.pieces.size() ? parts_.pieces[static_cast<size_t>(id)].text : std::string();
  }
  int32_t pad_id() const override { return parts_.pad_id; }
  int32_t end_id() const override { return parts_.end_id; }
  int32_t vocabulary_size() const override { return vocabulary_size_; }
  const std::string& path() const override { return where_; }

 private:
  // The library knows no unknown piece that also occurs in text, as <unk> does here: it gets one of its own behind the others.
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
      const auto id = static_cast<size_t>(token.id);
      if (id < parts_.pieces.size() && parts_.pieces[id].text != token.content)
        bad_input(where_, "the added token " + in_quotes(token.content) + " has the id of the piece " + in_quotes(parts_.pieces[id].text),
                  "get the file again");
      ids.push_back(token.id);
    }
    std::sort(ids.begin(), ids.end());
    if (std::adjacent_find(ids.begin(), ids.end()) != ids.end())
      bad_input(where_, "two added tokens have the same id", "get the file again");
  }

  void encode_raw(std::string_view raw, bool at_begin, std::vector<int32_t>& ids) const {
    std::string text(raw);
    for (const auto& step : parts_.normalizations) text = step->apply(text);
    in_normalized_text_.split(text, [&](std::string_view part, const AddedToken* token) {
      if (token) {
        ids.push_back(token->id);
        return;
      }
      for (const std::string& word : parts_.pre_tokenization.words(part, at_begin && part.data() == text.data())) encode_word(word, ids);
    });
  }

  void encode_word(const std::string& word, std::vector<int32_t>& ids) const {
    std::vector<int> encoded;
    if (!library_->Encode(word, &encoded).ok())
      bad_input(where_, "cannot encode " + in_quotes(word), "check that the tokenizer is the model's");
    const auto unknown_in_library = static_cast<int32_t>(parts_.pieces.size());
    bool after_unknown = false;
    for (const int id : encoded) {
      const bool unknown = id == unknown_in_library || id == parts_.unknown_id;
      if (unknown && !parts_.unknown_id)
        bad_input(where_, "has no piece for the unknown text in " + in_quotes(word), "check that the tokenizer is the model's");
      if (!(unknown && after_unknown)) ids.push_back(unknown ? *parts_.unknown_id : id);  // neighbours that are unknown are one token
      after_unknown = unknown;
    }
  }

  std::string where_;
  TokenizerJson parts_;
  AddedTokens all_added_, in_raw_text_, in_normalized_text_;
  std::shared_ptr<const sentencepiece::SentencePieceProcessor> library_;
  int32_t vocabulary_size_ = 0;
};
}  // namespace

std::shared_ptr<const Tokenizer> Tokenizer::from_json(std::string_view json, const std::string& where) {
  return std::make_shared<JsonTokenizer>(parse_tokenizer_json(json, where), where);
}

}  // namespace stormcell

// A tokenizer from a SentencePiece model of any kind: ids from the library, special tokens from the configuration.
#include <sentencepiece_processor.h>

#include <algorithm>

#include "core/base/error.h"
#include "core/formats/added_tokens.h"
#include "core/formats/file_text.h"
#include "core/formats/sentencepiece_library.h"
#include "core/formats/sentencepiece_model.h"
#include "core/formats/tokenizer.h"

namespace stormcell {
namespace {
constexpr std::string_view kBlankPiece = "\u2581";

/// T5's sentinels, which its tokenizers recognise in a text.
bool is_sentinel(const AddedToken& token) { return token.content.starts_with("<extra_id_"); }

std::vector<AddedToken> sentinels_of(const TokenizerConfig& config) {
  std::vector<AddedToken> tokens;
  std::copy_if(config.added.begin(), config.added.end(), std::back_inserter(tokens), is_sentinel);
  return tokens;
}

class SentencePieceTokenizer : public Tokenizer {
 public:
  SentencePieceTokenizer(std::string_view model, const std::string& where, FrameRule rule,
                         const TokenizerConfig& config)
      : where_(where),
        library_(load_sentencepiece(checked_sentencepiece_model(model, where), where)),
        added_(sentinels_of(config)) {
    vocabulary_size_ = library_->GetPieceSize();
    for (const AddedToken& token : config.added) {
      if (!is_sentinel(token) && token.id >= library_->GetPieceSize() && !token.content.empty())
        outside_.push_back(token);
      vocabulary_size_ = std::max(vocabulary_size_, token.id + 1);
    }
    frame_ = frame_by(config, rule,
                      {library_->bos_id(), library_->eos_id(), [this](std::string_view token) { return find(token); }},
                      where);
    // Releases of transformers differ in whether they obey the key.
    if (config.begins_with_blank == false && puts_blank_first())
      warn(config.path + ": \"add_prefix_space\" is false, and " + where +
           " puts a blank before a text; the blank is kept, as the library SentencePiece does");
  }

  std::vector<int32_t> encode(std::string_view utf8, bool framed) const override {
    check_text(utf8, where_);
    refuse_outside(utf8);
    std::vector<int32_t> ids;
    added_.split(utf8, [&](std::string_view text, const AddedToken* token) {
      if (token) {
        ids.push_back(token->id);
        return;
      }
      std::vector<int> encoded;
      if (!library_->Encode(text, &encoded).ok())
        bad_input(where_, "cannot encode " + in_quotes(text), "check that the tokenizer is the model's");
      ids.insert(ids.end(), encoded.begin(), encoded.end());
    });
    return framed ? frame_.around(std::move(ids)) : ids;
  }

  std::string decode(std::span<const int32_t> ids) const override {
    std::vector<int> known;
    for (const int32_t id : ids)
      if (id >= 0 && id < library_->GetPieceSize() && !library_->IsControl(id)) known.push_back(id);
    std::string text;
    if (!library_->Decode(known, &text).ok())
      failed(where_, "cannot decode token ids", "check that the tokenizer is the model's");
    return text;
  }

  std::string piece(int32_t id) const override {
    if (id >= 0 && id < library_->GetPieceSize()) return library_->IdToPiece(id);
    if (const AddedToken* token = added_.find(id)) return token->content;
    const auto at =
        std::find_if(outside_.begin(), outside_.end(), [&](const AddedToken& token) { return token.id == id; });
    return at == outside_.end() ? std::string() : at->content;
  }
  const TokenFrame& frame() const override { return frame_; }
  int32_t pad_id() const override { return library_->pad_id(); }
  int32_t vocabulary_size() const override { return vocabulary_size_; }
  const std::string& path() const override { return where_; }

 private:
  /// The trainer's option add_dummy_prefix, which is stored in the model.
  bool puts_blank_first() const {
    std::vector<std::string> pieces;
    return library_->Encode("a", &pieces).ok() && !pieces.empty() && pieces[0].starts_with(kBlankPiece);
  }
  std::optional<int32_t> find(std::string_view token) const {
    for (const std::vector<AddedToken>* tokens : {&added_.tokens(), &outside_})
      for (const AddedToken& added : *tokens)
        if (added.content == token) return added.id;
    const int id = library_->PieceToId(token);
    if (library_->IdToPiece(id) != token) return {};  // the library returns the unknown piece
    return id;
  }

  /// Releases differ in how they find added tokens, whose ids follow the vocabulary.
  void refuse_outside(std::string_view text) const {
    for (const AddedToken& token : outside_)
      if (text.find(token.content) != std::string_view::npos)
        bad_input(
            where_,
            "a text holds the added token " + in_quotes(token.content) + ", which this version does not recognise",
            "give token ids as .npy or .safetensors");
  }

  std::string where_;
  std::shared_ptr<const sentencepiece::SentencePieceProcessor> library_;
  AddedTokens added_;
  std::vector<AddedToken> outside_;  // added tokens of the configuration; their ids follow those of the pieces
  TokenFrame frame_;
  int32_t vocabulary_size_ = 0;
};
}  // namespace

std::shared_ptr<Tokenizer> Tokenizer::from_sentencepiece(std::string_view model, const std::string& where,
                                                         FrameRule rule, const TokenizerConfig& config) {
  return std::make_shared<SentencePieceTokenizer>(model, where, rule, config);
}

}  // namespace stormcell

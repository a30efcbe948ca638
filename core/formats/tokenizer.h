// Text to token ids and back: SentencePiece models, and tokenizer.json of the kinds Unigram and BPE.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/formats/added_tokens.h"
#include "core/formats/token_frame.h"

namespace stormcell {

class HeaderBytes;

/// A part of a text: bytes from `begin` to before `end`.
struct TextRange {
  size_t begin = 0, end = 0;
};

/// Immutable once opened; all const methods may be called by several threads at once.
class Tokenizer {
 public:
  /// Opens the tokenizer of a model folder: tokenizer.json, else spiece.model, else tokenizer.model, and
  /// tokenizer_config.json. `rule` is the family's. Error(bad_input) if the folder has none, or one whose ids would
  /// differ from those of other programs.
  static std::shared_ptr<const Tokenizer> open(const std::string& folder, FrameRule rule = {});
  /// Opens the tokenizer of a folder, of a tokenizer.json, a SentencePiece model or a GGUF file. Files are known by their
  /// content.
  static std::shared_ptr<const Tokenizer> open_at(const std::string& path, FrameRule rule = {});
  /// The same as open(), but null when the folder has none.
  static std::shared_ptr<const Tokenizer> open_if_present(const std::string& folder, FrameRule rule = {});
  /// Makes it from the bytes of a SentencePiece model; `where` names it in errors.
  static std::shared_ptr<Tokenizer> from_sentencepiece(std::string_view model, const std::string& where,
                                                       FrameRule rule = {}, const TokenizerConfig& config = {});
  /// Makes it from the text of a tokenizer.json.
  static std::shared_ptr<Tokenizer> from_json(std::string_view json, const std::string& where, FrameRule rule = {},
                                              const TokenizerConfig& config = {});

  /// Makes it from the vocabulary in the header of a GGUF file. Error(bad_input) if the file has none, or one of another
  /// kind than BPE by merges or by scores.
  static std::shared_ptr<Tokenizer> from_gguf(HeaderBytes& header);

  virtual ~Tokenizer() = default;

  /// The ids of a text; `framed`: with the tokens of frame() around them. Error(bad_input) if the text is not valid
  /// UTF-8.
  virtual std::vector<int32_t> encode(std::string_view utf8, bool framed) const = 0;
  /// The ids of a text, without a frame, of which a person typed the parts `typed`, in their order: a special token that
  /// begins in one of them is text. Error(bad_input) for a SentencePiece model, which has no special tokens in a text.
  virtual std::vector<int32_t> encode_typed(std::string_view utf8, std::span<const TextRange> typed) const;
  /// The text of ids; padding, end and other control tokens, and ids outside the vocabulary, write nothing.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  /// The piece as stored in the vocabulary ("▁the"); empty outside.
  virtual std::string piece(int32_t id) const = 0;

  /// The tokens that are found in a text as written; those that are special are not written by decode().
  virtual std::vector<AddedToken> added_tokens() const { return {}; }
  /// The special tokens around each text.
  virtual const TokenFrame& frame() const = 0;
  /// -1: the tokenizer has no padding token.
  virtual int32_t pad_id() const = 0;
  virtual int32_t vocabulary_size() const = 0;
  /// The file it was read from.
  virtual const std::string& path() const = 0;

  /// A sentence for each contradiction between files of the folder; it says which file is used.
  const std::vector<std::string>& warnings() const { return warnings_; }
  void warn(std::string sentence) { warnings_.push_back(std::move(sentence)); }

 private:
  std::vector<std::string> warnings_;
};

}  // namespace stormcell

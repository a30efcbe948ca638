// Text to token ids and back: SentencePiece models and Unigram tokenizer.json, with T5's conventions.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

/// Immutable; all methods may be called by several threads at once.
class Tokenizer {
 public:
  /// The tokenizer of a model folder: spiece.model, else tokenizer.json, else tokenizer.model; bad_input when it has none.
  static std::shared_ptr<const Tokenizer> open(const std::string& folder);
  /// The same, but null when the folder has none.
  static std::shared_ptr<const Tokenizer> open_if_present(const std::string& folder);
  /// From the bytes of a SentencePiece model; `where` names it in errors.
  static std::shared_ptr<const Tokenizer> from_sentencepiece(std::string_view model, const std::string& where);
  /// From the text of a tokenizer.json.
  static std::shared_ptr<const Tokenizer> from_json(std::string_view json, const std::string& where);

  virtual ~Tokenizer() = default;

  /// The ids of a text, with the end token appended where asked for. Text that is not valid UTF-8: bad_input.
  virtual std::vector<int32_t> encode(std::string_view utf8, bool add_end) const = 0;
  /// The text of ids; padding, end and other control tokens, and ids outside the vocabulary, write nothing.
  virtual std::string decode(std::span<const int32_t> ids) const = 0;
  /// The piece as it stands in the vocabulary ("▁the"); empty outside.
  virtual std::string piece(int32_t id) const = 0;

  virtual int32_t pad_id() const = 0;
  virtual int32_t end_id() const = 0;
  virtual int32_t vocabulary_size() const = 0;
  /// The file it was read from.
  virtual const std::string& path() const = 0;
};

}  // namespace stormcell

// Helpers of both tokenizers for the SentencePiece library and its pieces.
#pragma once
#include <memory>
#include <string>
#include <string_view>

namespace sentencepiece {
class SentencePieceProcessor;
}

namespace stormcell {

/// Loads a model that checked_sentencepiece_model() let pass.
std::shared_ptr<const sentencepiece::SentencePieceProcessor> load_sentencepiece(const std::string& checked_model,
                                                                                const std::string& where);

/// Refuses text that is not valid UTF-8 or too long to tokenize.
void check_text(std::string_view utf8, const std::string& where);

/// "<0x41>"
bool is_byte_piece(std::string_view piece);

/// Puts a text together from pieces: bytes to characters, replacements to spaces.
class PieceDecoder {
 public:
  PieceDecoder(std::string replacement, bool drop_first_space)
      : replacement_(std::move(replacement)), drop_first_space_(drop_first_space) {}
  void add_piece(std::string_view piece, bool bytes_are_bytes);
  /// Text as it is.
  void add(std::string_view text);
  std::string take();

 private:
  void end_bytes();

  std::string replacement_, text_, bytes_;
  bool drop_first_space_, first_ = true;
};

}  // namespace stormcell

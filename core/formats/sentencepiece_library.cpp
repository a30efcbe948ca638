#include "core/formats/sentencepiece_library.h"

#include <sentencepiece_processor.h>

#include <charconv>

#include "core/base/error.h"
#include "core/formats/file_text.h"

namespace stormcell {

std::shared_ptr<const sentencepiece::SentencePieceProcessor> load_sentencepiece(const std::string& checked_model,
                                                                                const std::string& where) {
  auto processor = std::make_shared<sentencepiece::SentencePieceProcessor>();
  std::string problem;
  try {
    const auto status = processor->LoadFromSerializedProto(checked_model);
    if (!status.ok()) problem = status.message();
  } catch (const std::exception& error) {  // its double-array builder throws
    problem = error.what();
  }
  if (!problem.empty())
    bad_input(where, "the SentencePiece library does not take it: " + problem, "get the tokenizer file again");
  return processor;
}

void check_text(std::string_view utf8, const std::string& where) {
  constexpr size_t kMaxText = size_t{64} << 20;  // the library counts bytes of the normalised text in an int
  if (utf8.size() > kMaxText) bad_input(where, "a text has more than 64 MiB", "split it into sequences");
  if (const size_t at = find_invalid_utf8(utf8); at != std::string_view::npos)
    bad_input(where, "a text is not valid UTF-8 at its byte " + std::to_string(at + 1),
              "convert it, for example with iconv -t UTF-8");
}

bool is_byte_piece(std::string_view piece) {
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'); };
  return piece.size() == 6 && piece.starts_with("<0x") && piece.ends_with('>') && digit(piece[3]) && digit(piece[4]);
}

void PieceDecoder::add_piece(std::string_view piece, bool bytes_are_bytes) {
  if (bytes_are_bytes && is_byte_piece(piece)) {
    unsigned value = 0;
    std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
    bytes_ += static_cast<char>(value);
    first_ = false;
    return;
  }
  end_bytes();
  while (!piece.empty()) {
    if (piece.starts_with(replacement_)) {
      if (!(first_ && drop_first_space_)) text_ += ' ';
      piece.remove_prefix(replacement_.size());
    } else {
      text_ += piece.front();
      piece.remove_prefix(1);
    }
  }
  first_ = false;
}

void PieceDecoder::add(std::string_view text) {
  end_bytes();
  text_ += text;
  first_ = false;
}

void PieceDecoder::end_bytes() {
  for (std::string_view rest = bytes_; !rest.empty();) {
    const size_t invalid = find_invalid_utf8(rest);
    text_ += rest.substr(0, invalid);
    if (invalid == std::string_view::npos) break;
    text_ += "\xEF\xBF\xBD";
    rest.remove_prefix(invalid + 1);
  }
  bytes_.clear();
}

std::string PieceDecoder::take() {
  end_bytes();
  return std::move(text_);
}

}  // namespace stormcell

// A token's text depends on the one before it: the first of a text has no space. So the tokens that were written last
// are decoded with those that wait, and their own text is cut off.
#include "core/formats/text_stream.h"

#include <span>

#include "core/formats/tokenizer.h"

namespace stormcell {
namespace {
constexpr std::string_view kBroken = "\uFFFD";
/// A character has at most four bytes. Tokens that add nothing beyond this number are broken, and are written as such.
constexpr size_t kMostWaiting = 8;
}  // namespace

TextStream::TextStream(std::shared_ptr<const Tokenizer> tokenizer) : tokenizer_(std::move(tokenizer)) {}

std::string TextStream::rest() const {
  const std::string before = tokenizer_->decode(std::span(ids_).first(written_)), all = tokenizer_->decode(ids_);
  // Broken bytes that were written may have become a character: it is written whole.
  size_t same = 0;
  while (same < before.size() && same < all.size() && before[same] == all[same]) ++same;
  while (same > 0 && same < all.size() && (static_cast<unsigned char>(all[same]) & 0xC0) == 0x80) --same;
  return all.substr(same);
}

std::string TextStream::add(int32_t id) {
  ids_.push_back(id);
  std::string text = rest();
  const size_t waiting = ids_.size() - written_;
  if (waiting < kMostWaiting && (text.empty() || text.ends_with(kBroken))) return {};
  // Tokens without text, special ones, must not hide the token before them.
  if (text.empty()) {
    ids_.resize(written_);
    return {};
  }
  ids_.erase(ids_.begin(), ids_.begin() + static_cast<std::ptrdiff_t>(written_));
  written_ = ids_.size();
  return text;
}

std::string TextStream::finish() {
  std::string text = rest();
  ids_.clear();
  written_ = 0;
  return text;
}

}  // namespace stormcell

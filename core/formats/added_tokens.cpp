#include "core/formats/added_tokens.h"

#include <algorithm>
#include <numeric>

#include "core/formats/unicode.h"

namespace stormcell {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (size_t i = 0; i < tokens_.size(); ++i)
    if (!tokens_[i].content.empty())
      by_first_byte_[static_cast<unsigned char>(tokens_[i].content.front())].push_back(i);
  for (auto& indices : by_first_byte_)
    std::stable_sort(indices.begin(), indices.end(),
                     [&](size_t a, size_t b) { return tokens_[a].content.size() > tokens_[b].content.size(); });
  by_id_.resize(tokens_.size());
  std::iota(by_id_.begin(), by_id_.end(), size_t{0});
  std::stable_sort(by_id_.begin(), by_id_.end(), [&](size_t a, size_t b) { return tokens_[a].id < tokens_[b].id; });
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto at = std::lower_bound(by_id_.begin(), by_id_.end(), id,
                                   [&](size_t index, int32_t wanted) { return tokens_[index].id < wanted; });
  return at == by_id_.end() || tokens_[*at].id != id ? nullptr : &tokens_[*at];
}

const AddedToken* AddedTokens::match(std::string_view text) const {
  for (const size_t i : by_first_byte_[static_cast<unsigned char>(text.front())])
    if (text.starts_with(tokens_[i].content)) return &tokens_[i];
  return nullptr;
}

namespace {
/// A character of a word on either side.
bool within_word(std::string_view text, size_t begin, size_t end) {
  return (begin > 0 && is_word_character(last_character(text.substr(0, begin)).code)) ||
         (end < text.size() && is_word_character(first_character(text.substr(end)).code));
}
}  // namespace

void AddedTokens::split(std::string_view text, const Part& part, const Filter& counts) const {
  if (tokens_.empty()) {
    part(text, nullptr);
    return;
  }
  size_t done = 0;  // everything before has been handed out
  for (size_t at = 0; at < text.size();) {
    const AddedToken* token = match(text.substr(at));
    if (!token) {
      ++at;
      continue;
    }
    // The reference searches on behind such a token, not within it.
    if ((counts && !counts(at, *token)) || (token->whole_word && within_word(text, at, at + token->content.size()))) {
      at += token->content.size();
      continue;
    }
    std::string_view before = text.substr(done, at - done);
    if (token->strip_left) before = trim_right(before);
    if (!before.empty()) part(before, nullptr);
    part(token->content, token);
    at += token->content.size();
    if (token->strip_right) at = text.size() - trim_left(text.substr(at)).size();
    done = at;
  }
  if (done < text.size()) part(text.substr(done), nullptr);
}

}  // namespace stormcell

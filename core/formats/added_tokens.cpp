#include "core/formats/added_tokens.h"

#include <algorithm>

#include "core/formats/unicode.h"

namespace stormcell {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens) : tokens_(std::move(tokens)) {
  for (size_t i = 0; i < tokens_.size(); ++i)
    if (!tokens_[i].content.empty())
      by_first_byte_[static_cast<unsigned char>(tokens_[i].content.front())].push_back(i);
  for (auto& indices : by_first_byte_)
    std::stable_sort(indices.begin(), indices.end(),
                     [&](size_t a, size_t b) { return tokens_[a].content.size() > tokens_[b].content.size(); });
}

const AddedToken* AddedTokens::find(int32_t id) const {
  const auto it = std::find_if(tokens_.begin(), tokens_.end(), [&](const AddedToken& token) { return token.id == id; });
  return it == tokens_.end() ? nullptr : &*it;
}

const AddedToken* AddedTokens::match(std::string_view text) const {
  for (const size_t i : by_first_byte_[static_cast<unsigned char>(text.front())])
    if (text.starts_with(tokens_[i].content)) return &tokens_[i];
  return nullptr;
}

void AddedTokens::split(std::string_view text, const Part& part) const {
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

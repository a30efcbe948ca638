#include "core/formats/taken_vocabulary.h"

#include "core/formats/file_text.h"

namespace stormcell {

void TakenVocabulary::Texts::add(std::string_view text) {
  all += text;
  ends.push_back(static_cast<uint32_t>(all.size()));  // the whole file has at most 256 MiB
}

std::string_view TakenVocabulary::Texts::at(size_t index) const {
  const uint32_t begin = index == 0 ? 0 : ends[index - 1];
  return std::string_view(all).substr(begin, ends[index] - begin);
}

bool TakenVocabulary::takes(std::string_view outer, std::string_view key, bool is_list) const {
  if (outer != "model") return false;
  in_merges_ = key == "merges" && is_list;
  return in_merges_ || (key == "vocab" && !is_list);
}

void TakenVocabulary::refuse_merge(std::string_view merge) const {
  parts_.refuse("the merge " + in_quotes(merge) + " is not a pair of pieces");
}

// A merge is "a b", or ["a", "b"] in newer files.
void TakenVocabulary::text(int level, std::string_view key, std::string_view value) {
  if (!in_merges_) {
    parts_.refuse("piece " + in_quotes(level == 1 ? key : value) + ": its id is a text, which is not a token id");
  } else if (level == 2) {
    merges_.add(value);
  } else {
    const size_t space = value.find(' ');
    if (space == std::string_view::npos || value.find(' ', space + 1) != std::string_view::npos) refuse_merge(value);
    merges_.add(value.substr(0, space));
    merges_.add(value.substr(space + 1));
  }
}

void TakenVocabulary::whole(int level, std::string_view key, int64_t value) {
  if (in_merges_) refuse_merge(std::to_string(value));
  if (level != 1 || value < 0 || value >= TokenizerParts::kMaxId)
    parts_.refuse("piece " + in_quotes(key) + ": " + in_quotes(std::to_string(value)) + " is not a token id");
  if (key.empty()) parts_.refuse("a piece of the model is empty");
  pieces_.add(key);
  ids_.push_back(static_cast<int32_t>(value));
}

void TakenVocabulary::other(int, std::string_view key) {
  if (in_merges_) refuse_merge("of another kind");
  parts_.refuse("piece " + in_quotes(key) + ": its id is not a token id");
}

void TakenVocabulary::open(int level) {
  if (!in_merges_ || level != 2) other(level, {});
}

void TakenVocabulary::close(int) {
  if (merges_.ends.size() % 2 != 0) refuse_merge(merges_.at(merges_.ends.size() - 1));
}

}  // namespace stormcell

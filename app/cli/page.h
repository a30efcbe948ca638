// The page of a verb: conclusions first, then details. All verbs share the two rules: at most five conclusions, and at
// most 60 lines unless --all asks for the rest.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace stormcell::cli {

inline constexpr size_t kMostConclusions = 5, kMostLines = 60;

struct Page {
  std::vector<std::string> conclusions;  ///< sentences, one a line; an empty one is left out
  std::string details;
};

/// "Next: stormcell analyze S.storm#3": a conclusion that ends most pages. A word with a space or a # is quoted.
std::string next_command(const std::vector<std::string>& words);

/// A sentence from words that may lack the capital and the full stop; empty words stay empty.
std::string sentence_of(std::string words);
/// "a, b and c".
std::string joined_with_and(const std::vector<std::string>& words);

/// The text of a page. A cut page ends with a line that says how many lines are left and how to see them.
std::string page_text(const Page& page, size_t most_lines);
/// All of it.
std::string page_text(const Page& page);

}  // namespace stormcell::cli

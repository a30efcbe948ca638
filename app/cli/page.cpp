#include "app/cli/page.h"

#include <algorithm>
#include <cctype>
#include <string_view>

#include "core/base/counted.h"
#include "core/base/listed_words.h"

namespace stormcell::cli {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// The conclusions, at most five, and all lines behind them, with an empty line between.
struct PageLines {
  std::vector<std::string_view> lines;
  size_t conclusions = 0;
};
PageLines lines_of_page(const Page& page) {
  PageLines all;
  for (const std::string& sentence : page.conclusions)
    if (!sentence.empty() && all.conclusions < kMostConclusions) all.lines.push_back(sentence), ++all.conclusions;
  std::string_view details = page.details;
  while (details.starts_with('\n')) details.remove_prefix(1);
  if (all.conclusions > 0 && !details.empty()) all.lines.emplace_back();
  for (const std::string_view line : lines_of(details)) all.lines.push_back(line);
  return all;
}

std::string text_of(const std::vector<std::string_view>& lines) {
  std::string text;
  for (const std::string_view line : lines) text.append(line) += '\n';
  return text;
}

}  // namespace

std::string next_command(const std::vector<std::string>& words) {
  std::string text = "Next: stormcell";
  for (const std::string& word : words)
    text += word.find_first_of(" '\"\\$&*;<>?|()") == std::string::npos && !word.starts_with('#') ? " " + word
                                                                                                  : " '" + word + "'";
  return text;
}

std::string sentence_of(std::string words) {
  if (words.empty()) return words;
  words[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(words[0])));
  return words.ends_with('.') ? words : words + ".";
}

std::string joined_with_and(const std::vector<std::string>& words) {
  if (words.size() < 2) return joined(words);
  return joined(std::vector<std::string>(words.begin(), words.end() - 1)) + " and " + words.back();
}

std::string page_text(const Page& page) { return text_of(lines_of_page(page).lines); }

std::string page_text(const Page& page, size_t most_lines) {
  PageLines all = lines_of_page(page);
  if (all.lines.size() <= most_lines) return text_of(all.lines);
  // Fewer lines than conclusions and one detail need: the conclusions alone, as many as there is room for.
  if (most_lines < all.conclusions + 3) {
    all.lines.resize(std::min(most_lines, all.conclusions));
    return text_of(all.lines);
  }
  size_t kept = most_lines - 1;
  while (kept > 0 && all.lines[kept - 1].empty()) --kept;
  const auto left = static_cast<int64_t>(all.lines.size() - kept);
  all.lines.resize(kept);
  return text_of(all.lines) + "... " + counted(left, "more line") + ": --all shows " + (left == 1 ? "it" : "them") +
         "\n";
}

}  // namespace stormcell::cli

#include "core/figures/json_page.h"

#include <array>
#include <map>
#include <string_view>

#include "core/base/enum_words.h"

namespace stormcell {
namespace {

std::string value_text(const FigureNode& node) {
  struct Words {
    std::string_view one, many;
  };
  // By KeyKind.
  constexpr std::array<Words, 8> kWords = {{{"object", "objects"},
                                            {"number", "numbers"},
                                            {"whole number", "whole numbers"},
                                            {"true or false", "flags"},
                                            {"text", "texts"},
                                            {"two numbers", "pairs of numbers"},
                                            {"JSON", "JSON"},
                                            {"null", "null"}}};
  const Words& words = row_of(kWords, node.kind);
  const int lists = node.lists - (node.kind == KeyKind::interval ? 1 : 0);
  std::string text(lists + node.names > 0 ? words.many : words.one);
  for (int i = 0; i < lists; ++i) text = (i + 1 < lists ? "lists of " : "list of ") + text;
  return node.names > 0 ? text + " by name" : text;
}

std::string_view unit_text(Unit unit) {
  constexpr std::array<std::string_view, 9> kUnits = {"", "ms", "s", "bytes", "of 1", "of 1", "times", "bits", ""};
  return row_of(kUnits, unit);
}

std::string_view better_text(Better better) {
  constexpr std::array<std::string_view, 3> kBetter = {"less", "more", ""};
  return row_of(kBetter, better);
}

std::string_view origin_text(const FigureNode& node) {
  constexpr std::array<std::string_view, 5> kOrigins = {"", "counted", "measured", "predicted", "simulated"};
  return row_of(kOrigins, node.figure.origin);
}

/// A line of a table, in which | would begin a new cell.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

/// The path at which each struct came first: its keys are listed there alone.
using FirstPaths = std::map<const void*, std::string>;

void add_keys(const FigureNode& node, const std::string& prefix, FirstPaths& first, std::string& page) {
  for (const FigureNode& member : node.members) {
    std::string path = prefix + member.key;
    const std::string shown = path;
    for (int i = 0; i < member.lists; ++i) path += "[]";
    for (int i = 0; i < member.names; ++i) path += ".NAME";
    std::string meaning = cell(member.figure.definition);
    const auto at = member.type ? first.find(member.type) : first.end();
    const bool listed = at != first.end();
    if (listed) meaning += (meaning.empty() ? "" : " ") + ("The keys of " + at->second + ".");
    page += "| `" + shown + "` | " + value_text(member) + " | " + std::string(unit_text(member.figure.unit)) + " | " +
            std::string(better_text(member.figure.better)) + " | " + std::string(origin_text(member)) + " | " +
            meaning + " |\n";
    if (listed || member.kind != KeyKind::object) continue;
    if (member.type) first.emplace(member.type, "`" + shown + "`");
    add_keys(member, path + ".", first, page);
  }
}

void add_file(const JsonFile& file, FirstPaths& first, std::string& page) {
  first.emplace(file.tree.type, "the whole file");
  page += "\n### " + file.title + "\n| key | value | unit | better | origin | meaning |\n|---|---|---|---|---|---|\n";
  add_keys(file.tree, "", first, page);
}

}  // namespace

std::string json_keys_page(const std::vector<JsonFile>& files) {
  std::string page =
      "## Every key\n"
      "`stormcell --json-keys` prints this section from the rows that write the files. A list is `[]` in a path. An "
      "object with names for keys is `NAME`. *Counted* figures are exact. *Measured* figures need an interval before a "
      "difference is judged. A key without a meaning says it by its name.\n";
  FirstPaths first;
  for (const JsonFile& file : files) add_file(file, first, page);
  return page;
}

}  // namespace stormcell

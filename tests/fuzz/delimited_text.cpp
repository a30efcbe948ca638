#include "core/formats/delimited_text.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/fuzz/fuzz.h"

using namespace stormcell;

namespace {

constexpr std::array<std::string_view, 3> kKnown = {"a", "b", "c"};

struct Numbers {
  std::vector<int64_t> wholes;
  std::vector<float> reals;
};

/// Reads a row's numbers as a trace does, or field by field. Nothing: the row is refused.
template <class Read>
std::optional<Numbers> row_of(Read&& read) {
  std::optional<Numbers> row;
  fuzz::refused_or_done([&] { row = read(); });
  return row;
}

/// True if two numbers are one, or neighbours: a number that was rounded twice may end in another last bit.
bool are_alike(float a, float b) { return a == b || std::nextafter(a, b) == b; }

/// Both ways to read numbers agree, row by row, up to the first that is refused.
void read_twice(std::string_view text) {
  DelimitedText fast(text, "input", TableComments::hash, "mend it"),
      slow(text, "input", TableComments::hash, "mend it");
  if (!fast.next_row() || !slow.next_row()) return;
  fast.read_names(kKnown, {}), slow.read_names(kKnown, {});
  const size_t columns = fast.names().size();
  std::vector<int64_t> wholes(columns);
  std::vector<float> reals(columns);
  std::vector<NumberPlace> places(columns);
  for (size_t c = 0; c < columns; ++c) {
    if (c % 3 == 0) places[c].whole = &wholes[c];
    if (c % 3 == 1) places[c].real = &reals[c];
  }
  for (;;) {
    const bool more = fast.next_row();
    fuzz::require(more == slow.next_row(), "both have as many rows");
    if (!more) break;
    fuzz::require(fast.place() == slow.place(), "both are at one place");
    const auto a = row_of([&] {
      fast.numbers(places);
      return Numbers{wholes, reals};
    });
    const auto b = row_of([&] {
      fuzz::require(slow.fields().size() == columns, "a row has as many fields as there are columns");
      Numbers row{std::vector<int64_t>(columns), std::vector<float>(columns)};
      for (size_t c = 0; c < columns; ++c) {
        if (c % 3 == 0) row.wholes[c] = slow.whole(c);
        if (c % 3 == 1) row.reals[c] = static_cast<float>(slow.real(c));
      }
      return row;
    });
    fuzz::require(a.has_value() == b.has_value(), "both take a row or neither");
    if (!a) break;
    fuzz::require(a->wholes == b->wholes, "both read the same whole numbers");
    fuzz::require(std::equal(a->reals.begin(), a->reals.end(), b->reals.begin(), are_alike),
                  "both read the same numbers");
  }
  fuzz::require(fast.lines().empty_lines().count == slow.lines().empty_lines().count, "both count alike");
}

struct Rows {
  std::vector<std::vector<std::string>> fields;
  std::vector<int64_t> lines;
  int64_t empty = 0;
  bool refused = false;  ///< behind the last row
};

Rows rows_of_reader(std::string_view text) {
  Rows rows;
  rows.refused = true;
  fuzz::refused_or_done([&] {
    DelimitedText table(text, "input", TableComments::none, "mend it");
    if (table.next_row()) {
      table.read_names(kKnown, {});
      rows.fields.push_back(table.names()), rows.lines.push_back(table.line_number());
      while (table.next_row()) rows.fields.push_back(table.fields()), rows.lines.push_back(table.line_number());
    }
    rows.empty = table.lines().empty_lines().count, rows.refused = false;
  });
  return rows;
}

/// Fields between commas, without the spaces around them and without empty ones after the last of `columns`.
std::vector<std::string> split_plainly(std::string_view line, size_t columns) {
  std::vector<std::string> fields;
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(',', begin), line.size());
    std::string field(line.substr(begin, end - begin));
    field.erase(0, std::min(field.find_first_not_of(' '), field.size()));
    while (field.ends_with(' ')) field.pop_back();
    fields.push_back(std::move(field));
    begin = end + 1;
  }
  while (fields.size() > columns && fields.back().empty()) fields.pop_back();
  return fields;
}

/// The rows of a text in which only commas, spaces and line feeds have a meaning, split without the reader.
Rows rows_of_plain_split(std::string_view text) {
  Rows rows;
  for (int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(line.size() + (line.size() < text.size()));
    if (line.find_first_not_of(" ,") == std::string_view::npos) {
      ++rows.empty;
      continue;
    }
    std::vector<std::string> fields = split_plainly(line, rows.fields.empty() ? 0 : rows.fields[0].size());
    if (rows.fields.empty()) {
      std::set<std::string> names;
      for (const std::string& name : fields) rows.refused |= !name.empty() && !names.insert(name).second;
    } else {
      rows.refused = fields.size() != rows.fields[0].size();
    }
    if (rows.refused) return rows;
    rows.fields.push_back(std::move(fields)), rows.lines.push_back(number);
  }
  return rows;
}

void compare_with_plain_split(std::string_view text) {
  // Such a first line says which separator follows, and is no row.
  if (text.substr(std::min(text.find_first_not_of(' '), text.size())).starts_with("sep=")) return;
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x80 || c == '"' || c == ';' ||
        (static_cast<unsigned char>(c) < ' ' && c != '\n'))
      return;
  const Rows read = rows_of_reader(text), plain = rows_of_plain_split(text);
  fuzz::require(read.refused == plain.refused, "the reader refuses what a plain split refuses");
  fuzz::require(read.fields == plain.fields, "the reader gives the fields of a plain split");
  fuzz::require(read.lines == plain.lines, "the reader counts the lines of a plain split");
  fuzz::require(read.refused || read.empty == plain.empty, "the reader counts the empty lines of a plain split");
}

}  // namespace

STORMCELL_FUZZ_TARGET(delimited_text) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::refused_or_done([&] { read_twice(text); });
  compare_with_plain_split(text);
  // Reads the text as a table without names.
  fuzz::refused_or_done([&] {
    DelimitedText table(text, "input", TableComments::none, "mend it");
    for (bool first = true; table.next_row(); first = false) {
      if (first) table.separate(2);
      fuzz::require(table.fields().size() == 2, "two fields");
    }
  });
  return 0;
}

#include "core/formats/delimited_text.h"

#include <array>
#include <optional>

#include "tests/fuzz/fuzz.h"

using namespace stormcell;

namespace {

constexpr std::array<std::string_view, 3> kKnown = {"a", "b", "c"};

/// Reads a row's numbers as a trace does, or field by field; nothing where it is refused.
template <class Read>
std::optional<std::string> row_of(Read&& read) {
  std::optional<std::string> row;
  fuzz::refused_or_done([&] { row = read(); });
  return row;
}

/// Both ways to read numbers agree, row by row, up to the first that is refused.
void read_twice(std::string_view text) {
  DelimitedText fast(text, "input", TableComments::hash, "mend it"), slow(text, "input", TableComments::hash, "mend it");
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
      std::string row;
      for (size_t c = 0; c < columns; ++c)
        row += std::to_string(c % 3 == 0 ? wholes[c] : 0) + " " + std::to_string(c % 3 == 1 ? reals[c] : 0) + ";";
      return row;
    });
    const auto b = row_of([&] {
      fuzz::require(slow.fields().size() == columns, "a row has as many fields as there are columns");
      std::string row;
      for (size_t c = 0; c < columns; ++c)
        row +=
            std::to_string(c % 3 == 0 ? slow.whole(c) : 0) + " " + std::to_string(c % 3 == 1 ? static_cast<float>(slow.real(c)) : 0) + ";";
      return row;
    });
    // Of a number that lies between two floats the last bit may differ.
    fuzz::require(a.has_value() == b.has_value(), "both take a row or neither");
    if (!a) break;
  }
  fuzz::require(fast.lines().empty_lines().count == slow.lines().empty_lines().count, "both count alike");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::refused_or_done([&] { read_twice(text); });
  // As a table without names.
  fuzz::refused_or_done([&] {
    DelimitedText table(text, "input", TableComments::none, "mend it");
    for (bool first = true; table.next_row(); first = false) {
      if (first) table.separate(2);
      fuzz::require(table.fields().size() == 2, "two fields");
    }
  });
  return 0;
}

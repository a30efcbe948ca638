#include "core/data/batch.h"

#include <algorithm>

namespace stormcell {
namespace {

template <class T>
const T* named(const std::vector<T>& list, std::string_view name) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const T& t) { return t.name == name; });
  return at == list.end() ? nullptr : &*at;
}

}  // namespace

const BatchInput* Batch::find_input(std::string_view name) const { return named(inputs, name); }
const BatchCells* Batch::find_space(std::string_view name) const { return named(spaces, name); }

const std::vector<int32_t>& Batch::integers(std::string_view input) const {
  static const std::vector<int32_t> kNoValues;
  const BatchInput* found = find_input(input);
  return found ? found->integers : kNoValues;
}

int64_t Batch::real_cells() const {
  int64_t tokens = 0;
  for (const BatchCells& space : spaces)
    if (space.holds_tokens)
      tokens += space.real.empty() ? size() * space.per_item : std::count(space.real.begin(), space.real.end(), 1);
  return tokens > 0 ? tokens : size();
}

bool Batch::is_consecutive() const {
  for (size_t i = 1; i < items.size(); ++i)
    if (items[i] != items[0] + static_cast<int64_t>(i)) return false;
  return true;
}

CellTable Batch::cell_table(int64_t per_item) const {
  CellTable table;
  table.first_sequence = items.empty() ? 0 : items[0];
  table.sequences = static_cast<int32_t>(items.size());
  table.per_sequence = static_cast<int32_t>(per_item);
  return table;
}

}  // namespace stormcell

// Placements of a session.
#include <charconv>

#include "core/base/error.h"
#include "core/session/session_reader_state.h"

namespace stormcell {

using sqlite::Statement;

std::vector<StoredPlacement> SessionReader::placements() const {
  std::vector<StoredPlacement> out;
  Statement find(state_->db, "SELECT id, run, name, solver, created, layout, summary FROM placement ORDER BY id");
  while (find.step()) {
    StoredPlacement p;
    p.id = find.integer(0), p.run = find.integer(1);
    std::string* texts[] = {&p.name, &p.solver, &p.created, &p.layout, &p.summary};
    for (int i = 0; i < 5; ++i) *texts[i] = find.text(i + 2);
    out.push_back(std::move(p));
  }
  return out;
}

StoredPlacement SessionReader::find_placement(std::string_view selector) const {
  std::vector<StoredPlacement> all = placements();
  if (all.empty()) bad_input(path(), "holds no placement yet", "stormcell place " + path() + " --cluster preset:NAME makes one");
  int64_t number = 0;
  const auto [end, error] = std::from_chars(selector.data(), selector.data() + selector.size(), number);
  const bool is_number = error == std::errc() && end == selector.data() + selector.size();
  std::string known;
  for (auto p = all.rbegin(); p != all.rend(); ++p) {
    if (selector.empty() || (is_number && number == p->id) || selector == p->name) return std::move(*p);
    if (known.size() < 200) known += (known.empty() ? "#" : ", #") + std::to_string(p->id) + " " + p->name;
  }
  bad_input(path(), "there is no placement \"" + std::string(selector) + "\"", "it holds " + known);
}

}  // namespace stormcell

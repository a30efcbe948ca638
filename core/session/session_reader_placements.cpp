// Placements of a session.
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

std::optional<StoredPlacement> SessionReader::named_placement(std::string_view selector) const {
  std::vector<StoredPlacement> all = placements();
  const std::optional<int64_t> number = whole_number(selector);
  for (auto p = all.rbegin(); p != all.rend(); ++p)
    if (number == p->id || selector == p->name) return std::move(*p);
  return std::nullopt;
}

StoredPlacement SessionReader::find_placement(std::string_view selector) const {
  std::vector<StoredPlacement> all = placements();
  if (all.empty())
    bad_input(path(), "holds no placement yet", "stormcell place " + path() + " --cluster preset:NAME makes one");
  if (selector.empty()) return std::move(all.back());
  if (std::optional<StoredPlacement> named = named_placement(selector)) return *std::move(named);
  const std::optional<int64_t> number = whole_number(selector);
  Statement runs(state_->db, "SELECT id, name FROM run ORDER BY id DESC");
  while (runs.step()) {
    if (number != runs.integer(0) && selector != runs.text(1)) continue;
    for (auto p = all.rbegin(); p != all.rend(); ++p)
      if (p->run == runs.integer(0)) return std::move(*p);
    bad_input(path(), "run #" + std::to_string(runs.integer(0)) + " has no placement yet",
              "stormcell place " + path() + "#" + std::to_string(runs.integer(0)) + " --cluster preset:NAME makes one");
  }
  std::string known;
  for (auto p = all.rbegin(); p != all.rend() && known.size() < 200; ++p)
    known += (known.empty() ? "#" : ", #") + std::to_string(p->id) + " " + p->name;
  bad_input(path(), "there is no placement \"" + std::string(selector) + "\"", "it holds " + known);
}

}  // namespace stormcell

// What was read in: sequences with their labels and text, the batches that hold them, the vocabulary's pieces.
#include <algorithm>

#include "core/session/schema.h"
#include "core/session/session_reader_state.h"

namespace stormcell {

using sqlite::Statement;

std::vector<SequenceInput> SessionReader::inputs(int64_t run, int64_t first, int64_t count) const {
  std::vector<SequenceInput> out;
  Statement find(state_->db, "SELECT number, label, text FROM sequence WHERE run = ? AND number >= ? AND number < ? ORDER BY number");
  first = std::max<int64_t>(first, 0);
  find.bind(1, run).bind(2, first).bind(3, first + std::clamp<int64_t>(count, 0, INT64_MAX - first));
  while (find.step()) out.push_back({find.integer(0), std::string(find.text(1)), std::string(find.text(2))});
  return out;
}

int64_t SessionReader::sequences(int64_t run) const {
  // Batches that share the last first sequence may differ in size: decoding steps of sequences that ended earlier.
  Statement find(
      state_->db,
      "SELECT max(first_sequence + sequences) FROM batch WHERE run = ?1 AND first_sequence = (SELECT max(first_sequence) FROM batch "
      "WHERE run = ?1)");
  find.bind(1, run);
  return find.step() ? find.integer(0) : 0;
}

std::vector<int64_t> SessionReader::batches_with(int64_t run, int64_t first, int64_t count, int64_t most) const {
  std::vector<int64_t> out;
  Statement find(
      state_->db,
      "SELECT number FROM batch WHERE run = ?1 AND first_sequence >= coalesce((SELECT max(first_sequence) FROM batch WHERE run = ?1 AND "
      "first_sequence <= ?2), ?2) AND first_sequence < ?3 ORDER BY id LIMIT ?4");
  find.bind(1, run).bind(2, first).bind(3, first + count).bind(4, most);
  while (find.step()) out.push_back(find.integer(0));
  return out;
}

bool SessionReader::has_pieces() const {
  return state_->summary.schema >= 2 && state_->db.number("SELECT EXISTS(SELECT 1 FROM piece)") != 0;
}

std::map<int32_t, std::string> SessionReader::pieces(std::span<const int32_t> tokens) const {
  std::map<int32_t, std::string> out;
  if (state_->summary.schema < 2) return out;
  Statement find(state_->db, "SELECT text FROM piece WHERE token = ?");
  for (const int32_t token : tokens) {
    if (out.contains(token)) continue;
    find.bind(1, int64_t{token});
    if (find.step()) out.emplace(token, find.text(0));
    find.reset();
  }
  return out;
}

}  // namespace stormcell

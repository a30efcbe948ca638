// Reads the recorded inputs: sequences with labels and text, the batches that hold them, the pieces of the vocabulary.
#include <algorithm>

#include "core/session/schema.h"
#include "core/session/session_reader_state.h"

namespace stormcell {

using sqlite::Statement;

std::vector<SequenceInput> SessionReader::inputs(int64_t run, ItemRange items) const {
  std::vector<SequenceInput> out;
  Statement find(
      state_->db,
      "SELECT number, label, text FROM sequence WHERE run = ? AND number >= ? AND number < ? ORDER BY number");
  items = items.within(INT64_MAX);
  find.bind(1, run).bind(2, items.first).bind(3, items.end);
  while (find.step()) out.push_back({find.integer(0), std::string(find.text(1)), std::string(find.text(2))});
  return out;
}

std::map<int64_t, Thumbnail> SessionReader::thumbnails(int64_t run, ItemRange items) const {
  std::map<int64_t, Thumbnail> out;
  Statement find(state_->db,
                 "SELECT item, height, width, channels, pixels FROM picture WHERE run = ? AND item >= ? AND item < ? "
                 "ORDER BY item LIMIT ?");
  items = items.within(INT64_MAX);
  find.bind(1, run).bind(2, items.first).bind(3, items.end).bind(4, kMostThumbnails);
  while (find.step()) {
    Thumbnail t{{find.integer(1), find.integer(2)}, find.integer(3), {}};
    const std::span<const uint8_t> pixels = find.blob(4);
    const auto is_side = [](int64_t side) { return side >= 1 && side <= kThumbnailSide; };
    if (!is_side(t.size.height) || !is_side(t.size.width) || (t.channels != 1 && t.channels != 3) ||
        std::ssize(pixels) != t.size.pixels() * t.channels)
      state_->damaged("the picture of item " + std::to_string(find.integer(0)) + " is not of its size");
    t.pixels.assign(pixels.begin(), pixels.end());
    out.emplace(find.integer(0), std::move(t));
  }
  return out;
}

int64_t SessionReader::thumbnail_count(int64_t run) const {
  Statement find(state_->db, "SELECT count(*) FROM picture WHERE run = ?");
  find.bind(1, run);
  return find.step() ? state_->count_of(find, 0) : 0;
}

std::vector<int64_t> SessionReader::thumbnail_items(int64_t run) const {
  std::vector<int64_t> items;
  Statement find(state_->db, "SELECT item FROM picture WHERE run = ? ORDER BY item LIMIT ?");
  find.bind(1, run).bind(2, kMostThumbnails);
  while (find.step()) items.push_back(find.integer(0));
  return items;
}

int64_t SessionReader::sequences(int64_t run) const {
  // Batches that share the last first sequence may differ in size: decoding steps of sequences that ended earlier.
  Statement find(state_->db,
                 "SELECT max(first_sequence + sequences) FROM batch WHERE run = ?1 AND first_sequence = (SELECT "
                 "max(first_sequence) FROM batch "
                 "WHERE run = ?1) AND first_sequence >= 0");
  find.bind(1, run);
  const int64_t consecutive = find.step() ? state_->count_of(find, 0) : 0;
  Statement listed(state_->db, "SELECT max(item) FROM batch_item WHERE run = ?");
  listed.bind(1, run);
  return std::max(consecutive, listed.step() && !listed.null(0) ? state_->count_of(listed, 0) + 1 : 0);
}

int64_t SessionReader::recorded_sequences(int64_t run) const {
  Statement listed(state_->db, "SELECT count(DISTINCT item) FROM batch_item WHERE run = ?");
  listed.bind(1, run);
  const int64_t in_lists = listed.step() ? state_->count_of(listed, 0) : 0;
  // Adds batches of consecutive items to those of listed items; among decoding steps, the first one has all items.
  Statement rest(state_->db,
                 "SELECT coalesce(sum(most), 0) FROM (SELECT max(sequences) AS most FROM batch WHERE run = ? AND "
                 "first_sequence >= 0 GROUP "
                 "BY first_sequence)");
  rest.bind(1, run);
  return in_lists + (rest.step() ? state_->count_of(rest, 0) : 0);
}

std::vector<int64_t> SessionReader::batches_with(int64_t run, ItemRange items, int64_t most) const {
  std::vector<int64_t> out;
  // Batches of listed items have no first sequence: -1.
  Statement find(state_->db,
                 "SELECT number FROM batch WHERE run = ?1 AND first_sequence >= max(0, coalesce((SELECT "
                 "max(first_sequence) FROM batch WHERE run = ?1 "
                 "AND first_sequence <= ?2), ?2)) AND first_sequence < ?3 "
                 "UNION SELECT batch FROM batch_item WHERE run = ?1 AND item >= ?2 AND item < ?3 ORDER BY 1 LIMIT ?4");
  items = items.within(INT64_MAX);
  find.bind(1, run).bind(2, items.first).bind(3, items.end).bind(4, most);
  while (find.step()) out.push_back(find.integer(0));
  return out;
}

bool SessionReader::has_pieces() const { return state_->db.number("SELECT EXISTS(SELECT 1 FROM piece)") != 0; }

std::map<int32_t, std::string> SessionReader::pieces(std::span<const int32_t> tokens) const {
  std::map<int32_t, std::string> out;
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

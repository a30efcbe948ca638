#include "core/session/session_reader_state.h"

#include "core/base/error.h"
#include "core/session/advice.h"
#include "core/session/blob.h"
#include "core/session/schema.h"

namespace stormcell {

using sqlite::Statement;

void SessionReader::State::damaged(const std::string& what) const {
  bad_input(path, "the file is damaged: " + what, kCopyAgain);
}

int64_t SessionReader::State::count_of(const Statement& row, int column) const {
  const int64_t count = row.integer(column);
  check_count(count);
  return count;
}

void SessionReader::State::check_count(int64_t count) const {
  if (count < 0 || count > blob::kMostCount) damaged("a count is out of range");
}

void SessionReader::State::check_counts(const std::vector<int64_t>& counts) const {
  for (const int64_t count : counts) check_count(count);
}

void SessionReader::State::check_loads(const std::vector<int64_t>& loads, int64_t run, int32_t router) const {
  check_counts(loads);
  if (loads.size() != static_cast<size_t>(this->router(run, router).branches))
    damaged("loads are not those of their router");
}

void SessionReader::State::add(const RouterLoads& part, RouterLoads& sum) const {
  sum.add(part);
  check_count(sum.batches);
  check_count(sum.cells);
  for (const auto* counts : {&sum.load, &sum.padding, &sum.dropped, &sum.padded}) check_counts(*counts);
}

void SessionReader::State::add(const PairTable& part, PairTable& sum) const {
  sum.add(part);
  for (const PairCount& pair : sum.entries) check_count(pair.count);
}

int64_t SessionReader::State::batches(int64_t run) const {
  Statement last(db, "SELECT id FROM batch WHERE id BETWEEN ? AND ? ORDER BY id DESC LIMIT 1");
  last.bind(1, batch_key(run, 0)).bind(2, batch_key(run + 1, 0) - 1);
  if (!last.step()) return 0;
  constexpr int64_t kLeastBytes = 16;  // of a batch: one alone with a high number must not make anyone count to it
  const int64_t batches = last.integer(0) - batch_key(run, 0) + 1;
  if (batches > file_bytes() / kLeastBytes) damaged("a batch has the number " + std::to_string(batches - 1));
  return batches;
}

}  // namespace stormcell

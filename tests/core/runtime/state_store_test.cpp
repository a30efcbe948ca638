// States of sequences in pages: the store beside a plain map, and what it refuses.
#include "core/runtime/state_store.h"

#include <map>

#include "core/runtime/device.h"
#include "tests/testing/complaint.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

StateKey two_states() { return {{{"k", DType::f32, 3}, {"v", DType::f32, 5}}}; }

/// Holds what each sequence should hold: rows of state 0 and of state 1, by place.
struct Expected {
  std::vector<int32_t> rows;
};

/// The pages of one sequence as the table gives them.
StateRows rows_of(const std::vector<uint64_t>& table, const StateKey& key, size_t state, int64_t pages) {
  StateRows rows;
  rows.places = pages * kPageRows;
  rows.row_bytes = key.states[state].width * 4;
  rows.pages = table.data() + static_cast<int64_t>(state) * pages;
  rows.pages_of_parent = pages;
  return rows;
}

}  // namespace

class StateStoreTest : public QObject {
  Q_OBJECT
 private slots:
  /// Sequences are opened, written, cut and closed in any order; each row stays what was written there.
  void sequences_keep_their_rows() {
    EmulatedDevice device(1);
    const StateKey key = two_states();
    Random random(7);
    StateStore store(device);
    std::map<SequenceId, Expected> expected;
    int32_t next = 1;
    int64_t most_used = 0;
    for (int turn = 0; turn < 3000; ++turn) {
      const int64_t what = random.below(10);
      auto at = expected.begin();
      if (!expected.empty()) std::advance(at, random.below(static_cast<int64_t>(expected.size())));
      if (expected.empty() || (what == 0 && expected.size() < 12)) {
        expected[store.open()];
      } else if (what == 1) {
        store.close(at->first);
        expected.erase(at);
      } else if (what == 2) {
        const auto kept = static_cast<size_t>(random.below(static_cast<int64_t>(at->second.rows.size()) + 1));
        store.set_place(at->first, static_cast<int32_t>(kept));
        at->second.rows.resize(kept);
      } else {
        const auto place = static_cast<int64_t>(at->second.rows.size()), more = random.between(1, 150);
        store.reserve(at->first, key, place + more);
        const int64_t pages = pages_for(place + more);
        std::vector<uint64_t> table;
        const SequenceId one[] = {at->first};
        store.table(one, key, pages, table);
        for (int64_t r = place; r < place + more; ++r, ++next) {
          at->second.rows.push_back(next);
          for (const size_t state : {0, 1}) {
            const StateRows rows = rows_of(table, key, state, pages);
            for (int64_t c = 0; c < key.states[state].width; ++c)
              reinterpret_cast<int32_t*>(rows.row(0, r))[c] =
                  next * 10 + static_cast<int32_t>(state * 5) + static_cast<int32_t>(c);
          }
        }
        store.set_place(at->first, static_cast<int32_t>(place + more));
      }
      int64_t used = 0;
      for (const auto& [id, e] : expected) {
        const auto rows_held = static_cast<int64_t>(e.rows.size());
        QCOMPARE(store.place(id), static_cast<int32_t>(rows_held));
        for (const SequenceState& s : key.states) used += pages_for(rows_held) * s.page_bytes();
        if (rows_held == 0) continue;
        std::vector<uint64_t> table;
        const SequenceId one[] = {id};
        const int64_t pages = pages_for(rows_held);
        store.table(one, key, pages, table);
        for (const size_t state : {0, 1})
          for (const int64_t r : {int64_t{0}, rows_held / 2, rows_held - 1}) {
            const auto* row = reinterpret_cast<const int32_t*>(rows_of(table, key, state, pages).row(0, r));
            QCOMPARE(row[0], e.rows[static_cast<size_t>(r)] * 10 + static_cast<int32_t>(state * 5));
            QCOMPARE(row[key.states[state].width - 1], row[0] + static_cast<int32_t>(key.states[state].width) - 1);
          }
      }
      QCOMPARE(store.used_bytes(), used);
      most_used = std::max(most_used, used);
    }
    QVERIFY(most_used > 0);
    // Pages are used again: beyond what was used at once, reserved pages and slabs that are begun.
    QVERIFY2(store.bytes() <= most_used + 64 * 1024, qPrintable(QString("%1 of %2").arg(store.bytes()).arg(most_used)));
    for (const auto& [id, e] : expected) store.close(id);
    QCOMPARE(store.used_bytes(), int64_t{0});
  }

  void states_of_another_plan_are_refused() {
    EmulatedDevice device(1);
    StateStore store(device);
    const StateKey key = two_states();
    const SequenceId s = store.open();
    const auto refusal = [&](StateKey other) { return complaint([&] { store.reserve(s, other, 20); }); };
    const std::string advice = " (go on with a plan of the same model and format, or begin anew)";
    store.reserve(s, key, 10);
    store.set_place(s, 10);
    StateKey turned = key, wide = key, rounded = key, fewer = key, more = key, paged = key;
    std::swap(turned.states[0], turned.states[1]);
    QCOMPARE(refusal(turned), std::string());
    wide.states[1].width = 6;
    QCOMPARE(refusal(wide),
             "states of a sequence: are those of another plan: v is f32 [5], 64 rows a page, this plan's f32 [6], 64 "
             "rows a page" +
                 advice);
    rounded.states[0].dtype = DType::bf16;
    QCOMPARE(refusal(rounded),
             "states of a sequence: are those of another plan: k is f32 [3], 64 rows a page, this plan's bf16 [3], 64 "
             "rows a page" +
                 advice);
    fewer.states.pop_back();
    QCOMPARE(refusal(fewer), "states of a sequence: are those of another plan: this plan has no v" + advice);
    more.states.push_back({"w", DType::f32, 1});
    QCOMPARE(refusal(more), "states of a sequence: are those of another plan: they lack w" + advice);
    paged.states[0].page_rows = 128;
    QCOMPARE(refusal(paged),
             "states of a sequence: are those of another plan: k is f32 [3], 64 rows a page, this plan's f32 [3], 128 "
             "rows a page" +
                 advice);
    // A refusal changes nothing; a sequence without rows is anybody's.
    QCOMPARE(store.place(s), 10);
    store.set_place(s, 0);
    QCOMPARE(refusal(wide), std::string());
    QCOMPARE(complaint([&] { store.set_place(s, 65); }), "sequence 0: expected at most 64 rows of k, got 65");
    store.close(s);
    QCOMPARE(complaint([&] { store.place(s); }), std::string("sequence 0: is not open"));
  }
};
STORMCELL_TEST(StateStoreTest)

}  // namespace stormcell::testing
#include "state_store_test.moc"

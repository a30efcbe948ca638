#include <algorithm>

#include "core/profile/layout_edges.h"
#include "core/profile/statistics.h"
#include "core/session/blob.h"
#include "core/session/check_run.h"
#include "core/session/schema.h"

namespace stormcell {
namespace {

using sqlite::Statement;

/// Pairs of one edge, or of one router with itself.
class PairsCheck {
 public:
  PairsCheck(const CheckedRun& run, PairKind kind, int32_t from, int32_t to)
      : run_(run), kind_(kind), from_(from), to_(to) {}

  /// `branches`: flags of those whose pairs count; empty: all.
  void against_decisions(std::span<const uint8_t> branches, const Progress& progress) {
    PairPyramid pyramid(run_.router(from_).branches, run_.router(to_).branches);
    std::vector<int32_t> scratch;
    const auto out = [&](int32_t level, int64_t window, int64_t batches, const PairTable& table) {
      compare({level, window, batches, table});
    };
    bool begun = false;
    for (int64_t b = 0; b < run_.summary.batches; ++b) {
      progress.report("checking pairs", b, run_.summary.batches);
      if (!has_decision(b)) continue;
      // The first one says how fine the windows are.
      const int64_t choices = begun ? 0 : std::ssize(run_.reader.decision(run_.summary.id, to_, b)->choice);
      begun = true;
      pyramid.begin(b, choices, out);
      run_.state.count_pairs(kind_, run_.summary.id, from_, to_, branches, b, scratch, pyramid.counter());
    }
    if (run_.has_ended) pyramid.finish(out);
    Statement count(run_.state.db, "SELECT count(*) FROM pair_window WHERE router = ? AND kind = ? AND next = ?");
    bind_place(count);
    if (count.step() && !run_.is_running && count.integer(0) != windows_)
      run_.damaged("there are more windows of " + named() + " than batches");
  }

  /// Windows of a level are sums of those of the level below; the lowest ones are read.
  void against_each_other() const {
    std::vector<Window> below, level;
    Statement rows(run_.state.db,
                   "SELECT level, number, batches, data FROM pair_window WHERE router = ? AND kind = ? AND next = ? "
                   "ORDER BY level, number");
    for (bind_place(rows); rows.step();) {
      Window w = read(rows);
      if (!level.empty() && level.back().level != w.level) below = std::move(level), level.clear();
      if (!below.empty()) {
        Window sum{w.level, w.number, 0, {w.table.rows, w.table.columns, {}}};
        auto child = std::lower_bound(below.begin(), below.end(), w.number << kWindowBits,
                                      [](const Window& b, int64_t number) { return b.number < number; });
        for (; child != below.end() && child->number >> kWindowBits == w.number; ++child)
          sum.batches += child->batches, run_.state.add(child->table, sum.table);
        if (!(sum == w))
          run_.damaged(named() + " of level " + std::to_string(w.level) + " are not the sums of those below");
      }
      level.push_back(std::move(w));
    }
  }

 private:
  struct Window {
    int32_t level = 0;
    int64_t number = 0, batches = 0;
    PairTable table;
    bool operator==(const Window&) const = default;
  };

  std::string named() const {
    const std::string& from = run_.router(from_).name;
    return kind_ == PairKind::coactivation ? "the co-activations of " + from
                                           : "the transitions from " + from + " to " + run_.router(to_).name;
  }
  void bind_place(Statement& s) const {
    s.bind(1, router_key(run_.summary.id, from_))
        .bind(2, static_cast<int64_t>(kind_))
        .bind(3, router_key(run_.summary.id, to_));
  }
  bool has_decision(int64_t batch) const {
    Statement find(run_.state.db, "SELECT 1 FROM decision WHERE id = ?");
    find.bind(1, decision_key(batch_key(run_.summary.id, batch), to_));
    return find.step();
  }
  /// Columns of the row: level, number, batches, data.
  Window read(const Statement& row) const {
    Window w{static_cast<int32_t>(std::clamp<int64_t>(row.integer(0), 0, 63)), row.integer(1),
             run_.state.count_of(row, 2), blob::read_pairs(row.blob(3), run_.state.path)};
    if (w.table.rows != run_.router(from_).branches || w.table.columns != run_.router(to_).branches)
      run_.damaged(named() + ": a table has the wrong size");
    return w;
  }
  void compare(const Window& expected) {
    ++windows_;
    Statement find(run_.state.db,
                   "SELECT level, number, batches, data FROM pair_window WHERE router = ? AND kind = ? AND next = ? "
                   "AND level = ? AND number = ?");
    bind_place(find);
    find.bind(4, int64_t{expected.level}).bind(5, expected.number);
    if (find.step() && read(find) == expected) return;
    const int64_t size = int64_t{1} << (kWindowBits * expected.level);
    run_.damaged(named() + " over batches " + std::to_string(expected.number * size) + " to " +
                 std::to_string((expected.number + 1) * size - 1) + " are not those of its decisions");
  }

  const CheckedRun& run_;
  PairKind kind_;
  int32_t from_, to_;
  int64_t windows_ = 0;
};

}  // namespace

void check_pairs(const CheckedRun& run, const Progress& progress) {
  const auto check = [&](PairKind kind, int32_t from, int32_t to, std::span<const uint8_t> branches) {
    PairsCheck pairs(run, kind, from, to);
    run.decisions ? pairs.against_decisions(branches, progress) : pairs.against_each_other();
  };
  for (const LayoutEdge& edge : run.layout.edges)
    check(PairKind::transition, edge.from, edge.to, branch_flags(run.layout, edge));
  for (size_t r = 0; r < run.layout.routers.size(); ++r)
    if (run.layout.routers[r].fan_out > 1)
      check(PairKind::coactivation, static_cast<int32_t>(r), static_cast<int32_t>(r), {});
}

}  // namespace stormcell

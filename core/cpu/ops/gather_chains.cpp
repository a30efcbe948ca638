#include <algorithm>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/elementwise.h"
#include "core/cpu/kernels/non_temporal.h"
#include "core/cpu/kernels/split_work.h"
#include "core/graph/roles.h"
#include "core/runtime/branches_computed.h"
#include "core/runtime/cell_chain.h"

namespace stormcell::cpu {
namespace {

// The general case: rows of several routers, nested ones too, followed up to the cells of the result.
class GatherChains : public Kernel {
 public:
  explicit GatherChains(const BuildContext& m)
      : place_(m.node().attributes.word("mode") == "place"), weighted_(m.node().attributes.word("mode") == "weighted") {
    const Graph& g = m.graph();
    const SpaceId target(m.node().attributes.integer("space"));
    values_ = joined_inputs(m.node());
    otherwise_ = extra_input(m.node(), "otherwise");
    residual_ = extra_input(m.node(), "residual");
    size_t at = m.node().inputs.size();
    for (size_t i = 0; i < values_; ++i) {
      const std::vector<CellLink> links = cell_chain(g, m.type(i).space, target);
      chains_.emplace_back(links, at);
      factors_.push_back(factor_input(m.node(), i));
      if (i == 0) {
        members_ = !links.empty() && links[0].decision != kNone;
        if (members_ && m.node().attributes.has("branches")) branches_ = m.node().attributes.list("branches");
        ragged_ = at;
        weighing_ = at + (members_ ? 1 : 0);
      }
      at += stormcell::values_of(links).size();
    }
  }
  // A thread takes some columns of every row: no two write the same number, and each is summed in the order of the
  // rows. It takes as many at a time as stay in L2 while rows are added to them, so that memory sees each number once.
  void run(const Call& c) const override {
    const Rows& out = c.out[0];
    int64_t rows = out.rows;
    for (size_t i = 0; i < values_; ++i) rows += c.in[i].rows;
    const bool non_temporal = out.rows <= kPieceFloats / kLeastPiece && is_non_temporal(out.rows * out.width);
    if (rows * out.width <= kAloneFloats && !non_temporal) return join(c, {out.reals(), out.width, 0, out.width});
    const int64_t piece =
        std::max(kLeastPiece, kPieceFloats / std::max<int64_t>(out.rows, 1) / kSplitColumns * kSplitColumns);
    c.team.split(out.width, kSplitColumns, [&](int64_t begin, int64_t end, int) {
      for (int64_t at = begin; at < end; at += piece) {
        const int64_t columns = std::min(end - at, piece);
        if (!non_temporal) {
          join(c, {out.reals() + at, out.width, at, columns});
          continue;
        }
        alignas(64) float held[kPieceFloats];
        join(c, {held, columns, at, columns});
        for (int64_t cell = 0; cell < out.rows; ++cell)
          kernels().copy_non_temporal(held + cell * columns, columns, out.reals() + cell * out.width + at);
      }
    });
  }

 private:
  static constexpr int64_t kLeastPiece = 1024;  ///< columns: finding each row's cell costs little beside adding them

  /// Some columns of the result's rows, from `first` on.
  struct Columns {
    float* sums;
    int64_t ld, first, count;
    float* of(int64_t cell) const { return sums + cell * ld; }
  };

  void join(const Call& c, const Columns& columns) const {
    const Rows& out = c.out[0];
    const float* otherwise = otherwise_ ? c.in[*otherwise_].reals() + columns.first : nullptr;
    for (int64_t cell = 0; cell < out.rows; ++cell) {
      if (otherwise && !weighted_) {
        std::copy_n(otherwise + cell * out.width, columns.count, columns.of(cell));
      } else {
        std::fill_n(columns.of(cell), columns.count, 0.0f);
      }
    }
    if (otherwise && weighted_) add_dropped(c, otherwise, columns);
    // A sum starts from 0 in cells that a row reaches: `otherwise` only holds where none does.
    if (otherwise && !weighted_ && !place_)
      for_each_row(c, columns, [&](const float*, float* to, float) { std::fill_n(to, columns.count, 0.0f); });
    for_each_row(c, columns, [&](const float* from, float* to, float weight) {
      if (place_) {
        std::copy_n(from, columns.count, to);
      } else {
        add_scaled(from, weight, columns.count, to);
      }
    });
    if (!residual_) return;
    const float* residual = c.in[*residual_].reals() + columns.first;
    for (int64_t cell = 0; cell < out.rows; ++cell)
      add_scaled(residual + cell * out.width, 1, columns.count, columns.of(cell));
  }
  /// visit(row, the row of its cell in the result, its weight or factor), of these columns, in the order of the inputs.
  template <class Visit>
  void for_each_row(const Call& c, const Columns& columns, Visit visit) const {
    const auto rows = [&](size_t i, int64_t begin, int64_t end) {
      const float* factors = factors_[i] ? c.in[*factors_[i]].reals() : nullptr;
      for (int64_t r = begin; r < end; ++r) {
        float weight = factors ? factors[r] : 1.0f;
        const int64_t cell = chains_[i].follow(c.in, r, weighted_ ? &weight : nullptr);
        visit(c.in[i].reals() + r * c.out[0].width + columns.first, columns.of(cell), weight);
      }
    };
    for (size_t i = 0; i < values_; ++i)
      if (branches_.empty()) rows(i, 0, c.in[i].rows);
    // Members of all slots, of which some branches' were computed.
    for (const int64_t b : branches_) {
      const DecisionView& d = *c.in[weighing_].decision;
      const RaggedView& r = *c.in[ragged_].ragged;
      rows(0, r.offsets[d.offsets[b]], r.offsets[d.offsets[b + 1]]);
    }
  }
  // A parent whose choice was dropped gives all its cells' rows; a routed cell is its own.
  void add_dropped(const Call& c, const float* otherwise, const Columns& columns) const {
    const DecisionView& d = *c.in[weighing_].decision;
    const Rows& out = c.out[0];
    for (int64_t i = 0; i < int64_t{*d.cells} * d.fan_out; ++i) {
      if (!is_dropped(d.choice[i])) continue;
      const int64_t decided = i / d.fan_out;
      const int64_t first = members_ ? out.groups.begin(decided) : decided,
                    last = members_ ? out.groups.end(decided) : decided + 1;
      for (int64_t cell = first; cell < last; ++cell)
        add_scaled(otherwise + cell * out.width, d.choice_weight[i], columns.count, columns.of(cell));
    }
  }
  bool place_, weighted_;
  size_t values_ = 0;
  std::optional<size_t> otherwise_, residual_;
  std::vector<CellChain> chains_;
  std::vector<std::optional<size_t>> factors_;  // by joined value
  bool members_ = false;
  size_t weighing_ = 0;            // the input whose decision weighs the rows of the first value
  size_t ragged_ = 0;              // members: the input that tells them
  std::vector<int64_t> branches_;  // members of all slots: those whose rows count; empty: all
};

}  // namespace
std::unique_ptr<Kernel> make_gather_chains(const BuildContext& m) {
  // Every row of slots that comes is summed. Branches that are not computed have no rows where plans come here by
  // themselves; asked for by name, they may. Members have a list of those that count.
  const auto computed = branches_computed(m);
  const SpaceId rows = m.type(0).space;
  if (m.asked_kernel() && computed && rows != kNone && m.graph().space(rows).decision != kNone &&
      static_cast<int32_t>(computed->size()) < m.graph().value(m.graph().space(rows).decision).branches)
    return nullptr;
  return std::make_unique<GatherChains>(m);
}
}  // namespace stormcell::cpu

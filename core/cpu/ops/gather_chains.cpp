#include <algorithm>

#include "core/cpu/cell_chain.h"
#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/elementwise.h"
#include "core/cpu/kernels/split_work.h"
#include "core/cpu/ops/branches_computed.h"
#include "core/graph/roles.h"

namespace stormcell::cpu {
namespace {

// The general case: rows of several routers, nested ones too, followed up to the cells of the result.
class GatherChains : public Kernel {
 public:
  explicit GatherChains(const Making& m)
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
  // A thread takes some columns of every row: no two write the same number, and each is summed in the order of the rows. It takes as many
  // at a time as stay in L2 while rows are added to them, so that memory sees each number once.
  void run(const Call& c) const override {
    int64_t rows = c.out[0].rows;
    for (size_t i = 0; i < values_; ++i) rows += c.in[i].rows;
    if (rows * c.out[0].width <= kAloneFloats) {
      join(c, 0, c.out[0].width);
    } else {
      const int64_t piece = std::max(kLeastPiece, kPieceFloats / std::max<int64_t>(c.out[0].rows, 1) / kSplitColumns * kSplitColumns);
      c.team.split(c.out[0].width, kSplitColumns, [&](int64_t begin, int64_t end, int) {
        for (int64_t at = begin; at < end; at += piece) join(c, at, std::min(end, at + piece));
      });
    }
  }

 private:
  static constexpr int64_t kLeastPiece = 1024;  ///< columns: finding each row's cell costs little beside adding them

  /// Columns [begin, end) of the result.
  void join(const Call& c, int64_t begin, int64_t end) const {
    const Rows& out = c.out[0];
    const float* otherwise = otherwise_ ? c.in[*otherwise_].reals() : nullptr;
    for (int64_t cell = 0; cell < out.rows; ++cell) {
      float* to = out.reals() + cell * out.width;
      if (otherwise && !weighted_) {
        std::copy(otherwise + cell * out.width + begin, otherwise + cell * out.width + end, to + begin);
      } else {
        std::fill(to + begin, to + end, 0.0f);
      }
    }
    if (otherwise && weighted_) add_dropped(c, otherwise, begin, end);
    // A sum starts from 0 in cells that a row reaches: `otherwise` only stands where none does.
    if (otherwise && !weighted_ && !place_) for_each_row(c, [&](const float*, float* to, float) { std::fill(to + begin, to + end, 0.0f); });
    for_each_row(c, [&](const float* from, float* to, float weight) {
      if (place_) {
        std::copy(from + begin, from + end, to + begin);
      } else {
        add_scaled(from + begin, weight, end - begin, to + begin);
      }
    });
    if (!residual_) return;
    const float* residual = c.in[*residual_].reals();
    for (int64_t cell = 0; cell < out.rows; ++cell)
      for (int64_t x = cell * out.width + begin; x < cell * out.width + end; ++x) out.reals()[x] += residual[x];
  }
  /// visit(row, the row of its cell in the result, its weight or factor), in the order of the inputs.
  template <class Visit>
  void for_each_row(const Call& c, Visit visit) const {
    const Rows& out = c.out[0];
    const auto rows = [&](size_t i, int64_t begin, int64_t end) {
      const float* factors = factors_[i] ? c.in[*factors_[i]].reals() : nullptr;
      for (int64_t r = begin; r < end; ++r) {
        float weight = factors ? factors[r] : 1.0f;
        const int64_t cell = chains_[i].follow(c.in, r, weighted_ ? &weight : nullptr);
        visit(c.in[i].reals() + r * out.width, out.reals() + cell * out.width, weight);
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
  void add_dropped(const Call& c, const float* otherwise, int64_t begin, int64_t end) const {
    const DecisionView& d = *c.in[weighing_].decision;
    const Rows& out = c.out[0];
    for (int64_t i = 0; i < int64_t{*d.cells} * d.fan_out; ++i) {
      if (!is_dropped(d.choice[i])) continue;
      const int64_t decided = i / d.fan_out;
      const int64_t first = members_ ? out.groups.begin(decided) : decided, last = members_ ? out.groups.end(decided) : decided + 1;
      for (int64_t cell = first; cell < last; ++cell)
        for (int64_t x = cell * out.width + begin; x < cell * out.width + end; ++x) out.reals()[x] += d.choice_weight[i] * otherwise[x];
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
std::unique_ptr<Kernel> make_gather_chains(const Making& m) {
  // Every row of slots that comes is summed. What is not computed has no rows where plans come here by themselves; asked for by name, it
  // may have. Of members it is told which count.
  const auto computed = branches_computed(m);
  const SpaceId rows = m.type(0).space;
  if (m.is_asked_for() && computed && rows != kNone && m.graph().space(rows).decision != kNone &&
      static_cast<int32_t>(computed->size()) < m.graph().value(m.graph().space(rows).decision).branches)
    return nullptr;
  return std::make_unique<GatherChains>(m);
}
}  // namespace stormcell::cpu

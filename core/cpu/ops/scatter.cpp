#include "core/cpu/kernels/split_work.h"
#include "core/cpu/ops/copied_rows.h"

namespace stormcell::cpu {
namespace {

class Scatter : public Kernel {
 public:
  explicit Scatter(const Making& m) {
    for (const int64_t s : m.node().attributes.list("spaces")) branches_.push_back(m.graph().space(SpaceId(s)).branch);
    for (size_t i = 0; i < branches_.size(); ++i) rows_.emplace_back(m, i);
    // Outputs of all branches in order, in one buffer of slots: one copy of all rows, shared evenly.
    const auto buffer = [&](size_t i) { return m.program.operands[m.step.outputs[i]].buffer; };
    whole_ = static_cast<int32_t>(branches_.size()) == m.value(1).branches;
    for (size_t i = 0; i < branches_.size(); ++i) whole_ = whole_ && branches_[i] == static_cast<int32_t>(i) && buffer(i) == buffer(0);
    whole_ = whole_ || (branches_.size() == 1 && branches_[0] == kAllBranches);
  }
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[1].decision;
    for (size_t i = 0; i < branches_.size(); ++i) {
      const int32_t first = branches_[i] == kAllBranches ? 0 : d.offsets[branches_[i]];
      if (c.out[i].rows == 0 || is_read_there(c, d, i, first)) continue;
      if (whole_) return copy(c, rows_[0], d.cell, c.out[i].data - first * rows_[i].written_bytes(), d.offsets[d.branches]);
      copy(c, rows_[i], d.cell + first, c.out[i].data, c.out[i].rows);
    }
  }

 private:
  /// Rows that follow one another may be read where they lie (row_loans.h): then that is where the output is.
  bool is_read_there(const Call& c, const DecisionView& d, size_t output, int32_t first) const {
    return c.out[output].data == c.in[0].data + d.cell[first] * rows_[output].row_bytes();
  }
  static void copy(const Call& c, const CopiedRows& copied, const int32_t* cells, std::byte* to, int64_t rows) {
    const std::byte* from = c.in[0].data;
    split_floats(c.team, rows, copied.width(),
                 [&](int64_t row, int64_t begin, int64_t end) { copied.copy(from, cells[row], to, row, begin, end); });
  }
  std::vector<int32_t> branches_;
  std::vector<CopiedRows> rows_;  // by output
  bool whole_ = false;
};

}  // namespace
std::unique_ptr<Kernel> make_scatter(const Making& m) { return CopiedRows::supports(m) ? std::make_unique<Scatter>(m) : nullptr; }
}  // namespace stormcell::cpu

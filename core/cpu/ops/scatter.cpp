#include "core/cpu/kernels/split_work.h"
#include "core/cpu/ops/copied_rows.h"

namespace stormcell::cpu {
namespace {

class Scatter : public Kernel {
 public:
  explicit Scatter(const BuildContext& m) {
    for (const int64_t s : m.node().attributes.list("spaces")) branches_.push_back(m.graph().space(SpaceId(s)).branch);
    for (size_t i = 0; i < branches_.size(); ++i) rows_.emplace_back(m, i);
    // Outputs of neighbouring branches in one buffer of slots: one copy of their rows, shared evenly.
    const auto buffer = [&](size_t i) { return m.program.operands[m.step.outputs[i]].buffer; };
    for (size_t i = 0; i < branches_.size(); ++i) in_slots_ = in_slots_ && buffer(i) == buffer(0);
  }
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[1].decision;
    int64_t slot = 0, rows = 0;  // rows to be copied at once
    std::byte* to = nullptr;
    size_t made = 0;
    const auto copy_slots = [&] {
      if (rows > 0) copy(c, rows_[made], d.cell + slot, to, rows);
      rows = 0;
    };
    for (size_t i = 0; i < branches_.size(); ++i) {
      const int32_t first = branches_[i] == kAllBranches ? 0 : d.offsets[branches_[i]];
      if (c.out[i].rows == 0 || is_read_there(c, d, i, first)) continue;
      if (!in_slots_ || first != slot + rows) copy_slots();
      if (rows == 0) slot = first, to = c.out[i].data, made = i;
      rows += c.out[i].rows;
    }
    copy_slots();
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
  bool in_slots_ = true;
};

}  // namespace
std::unique_ptr<Kernel> make_scatter(const BuildContext& m) {
  return CopiedRows::supports(m) ? std::make_unique<Scatter>(m) : nullptr;
}
}  // namespace stormcell::cpu

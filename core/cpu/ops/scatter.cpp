#include <cstring>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class Scatter : public Kernel {
 public:
  explicit Scatter(const Making& m) {
    for (const int64_t s : m.node().attributes.list("spaces")) branches_.push_back(m.graph().space(static_cast<SpaceId>(s)).branch);
    row_bytes_ = m.graph().row_bytes(m.node().inputs[0]);
    // Outputs of all branches in order, in one buffer of slots: one copy of all rows, shared evenly.
    const auto buffer = [&](size_t i) { return m.program.operands[m.step.outputs[i]].buffer; };
    whole_ = static_cast<int32_t>(branches_.size()) == m.value(1).branches;
    for (size_t i = 0; i < branches_.size(); ++i) whole_ = whole_ && branches_[i] == static_cast<int32_t>(i) && buffer(i) == buffer(0);
    whole_ = whole_ || (branches_.size() == 1 && branches_[0] == kAllBranches);
  }
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[1].decision;
    if (whole_) {
      copy(c, d.cell, c.out[0].data, d.offsets[d.branches]);
      return;
    }
    for (size_t i = 0; i < branches_.size(); ++i) {
      const int32_t first = branches_[i] == kAllBranches ? 0 : d.offsets[branches_[i]];
      copy(c, d.cell + first, c.out[i].data, c.out[i].rows);
    }
  }

 private:
  void copy(const Call& c, const int32_t* cells, std::byte* to, int64_t rows) const {
    const std::byte* from = c.in[0].data;
    // A row is at least 64 bytes in practice; below 16 rows a fork-join costs more than the copy.
    c.team.split(rows, 16, [&](int64_t begin, int64_t end, int) {
      for (int64_t r = begin; r < end; ++r) std::memcpy(to + r * row_bytes_, from + cells[r] * row_bytes_, static_cast<size_t>(row_bytes_));
    });
  }
  std::vector<int32_t> branches_;
  int64_t row_bytes_ = 0;
  bool whole_ = false;
};

}  // namespace
std::unique_ptr<Kernel> make_scatter(const Making& m) { return std::make_unique<Scatter>(m); }
}  // namespace stormcell::cpu

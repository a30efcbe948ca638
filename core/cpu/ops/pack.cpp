#include <algorithm>

#include "core/cpu/ops/copied_rows.h"

namespace stormcell::cpu {
namespace {

class Pack : public Kernel {
 public:
  explicit Pack(const BuildContext& m) {
    for (size_t i = 0; i < m.step.outputs.size(); ++i) rows_.emplace_back(m, i);
  }
  void run(const Call& c) const override {
    const RaggedView& r = *c.in[1].ragged;
    for (size_t i = 0; i < c.out.size(); ++i) {
      // The groups of an output begin at its first parent.
      const int32_t* cells = r.cell + c.out[i].groups.offsets[0];
      const std::byte* from = c.in[0].data;
      std::byte* to = c.out[i].data;
      // The grain of scatter: below 4 KiB a fork-join costs more than the copy.
      c.team.split(c.out[i].rows, std::max<int64_t>(1, 4096 / rows_[i].row_bytes()),
                   [&](int64_t begin, int64_t end, int) {
                     for (int64_t row = begin; row < end; ++row) rows_[i].copy(from, cells[row], to, row);
                   });
    }
  }

 private:
  std::vector<CopiedRows> rows_;  // by output
};

}  // namespace
std::unique_ptr<Kernel> make_pack(const BuildContext& m) {
  return CopiedRows::supports(m) ? std::make_unique<Pack>(m) : nullptr;
}
}  // namespace stormcell::cpu

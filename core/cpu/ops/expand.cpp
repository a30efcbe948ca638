#include <cstring>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class Expand : public Kernel {
 public:
  explicit Expand(const Making& m) : row_bytes_(m.graph().row_bytes(m.node().inputs[0])) {}
  void run(const Call& c) const override {
    const RaggedView& r = *c.in[1].ragged;
    const std::byte* from = c.in[0].data;
    std::byte* to = c.out[0].data;
    // Parents do not share cells, so that each is zeroed and filled by one thread.
    const CellGroups& groups = c.out[0].groups;
    c.team.split(groups.parents, 1, [&](int64_t begin, int64_t end, int) {
      for (int64_t p = begin; p < end; ++p) {
        std::memset(to + groups.begin(p) * row_bytes_, 0, static_cast<size_t>(groups.count(p) * row_bytes_));
        for (int32_t row = r.offsets[p]; row < r.offsets[p + 1]; ++row)
          std::memcpy(to + r.cell[row] * row_bytes_, from + row * row_bytes_, static_cast<size_t>(row_bytes_));
      }
    });
  }

 private:
  int64_t row_bytes_;
};

}  // namespace
std::unique_ptr<Kernel> make_expand(const Making& m) { return std::make_unique<Expand>(m); }
}  // namespace stormcell::cpu

#include <algorithm>
#include <cstring>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class Pack : public Kernel {
 public:
  explicit Pack(const Making& m) : row_bytes_(m.graph().row_bytes(m.node().inputs[0])) {}
  void run(const Call& c) const override {
    const RaggedView& r = *c.in[1].ragged;
    for (size_t i = 0; i < c.out.size(); ++i) {
      // The groups of an output begin at its first parent.
      const int32_t* cells = r.cell + c.out[i].groups.offsets[0];
      const std::byte* from = c.in[0].data;
      std::byte* to = c.out[i].data;
      // As in scatter: below 4 KiB a fork-join costs more than the copy.
      c.team.split(c.out[i].rows, std::max<int64_t>(1, 4096 / row_bytes_), [&](int64_t begin, int64_t end, int) {
        for (int64_t row = begin; row < end; ++row)
          std::memcpy(to + row * row_bytes_, from + cells[row] * row_bytes_, static_cast<size_t>(row_bytes_));
      });
    }
  }

 private:
  int64_t row_bytes_;
};

}  // namespace
std::unique_ptr<Kernel> make_pack(const Making& m) { return std::make_unique<Pack>(m); }
}  // namespace stormcell::cpu

#include <cstring>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class Broadcast : public Kernel {
 public:
  explicit Broadcast(const BuildContext& m) : row_bytes_(m.graph().row_bytes(m.node().inputs[0])) {}
  void run(const Call& c) const override {
    const CellGroups& groups = c.out[0].groups;
    for (int64_t p = 0; p < groups.parents; ++p)
      for (int64_t r = groups.begin(p); r < groups.end(p); ++r)
        std::memcpy(c.out[0].data + r * row_bytes_, c.in[0].data + p * row_bytes_, static_cast<size_t>(row_bytes_));
  }

 private:
  int64_t row_bytes_;
};

}  // namespace
std::unique_ptr<Kernel> make_broadcast(const BuildContext& m) { return std::make_unique<Broadcast>(m); }
}  // namespace stormcell::cpu

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class Compact : public Kernel {
 public:
  explicit Compact(const BuildContext&) {}
  void run(const Call& c) const override {
    RaggedView out = *c.out[0].ragged;
    compact_cells(c.in[0].integers(), c.in[0].groups, out);
  }
};

}  // namespace
std::unique_ptr<Kernel> make_compact(const BuildContext& m) { return std::make_unique<Compact>(m); }
}  // namespace stormcell::cpu

#include <algorithm>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class AllSet : public Kernel {
 public:
  explicit AllSet(const BuildContext&) {}
  void run(const Call& c) const override {
    *c.out[0].integers() = std::all_of(c.in.begin(), c.in.end(), [](const Rows& in) {
      return std::all_of(in.integers(), in.integers() + in.elements(), [](int32_t flag) { return flag != 0; });
    });
  }
};

}  // namespace
std::unique_ptr<Kernel> make_all_set(const BuildContext& m) { return std::make_unique<AllSet>(m); }
}  // namespace stormcell::cpu

#include <algorithm>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class AllSet : public Kernel {
 public:
  explicit AllSet(const Making&) {}
  void run(const Call& c) const override {
    const int32_t* flags = c.in[0].integers();
    *c.out[0].integers() = std::all_of(flags, flags + c.in[0].elements(), [](int32_t f) { return f != 0; });
  }
};

}  // namespace
std::unique_ptr<Kernel> make_all_set(const Making& m) { return std::make_unique<AllSet>(m); }
}  // namespace stormcell::cpu

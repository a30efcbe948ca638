#include <cstring>

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class StateWrite : public Kernel {
 public:
  explicit StateWrite(const BuildContext&) {}
  void run(const Call& c) const override {
    std::memmove(c.in[0].data, c.in[1].data, static_cast<size_t>(c.in[1].elements() * 4));
  }
};

}  // namespace
std::unique_ptr<Kernel> make_state_write(const BuildContext& m) { return std::make_unique<StateWrite>(m); }
}  // namespace stormcell::cpu

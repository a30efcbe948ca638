#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class Positions : public Kernel {
 public:
  explicit Positions(const BuildContext& m) : from_(extra_input(m.node(), "from")) {}
  void run(const Call& c) const override {
    const CellGroups& groups = c.in[0].groups;
    for (int64_t p = 0; p < groups.parents; ++p) {
      int32_t seen = from_ ? c.in[*from_].integers()[p] : 0;
      for (int64_t i = groups.begin(p); i < groups.end(p); ++i)
        c.out[0].integers()[i] = c.in[0].integers()[i] ? seen++ : 1;
    }
  }

 private:
  std::optional<size_t> from_;
};

}  // namespace
std::unique_ptr<Kernel> make_positions(const BuildContext& m) { return std::make_unique<Positions>(m); }
}  // namespace stormcell::cpu

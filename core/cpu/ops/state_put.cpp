#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/format_kernels.h"

namespace stormcell::cpu {
namespace {

class StatePut : public Kernel {
 public:
  explicit StatePut(const BuildContext& m)
      : node_(m.step.node),
        at_(extra_input(m.node(), "at")),
        row_bytes_(m.graph().row_bytes(m.node().inputs[0])),
        rounds_(is_halves(m.type(0).dtype)) {}
  void run(const Call& c) const override {
    const PutRange range{c.in[0].state(row_bytes_), c.in[1].groups, at_ ? c.in[*at_].integers() : nullptr};
    if (const StepFailure failure = range.check()) return c.fail(node_, failure);
    if (!rounds_) return range.put(c.in[1].data);
    const int64_t width = c.in[0].width;
    range.each([&](std::byte* kept, int64_t first, int64_t rows) {
      auto* to = reinterpret_cast<uint16_t*>(kept);
      const float* from = c.in[1].reals() + first * width;
      for (int64_t i = 0; i < rows * width; ++i) to[i] = f32_to_bf16(from[i]);
    });
  }

 private:
  NodeId node_;
  std::optional<size_t> at_;
  int64_t row_bytes_;
  bool rounds_;
};

}  // namespace
std::unique_ptr<Kernel> make_state_put(const BuildContext& m) { return std::make_unique<StatePut>(m); }
}  // namespace stormcell::cpu

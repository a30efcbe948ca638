#include "core/cpu/kernels/embedding.h"

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {
class Embedding : public Kernel {
 public:
  explicit Embedding(const BuildContext& m) : table_(m.plain_weight(1)), dtype_(m.type(1).dtype) {}
  void run(const Call& c) const override {
    embed_rows(c.team, reinterpret_cast<const void*>(c.weights.address(table_).value), dtype_, c.in[0].integers(),
               c.in[0].rows, c.out[0].width, 1, c.out[0].reals());
  }

 private:
  WeightHandle table_;
  DType dtype_;
};
}  // namespace
std::unique_ptr<Kernel> make_embedding(const BuildContext& m) { return std::make_unique<Embedding>(m); }
}  // namespace stormcell::cpu

#include <cstring>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/split_work.h"

namespace stormcell::cpu {
namespace {

class Concat : public Kernel {
 public:
  explicit Concat(const BuildContext& m) {
    for (size_t i = 0; i < m.node().inputs.size(); ++i) {
      widths_.push_back(m.type(i).content.back().constant());
      joined_ += widths_.back();
    }
  }
  void run(const Call& c) const override {
    split_rows(c.team, c.out[0].elements() / joined_, joined_, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        float* to = c.out[0].reals() + r * joined_;
        for (size_t i = 0; i < widths_.size(); ++i) {
          std::memcpy(to, c.in[i].reals() + r * widths_[i], static_cast<size_t>(widths_[i]) * sizeof(float));
          to += widths_[i];
        }
      }
    });
  }

 private:
  std::vector<int64_t> widths_;
  int64_t joined_ = 0;
};

}  // namespace
std::unique_ptr<Kernel> make_concat(const BuildContext& m) { return std::make_unique<Concat>(m); }
}  // namespace stormcell::cpu

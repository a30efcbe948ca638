#include "core/cpu/kernels/elementwise.h"

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {
class Activate : public Kernel {
 public:
  explicit Activate(const Making& m) : kind_(parse_activation(m.node().attributes.word("kind"))) {}
  void run(const Call& c) const override { activate(c.team, kind_, c.in[0].reals(), c.in[0].elements(), c.out[0].reals()); }

 private:
  Activation kind_;
};
class Add : public Kernel {
 public:
  explicit Add(const Making&) {}
  void run(const Call& c) const override { add(c.team, c.in[0].reals(), c.in[1].reals(), c.in[0].elements(), c.out[0].reals()); }
};
class Multiply : public Kernel {
 public:
  explicit Multiply(const Making&) {}
  void run(const Call& c) const override { multiply(c.team, c.in[0].reals(), c.in[1].reals(), c.in[0].elements(), c.out[0].reals()); }
};
class Scale : public Kernel {
 public:
  explicit Scale(const Making& m) : factor_(static_cast<float>(m.node().attributes.real("factor"))) {}
  void run(const Call& c) const override { scale(c.team, c.in[0].reals(), factor_, c.in[0].elements(), c.out[0].reals()); }

 private:
  float factor_;
};
}  // namespace
std::unique_ptr<Kernel> make_activation(const Making& m) { return std::make_unique<Activate>(m); }
std::unique_ptr<Kernel> make_add(const Making& m) { return std::make_unique<Add>(m); }
std::unique_ptr<Kernel> make_multiply(const Making& m) { return std::make_unique<Multiply>(m); }
std::unique_ptr<Kernel> make_scale(const Making& m) { return std::make_unique<Scale>(m); }
}  // namespace stormcell::cpu

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class EndSequences : public Kernel {
 public:
  explicit EndSequences(const BuildContext& m)
      : end_(static_cast<int32_t>(m.node().attributes.integer("end"))),
        pad_(static_cast<int32_t>(m.node().attributes.integer("pad"))) {}
  void run(const Call& c) const override {
    for (int64_t i = 0; i < c.in[0].rows; ++i) {
      const bool done = c.in[1].integers()[i] != 0;
      const int32_t next = c.in[0].integers()[i];
      c.out[0].integers()[i] = done ? pad_ : next;
      c.out[1].integers()[i] = done || (end_ >= 0 && next == end_);
    }
  }

 private:
  int32_t end_, pad_;
};

}  // namespace
std::unique_ptr<Kernel> make_end_sequences(const BuildContext& m) { return std::make_unique<EndSequences>(m); }
}  // namespace stormcell::cpu

#include "core/cpu/cpu_kernel.h"
#include "core/runtime/put_range.h"

namespace stormcell::cpu {
namespace {

class StatePut : public Kernel {
 public:
  explicit StatePut(const Making& m)
      : name_(m.node().name),
        at_(extra_input(m.node(), "at", 2)),
        room_(m.graph().space(m.type(0).space).per_parent),
        rows_(m.graph().space(m.type(1).space).per_parent),
        row_bytes_(m.graph().row_bytes(m.node().inputs[1])) {}
  void run(const Call& c) const override {
    const int64_t room = room_.evaluate(c.bindings), rows = rows_.evaluate(c.bindings), at = at_ ? *c.in[*at_].integers() : 0;
    expect_places(name_, room, rows, at);
    if (rows > 0) PutRange{room, rows, at, c.in[1].rows / rows, row_bytes_}.put(c.in[0].data, c.in[1].data);
  }

 private:
  std::string name_;
  std::optional<size_t> at_;
  Dim room_, rows_;
  int64_t row_bytes_;
};

}  // namespace
std::unique_ptr<Kernel> make_state_put(const Making& m) { return std::make_unique<StatePut>(m); }
}  // namespace stormcell::cpu

#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

// Nothing of the base's rows is read, so that its groups come as an operand of their own only where it is ragged.
class Members : public Kernel {
 public:
  explicit Members(const BuildContext& m) {
    const CellSpace& base = m.graph().space(m.graph().value(m.node().outputs[0]).type.space);
    if (base.kind == SpaceKind::dense) {
      per_parent_ = base.per_parent;
    } else {
      ragged_ = true;
    }
  }
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[0].decision;
    CellGroups base;
    if (ragged_) {
      base = ragged_groups(*c.in[1].ragged, 0, *c.in[1].ragged->parents);
    } else {
      base.parents = *d.cells;
      base.per_parent = per_parent_.evaluate(c.bindings);
    }
    RaggedView out = *c.out[0].ragged;
    member_cells(d, base, out);
  }

 private:
  bool ragged_ = false;
  Dim per_parent_;
};

}  // namespace
std::unique_ptr<Kernel> make_members(const BuildContext& m) { return std::make_unique<Members>(m); }
}  // namespace stormcell::cpu

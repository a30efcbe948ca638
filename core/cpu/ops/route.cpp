#include "core/cell/route.h"
#include "core/cell/protocol_row.h"
#include "core/cpu/cpu_kernel.h"
#include "core/graph/protocol_attributes.h"

namespace stormcell::cpu {
namespace {

class Route : public Kernel {
 public:
  explicit Route(const BuildContext& m)
      : protocol_(protocol_of(m.node().attributes)),
        by_label_(protocol_row(protocol_.kind).by_label()),
        bias_(extra_input(m.node(), "bias")),
        branches_(m.graph().value(m.node().outputs[0]).branches) {
    if (bias_) bias_handle_ = m.f32_weight(*bias_);
    grouped_ = is_grouped(m.graph(), m.type(0).space);
  }
  void run(const Call& c) const override {
    ScoreView scores;
    scores.cells = c.in[0].rows;
    scores.branches = static_cast<int32_t>(by_label_ ? branches_ : c.in[0].width);
    if (by_label_) {
      scores.label = c.in[0].integers();
    } else {
      scores.data = c.in[0].reals();
    }
    if (bias_) scores.bias = c.floats(bias_handle_);
    if (grouped_) scores.parents = c.in[0].groups.parent_map();
    DecisionView d = *c.out[0].decision;
    if (c.replayed) {
      replay(scores, protocol_, c.replayed, d, c.replayed);
    } else {
      stormcell::route(scores, protocol_, d);
    }
  }

 private:
  Protocol protocol_;
  bool by_label_;
  std::optional<size_t> bias_;
  WeightHandle bias_handle_;
  int32_t branches_;
  bool grouped_ = false;
};

}  // namespace
std::unique_ptr<Kernel> make_route(const BuildContext& m) { return std::make_unique<Route>(m); }
}  // namespace stormcell::cpu

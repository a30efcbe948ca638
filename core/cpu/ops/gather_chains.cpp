#include <algorithm>

#include "core/cpu/cell_chain.h"
#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

// The general case: rows of several routers, nested ones too, followed up to the cells of the result.
class GatherChains : public Kernel {
 public:
  explicit GatherChains(const Making& m)
      : place_(m.node().attributes.word("mode") == "place"), weighted_(m.node().attributes.word("mode") == "weighted") {
    const Graph& g = m.graph();
    const auto target = static_cast<SpaceId>(m.node().attributes.integer("space"));
    values_ = m.node().inputs.size() - extra_count(m.node());
    otherwise_ = extra_input(m.node(), "otherwise", values_);
    residual_ = extra_input(m.node(), "residual", values_);
    size_t at = m.node().inputs.size();
    for (size_t i = 0; i < values_; ++i) {
      const std::vector<CellLink> links = cell_chain(g, m.type(i).space, target);
      chains_.emplace_back(links, at);
      if (i == 0) {
        members_ = !links.empty() && links[0].decision != kNone;
        weighing_ = at + (members_ ? 1 : 0);
      }
      at += stormcell::values_of(links).size();
    }
  }
  void run(const Call& c) const override {
    const Rows& out = c.out[0];
    if (otherwise_ >= 0 && !weighted_) {
      std::copy_n(c.in[static_cast<size_t>(otherwise_)].reals(), out.elements(), out.reals());
    } else {
      std::fill_n(out.reals(), out.elements(), 0.0f);
    }
    if (otherwise_ >= 0 && weighted_) add_dropped(c);
    // A sum starts from 0 in cells that a row reaches: `otherwise` only stands where none does.
    if (otherwise_ >= 0 && !weighted_ && !place_) clear_reached(c);
    for (size_t i = 0; i < values_; ++i)
      for (int64_t r = 0; r < c.in[i].rows; ++r) {
        float weight = 1;
        const int64_t cell = follow(c, i, r, weighted_ ? &weight : nullptr);
        float* to = out.reals() + cell * out.width;
        const float* from = c.in[i].reals() + r * out.width;
        if (place_) {
          std::copy_n(from, out.width, to);
        } else {
          for (int64_t x = 0; x < out.width; ++x) to[x] += weight * from[x];
        }
      }
    if (residual_ >= 0) {
      const float* residual = c.in[static_cast<size_t>(residual_)].reals();
      for (int64_t x = 0; x < out.elements(); ++x) out.reals()[x] += residual[x];
    }
  }

 private:
  int64_t follow(const Call& c, size_t i, int64_t row, float* weight) const { return chains_[i].follow(c.in, row, weight); }
  void clear_reached(const Call& c) const {
    for (size_t i = 0; i < values_; ++i)
      for (int64_t r = 0; r < c.in[i].rows; ++r)
        std::fill_n(c.out[0].reals() + follow(c, i, r, nullptr) * c.out[0].width, c.out[0].width, 0.0f);
  }
  // A parent whose choice was dropped gives all its cells' rows; a routed cell is its own.
  void add_dropped(const Call& c) const {
    const DecisionView& d = *c.in[weighing_].decision;
    const Rows& out = c.out[0];
    for (int64_t i = 0; i < int64_t{*d.cells} * d.fan_out; ++i) {
      if (!is_dropped(d.choice[i])) continue;
      const int64_t decided = i / d.fan_out;
      const int64_t begin = members_ ? out.groups.begin(decided) : decided, end = members_ ? out.groups.end(decided) : decided + 1;
      const float* from = c.in[static_cast<size_t>(otherwise_)].reals();
      for (int64_t x = begin * out.width; x < end * out.width; ++x) out.reals()[x] += d.choice_weight[i] * from[x];
    }
  }
  bool place_, weighted_;
  size_t values_ = 0;
  int otherwise_ = -1, residual_ = -1;
  std::vector<CellChain> chains_;
  bool members_ = false;
  size_t weighing_ = 0;  // the input whose decision weighs the rows of the first value
};

}  // namespace
std::unique_ptr<Kernel> make_gather_chains(const Making& m) { return std::make_unique<GatherChains>(m); }
}  // namespace stormcell::cpu

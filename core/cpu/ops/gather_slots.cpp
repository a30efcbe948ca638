#include <algorithm>

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/elementwise.h"
#include "core/cpu/kernels/non_temporal.h"
#include "core/cpu/kernels/split_work.h"
#include "core/graph/roles.h"
#include "core/runtime/branches_computed.h"

namespace stormcell::cpu {
namespace {

// All inputs are branches (or the slots) of one decision: each cell sums its own slots in the order of its choices,
// cells shared over threads without atomics. How the branches' rows lie in memory does not matter, so that every plan
// sums in the same order.
class GatherSlots : public Kernel {
 public:
  /// `input_of`: by branch, which input holds its rows; -1: none.
  GatherSlots(const BuildContext& m, std::vector<int> input_of, size_t decision)
      : input_of_(std::move(input_of)),
        weighted_(m.node().attributes.word("mode") == "weighted"),
        slots_(m.graph().space(m.type(0).space).branch == kAllBranches),
        decision_(decision) {
    const Node& node = m.node();
    otherwise_ = extra_input(node, "otherwise");
    residual_ = extra_input(node, "residual");
    for (size_t i = 0; i < joined_inputs(node); ++i) factors_.push_back(factor_input(node, i));
  }
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[decision_].decision;
    const int64_t width = c.out[0].width;
    const float* otherwise = otherwise_ ? c.in[*otherwise_].reals() : nullptr;
    const float* residual = residual_ ? c.in[*residual_].reals() : nullptr;
    float* out = c.out[0].reals();
    const bool non_temporal = width >= kNonTemporalRow && is_non_temporal(c.out[0].rows * width);
    const auto sum = [&](int64_t cell, int64_t begin, int64_t end, float* to) {
      const auto row_of = [&](const float* rows, int64_t row) { return rows + row * width + begin; };
      const int64_t n = end - begin;
      bool written = false;
      for (int32_t j = 0; j < d.fan_out; ++j) {
        const int64_t i = cell * d.fan_out + j;
        const int32_t choice = d.choice[i];
        const int input = is_kept(choice) ? input_of_[choice] : -1;
        const float* from = nullptr;
        float w = weighted_ ? d.choice_weight[i] : 1.0f;
        if (input >= 0) {
          const size_t value = input;
          const int64_t row = d.slot[i] - (slots_ ? 0 : d.offsets[choice]);
          from = row_of(c.in[value].reals(), row);
          if (factors_[value]) w = c.in[*factors_[value]].reals()[row];
        } else if (weighted_ && otherwise && is_dropped(choice)) {
          from = row_of(otherwise, cell);
        } else {
          continue;
        }
        if (written) {
          add_scaled(from, w, n, to);
        } else {
          for (int64_t x = 0; x < n; ++x) to[x] = w * from[x];
        }
        written = true;
      }
      if (!written && otherwise && !weighted_) {
        std::copy_n(row_of(otherwise, cell), n, to);
      } else if (!written) {
        std::fill_n(to, n, 0.0f);
      }
      if (!residual) return;
      const float* added = row_of(residual, cell);
      for (int64_t x = 0; x < n; ++x) to[x] += added[x];
    };
    split_floats(c.team, c.out[0].rows, width, [&](int64_t cell, int64_t begin, int64_t end) {
      write_result(out + cell * width, begin, end, non_temporal,
                   [&](int64_t first, int64_t last, float* to) { sum(cell, first, last, to); });
    });
  }

 private:
  std::vector<int> input_of_;
  bool weighted_, slots_;
  std::optional<size_t> otherwise_, residual_;
  std::vector<std::optional<size_t>> factors_;  // by joined value
  size_t decision_;
};

}  // namespace

std::unique_ptr<Kernel> make_gather_slots(const BuildContext& m) {
  const Graph& g = m.graph();
  const Attributes& attributes = m.node().attributes;
  const size_t values = joined_inputs(m.node());
  if (attributes.word("mode") == "place" || g.value(m.node().outputs[0]).type.dtype != DType::f32) return nullptr;
  if (m.type(0).space == kNone) return nullptr;
  const ValueId decision = g.space(m.type(0).space).decision;
  if (decision == kNone) return nullptr;
  std::vector<int> input_of(g.value(decision).branches, -1);
  for (size_t i = 0; i < values; ++i) {
    const CellSpace& s = g.space(m.type(i).space);
    if (s.decision != decision || s.parent != SpaceId(attributes.integer("space"))) return nullptr;
    if (s.branch == kAllBranches) {
      if (values != 1) return nullptr;
      std::fill(input_of.begin(), input_of.end(), 0);
    } else {
      if (input_of[s.branch] >= 0) return nullptr;
      input_of[s.branch] = static_cast<int>(i);
    }
  }
  if (const auto computed = branches_computed(m)) {
    std::fill(input_of.begin(), input_of.end(), -1);
    for (const int64_t b : *computed) input_of.at(static_cast<size_t>(b)) = 0;
  }
  return std::make_unique<GatherSlots>(m, std::move(input_of), m.node().inputs.size());
}

}  // namespace stormcell::cpu

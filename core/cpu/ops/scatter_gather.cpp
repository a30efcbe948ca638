#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/cpu/cpu_kernel.h"

namespace stormcell::cpu {
namespace {

class Scatter : public Kernel {
 public:
  explicit Scatter(const Making& m) {
    for (const int64_t s : m.node().attributes.list("spaces")) branches_.push_back(m.graph().space(static_cast<SpaceId>(s)).branch);
    row_bytes_ = m.graph().row_bytes(m.node().inputs[0]);
    // Outputs of all branches in order, in one buffer of slots: one copy of all rows, shared evenly.
    const auto buffer = [&](size_t i) { return m.program.operands[static_cast<size_t>(m.step.outputs[i])].buffer; };
    whole_ = static_cast<int32_t>(branches_.size()) == m.value(1).branches;
    for (size_t i = 0; i < branches_.size(); ++i) whole_ = whole_ && branches_[i] == static_cast<int32_t>(i) && buffer(i) == buffer(0);
    whole_ = whole_ || (branches_.size() == 1 && branches_[0] == kAllBranches);
  }
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[1].decision;
    if (whole_) {
      copy(c, d.cell, c.out[0].data, d.offsets[d.branches]);
      return;
    }
    for (size_t i = 0; i < branches_.size(); ++i) {
      const int32_t first = branches_[i] == kAllBranches ? 0 : d.offsets[branches_[i]];
      copy(c, d.cell + first, c.out[i].data, c.out[i].rows);
    }
  }

 private:
  void copy(const Call& c, const int32_t* cells, std::byte* to, int64_t rows) const {
    const std::byte* from = c.in[0].data;
    // A row is at least 64 bytes in practice; below 16 rows a fork-join costs more than the copy.
    c.team.split(rows, 16, [&](int64_t begin, int64_t end, int) {
      for (int64_t r = begin; r < end; ++r) std::memcpy(to + r * row_bytes_, from + cells[r] * row_bytes_, static_cast<size_t>(row_bytes_));
    });
  }
  std::vector<int32_t> branches_;
  int64_t row_bytes_ = 0;
  bool whole_ = false;
};

// All inputs are branches (or the slots) of one decision in one buffer of slots: each cell sums its own slots in the order of its
// choices, cells shared over threads without atomics.
class GatherSlots : public Kernel {
 public:
  GatherSlots(const Making& m, std::vector<char> present, bool weighted, int otherwise, size_t decision)
      : present_(std::move(present)), weighted_(weighted), otherwise_(otherwise), decision_(decision), slots_first_(m.step.inputs[0]) {
    const Operand& o = m.program.operands[static_cast<size_t>(slots_first_)];
    first_branch_ = o.branch;
  }
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[decision_].decision;
    const int64_t width = c.out[0].width;
    const float* slots = c.in[0].reals() - (first_branch_ == kAllBranches ? 0 : int64_t{d.offsets[first_branch_]} * width);
    const float* otherwise = otherwise_ >= 0 ? c.in[static_cast<size_t>(otherwise_)].reals() : nullptr;
    float* out = c.out[0].reals();
    c.team.split(c.out[0].rows, 8, [&](int64_t begin, int64_t end, int) {
      for (int64_t cell = begin; cell < end; ++cell) {
        float* to = out + cell * width;
        bool written = false;
        for (int32_t j = 0; j < d.fan_out; ++j) {
          const int64_t i = cell * d.fan_out + j;
          const int32_t choice = d.choice[i];
          const float* from = nullptr;
          float w = weighted_ ? d.choice_weight[i] : 1.0f;
          if (is_kept(choice) && present_[static_cast<size_t>(choice)]) {
            from = slots + int64_t{d.slot[i]} * width;
          } else if (weighted_ && otherwise && is_dropped(choice)) {
            from = otherwise + cell * width;
          } else {
            continue;
          }
          if (written) {
            for (int64_t x = 0; x < width; ++x) to[x] += w * from[x];
          } else {
            for (int64_t x = 0; x < width; ++x) to[x] = w * from[x];
          }
          written = true;
        }
        if (!written) {
          if (otherwise && !weighted_) {
            std::copy_n(otherwise + cell * width, width, to);
          } else {
            std::fill_n(to, width, 0.0f);
          }
        }
      }
    });
  }

 private:
  std::vector<char> present_;
  bool weighted_;
  int otherwise_;
  size_t decision_;
  int32_t slots_first_, first_branch_;
};

// The general case: rows of several routers, nested ones too, followed up to the cells of the result.
class GatherChains : public Kernel {
 public:
  explicit GatherChains(const Making& m) : place_(m.node().attributes.word("mode") == "place"), weighted_(m.node().attributes.word("mode") == "weighted") {
    const Graph& g = m.graph();
    const auto target = static_cast<SpaceId>(m.node().attributes.integer("space"));
    values_ = m.node().inputs.size() - extra_count(m.node());
    otherwise_ = extra_input(m.node(), "otherwise", values_);
    size_t at = m.node().inputs.size();
    for (size_t i = 0; i < values_; ++i) {
      chains_.emplace_back();
      for (SpaceId s = m.type(i).space; s != target; s = g.space(s).parent) chains_.back().push_back({at++, g.space(s).branch});
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
  }

 private:
  struct Link {
    size_t input;
    int32_t branch;
  };
  int64_t follow(const Call& c, size_t i, int64_t row, float* weight) const {
    for (const Link& link : chains_[i]) {
      const DecisionView& d = *c.in[link.input].decision;
      const int64_t slot = (link.branch == kAllBranches ? 0 : d.offsets[link.branch]) + row;
      if (weight) *weight = d.weight[slot];
      row = d.cell[slot];
    }
    return row;
  }
  void clear_reached(const Call& c) const {
    for (size_t i = 0; i < values_; ++i)
      for (int64_t r = 0; r < c.in[i].rows; ++r)
        std::fill_n(c.out[0].reals() + follow(c, i, r, nullptr) * c.out[0].width, c.out[0].width, 0.0f);
  }
  void add_dropped(const Call& c) const {
    const DecisionView& d = *c.in[chains_[0][0].input].decision;
    const Rows& out = c.out[0];
    for (int64_t i = 0; i < out.rows * d.fan_out; ++i) {
      if (!is_dropped(d.choice[i])) continue;
      const int64_t cell = i / d.fan_out;
      const float* from = c.in[static_cast<size_t>(otherwise_)].reals() + cell * out.width;
      for (int64_t x = 0; x < out.width; ++x) out.reals()[cell * out.width + x] += d.choice_weight[i] * from[x];
    }
  }
  bool place_, weighted_;
  size_t values_ = 0;
  int otherwise_ = -1;
  std::vector<std::vector<Link>> chains_;
};

}  // namespace

std::unique_ptr<Kernel> make_scatter(const Making& m) { return std::make_unique<Scatter>(m); }

std::unique_ptr<Kernel> make_gather_one(const Making& m) {
  const Graph& g = m.graph();
  const std::string& mode = m.node().attributes.word("mode");
  const size_t values = m.node().inputs.size() - extra_count(m.node());
  const int otherwise = extra_input(m.node(), "otherwise", values);
  if (mode == "place" || g.value(m.node().outputs[0]).type.dtype != DType::f32) return nullptr;
  const ValueId decision = g.space(m.type(0).space).decision;
  if (m.type(0).space == kNone || decision == kNone) return nullptr;
  std::vector<char> present(static_cast<size_t>(g.value(decision).branches), 0);
  const auto buffer = [&](size_t i) { return m.program.operands[static_cast<size_t>(m.step.inputs[i])].buffer; };
  for (size_t i = 0; i < values; ++i) {
    const CellSpace& s = g.space(m.type(i).space);
    if (s.decision != decision || s.parent != static_cast<SpaceId>(m.node().attributes.integer("space")) || buffer(i) != buffer(0)) return nullptr;
    if (s.branch == kAllBranches) {
      if (values != 1) return nullptr;
      std::fill(present.begin(), present.end(), 1);
    } else {
      if (present[static_cast<size_t>(s.branch)]) return nullptr;
      present[static_cast<size_t>(s.branch)] = 1;
    }
  }
  // Which branches the slots were really computed for: a grouped product may leave some out.
  if (values == 1 && g.space(m.type(0).space).branch == kAllBranches) {
    NodeId producer = m.value(0).producer;
    while (producer != kNone) {
      const Node& n = g.node(producer);
      if (n.op->name == "grouped_linear") {
        std::fill(present.begin(), present.end(), 0);
        for (const int64_t b : n.attributes.list("branches")) present[static_cast<size_t>(b)] = 1;
        break;
      }
      if (n.inputs.empty() || n.op->name == "scatter" || n.op->name == "exchange_back") break;  // computed here, or by all ranks
      producer = g.value(n.inputs[0]).producer;
    }
  }
  return std::make_unique<GatherSlots>(m, std::move(present), mode == "weighted", otherwise, m.node().inputs.size());
}

std::unique_ptr<Kernel> make_gather(const Making& m) { return std::make_unique<GatherChains>(m); }

}  // namespace stormcell::cpu

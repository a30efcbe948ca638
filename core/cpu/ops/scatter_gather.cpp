#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/cpu/cell_chain.h"
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

// All inputs are branches (or the slots) of one decision: each cell sums its own slots in the order of its choices, cells shared over
// threads without atomics. How the branches' rows lie in memory does not matter, so that every plan sums in the same order.
class GatherSlots : public Kernel {
 public:
  /// `input_of`: by branch, which input holds its rows; -1: none.
  GatherSlots(const Making& m, std::vector<int> input_of, size_t decision)
      : input_of_(std::move(input_of)),
        weighted_(m.node().attributes.word("mode") == "weighted"),
        slots_(m.graph().space(m.type(0).space).branch == kAllBranches),
        decision_(decision) {
    const size_t values = m.node().inputs.size() - extra_count(m.node());
    otherwise_ = extra_input(m.node(), "otherwise", values);
    residual_ = extra_input(m.node(), "residual", values);
  }
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[decision_].decision;
    const int64_t width = c.out[0].width;
    const float* otherwise = otherwise_ >= 0 ? c.in[static_cast<size_t>(otherwise_)].reals() : nullptr;
    const float* residual = residual_ >= 0 ? c.in[static_cast<size_t>(residual_)].reals() : nullptr;
    float* out = c.out[0].reals();
    c.team.split(c.out[0].rows, 8, [&](int64_t begin, int64_t end, int) {
      for (int64_t cell = begin; cell < end; ++cell) {
        float* to = out + cell * width;
        bool written = false;
        for (int32_t j = 0; j < d.fan_out; ++j) {
          const int64_t i = cell * d.fan_out + j;
          const int32_t choice = d.choice[i];
          const int input = is_kept(choice) ? input_of_[static_cast<size_t>(choice)] : -1;
          const float* from = nullptr;
          float w = weighted_ ? d.choice_weight[i] : 1.0f;
          if (input >= 0) {
            from = c.in[static_cast<size_t>(input)].reals() + int64_t{d.slot[i] - (slots_ ? 0 : d.offsets[choice])} * width;
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
        if (residual)
          for (int64_t x = 0; x < width; ++x) to[x] += residual[cell * width + x];
      }
    });
  }

 private:
  std::vector<int> input_of_;
  bool weighted_, slots_;
  int otherwise_ = -1, residual_ = -1;
  size_t decision_;
};

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

std::unique_ptr<Kernel> make_scatter(const Making& m) { return std::make_unique<Scatter>(m); }

std::unique_ptr<Kernel> make_gather_one(const Making& m) {
  const Graph& g = m.graph();
  const Attributes& attributes = m.node().attributes;
  const size_t values = m.node().inputs.size() - extra_count(m.node());
  if (attributes.word("mode") == "place" || g.value(m.node().outputs[0]).type.dtype != DType::f32) return nullptr;
  if (m.type(0).space == kNone) return nullptr;
  const ValueId decision = g.space(m.type(0).space).decision;
  if (decision == kNone) return nullptr;
  std::vector<int> input_of(static_cast<size_t>(g.value(decision).branches), -1);
  for (size_t i = 0; i < values; ++i) {
    const CellSpace& s = g.space(m.type(i).space);
    if (s.decision != decision || s.parent != static_cast<SpaceId>(attributes.integer("space"))) return nullptr;
    if (s.branch == kAllBranches) {
      if (values != 1) return nullptr;
      std::fill(input_of.begin(), input_of.end(), 0);
    } else {
      if (input_of[static_cast<size_t>(s.branch)] >= 0) return nullptr;
      input_of[static_cast<size_t>(s.branch)] = static_cast<int>(i);
    }
  }
  // Which branches the slots were really computed for.
  const auto only = [&](const std::vector<int64_t>& branches) {
    std::fill(input_of.begin(), input_of.end(), -1);
    for (const int64_t b : branches) input_of[static_cast<size_t>(b)] = 0;
  };
  if (attributes.has("branches")) {
    only(attributes.list("branches"));
  } else if (g.space(m.type(0).space).branch == kAllBranches) {
    NodeId producer = m.value(0).producer;
    while (producer != kNone) {
      const Node& n = g.node(producer);
      if (n.op->name == "grouped_linear") {
        only(n.attributes.list("branches"));
        break;
      }
      if (n.inputs.empty() || n.op->name == "scatter" || n.op->name == "exchange_back") break;  // computed here, or by all ranks
      producer = g.value(n.inputs[0]).producer;
    }
  }
  return std::make_unique<GatherSlots>(m, std::move(input_of), m.node().inputs.size());
}

std::unique_ptr<Kernel> make_gather(const Making& m) { return std::make_unique<GatherChains>(m); }

}  // namespace stormcell::cpu

#include "core/cpu/kernels/linear.h"

#include "core/cpu/cpu_kernel.h"
#include "core/cpu/kernels/grouped_linear.h"
#include "core/cpu/kernels/norm.h"

namespace stormcell::cpu {
namespace {

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

// What linear and grouped_linear share: a folded norm and the epilogue's operands. The rows are normalised into scratch, as the norm alone
// would do it: the weights stay as every other product of them reads them, and so does the last bit of the result.
struct Fused {
  int gain, bias, multiply, residual;
  int32_t gain_handle = -1, bias_handle = -1;
  float eps, scale;
  Activation activation;

  Fused(const Making& m, size_t fixed)
      : gain(extra_input(m.node(), "gain", fixed)),
        bias(extra_input(m.node(), "bias", fixed)),
        multiply(extra_input(m.node(), "multiply", fixed)),
        residual(extra_input(m.node(), "residual", fixed)),
        eps(static_cast<float>(m.node().attributes.real("eps", 1e-6))),
        scale(static_cast<float>(m.node().attributes.real("scale", 1))),
        activation(parse_activation(m.node().attributes.word("activation", "none"))) {
    if (gain >= 0) gain_handle = m.f32_weight(static_cast<size_t>(gain));
    if (bias >= 0) bias_handle = m.f32_weight(static_cast<size_t>(bias));
  }

  int64_t norm_bytes(const Making& m, int64_t k) const { return gain < 0 ? 0 : aligned(m.most_rows(0) * k * 4); }
  /// The rows to multiply; `scratch` has norm_bytes().
  const float* rows(const Call& c, std::byte* scratch) const {
    if (gain < 0) return c.in[0].reals();
    auto* normed = reinterpret_cast<float*>(scratch);
    rms_norm(c.team, c.in[0].reals(), c.in[0].rows, c.in[0].width, reinterpret_cast<const float*>(c.weights.address(gain_handle).value),
             eps, normed);
    return normed;
  }

  Epilogue epilogue(const Call& c) const {
    Epilogue e;
    if (bias >= 0) e.bias = reinterpret_cast<const float*>(c.weights.address(bias_handle).value);
    e.activation = activation;
    if (multiply >= 0) e.multiply = c.in[static_cast<size_t>(multiply)].reals();
    if (residual >= 0) e.residual = c.in[static_cast<size_t>(residual)].reals();
    e.ld_extra = c.out[0].width;
    e.scale = scale;
    return e;
  }
};

class Linear : public Kernel {
 public:
  explicit Linear(const Making& m)
      : fused_(m, 2),
        weight_(m.panel_weight(1, m.node().attributes.integer("precise", 0) != 0)),
        n_(m.type(1).content[0].constant()),
        k_(m.type(1).content[1].constant()),
        dtype_(m.weights.key(weight_).dtype),
        norm_(fused_.norm_bytes(m, k_)),
        scratch_(norm_ + static_cast<int64_t>(linear_scratch_bytes(m.most_rows(0), k_, dtype_, m.threads))) {}
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    if (c.in[0].rows == 0) return;
    const PackedWeight w{reinterpret_cast<const std::byte*>(c.weights.address(weight_).value), n_, k_, dtype_};
    linear(c.team, fused_.rows(c, c.scratch), k_, c.in[0].rows, w, fused_.epilogue(c), c.out[0].reals(), n_, c.scratch + norm_);
  }

 private:
  Fused fused_;
  int32_t weight_;
  int64_t n_, k_;
  DType dtype_;
  int64_t norm_, scratch_;
};

class GroupedLinear : public Kernel {
 public:
  explicit GroupedLinear(const Making& m)
      : branches_(m.node().attributes.list("branches")),
        fused_(m, 2 + branches_.size()),
        from_cells_(m.type(0).space == m.value(1).type.space),
        n_(m.type(2).content[0].constant()),
        k_(m.type(2).content[1].constant()) {
    for (size_t i = 0; i < branches_.size(); ++i) handles_.push_back(m.panel_weight(2 + i, false));
    dtype_ = m.weights.key(handles_[0]).dtype;
    packed_.resize(branches_.size());
    table_.resize(static_cast<size_t>(m.value(1).branches), nullptr);
    slots_ = m.program.dims[static_cast<size_t>(m.program.operands[static_cast<size_t>(m.step.outputs[0])].rows)].evaluate(m.bounds);
    norm_ = fused_.norm_bytes(m, k_);
    scratch_ = norm_ + static_cast<int64_t>(grouped_linear_scratch_bytes(slots_, k_, dtype_, m.threads));
  }
  int64_t scratch_bytes() const override { return scratch_; }
  void run(const Call& c) const override {
    const DecisionView& d = *c.in[1].decision;
    // Addresses are looked up at each run: weights may be evicted and loaded again between runs.
    for (size_t i = 0; i < branches_.size(); ++i) {
      packed_[i] = {reinterpret_cast<const std::byte*>(c.weights.address(handles_[i]).value), n_, k_, dtype_};
      table_[static_cast<size_t>(branches_[i])] = &packed_[i];
    }
    GroupedRows rows;
    rows.x = fused_.rows(c, c.scratch);
    rows.ldx = k_;
    rows.row_of_slot = from_cells_ ? d.cell : nullptr;
    rows.offsets = d.offsets;
    rows.branches = d.branches;
    rows.weights = table_.data();
    grouped_linear(c.team, rows, fused_.epilogue(c), c.out[0].reals(), n_, c.scratch + norm_);
  }

 private:
  std::vector<int64_t> branches_;
  Fused fused_;
  bool from_cells_;
  int64_t n_, k_, slots_ = 0, norm_ = 0, scratch_ = 0;
  DType dtype_ = DType::f32;
  std::vector<int32_t> handles_;
  mutable std::vector<PackedWeight> packed_;  // refilled by each run; a kernel runs on one stream at a time
  mutable std::vector<const PackedWeight*> table_;
};

}  // namespace
std::unique_ptr<Kernel> make_linear(const Making& m) { return std::make_unique<Linear>(m); }
std::unique_ptr<Kernel> make_grouped_linear(const Making& m) { return std::make_unique<GroupedLinear>(m); }
}  // namespace stormcell::cpu

#include "core/cpu/operands.h"

namespace stormcell::cpu {

void Operands::place(const MemoryPlan& memory, std::byte* arena, std::byte* states, const Bindings& bounds) {
  const Program& p = program_;
  const auto most = [&](DimId dim) { return p.dims[dim].evaluate(bounds); };
  base_.assign(p.operands.size(), nullptr);
  lender_.assign(p.operands.size(), kNone);
  for (const RowLoan& loan : memory.loans) lender_[loan.borrower] = loan.lender;
  decisions_.resize(p.operands.size());
  raggeds_.resize(p.operands.size());
  for (const OperandId i : p.operands.ids()) {
    const Operand& o = p.operands[i];
    if (o.kind == BufferKind::arena) base_[i] = arena + memory.offset[o.buffer];
    if (o.kind == BufferKind::state) base_[i] = states + memory.offset[o.buffer];
    if (o.is_ragged) raggeds_[i] = ragged_view(base_[i], {most(o.ragged_parents), most(o.ragged_cells)});
    if (o.is_decision) decisions_[i] = decision_view(base_[i], {most(o.decision_cells), o.fan_out, o.branches});
  }
}

void Operands::bind(const Submission& s) {
  for (const DimId i : dims_.ids()) dims_[i] = program_.dims[i].evaluate(s.bindings);
  for (size_t i = 0; i < program_.inputs.size(); ++i)
    base_[program_.inputs[i]] = reinterpret_cast<std::byte*>(s.inputs[i].value);
  pages_ = reinterpret_cast<const uint64_t*>(s.pages.value);
  pages_of_sequence_ = s.pages_of_sequence;
}

std::byte* Operands::borrowed(OperandId operand) const {
  if (lender_[operand] == kNone) return nullptr;
  const Operand& o = (*this)[operand];
  const DecisionView& d = decision(o.decision);
  const int32_t first = d.offsets[o.branch], end = d.offsets[o.branch + 1];
  if (first == end || d.cell[end - 1] - d.cell[first] != end - 1 - first) return nullptr;
  for (int32_t slot = first + 1; slot < end; ++slot)
    if (d.cell[slot] != d.cell[slot - 1] + 1) return nullptr;
  return rows(lender_[operand]) + d.cell[first] * o.row_bytes();
}

std::byte* Operands::rows(OperandId operand) const {
  if (std::byte* lies = borrowed(operand)) return lies;
  const Operand& o = (*this)[operand];
  return base(operand) + (o.in_slots ? decision(o.decision).offsets[o.branch] * o.row_bytes() : 0);
}

Rows Operands::resolve(OperandId operand) const {
  const Operand& o = (*this)[operand];
  Rows r;
  r.data = base(operand);
  r.width = o.width;
  if (o.is_decision) {
    r.decision = &decision(operand);
    r.rows = *r.decision->cells;
    return r;
  }
  if (o.is_ragged) {
    r.ragged = &ragged(operand);
    r.rows = *r.ragged->cells;
    return r;
  }
  if (o.rows == kNone) return r;
  if (o.ragged != kNone) {
    resolve_ragged(o, r);
  } else if (o.decision != kNone) {
    const DecisionView& d = decision(o.decision);
    r.rows = o.branch == kAllBranches ? d.offsets[d.branches] : d.load(o.branch);
    r.data = rows(operand);
  } else {
    r.rows = dim(o.rows);
  }
  if (o.times != kNone) r.rows *= dim(o.times);
  if (o.per_parent != kNone) {
    const int64_t each = dim(o.per_parent);
    r.groups = {};
    r.groups.per_parent = each;
    r.groups.parents = each > 0 ? r.rows / each : 0;
  }
  if (o.paged_index >= 0) {
    r.pages = pages_ + o.paged_index * r.groups.parents * pages_of_sequence_;
    r.pages_of_parent = pages_of_sequence_;
  }
  return r;
}

void Operands::resolve_ragged(const Operand& o, Rows& r) const {
  const RaggedView& v = ragged(o.ragged);
  int32_t first = 0, end = *v.parents;
  if (o.decision != kNone && o.branch != kAllBranches) {
    const DecisionView& d = decision(o.decision);
    first = d.offsets[o.branch], end = d.offsets[o.branch + 1];
  }
  r.groups = ragged_groups(v, first, end);
  r.rows = r.groups.cells();
}

}  // namespace stormcell::cpu

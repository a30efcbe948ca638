#include "core/runtime/row_loans.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/graph/roles.h"

namespace stormcell {
namespace {

class Lending {
 public:
  Lending(const Program& program, const IdVector<BufferId, int64_t>& bytes, int64_t most,
          IdVector<BufferId, int32_t>& last)
      : program_(program),
        bytes_(bytes),
        most_(most),
        last_(last),
        last_read_(program.operands.size(), -1),
        elsewhere_(program.operands.size(), false),
        held_(program.operands.size()),
        writes_(program.buffers.size()),
        live_(program.steps.size() + 1, 0) {
    find_uses();
    for (const BufferId i : program_.buffers.ids())
      if (program_.buffers[i].kind == BufferKind::arena) add_life(i, program_.buffers[i].first, last_[i]);
  }

  std::vector<RowLoan> run() {
    std::vector<RowLoan> loans;
    for (const int32_t s : program_.steps.ids()) {
      const Step& step = program_.steps[s];
      if (step.kind != StepKind::kernel || !has_role(program_.graph->node(step.node), Role::open)) continue;
      for (const OperandId borrower : step.outputs)
        if (may_lend(step, borrower) && hold(step.inputs[0], borrower, s)) loans.push_back({step.inputs[0], borrower});
    }
    return loans;
  }

 private:
  void find_uses() {
    for (const int32_t s : program_.steps.ids()) {
      const Step& step = program_.steps[s];
      if (step.kind == StepKind::repeat_begin) loops_.emplace_back(s, step.target - 1);
      for (const OperandId o : step.inputs) {
        last_read_[o] = s;
        if (step.kind != StepKind::kernel) elsewhere_[o] = true;
      }
      for (const OperandId o : step.outputs)
        if (program_.operands[o].buffer != kNone) writes_[program_.operands[o].buffer].push_back(s);
    }
    for (const OperandId o : program_.outputs) elsewhere_[o] = true;
    // The memory of a body's yields may be read under another name.
    std::set<ValueId> yielded;
    for (const Node& node : program_.graph->nodes)
      for (const auto& yields : node.yields) yielded.insert(yields.begin(), yields.end());
    for (const OperandId o : program_.operands.ids())
      if (yielded.contains(program_.operands[o].value)) elsewhere_[o] = true;
  }

  /// Whether a step sends whole rows of a decision's cells unchanged, and only operators read them.
  bool may_lend(const Step& step, OperandId borrower) const {
    const Operand &from = program_.operands[step.inputs[0]], &to = program_.operands[borrower];
    if (step.inputs.size() != 2 || !program_.operands[step.inputs[1]].is_decision || to.decision != step.inputs[1])
      return false;
    if (to.branch == kAllBranches || to.kind != BufferKind::arena || to.ragged != kNone || to.times != kNone ||
        from.row_bytes() != to.row_bytes())
      return false;
    if (from.kind != BufferKind::arena && from.kind != BufferKind::input) return false;
    return from.dtype == to.dtype && !elsewhere_[borrower] && last_read_[borrower] > 0;
  }

  /// Keeps all buffers that may have the lender's rows alive until they are read. False: that is not possible.
  bool hold(OperandId lender, OperandId borrower, int32_t step) {
    const int32_t until = read_until(borrower, step);
    std::vector<BufferId> held = held_[lender];
    if (program_.operands[lender].kind == BufferKind::arena) held.push_back(program_.operands[lender].buffer);
    if (std::any_of(held.begin(), held.end(), [&](BufferId b) { return is_written(b, step, until); })) return false;
    for (const BufferId b : held) add_life(b, last_[b] + 1, until);
    const auto first = live_.begin() + step, end = live_.begin() + until + 1;
    const bool grows = std::any_of(held.begin(), held.end(), [&](BufferId b) { return last_[b] < until; });
    if (grows && std::any_of(first, end, [&](int64_t bytes) { return bytes > most_; })) {
      for (const BufferId b : held) add_life(b, last_[b] + 1, until, -1);
      return false;
    }
    for (const BufferId b : held) last_[b] = std::max(last_[b], until);
    held_[borrower] = std::move(held);
    return true;
  }

  /// The last step that reads it, or the end of the loop around that one.
  int32_t read_until(OperandId borrower, int32_t step) const {
    int32_t until = last_read_[borrower];
    for (const auto& [begin, end] : loops_)
      if (begin > step && begin <= until) until = std::max(until, end);
    return until;
  }
  bool is_written(BufferId buffer, int32_t from, int32_t until) const {
    const std::vector<int32_t>& writes = writes_[buffer];
    const auto at = std::lower_bound(writes.begin(), writes.end(), from);
    return at != writes.end() && *at <= until;
  }
  void add_life(BufferId buffer, int32_t from, int32_t until, int64_t sign = 1) {
    for (int32_t s = from; s <= until; ++s) live_[s] += sign * bytes_[buffer];
  }

  const Program& program_;
  const IdVector<BufferId, int64_t>& bytes_;
  const int64_t most_;
  IdVector<BufferId, int32_t>& last_;
  IdVector<OperandId, int32_t> last_read_;
  IdVector<OperandId, bool> elsewhere_;  ///< something else than an operator reads it, or reads it by another name
  IdVector<OperandId, std::vector<BufferId>> held_;  ///< buffers in which a borrower's rows may lie beside its own
                                                     ///< memory
  IdVector<BufferId, std::vector<int32_t>> writes_;  ///< steps, ascending
  std::vector<std::pair<int32_t, int32_t>> loops_;   ///< first and last steps
  std::vector<int64_t> live_;                        ///< bytes of the arena alive, by step
};

}  // namespace

std::vector<RowLoan> lend_rows(const Program& program, const IdVector<BufferId, int64_t>& bytes, int64_t most,
                               IdVector<BufferId, int32_t>& last) {
  return Lending(program, bytes, most, last).run();
}

}  // namespace stormcell

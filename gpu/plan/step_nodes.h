// Tools that make the nodes of a step: the memory of its operands as Refs, constants, scratch. PlanBuilder makes the
// plan of a program step by step; an operator (ops/NAME.cpp) sees StepNodes.
#pragma once
#include <cstring>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "core/base/align.h"
#include "core/runtime/program.h"
#include "gpu/dispatch/dispatch.h"
#include "gpu/plan/kernel_list.h"
#include "gpu/plan/plan.h"
#include "gpu/plan/planned_steps.h"

namespace stormcell::gpu {

/// The format of activations and of weights that are multiplied; integers move as f32 does.
Format plan_format(DType type);

/// Bytes between the beginning of memory and a part of it.
inline int64_t place_of(const void* part, const void* memory) {
  return static_cast<const std::byte*>(part) - static_cast<const std::byte*>(memory);
}

class PlanBuilder {
 public:
  PlanBuilder(const Program& program, const CompileOptions& compile, const PlanOptions& options, PlannedSteps steps);
  Plan build();

  const Program& program() const { return program_; }
  int64_t most(DimId dim) const { return program_.dims[dim].evaluate(compile_.bounds); }
  const PlanOptions& options() const { return options_; }
  /// The memory of an operand: its rows by the rows table, a decision at its place.
  Ref ref(OperandId operand, Access access) const;
  DecisionPlaces places(OperandId decision) const;
  RaggedPlaces ragged_places(OperandId ragged) const;
  Ref scratch(int64_t bytes);
  /// The place of a copy of `count` objects among the constants.
  template <class T>
  int64_t constants(const T* from, size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    const size_t at = align_up<size_t>(plan_.constants.size(), 16), bytes = count * sizeof(T);
    plan_.constants.resize(at + bytes);
    if (bytes > 0) std::memcpy(plan_.constants.data() + at, from, bytes);
    return static_cast<int64_t>(at);
  }
  struct TileMap {
    Ref map, offsets;  ///< offsets: the first row of each branch; nothing where rows are slots
  };
  /// The tile map of products over the slots of a decision, or over their members, which `ragged` gives. `times`: rows
  /// of each of these. Its node is added at the first request.
  TileMap map_of(OperandId decision, OperandId ragged, int32_t times = 1);
  RouterId router_of(int32_t step) const { return steps_.needs[step].router; }
  /// The place of a router's choices to replay. `list` gets the decisions that are followed.
  Replaying replaying(RouterId router, std::vector<Ref>& list) const;
  Ref not_replayed(RouterId router);
  Ref turn_of(RouterId router);
  /// Memory of the status in which step `at` leaves a failure; kernels behind it ask whether it did.
  Ref failure(int32_t at, FailurePlaces& places);
  /// The place of an extent in the call block; nothing: the program has no such one.
  std::optional<int32_t> extent_place(const Dim& dim) const;
  int32_t paged(OperandId operand) const { return program_.operands[operand].paged_index; }

  /// `word`: of the region; -1: the node always runs. `list`: operands that the kernel uses beside the Refs of its
  /// arguments.
  template <class Kernel>
  void add(typename Kernel::Args args, int64_t blocks, int32_t step, int32_t word, const std::vector<Ref>& list = {}) {
    static_assert(std::is_trivially_copyable_v<typename Kernel::Args>);
    static_assert(PlanKernels::place<Kernel>() < PlanKernels::kCount);
    args.word = word;
    // A submission that goes on elsewhere than the device waits ends before its first leaf.
    args.asks = may_fail_ || leaf_ > 0;
    args.listed = static_cast<int32_t>(list.size());
    if (!list.empty()) args.list = constants(list.data(), list.size());
    PlanNode node;
    node.kernel = PlanKernels::place<Kernel>();
    node.kernel_name = Kernel::kName;
    node.step = step;
    node.loop = loop_, node.leaf = leaf_;
    node.blocks = blocks;
    node.args.resize(sizeof args);
    std::memcpy(node.args.data(), &args, sizeof args);
    for (const Ref& of : args.ref) add_range(node, of);
    for (const Ref& of : list) add_range(node, of);
    if (word >= 0) add_range(node, control(word, sizeof(int32_t), Access::read));
    plan_.nodes.push_back(std::move(node));
  }

 private:
  void refuse_what_is_missing() const;
  void place_entries();
  void add_entry(OperandId operand);
  void place_words();
  void begin();
  /// `word`: of the region that contains the router.
  void settle(OperandId decision, RouterId router, int32_t step, int32_t word);
  /// The same behind the step of a ragged value; `index`: its number in the program.
  void settle_ragged(OperandId ragged, int32_t index, int32_t step, int32_t word);
  /// `by`: the decision or the ragged value that the entries wait for; kNone: the extents.
  SettleArgs settling(OperandId by, int32_t word) const;
  void add_settle(const SettleArgs& args, int32_t step, int32_t word);
  void add_step(int32_t at, int32_t word);
  void record(int32_t at, int32_t word);
  void absent(int32_t at, int32_t word);
  void guard(int32_t at, int32_t word);
  void need_weights(int32_t at, int32_t word);
  /// Behind a step that reads weights of branches, or that decides which of them are read: the submission ends where
  /// some are not there.
  void ask_for_parts(int32_t at, int32_t word);
  void add_ask(AskArgs args, const std::vector<PartUse>& parts, OperandId decision, int32_t step, int32_t word,
               const std::vector<Ref>& clears);
  void copy(int32_t at, int32_t word);
  /// Saves rows of a state that a put is about to write, or restores them.
  void move_rows(int32_t at, int32_t word);
  void begin_loop(int32_t at, int32_t word);
  void end_loop(int32_t at);
  RecordsOf records_of(RouterId router) const;
  /// The chain from a router's cells up to those of its dense space; operands that give the way go to `list`.
  UpChain chain_of(RouterId router, std::vector<Ref>& list) const;
  Ref control(int64_t offset, int64_t bytes, Access access) const;
  Ref counter(const int32_t* of) const;
  Ref record_area(RouterId router) const;
  RecordPlaces record_places(RouterId router) const;
  static void add_range(PlanNode& node, const Ref& of);

  const Program& program_;
  CompileOptions compile_;
  PlanOptions options_;
  PlannedSteps steps_;
  Plan plan_;
  std::vector<std::byte> status_;  // laid out as the device's
  IdVector<OperandId, int32_t> entry_of_;
  std::vector<EntryPlan> entries_;
  /// Entries that one decision or ragged value settles, words that a decision does: the first, and how many. kNone: the
  /// extents.
  std::map<OperandId, std::pair<int32_t, int32_t>> entries_of_, words_of_;
  std::vector<int32_t> word_branches_;                        // by word
  std::map<std::pair<OperandId, int32_t>, int32_t> word_of_;  // by decision and branch: its number
  /// By leaf and loop, the body of a guard, the decision, or the ragged value of its members, and the rows of each.
  std::map<std::tuple<int32_t, int32_t, int32_t, OperandId, int32_t>, TileMap> maps_;
  /// A region: the step that it ends before, its word, and whether it is the body of a guard.
  struct Region {
    int32_t end = 0, word = -1;
    bool guards = false;
  };
  std::vector<Region> open_;          // around the step that is planned, the innermost last
  std::map<int32_t, Region> begins_;  // by step: bodies of guards that are to come
  int32_t guarded() const;            // word of the innermost body of a guard; -1: none
  int32_t leaf_ = 0;
  std::map<RepeatId, int32_t> loop_of_;  // those that are open
  int32_t loop_ = -1;                    // the innermost open one
  bool may_fail_ = false;                // a step so far, or the submission may have ended
  std::map<int32_t, Ref> computed_;      // by step that reads weights of branches: which branches are computed
  int64_t plans_at_ = 0, words_at_ = 0;  // entries among the constants; words in control memory
  int64_t control_bytes_ = 0;
};

/// One step as its operator sees it.
class StepNodes {
 public:
  StepNodes(PlanBuilder& plan, int32_t at, int32_t word) : plan_(plan), at_(at), word_(word) {}
  const Program& program() const { return plan_.program(); }
  const Step& step() const { return program().steps[at_]; }
  const Operand& input(size_t i) const { return program().operands[step().inputs[i]]; }
  const Operand& output(size_t i) const { return program().operands[step().outputs[i]]; }
  Ref reads(size_t input) const { return plan_.ref(step().inputs[input], Access::read); }
  Ref writes(size_t output) const { return plan_.ref(step().outputs[output], Access::write); }
  /// A state that is an input and is changed.
  Ref changes(size_t input) const { return plan_.ref(step().inputs[input], Access::write); }
  DecisionPlaces decision(size_t input) const { return plan_.places(step().inputs[input]); }
  /// The ragged value that groups an operand's cells by parent, and its places; empty if the groups are equal.
  Ref cells_of(const Operand& of, RaggedPlaces& places) const {
    if (of.ragged == kNone || of.per_parent != kNone) return {};
    places = plan_.ragged_places(of.ragged);
    return plan_.ref(of.ragged, Access::read);
  }
  /// The place of an input among states in pages; -1: it is none.
  int32_t paged(size_t input) const { return plan_.paged(step().inputs[input]); }
  /// The memory in which the step leaves a failure.
  Ref failure(FailurePlaces& places) { return plan_.failure(at_, places); }
  int64_t most(DimId dim) const { return plan_.most(dim); }
  RouterId router() const { return plan_.router_of(at_); }
  int64_t most_rows(const Operand& of) const { return of.rows == kNone ? 1 : most(of.rows); }
  PlanBuilder& plan() { return plan_; }
  /// Blocks for so much work, which they stride over.
  int64_t blocks(int64_t work, int64_t of_a_block) const {
    return std::clamp<int64_t>(parts(work, of_a_block), 1, int64_t{8} * plan_.options().multiprocessors);
  }
  template <class Kernel>
  void add(const typename Kernel::Args& args, int64_t blocks, const std::vector<Ref>& list = {}) {
    plan_.add<Kernel>(args, blocks, at_, word_, list);
  }

 private:
  PlanBuilder& plan_;
  int32_t at_, word_;
};

/// A step's kernel with the list's name; `add` makes its launches.
std::unique_ptr<PlanKernel> planned(std::string_view name, std::function<void(StepNodes&)> add);

}  // namespace stormcell::gpu

// Serves an executor while a batch runs under a budget: brings the parts that the device waits for, and reads ahead the
// parts that it will ask for.
#pragma once
#include <algorithm>
#include <chrono>
#include <vector>

#include "core/runtime/device.h"
#include "core/runtime/program_turns.h"
#include "core/runtime/weight_store.h"

namespace stormcell {

/// The most parts that are on their way at once, with the one that the device waits for. There are twice as many as
/// readers: half of them are read while the others, which have come, are computed. Each takes a slot that could keep a
/// part for the next batch. So they take a quarter of the slots at most, but never less than one slot a reader.
constexpr int64_t most_parts_ahead(int64_t slot_count) {
  return std::clamp<int64_t>(slot_count / 4, kWeightReaders, int64_t{2} * kWeightReaders);
}

class PartWaves {
 public:
  /// `layout`: of the executable that is driven. All must outlive it.
  PartWaves(WeightStore& weights, const Program& program, const ExecutableLayout& layout);

  /// Begins a batch; one that takes long reports its progress.
  void begin();
  /// After a submission that ended for want of parts: at least one of them is there when this returns, and readers are
  /// at work on those behind it. Throws what reading it failed with, and as the token says. Parts that are in use from
  /// then on are added to `in_use`.
  void bring(const StatusArea& came, const Progress& progress, std::vector<WeightHandle>& in_use);

 private:
  struct Use {
    int32_t step;
    OperandId decision;
    int32_t branch;
  };
  /// The device's last report on a decision.
  struct Told {
    bool at_this_turn = false;
    std::vector<int32_t> branches;  ///< as StatusArea had them last
    std::vector<int32_t> left_out;  ///< by branch: turns in a row at which it got no cell
  };
  void hear(const StatusArea& came);
  void forget_turn();
  /// Steps until a part is used next, as far as is known. A branch that got no cell is not used at this turn; one that
  /// got none for some turns is expected as many turns later than others.
  int64_t next_use(WeightHandle handle) const;
  bool is_passed(const Use& use) const;
  /// Reads ahead the parts that the reported decision will need from here on, in the order of their use: as many as
  /// most_parts_ahead() says, as long as there are slots for them. Parts read farther ahead would take the slots of
  /// what is kept for the next batch.
  void read_ahead(const WeightStore::NextUse& use);
  template <class Visit>
  void for_each_wanted(Visit visit) const;
  /// The first part that the device waits for. kNone: the device only reported which branches were chosen, or some
  /// parts have come since the submission ended. It can compute with those, and they must not give way to a later part.
  WeightHandle first_missing() const;
  void report_if_long(const Progress& progress) const;

  WeightStore& weights_;
  const Program& program_;
  const std::vector<PartSite>& sites_;
  const std::vector<Leaf>& leaves_;
  ProgramTurns turns_;
  IdVector<WeightHandle, std::vector<Use>> uses_;  // up to the last that this program knows
  IdVector<OperandId, Told> told_;                 // by decision
  std::chrono::steady_clock::time_point began_;
  int64_t read_before_ = 0;  // bytes, when the batch began
  int64_t ahead_ = 0;        // most_parts_ahead()
  // The device's last report.
  int32_t at_ = 0;
  OperandId decision_;
  IdVector<RepeatId, int32_t> turns_told_;
};

}  // namespace stormcell

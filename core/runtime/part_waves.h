// What an executor does under a budget while a batch runs: brings the parts that the device waits for, and reads ahead what it will ask
// for.
#pragma once
#include <chrono>
#include <vector>

#include "core/runtime/device.h"
#include "core/runtime/next_use.h"
#include "core/runtime/weight_store.h"

namespace stormcell {

class PartWaves {
 public:
  /// `sites`: of the executable that is driven. All must outlive it.
  PartWaves(WeightStore& weights, const Program& program, const std::vector<PartSite>& sites);

  /// A batch begins: progress of one that takes long is told.
  void begin();
  /// After a submission that ended for want of parts: at least one of them is there when this returns, and readers are at work on those
  /// behind it. Throws what reading it failed with, and as the token says. What is pinned is added to `pinned`.
  void bring(const StatusArea& came, const Progress& progress, std::vector<int32_t>& pinned);

 private:
  struct Use {
    int32_t step, decision, branch;
  };
  /// Steps until a part is used next, as far as is known: branches that got no cell are left out.
  int64_t next_use(int32_t handle) const;
  bool is_passed(const Use& use) const;
  /// Reads what the decision that was told of will need from here on, in the order of its use, as long as there are slots for it.
  void read_ahead(const WeightStore::NextUse& use);
  template <class Visit>
  void for_each_wanted(Visit visit) const;

  WeightStore& weights_;
  const Program& program_;
  const std::vector<PartSite>& sites_;
  ProgramTurns turns_;
  IdVector<std::vector<Use>> uses_;  // by handle, up to the last that this program knows
  std::chrono::steady_clock::time_point began_;
  int64_t read_before_ = 0;  // bytes, when the batch began
  // What the device told last.
  int32_t at_ = 0, decision_ = -1;
  std::vector<int32_t> present_;
};

}  // namespace stormcell

// Cells that decided otherwise than the reference's, and the cells that this may have reached.
#pragma once
#include <cstdint>
#include <map>
#include <set>

#include "core/verification/judged_decision.h"

namespace stormcell {

/// The reach of choices that differ: where they may change the free execution of a batch.
struct Reached {
  bool ran = false;         ///< it ran freely
  bool any = false;         ///< a cell decided otherwise, or was dropped or kept otherwise
  bool every_item = false;  ///< nobody knows whose cells those are
  std::set<int64_t> items;  ///< the batch's items that these cells belong to: what depends on other items alone is not
                            ///< reached
};

/// The disturbed cells of one batch so far, by the reference's dense space: their rows and their items.
class DisturbedCells {
 public:
  void add(const JudgedDecision& reference, int32_t row);
  bool none() const { return spaces_.empty(); }
  /// Whether a cell of this router, in `row`, may have got other inputs than the reference's.
  bool reaches(const JudgedDecision& reference, int32_t row) const;
  void add_to(Reached& reached) const;

 private:
  struct OfSpace {
    std::set<int32_t> rows;
    std::set<int64_t> items;
    bool every_item = false;
  };
  std::map<SpaceId, OfSpace> spaces_;
};

}  // namespace stormcell

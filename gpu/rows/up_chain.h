// Follows a row of a routed space up to the cell that it is.
#pragma once
#include "gpu/rows/call.h"

namespace stormcell::gpu {

/// One step up from a row of a routed space to the cell of its parent.
struct UpLink {
  int32_t decision = -1;  ///< in the list
  int32_t branch = -1;    ///< -1: all slots
  DecisionPlaces places;
};

struct UpChain {
  static constexpr int kMostLinks = 4;
  int32_t links = 0;
  UpLink link[kMostLinks];

  /// The cell at the chain's end. `a`: arguments with the decisions in their list.
  template <class Args>
  STORMCELL_DEVICE int64_t follow(const Args& a, int64_t row) const {
    for (int32_t k = 0; k < links; ++k) {
      const char* memory = a.template in<char>(a.listed_ref(link[k].decision));
      const int32_t branch = link[k].branch;
      const int32_t first = branch < 0 ? 0 : reinterpret_cast<const int32_t*>(memory + link[k].places.offsets)[branch];
      row = reinterpret_cast<const int32_t*>(memory + link[k].places.cell)[first + row];
    }
    return row;
  }
};

}  // namespace stormcell::gpu

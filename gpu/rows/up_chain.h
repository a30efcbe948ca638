// Follows a row of a routed or ragged space up to the cell that it is.
#pragma once
#include "gpu/rows/groups.h"

namespace stormcell::gpu {

/// One step up: from a row of a routed space to the cell of its parent, from a ragged cell to its cell in the base.
struct UpLink {
  int32_t decision = -1;  ///< in the list; for a ragged value, the decision whose members it holds, -1: none
  int32_t branch = -1;    ///< -1: all slots
  DecisionPlaces places;
  int32_t ragged = -1;  ///< in the list; -1: the space is routed
  RaggedPlaces members;
};

struct UpChain {
  static constexpr int kMostLinks = 12;
  int32_t links = 0;
  UpLink link[kMostLinks];

  /// The cell at the chain's end. `a`: arguments with the decisions in their list.
  template <class Args>
  STORMCELL_DEVICE int64_t follow(const Args& a, int64_t row) const {
    for (int32_t k = 0; k < links; ++k) {
      const int32_t first = first_slot(a, link[k]);
      if (link[k].ragged < 0) {
        const char* memory = a.template in<char>(a.listed_ref(link[k].decision));
        row = reinterpret_cast<const int32_t*>(memory + link[k].places.cell)[first + row];
      } else {
        const char* memory = a.template in<char>(a.listed_ref(link[k].ragged));
        const auto* offsets = reinterpret_cast<const int32_t*>(memory + link[k].members.offsets);
        row = reinterpret_cast<const int32_t*>(memory + link[k].members.cell)[offsets[first] + row];
      }
    }
    return row;
  }

 private:
  template <class Args>
  STORMCELL_DEVICE static int32_t first_slot(const Args& a, const UpLink& of) {
    if (of.branch < 0) return 0;
    const char* memory = a.template in<char>(a.listed_ref(of.decision));
    return reinterpret_cast<const int32_t*>(memory + of.places.offsets)[of.branch];
  }
};

}  // namespace stormcell::gpu

// compact, members: which cells there are. pack, expand: rows of a base space and of ragged cells.
#pragma once
#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Scalar>
void compact(const Call<Scalar>& c) {
  const CellGroups base = c.frame.groups(c.type(0).space);
  RaggedView& out = c.frame.make_ragged(c.node.outputs[0], {base.parents, c.rows(0)});
  compact_cells(c.in(0).integers.data(), base, out);
}

template <class Scalar>
void members(const Call<Scalar>& c) {
  const SpaceId space = c.graph().value(c.node.outputs[0]).type.space;
  const CellGroups base = c.frame.groups(space);
  const DecisionView& d = c.decision(0);
  int64_t cells = 0;
  for (int32_t s = 0; s < d.offsets[d.branches]; ++s) cells += base.end(d.cell[s]) - base.begin(d.cell[s]);
  RaggedView& out = c.frame.make_ragged(c.node.outputs[0], {d.offsets[d.branches], cells});
  member_cells(d, base, out);
}

template <class Scalar>
void pack(const Call<Scalar>& c) {
  const auto& spaces = c.attributes().list("spaces");
  const int64_t width = c.width(0);
  for (size_t i = 0; i < spaces.size(); ++i) {
    const auto space = static_cast<SpaceId>(spaces[i]);
    for (int64_t r = 0; r < c.frame.rows(space); ++r) {
      const int64_t from = c.frame.follow(space, c.type(0).space, r) * width;
      if (c.is_real(0)) {
        std::copy_n(c.in(0).reals.data() + from, width, c.out(i).reals.data() + r * width);
      } else {
        std::copy_n(c.in(0).integers.data() + from, width, c.out(i).integers.data() + r * width);
      }
    }
  }
}

template <class Scalar>
void expand(const Call<Scalar>& c) {
  const SpaceId space = c.type(0).space, base = c.graph().space(space).base;
  const int64_t width = c.width(0);
  for (int64_t r = 0; r < c.rows(0); ++r) {
    const int64_t to = c.frame.follow(space, base, r) * width;
    if (c.is_real(0)) {
      std::copy_n(c.in(0).reals.data() + r * width, width, c.out().reals.data() + to);
    } else {
      std::copy_n(c.in(0).integers.data() + r * width, width, c.out().integers.data() + to);
    }
  }
}

}  // namespace stormcell::reference

// gather: rows of branches, of one router or of several, nested or not, back to the cells that they came from.
#pragma once
#include <type_traits>

#include "core/oracle/reference/frame.h"

namespace stormcell::reference {

template <class Element, class Scalar>
const std::vector<Element>& elements(const OracleTensor<Scalar>& t) {
  if constexpr (std::is_same_v<Element, int32_t>) {
    return t.integers;
  } else {
    return t.reals;
  }
}

/// Rows of an input that lives over all slots, or over the members of them all, and whose branches the gather does not
/// name.
template <class Scalar>
std::vector<bool> rows_left_out(const Call<Scalar>& c, SpaceId cells) {
  const bool some = c.attributes().has("branches");
  std::vector<bool> left_out(c.frame.rows(cells), some);
  if (!some) return left_out;
  const bool members = c.graph().holds_members(cells);
  const DecisionView& d = c.frame.decision(c.graph().space(members ? c.graph().space(cells).parent : cells).decision);
  for (const int64_t b : c.attributes().list("branches")) {
    int32_t begin = d.offsets[b], end = d.offsets[b + 1];
    if (members) {
      const RaggedView& r = c.frame.ragged(c.graph().space(cells).offsets);
      begin = r.offsets[begin], end = r.offsets[end];
    }
    std::fill(left_out.begin() + begin, left_out.begin() + end, false);
  }
  return left_out;
}

/// Cells that no row reaches take the row of `otherwise` (sum, place), or 0; weighted: a dropped choice adds its weight
/// times that row.
template <class Element, class Scalar>
void join(const Call<Scalar>& c, std::vector<Element>& y) {
  const SpaceId target(c.attributes().integer("space"));
  const std::string& mode = c.attributes().word("mode");
  const bool weighted = mode == "weighted", place = mode == "place";
  const int64_t cells = c.frame.rows(target), width = c.out_width();
  const auto otherwise = extra_input(c.node, "otherwise");
  std::vector<bool> reached(cells, false);
  for (size_t i = 0; i < joined_inputs(c.node); ++i) {
    const SpaceId space = c.type(i).space;
    const Element* rows = elements<Element>(c.in(i)).data();
    const auto factor = factor_input(c.node, i);
    const Element* factors = factor ? elements<Element>(c.in(*factor)).data() : nullptr;
    const std::vector<bool> left_out = rows_left_out(c, space);
    for (int64_t r = 0; r < c.rows(i); ++r) {
      if (left_out[r]) continue;
      const int64_t cell = c.frame.follow(space, target, r);
      Element* to = y.data() + cell * width;
      reached[cell] = true;
      if (place) {
        std::copy_n(rows + r * width, width, to);
        continue;
      }
      Element weight = factors ? factors[r] : Element{1};
      if (weighted) {
        weight = static_cast<Element>(c.frame.weight_of(space, r));
      }
      for (int64_t x = 0; x < width; ++x) to[x] += weight * rows[r * width + x];
    }
  }
  if (!otherwise) return;
  const Element* rows = elements<Element>(c.in(*otherwise)).data();
  if (!weighted) {
    for (int64_t cell = 0; cell < cells; ++cell)
      if (!reached[cell]) std::copy_n(rows + cell * width, width, y.data() + cell * width);
    return;
  }
  // A dropped parent drops all its cells.
  const SpaceId first = c.type(0).space;
  const bool members = c.graph().holds_members(first);
  const ValueId weighing = c.graph().space(members ? c.graph().space(first).parent : first).decision;
  const DecisionView& d = c.frame.decision(weighing);
  for (int64_t i = 0; i < c.frame.decision_cells(weighing) * d.fan_out; ++i) {
    if (!is_dropped(d.choice[i])) continue;
    const int64_t decided = i / d.fan_out;
    const int64_t begin = members ? c.frame.groups(target).begin(decided) : decided,
                  end = members ? c.frame.groups(target).end(decided) : decided + 1;
    for (int64_t x = begin * width; x < end * width; ++x) y[x] += static_cast<Element>(d.choice_weight[i]) * rows[x];
  }
}

template <class Scalar>
void gather(const Call<Scalar>& c) {
  if (c.is_real(0)) {
    join<Scalar>(c, c.out().reals);
    if (const auto residual = extra_input(c.node, "residual"))
      for (size_t x = 0; x < c.out().reals.size(); ++x) c.out().reals[x] += c.in(*residual).reals[x];
  } else {
    join<int32_t>(c, c.out().integers);
  }
}

}  // namespace stormcell::reference

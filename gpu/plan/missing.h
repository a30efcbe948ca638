// The list of things that a plan has no nodes for: compiling a program refuses them with these words.
#pragma once
#include <span>
#include <string_view>

namespace stormcell::gpu {

struct Missing {
  std::string_view what;  ///< an operator, or a part of a program
  std::string_view when;  ///< of an operator that has a kernel, the cases that it lacks; empty: all
  std::string_view why;
};

/// The visible list.
std::span<const Missing> missing_in_plans();
/// The row that a refusal of make_plan() is about; null: none.
const Missing* missing_of(std::string_view refusal);

}  // namespace stormcell::gpu

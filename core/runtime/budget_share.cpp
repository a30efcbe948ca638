#include "core/runtime/budget_share.h"

#include <string>

#include "core/base/counted.h"
#include "core/base/error.h"

namespace stormcell {

void BudgetShare::check(int64_t largest, const BranchGroup& branch) const {
  if (largest + pinned <= budget) return;
  // Exact bytes: rounded, the budget and what it lacks may read alike.
  const auto bytes = [](int64_t count) { return counted(count, "byte"); };
  const std::string needed =
      "the largest weight of a branch (" + std::to_string(branch.branch) + " of router " + branch.router + ") needs";
  const std::string kept = bytes(pinned) + (pinned == 1 ? " is" : " are") + " pinned (residency=pinned)";
  bad_input(
      "--weight-budget",
      bytes(budget) + (budget == 1 ? " is less than " : " are less than ") +
          (pinned == 0    ? needed + ": " + bytes(largest)
           : largest == 0 ? "what is kept: " + kept
                          : "what is needed: " + kept + ", and " + needed + " " + bytes(largest) + " beside them"),
      "give at least " + std::to_string(largest + pinned) + " bytes" + (pinned == 0 ? "" : ", or pin fewer weights"));
}

}  // namespace stormcell

// branches_full(decision; branches) -> scalar i32: 1 when each of the listed branches got every cell that came. The
// predicate of constant decisions, beside branches_empty for those that get none.
#include "core/graph/ops/branch_predicate.h"

namespace stormcell {
namespace {
constexpr AttributeRule kBranchesFullAttributes[] = {{"branches", AttributeKind::integers}};
}  // namespace
extern const Operator kBranchesFull;
const Operator kBranchesFull{.name = "branches_full",
                             .infer = infer_branch_predicate,
                             .flow = flow_batch,
                             .cost = cost_none,
                             .attributes = kBranchesFullAttributes};
}  // namespace stormcell

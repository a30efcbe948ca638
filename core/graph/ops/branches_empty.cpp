// branches_empty(decision; branches) -> scalar i32: 1 when none of the listed branches got a cell. The predicate of
// dead paths, and the stop of iterated routers.
#include "core/graph/ops/branch_predicate.h"

namespace stormcell {
namespace {
constexpr AttributeRule kBranchesEmptyAttributes[] = {{"branches", AttributeKind::integers}};
}  // namespace
extern const Operator kBranchesEmpty;
const Operator kBranchesEmpty{.name = "branches_empty",
                              .infer = infer_branch_predicate,
                              .flow = flow_batch,
                              .cost = cost_none,
                              .attributes = kBranchesEmptyAttributes};
}  // namespace stormcell

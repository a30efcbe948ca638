#include "core/verification/workload_judge.h"

namespace stormcell {

const CellReach& WorkloadJudge::reach(PictureSize size) const {
  return reach_.at(size, [this](PictureSize of) { return cell_reach(*work_.judged_graph(of), stop_); });
}

std::unique_ptr<WorkloadJudge> judge_of(Workload& work) {
  return work.phase() == WorkPhase::decode ? judge_of_decoding(work) : judge_of_forward_pass(work);
}

}  // namespace stormcell

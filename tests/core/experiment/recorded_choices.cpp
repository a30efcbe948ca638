#include "tests/core/experiment/recorded_choices.h"

#include "core/base/counted.h"
#include "core/base/error.h"

namespace stormcell {

ReplayedDecisions recorded_choices(const SessionReader& session, int64_t run, int64_t batch, const Program& program) {
  const RunLayout layout = session.layout(run);
  ReplayedDecisions choices(program.routers.size());
  for (size_t known = 0; known < layout.routers.size(); ++known) {
    const auto decision = session.decision(run, static_cast<int32_t>(known), batch);
    if (!decision) continue;
    for (const RouterId r : program.routers.ids()) {
      if (program.routers[r].name != layout.routers[known].name) continue;
      const Operand& d = program.operands[program.routers[r].decision];
      if (decision->branches != d.branches || decision->fan_out != d.fan_out)
        bad_input(session.path(),
                  "choices of router " + program.routers[r].name + ": expected " + counted(d.branches, "branch") +
                      " and " + counted(d.fan_out, "choice") + " a cell, got " + std::to_string(decision->branches) +
                      " and " + std::to_string(decision->fan_out),
                  "record them again with profile");
      choices[r].push_back({decision->choice, decision->ancestor});
    }
  }
  return choices;
}

}  // namespace stormcell

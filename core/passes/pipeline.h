// Which passes run, and what each does: on its own, and upon those before it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/passes/pass.h"

namespace stormcell {

/// As the options --enable, --disable and --only name them, by id.
struct PassSelection {
  std::vector<std::string> enable, disable, only;
};

/// The passes to run, in their order: those that lose nothing and those enabled, without the disabled; or `only`. An unknown id, or one
/// that this version does not have, is an Error(bad_input) that lists the ids.
std::vector<const Pass*> select_passes(const PassSelection& selection);

struct PassOutcome {
  const Pass* pass = nullptr;
  PassResult alone;       ///< on the graph as it came
  PassResult cumulative;  ///< on the graph as the passes before left it
};

struct PipelineResult {
  Graph graph;                        ///< all passes together
  std::vector<PassOutcome> outcomes;  ///< in the order in which they were applied
};

/// Applies the passes in the order given. `alone` is left empty where it is not asked for.
enum class OnTheirOwn : uint8_t { no, yes };
PipelineResult run_passes(const PassInput& input, const std::vector<const Pass*>& chosen, OnTheirOwn on_their_own = OnTheirOwn::yes);

/// Applies what a configuration says, without a profile: the parameters of each pass, by id.
PipelineResult replay_passes(const PassInput& input, const std::map<std::string, PassParameters>& configuration);

}  // namespace stormcell

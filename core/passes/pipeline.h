// The passes that run, and what each does: on its own, and upon those before it.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/passes/pass.h"
#include "core/passes/pass_selection.h"

namespace stormcell {

/// A pass that is to run, with what was set of it.
struct ChosenPass {
  const Pass* pass = nullptr;
  PassParameters options;  ///< those that differ from the standard
};

/// The passes to run, in their order: those that lose nothing and those enabled, without the disabled; or `only`. An
/// unknown id, or one that this version does not have, is an Error(bad_input) that lists the ids; so are unknown
/// options, values out of range, and options of a pass that does not run.
std::vector<ChosenPass> select_passes(const PassSelection& selection);

struct PassOutcome {
  const Pass* pass = nullptr;
  PassParameters options;
  PassResult alone;       ///< its result on the graph as it came
  PassResult cumulative;  ///< its result on the graph as the passes before left it
  /// of a configuration: what the pass should have found again and did not, by name
  std::vector<std::string> not_taken_over = {};
};

struct PipelineResult {
  Graph graph;                        ///< all passes together
  std::vector<PassOutcome> outcomes;  ///< in the order in which they were applied
};

/// Applies the passes in the order given. `alone` is left empty where it is not asked for.
enum class OnTheirOwn : uint8_t { no, yes };
PipelineResult run_passes(const PassInput& input, const std::vector<ChosenPass>& chosen,
                          OnTheirOwn on_their_own = OnTheirOwn::yes);

/// Parameters that a configuration keeps of a pass: its options and what it found.
PassParameters saved_parameters(const PassOutcome& outcome);
PassParameters saved_parameters(const PassParameters& options, const PassResult& result);
/// Applies what a configuration says, without a profile: the saved parameters of each pass, by id.
PipelineResult replay_passes(const PassInput& input, const std::map<std::string, PassParameters>& configuration);

}  // namespace stormcell

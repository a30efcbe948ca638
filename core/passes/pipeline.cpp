#include "core/passes/pipeline.h"

#include <algorithm>

#include "core/base/error.h"

namespace stormcell {
namespace {

std::string known_ids() {
  std::string ids;
  for (const Pass& pass : passes()) ids += (ids.empty() ? "" : ", ") + std::string(pass.id);
  return "there are: " + ids;
}

void check(const std::vector<std::string>& ids, std::string_view where) {
  for (const std::string& id : ids) {
    if (find_pass(id)) continue;
    if (is_planned_pass(id)) bad_input(where, "pass " + id + ": not in this version", known_ids());
    bad_input(where, "unknown pass \"" + id + "\"", known_ids());
  }
}

bool holds(const std::vector<std::string>& ids, std::string_view id) { return std::find(ids.begin(), ids.end(), id) != ids.end(); }

}  // namespace

std::vector<const Pass*> select_passes(const PassSelection& selection) {
  check(selection.enable, "--enable");
  check(selection.disable, "--disable");
  check(selection.only, "--only");
  for (const std::string& id : selection.disable)
    if (holds(selection.only, id) || holds(selection.enable, id))
      bad_input("--disable", "pass " + id + " is asked for by " + (holds(selection.only, id) ? "--only" : "--enable") + " too",
                "name it in one of them");
  std::vector<const Pass*> chosen;
  for (const Pass& pass : passes()) {
    const bool wanted = selection.only.empty() ? !pass.lossy || holds(selection.enable, pass.id)
                                               : holds(selection.only, pass.id) || holds(selection.enable, pass.id);
    if (wanted && !holds(selection.disable, pass.id)) chosen.push_back(&pass);
  }
  return chosen;
}

PipelineResult run_passes(const PassInput& input, const std::vector<const Pass*>& chosen, OnTheirOwn on_their_own) {
  PipelineResult result;
  result.graph = input.graph;
  for (const Pass* pass : chosen) {
    PassOutcome& outcome = result.outcomes.emplace_back();
    outcome.pass = pass;
    if (on_their_own == OnTheirOwn::yes) outcome.alone = pass->run(input);
    outcome.cumulative = pass->run({result.graph, input.profile, input.machine, input.typical, input.parameters});
    result.graph = outcome.cumulative.graph;
  }
  return result;
}

PipelineResult replay_passes(const PassInput& input, const std::map<std::string, PassParameters>& configuration) {
  std::vector<std::string> ids;
  for (const auto& [id, parameters] : configuration) ids.push_back(id);
  check(ids, "configuration");
  PipelineResult result;
  result.graph = input.graph;
  for (const Pass& pass : passes()) {
    const auto at = configuration.find(std::string(pass.id));
    if (at == configuration.end()) continue;
    PassOutcome& outcome = result.outcomes.emplace_back();
    outcome.pass = &pass;
    outcome.cumulative = pass.run({result.graph, input.profile, input.machine, input.typical, &at->second});
    result.graph = outcome.cumulative.graph;
  }
  return result;
}

}  // namespace stormcell

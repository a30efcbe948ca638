#include "core/passes/pipeline.h"

#include <algorithm>

#include "core/base/error.h"

namespace stormcell {
namespace {

void check(const std::vector<std::string>& ids, std::string_view where) {
  for (const std::string& id : ids) check_pass(id, where);
}

bool holds(const std::vector<std::string>& ids, std::string_view id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

std::vector<ChosenPass> select_passes(const PassSelection& selection) {
  check(selection.enable, "--enable");
  check(selection.disable, "--disable");
  check(selection.only, "--only");
  for (const std::string& id : selection.disable)
    if (holds(selection.only, id) || holds(selection.enable, id))
      bad_input("--disable",
                "pass " + id + " is asked for by " + (holds(selection.only, id) ? "--only" : "--enable") + " too",
                "name it in one of them");
  std::vector<std::string> with_options;
  for (const auto& [id, options] : selection.options) with_options.push_back(id);
  check(with_options, "--pass-option");
  std::vector<ChosenPass> chosen;
  for (const Pass& pass : passes()) {
    const bool wanted = selection.only.empty() ? !pass.lossy || holds(selection.enable, pass.id)
                                               : holds(selection.only, pass.id) || holds(selection.enable, pass.id);
    const bool runs = wanted && !holds(selection.disable, pass.id);
    const auto options = selection.options.find(std::string(pass.id));
    if (options != selection.options.end() && !runs)
      bad_input("--pass-option", "pass " + options->first + " does not run", "enable it, or leave its option out");
    if (!runs) continue;
    chosen.push_back({&pass, options == selection.options.end()
                                 ? PassParameters()
                                 : checked_options(pass, options->second, "--pass-option")});
  }
  return chosen;
}

PipelineResult run_passes(const PassInput& input, const std::vector<ChosenPass>& chosen, OnTheirOwn on_their_own) {
  PipelineResult result;
  result.graph = input.graph;
  for (const auto& [pass, options] : chosen) {
    PassOutcome& outcome = result.outcomes.emplace_back();
    outcome.pass = pass;
    outcome.options = options;
    const auto run_on = [&, &pass = pass, &options = options](const Graph& graph) {
      return pass->run(input.on(graph, options, input.parameters));
    };
    if (on_their_own == OnTheirOwn::yes) outcome.alone = run_on(input.graph);
    outcome.cumulative = run_on(result.graph);
    result.graph = outcome.cumulative.graph;
  }
  return result;
}

PassParameters saved_parameters(const PassOutcome& outcome) {
  return saved_parameters(outcome.options, outcome.cumulative);
}
PassParameters saved_parameters(const PassParameters& options, const PassResult& result) {
  PassParameters saved = result.parameters;
  saved.insert(options.begin(), options.end());
  return saved;
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
    PassParameters options, found;
    for (const auto& [key, text] : at->second) (find_option(pass, key) ? options : found)[key] = text;
    PassOutcome& outcome = result.outcomes.emplace_back();
    outcome.pass = &pass;
    outcome.options = checked_options(pass, options, "option");
    outcome.cumulative = pass.run(input.on(result.graph, outcome.options, &found));
    for (const auto& [key, text] : found) {
      const auto again = outcome.cumulative.parameters.find(key);
      if (outcome.cumulative.applied && (again == outcome.cumulative.parameters.end() || again->second != text))
        outcome.not_taken_over.push_back(key);
    }
    outcome.cumulative.parameters = std::move(found);
    result.graph = outcome.cumulative.graph;
  }
  return result;
}

}  // namespace stormcell

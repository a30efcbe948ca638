#include "core/readings/session_lookup.h"

#include <nlohmann/json.hpp>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/configuration/plan_config.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/session/advice.h"
#include "core/summary/parse.h"

namespace stormcell {

std::string device_of(const RunSummary& run) {
  const nlohmann::json machine = json_or_null(run.machine);
  std::string device = text_at(machine, "name");
  if (const int64_t threads = whole_at(machine, "threads"); threads > 0) device += ", " + counted(threads, "thread");
  return device.empty() ? "unknown" : device;
}

RunLine line_of(const SessionReader& reader, const RunSummary& run) {
  RunLine line;
  line.id = run.id, line.kind = run.kind, line.name = run.name;
  line.started = run.started, line.finished = run.finished, line.status = run.status;
  line.batches = run.batches;
  line.decisions = reader.has_decisions(run.id);
  if (has_configuration(run.config)) line.config = run.config;
  line.result = parse_summary(run.summary);
  line.device = device_of(run);
  // A run that did not reach its end has no summary; its data hold its settings, too.
  if (line.result) line.settings = line.result->figures.settings;
  const nlohmann::json dataset = json_or_null(run.dataset);
  if (const nlohmann::json& settings = value_at(dataset, "settings"); line.settings.empty() && settings.is_object())
    line.settings = settings.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  // Only settings and kind may tell the phase of decoding, and of a run that ended early; an imported trace has none.
  if (run_kind(line.kind) == RunKind::generate)
    line.phase = "decode";
  else if (run_kind(line.kind) != RunKind::import)
    line.phase = line.result ? line.result->figures.phase : text_at(json_or_null(line.settings), "phase");
  line.weight_budget = whole_at(json_or_null(line.settings), "weight_budget");
  // A run that ended early does not tell how many were decoded.
  if (work_phase(line.phase) == WorkPhase::decode && run.status == RunStatus::finished)
    line.batches_of_data = whole_at(dataset, "batches");
  return line;
}

RecordedInputs recorded_inputs(const SessionReader& reader, int64_t run) {
  constexpr int64_t kFirstItems = 64;
  RecordedInputs kept;
  for (const SequenceInput& input : reader.inputs(run, {0, kFirstItems}))
    kept.texts |= !input.text.empty(), kept.labels |= !input.label.empty();
  if (reader.run(run).batches > 0)
    for (const BatchSpace& space : reader.spaces(run, 0)) kept.tokens |= !space.tokens.empty();
  return kept;
}

std::optional<RunSummary> newest_run(const SessionReader& session, AcceptsRun accepts) {
  const std::vector<RunSummary> runs = session.runs();
  if (runs.empty()) bad_input(session.path(), "holds no run yet", kRecordOne);
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (accepts(session, *run)) return *run;
  return {};
}

RunSummary choose_run(const SessionReader& session, const std::string& selector, AcceptsRun accepts,
                      const std::string& lacking) {
  if (!selector.empty()) {
    RunSummary run = session.find_run(selector);
    if (!accepts(session, run)) bad_input(session.path() + "#" + selector, lacking);
    return run;
  }
  std::optional<RunSummary> run = newest_run(session, accepts);
  if (!run) bad_input(session.path(), lacking);
  return *std::move(run);
}

RunSummary choose_recorded_run(const SessionReader& session, const std::string& selector) {
  const auto has_batches = [](const SessionReader&, const RunSummary& run) { return run.batches > 0; };
  return choose_run(session, selector, has_batches, "holds no batch yet");
}

}  // namespace stormcell

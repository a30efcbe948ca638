#include "core/readings/session_lookup.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/json_file.h"

namespace stormcell {

std::string device_of(const RunSummary& run) {
  std::string device;
  const nlohmann::json machine = json_or_null(run.machine);
  if (machine.is_object()) {
    const auto name = machine.find("name"), threads = machine.find("threads");
    if (name != machine.end() && name->is_string()) device = name->get<std::string>();
    if (threads != machine.end() && threads->is_number_integer()) device += ", " + std::to_string(threads->get<int64_t>()) + " threads";
  }
  return device.empty() ? "unknown" : device;
}

RunSummary find_exported_run(const SessionReader& session, const std::string& selector,
                             bool (*has)(const SessionReader&, const RunSummary&), const std::string& lacking) {
  if (!selector.empty()) {
    RunSummary run = session.find_run(selector);
    if (!has(session, run)) bad_input(session.path() + "#" + selector, lacking);
    return run;
  }
  const std::vector<RunSummary> runs = session.runs();
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (has(session, *run)) return *run;
  bad_input(session.path(), runs.empty() ? "holds no run yet" : lacking);
}

}  // namespace stormcell

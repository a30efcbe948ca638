#include "core/exports/export_origin.h"

#include "core/readings/session_lookup.h"

namespace stormcell {

std::string ExportOrigin::line() const {
  std::string text = "stormcell " + version + "; model " + model + "; device " + device + "; date " + date +
                     "; session " + session + "; run #" + std::to_string(run) + " (" + kind + ")";
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  return text;
}

ExportOrigin origin_of(const SessionReader& session, const RunSummary& run) {
  ExportOrigin origin;
  origin.version = STORMCELL_VERSION;
  origin.date = run.started;
  origin.session = session.summary().id;
  origin.model = session.summary().model.name;
  origin.fingerprint = session.summary().model.fingerprint;
  origin.run = run.id;
  origin.kind = run.kind;
  origin.device = device_of(run);
  return origin;
}

ExportOrigin origin_of(const SessionOverview& session, const RunLine& run) {
  return {STORMCELL_VERSION, run.device, run.started, session.id, session.model, {}, run.id, run.kind};
}

}  // namespace stormcell

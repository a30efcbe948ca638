// Origin of an exported file: every one states version, device, date and session.
#pragma once
#include <string>

#include "core/readings/session_view.h"

namespace stormcell {

class SessionReader;
struct RunSummary;

struct ExportOrigin {
  std::string version, device, date, session;  ///< `session`: its id; `date`: when the run began
  std::string model, fingerprint;
  int64_t run = 0;
  std::string kind;
  /// "stormcell 0.2.0; device ...; date ...; session ...; run #3 (profile)"
  std::string line() const;
};
ExportOrigin origin_of(const SessionReader& session, const RunSummary& run);
/// The same from a view's data, without the fingerprint.
ExportOrigin origin_of(const SessionOverview& session, const RunLine& run);

}  // namespace stormcell

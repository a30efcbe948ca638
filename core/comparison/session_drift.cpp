#include "core/comparison/session_drift.h"

#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "core/comparison/recording_drift.h"
#include "core/readings/read_token_routes.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

/// Nothing where there are no single choices, or more than are read without being asked.
std::optional<TokenRoutes> routes_of(const Recording& recording, const Progress& progress) {
  if (!recording.reader.has_decisions(recording.run.id)) return {};
  int64_t choices = 0;
  for (int32_t r = 0; r < std::ssize(recording.layout.routers); ++r) {
    const std::vector<int64_t> real = recording.reader.total_loads(recording.run.id, r).real();
    choices = std::accumulate(real.begin(), real.end(), choices);
  }
  if (choices > kMostChoicesUnasked) return {};
  return read_token_routes(recording.reader, recording.run, progress);
}

}  // namespace

SessionDrift session_drift(const std::string& a, const std::string& b, const Progress& progress) {
  const Recording recording(a), other(b);
  std::string doubt = check_same_routers(recording, other);
  const std::optional<TokenRoutes> routes = routes_of(recording, progress);
  SessionDrift drift{recording.path.file, recording.run.id, recording.run.status, recording.run.batches,
                     drift_against(recording, routes ? &*routes : nullptr, other, progress)};
  drift.other.doubt = std::move(doubt);
  return drift;
}

std::string to_json(const SessionDrift& d) {
  nlohmann::ordered_json json = json_of_verb("drift");
  json["a"] = {{"session", d.a}, {"run", d.run}, {"status", to_text(d.status)}, {"batches", d.batches}};
  json["b"] = {{"session", d.other.session},
               {"run", d.other.run},
               {"status", to_text(d.other.status)},
               {"batches", d.other.batches}};
  json["drift"] = drift_json(d.other.drift);
  json["differ"] = d.other.drift ? nlohmann::ordered_json(d.other.drift->p_value <= .05) : nlohmann::ordered_json();
  json["why_not"] = text_or_null(d.other.why_not);
  json["doubt"] = text_or_null(d.other.doubt);
  return json_text(json);
}

}  // namespace stormcell

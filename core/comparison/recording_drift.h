// Drift of a recording: between its halves if it has only counts, and against another recording.
#pragma once
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "core/base/progress.h"
#include "core/comparison/analyze.h"
#include "core/profile/drift.h"
#include "core/readings/same_model.h"
#include "core/readings/session_lookup.h"
#include "core/session/session_reader.h"

namespace stormcell {

/// "S.storm", "S.storm#3" or "S.storm#name", opened; the newest run that has loads.
struct Recording {
  explicit Recording(const std::string& named)
      : path(parse_session_path(named)),
        reader(path.file),
        run(choose_recorded_run(reader, path.run)),
        layout(reader.layout(run.id)) {}
  std::string name() const { return path.file + "#" + std::to_string(run.id); }
  RoutedModel model() const { return routed_model(path.file, reader.summary().model, run, layout); }
  SessionPath path;
  SessionReader reader;
  RunSummary run;
  RunLayout layout;
};

/// Runs with more choices than these are not read whole without being asked: 64 Mi of them are half a gigabyte of
/// session.
inline constexpr int64_t kMostChoicesUnasked = int64_t{1} << 26;

std::optional<DriftFigures> figures_of(const std::optional<Drift>& drift);
/// null: nothing was judged.
nlohmann::ordered_json drift_json(const std::optional<DriftFigures>& drift);

/// Drift between the halves of counts, whose batches are steps in order.
std::optional<DriftFigures> drift_of_counts(const Recording& recording, const Progress& progress);

/// The doubt whether the other one is of this model; empty: it is. Throws Error(bad_input), which names the other one,
/// if it is of another model or has other routers.
std::string check_same_routers(const Recording& recording, const Recording& other);
/// `routes`: the choices of `recording`, null if they were not read. If either has no choices, its batches are its
/// steps.
AgainstFigures drift_against(const Recording& recording, const TokenRoutes* routes, const Recording& other,
                             const Progress& progress);

}  // namespace stormcell

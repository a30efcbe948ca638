// Whether one recording of a model goes elsewhere than another: the verb drift.
#pragma once
#include <string>

#include "core/comparison/analyze.h"

namespace stormcell {

struct SessionDrift {
  std::string a;  ///< file of the recording that is asked about
  int64_t run = 0;
  RunStatus status = RunStatus::interrupted;
  int64_t batches = 0;
  AgainstFigures other;
};

/// Both "S.storm", "S.storm#3" or "S.storm#name", the newest run that has loads. Throws Error(bad_input) if they are of
/// two models or have other routers.
SessionDrift session_drift(const std::string& a, const std::string& b, const Progress& progress = {});
/// stormcell.drift/1
std::string to_json(const SessionDrift& drift);

}  // namespace stormcell

// what-if of recordings: the changed choices as a file that another program is given to replay.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/progress.h"
#include "core/configuration/plan_config.h"

namespace stormcell {

/// A program that replays choices, as far as its documentation says how.
struct ReplayFormat {
  std::string_view id, summary;
  std::string_view documented;              ///< version and documentation
  std::string_view how;                     ///< what to do with the file there, in a sentence
  std::string_view why_not = {};            ///< why there is no such file, a sentence; empty: there is one
  std::string_view instead = {};            ///< what to do then
  std::string_view suffix = "safetensors";  ///< of its files' names
};
std::span<const ReplayFormat> replay_formats();

struct ReplayOptions {
  std::string session;  ///< S.storm, S.storm#3, S.storm#name
  Intervention change;
  std::string format, output;
};

struct ReplayedRouter {
  std::string router;
  int32_t branches = 0, k = 0;
  int64_t changed = 0, of = 0;                   ///< choices
  std::vector<int64_t> load_before, load_after;  ///< [branches]: choices of each branch
};

struct ReplayFigures {
  std::string session, model;
  std::string file, format, documented, how;  ///< empty: nothing was written
  int64_t run = 0, requests = 0, tokens = 0, changed_tokens = 0;
  std::vector<std::string> changes;
  std::vector<ReplayedRouter> routers;  ///< each is a layer of the file, in this order
};

/// Counts what a change does to the choices of a recording, and writes nothing. `session`: as ReplayOptions has it. Throws as
/// changed_choices() does.
ReplayFigures count_replay(const std::string& session, const Intervention& change, const Progress& progress = {});
/// Throws Error(bad_input): an unknown format or one whose program documents no replay, and as changed_choices() does.
ReplayFigures write_replay(const ReplayOptions& options, const Progress& progress = {});
/// "stormcell.replay/1"
std::string to_json(const ReplayFigures& figures);

}  // namespace stormcell

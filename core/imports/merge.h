// Merges parts of one trace into one run: several ranks step by step, several days one after the other.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/enum_words.h"
#include "core/base/progress.h"

namespace stormcell {

/// The way in which parts of a recording are joined.
enum class MergeBy : uint8_t {
  ranks,  ///< steps of several ranks become one
  days,   ///< one part comes behind the other
};
inline constexpr std::string_view kMergeBy[] = {"ranks", "days"};
inline std::string_view to_text(MergeBy by) { return row_of(kMergeBy, by); }

struct MergeOptions {
  std::vector<std::string> parts;  ///< "S.storm": its imported runs; "S.storm#3", "S.storm#name": one
  std::string session;             ///< created, or appended to if it is of the same model
  std::string by;    ///< a word of kMergeBy; empty: ranks where each part is of a rank and they are not all of one
  std::string name;  ///< of the run; empty: "merged"
};

struct MergedPart {
  std::string session, name;
  int64_t run = 0;
  int32_t rank = -1;  ///< -1: not known, or of all ranks together
  int64_t batches = 0;
  int64_t first_request = 0;  ///< number in the merged run of its first request
  int64_t requests = 0;       ///< 0 of counts
};

struct MergeFigures {
  std::string session, model;
  MergeBy by = MergeBy::ranks;
  int64_t run = 0, batches = 0, steps = 0;
  bool decisions = false;
  std::vector<MergedPart> parts;
  std::vector<std::string> lacks, warnings;
  double seconds = 0;
};

/// Requests get new numbers, so that those of two parts are never one; the parts' steps of ranks are joined by the
/// numbers that the server gave them, else by their order. Counts of one step are added up; single choices keep the
/// rank that they came from. What cannot be merged, or is interrupted, leaves the session as it was.
MergeFigures merge_runs(const MergeOptions& options, const Progress& progress = {});
/// stormcell.merge/1
std::string to_json(const MergeFigures& figures);

}  // namespace stormcell

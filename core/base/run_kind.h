// Kind and phase of a run as types. Sessions and summaries store words, which other versions of the program may not
// know: a word is converted only when its meaning is needed.
#pragma once
#include <cstdint>
#include <string_view>

namespace stormcell {

/// The verb that recorded a run.
enum class RunKind : uint8_t { run, profile, optimize, generate, import, unknown };
std::string_view to_text(RunKind kind);
RunKind run_kind(std::string_view word);

/// Work on a batch: one pass through the model, decoding of new tokens, or (--phase both) one after the other.
enum class WorkPhase : uint8_t { forward, decode, both, unknown };
std::string_view to_text(WorkPhase phase);
WorkPhase work_phase(std::string_view word);

/// State of a run. A session always has one of these: if it stores another word, the reader checks whether the writer
/// still runs.
enum class RunStatus : uint8_t {
  running,  ///< being written
  finished,
  interrupted,  ///< ended early by the user, or killed: everything up to the last finished batch is there
  failed,
};
std::string_view to_text(RunStatus status);

/// True if a text must mention decoding beside the kind; generate implies it.
inline bool says_decoding(std::string_view phase, std::string_view kind) {
  return work_phase(phase) == WorkPhase::decode && run_kind(kind) != RunKind::generate;
}

}  // namespace stormcell

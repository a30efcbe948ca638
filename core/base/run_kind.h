// What a run did and in which phase, as types. Sessions and summaries keep them as words, which programs of other
// versions may not know: a word stays a word until somebody asks what it means.
#pragma once
#include <cstdint>
#include <string_view>

namespace stormcell {

/// Which verb left a run in a session.
enum class RunKind : uint8_t { run, profile, optimize, generate, import, unknown };
std::string_view to_text(RunKind kind);
RunKind run_kind(std::string_view word);

/// What is run on a batch: one pass through the model, decoding of new tokens; as --phase has it, also both in turn.
enum class WorkPhase : uint8_t { forward, decode, both, unknown };
std::string_view to_text(WorkPhase phase);
WorkPhase work_phase(std::string_view word);

/// How far a run came. What a session has is always one of these: of another word the reader asks whether the writer
/// still lives.
enum class RunStatus : uint8_t {
  running,  ///< being written
  finished,
  interrupted,  ///< ended early by the user, or killed: everything up to the last finished batch is there
  failed,
};
std::string_view to_text(RunStatus status);

/// Whether it has to be said beside the kind that a run decoded: of generate the kind says it.
inline bool says_decoding(std::string_view phase, std::string_view kind) {
  return work_phase(phase) == WorkPhase::decode && run_kind(kind) != RunKind::generate;
}

}  // namespace stormcell

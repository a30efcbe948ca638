#include "core/base/run_kind.h"

#include <array>
#include <span>

#include "core/base/enum_words.h"

namespace stormcell {
namespace {

constexpr std::array<std::string_view, 6> kKinds = {"run", "profile", "optimize", "generate", "import", "unknown"};
constexpr std::array<std::string_view, 4> kPhases = {"forward", "decode", "both", "unknown"};
constexpr std::array<std::string_view, 4> kStatuses = {"running", "finished", "interrupted", "failed"};

/// The last word is for everything else.
template <class Enum>
Enum meaning(std::span<const std::string_view> words, std::string_view word) {
  return value_of_word<Enum>(words, word).value_or(static_cast<Enum>(words.size() - 1));
}

}  // namespace

std::string_view to_text(RunKind kind) { return row_of(kKinds, kind); }
RunKind run_kind(std::string_view word) { return meaning<RunKind>(kKinds, word); }
std::string_view to_text(WorkPhase phase) { return row_of(kPhases, phase); }
std::string_view to_text(RunStatus status) { return row_of(kStatuses, status); }
WorkPhase work_phase(std::string_view word) { return meaning<WorkPhase>(kPhases, word); }

}  // namespace stormcell

#include "core/base/run_kind.h"

#include <algorithm>
#include <array>

namespace stormcell {
namespace {

constexpr std::array<std::string_view, 6> kKinds = {"run", "profile", "optimize", "generate", "import", "unknown"};
constexpr std::array<std::string_view, 4> kPhases = {"forward", "decode", "both", "unknown"};

/// The last word stands for whatever is none of the others.
template <class Enum, size_t kCount>
Enum meaning(const std::array<std::string_view, kCount>& words, std::string_view word) {
  return static_cast<Enum>(std::min(kCount - 1, static_cast<size_t>(std::find(words.begin(), words.end(), word) - words.begin())));
}

}  // namespace

std::string_view to_text(RunKind kind) { return kKinds[static_cast<size_t>(kind)]; }
RunKind run_kind(std::string_view word) { return meaning<RunKind>(kKinds, word); }
std::string_view to_text(WorkPhase phase) { return kPhases[static_cast<size_t>(phase)]; }
WorkPhase work_phase(std::string_view word) { return meaning<WorkPhase>(kPhases, word); }

}  // namespace stormcell

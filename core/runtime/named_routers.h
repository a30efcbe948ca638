// Routers by name, for everybody who counts or shows.
#pragma once
#include "core/runtime/executor.h"

namespace stormcell {

/// A router in both bodies of a guard, or in the prompt's pass and in decoding, is one router to everybody who counts
/// or shows.
struct NamedRouters {
  std::vector<RouterId> first;     ///< by named router: the program's first
  IdVector<RouterId, int32_t> of;  ///< the named router of each router of the program
};
NamedRouters name_routers(const Program& program);

/// The decisions that are valid, one for each named router and turn, in running order: if a guard missed after its
/// first body had decided, the fallback's.
std::vector<const ExecutedDecision*> standing_decisions(const Program& program, const NamedRouters& named,
                                                        const ExecutionResult& result);

}  // namespace stormcell

#include "core/runtime/named_routers.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace stormcell {

NamedRouters name_routers(const Program& program) {
  NamedRouters named;
  std::map<std::string, int32_t, std::less<>> known;
  for (const RouterId r : program.routers.ids()) {
    const auto [at, is_new] = known.emplace(program.routers[r].name, static_cast<int32_t>(named.first.size()));
    if (is_new) named.first.push_back(r);
    named.of.push_back(at->second);
  }
  return named;
}

std::vector<const ExecutedDecision*> standing_decisions(const Program& program, const NamedRouters& named,
                                                        const ExecutionResult& result) {
  std::vector<const ExecutedDecision*> standing;
  std::map<std::tuple<int32_t, RepeatId, int32_t>, size_t> places;
  for (const ExecutedDecision& d : result.decisions) {
    const auto [at, is_new] =
        places.try_emplace({named.of[d.router], program.routers[d.router].repeat, d.turn}, standing.size());
    if (!is_new) standing[std::exchange(at->second, standing.size())] = nullptr;
    standing.push_back(&d);
  }
  std::erase(standing, nullptr);
  // They come router after router, of which each body of a guard has its own.
  std::stable_sort(standing.begin(), standing.end(), [&](const ExecutedDecision* a, const ExecutedDecision* b) {
    return std::pair(program.routers[a->router].repeat, a->turn) <
           std::pair(program.routers[b->router].repeat, b->turn);
  });
  return standing;
}

}  // namespace stormcell

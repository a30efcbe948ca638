// The wait of a hand that drags experts: an edit at 61 layers of 256 experts on 64 GPUs, both parts of the data
// judged after each.
//
//   placement_edit_bench [TOKENS of each part, 8192: about what the Studio follows of these sizes]
//
// Prints a Markdown table, as docs/benchmarks/placement-edit.md has it.
#include <fmt/core.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <random>

#include "core/placement/eplb.h"
#include "core/placement/placement_edit.h"

namespace stormcell::bench {
namespace {

/// The time of only this thread: what a neighbour computes is not waited for.
double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}
constexpr int32_t kLayers = 61, kBranches = 256, kRanks = 64, kNodes = 8, kK = 8;
constexpr size_t kStepTokens = 64;

double ms_since(double begin) { return cpu_ms() - begin; }

/// Some experts are far more loaded than others, as recorded ones are: the square of a uniform draw.
TokenRoutes drawn(size_t tokens) {
  TokenRoutes routes;
  routes.layers = kLayers, routes.branches = kBranches, routes.k = kK;
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform;
  for (size_t t = 0; t < tokens; ++t) {
    routes.tokens.push_back({static_cast<int64_t>(t), static_cast<int64_t>(t / kStepTokens), 0, Phase::decode, -1});
    for (int32_t l = 0; l < kLayers; ++l) {
      const size_t begin = routes.choice.size();
      while (routes.choice.size() < begin + kK) {
        const double u = uniform(random);
        const auto b = static_cast<int32_t>(u * u * kBranches);
        if (std::find(routes.choice.begin() + static_cast<std::ptrdiff_t>(begin), routes.choice.end(), b) ==
            routes.choice.end())
          routes.choice.push_back(b);
      }
    }
  }
  return routes;
}

void tell(const char* what, std::vector<double> ms) {
  std::sort(ms.begin(), ms.end());
  fmt::print("| {} | {} | {:.3f} | {:.3f} | {:.3f} |\n", what, ms.size(), ms[ms.size() / 2], ms[ms.size() * 95 / 100],
             ms.back());
}

void run(size_t tokens) {
  const TokenRoutes routes = drawn(2 * tokens);
  const Placement start = contiguous_placement(kLayers, kBranches, kBranches + kRanks, kRanks);
  const CostModel model{3.35e12, 9.9e14, 4.5e11, 5e10, 0, 88e6, 88e6, 14336, 14336};
  const double begin = cpu_ms();
  std::vector<EditPart> parts(2);
  for (size_t p = 0; p < 2; ++p) {
    std::vector<size_t> all;
    std::vector<std::vector<size_t>> steps;
    for (size_t t = p * tokens; t < (p + 1) * tokens; ++t) {
      if (all.size() % kStepTokens == 0) steps.emplace_back();
      all.push_back(t), steps.back().push_back(t);
    }
    parts[p].loads = loads_of_tokens(routes, all);
    parts[p].traffic.emplace(routes, all, start);
    parts[p].steps.emplace(routes, steps, start, kNodes, Backend::per_rank, model);
  }
  PlacementEdit edit(start, std::move(parts));
  fmt::print("{} layers of {} experts on {} GPUs, {} tokens in steps of {} in each of two parts; made in {:.0f} ms\n\n",
             kLayers, kBranches, kRanks, tokens, kStepTokens, ms_since(begin));
  fmt::print("| edit and all its figures, CPU time | edits | median ms | 95 % | most |\n|---|---|---|---|---|\n");
  std::mt19937 random(2);
  std::vector<double> swaps, replicas, back, whole;
  double sum = 0;  // of figures: what is not used may be left out
  const auto timed = [&](std::vector<double>& ms, auto&& edited) {
    const double at = cpu_ms();
    edited();
    for (size_t p = 0; p < 2; ++p)
      sum += edit.figures(p).imbalance + *edit.figures(p).step_ms + *edit.figures(p).cross_pairs;
    ms.push_back(ms_since(at));
  };
  const auto slots = static_cast<size_t>(start.slot_count());
  while (swaps.size() < 200 || replicas.size() < 200) {
    const size_t layer = random() % kLayers, slot = random() % slots, other = random() % slots;
    const auto branch = static_cast<int32_t>(random() % kBranches);
    PlacementChange change;
    if (swaps.size() < 200 && edit.swap_fault(layer, slot, other).empty())
      timed(swaps, [&] { edit.apply(change = swap_change(edit.placement(), layer, slot, other)); });
    if (replicas.size() < 200 && edit.replicate_fault(layer, branch, slot).empty())
      timed(replicas, [&] { edit.apply(change = replicate_change(edit.placement(), layer, branch, slot)); });
    if (!change.empty()) timed(back, [&] { edit.apply(inverse(change)); });
  }
  const auto become = [&](const Placement& other) { edit.apply(difference(edit.placement(), other)); };
  timed(whole, [&] { become(contiguous_placement(kLayers, kBranches, kBranches + kRanks, kRanks)); });
  timed(whole, [&] {
    Placement turned = start;
    for (LayerSlots& layer : turned.layers) std::rotate(layer.begin(), layer.begin() + 5, layer.end());
    become(turned);
  });
  tell("two experts change places", swaps);
  tell("a replica more", replicas);
  tell("undone", back);
  tell("all layers at a time", whole);
  if (sum < 0) fmt::print("{}\n", sum);
  std::vector<size_t> all(tokens);
  std::iota(all.begin(), all.end(), size_t{0});
  const LayerLoads loads = loads_of_tokens(routes, all);
  std::vector<double> rule;
  for (int i = 0; i < 9; ++i) {
    const double at = cpu_ms();
    const Placement placed = eplb_placement(loads, {kBranches + kRanks, 1, kNodes, kRanks});
    rule.push_back(ms_since(at));
    if (placed.layers.empty()) fmt::print("nothing was placed\n");
  }
  tell("the EPLB rule for all layers", rule);
}

}  // namespace
}  // namespace stormcell::bench

int main(int argc, char** argv) {
  stormcell::bench::run(argc > 1 ? static_cast<size_t>(std::strtoul(argv[1], nullptr, 10)) : 8192);
  return 0;
}

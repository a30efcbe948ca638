// The rows of the files that compare reads and that are not written by fields(): placements and imported traces. A new
// figure of these needs a row here beside the line that writes it (core/planning/place_json.cpp,
// core/comparison/summary_figures.cpp). A test holds that none is forgotten.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/figures/figure.h"
#include "core/summary/field_of.h"

namespace stormcell {

struct LayoutCostRows {};
struct LayoutRows {};
struct DifferenceRows {};
struct CalibratedPhaseRows {};
struct PlacementRows {};
struct TraceRouterRows {};
struct TraceRows {};

void fields(auto& v, Of<LayoutCostRows> auto&) {
  v("imbalance", 0.0, Figure::counted("imbalance", "max load / mean load - 1.", Unit::none, Better::less));
  v("cross_pairs", 0.0, Figure::counted("", "Pairs of choices on two GPUs."));
  v("ranks_per_token", 0.0, Figure::counted("", "GPUs that a token needs at a layer."));
  v("remote_bytes", 0.0, Figure::counted("", "What a token needs from other GPUs at a layer.", Unit::bytes));
  v("wire_bytes", 0.0, Figure::counted("", "What travels for it, with what is forwarded within a node.", Unit::bytes));
  v("objective", 0.0, Figure::predicted("", "Time of a step.", Unit::milliseconds));
  v.group("step_ms", [](auto& each) {
    constexpr Figure kPart{
        "", "A part of the time of a step.", Unit::milliseconds, Better::neither, Origin::predicted, Scope::time};
    for (const char* part : {"p95", "dispatch", "compute", "combine"}) each(part, 0.0, kPart);
  });
  v.group("calibrated", [](auto& each) {
    each("kind", std::string());
    each("share", 0.0, Figure::counted("", "The share of the time that is calibrated.", Unit::share));
    each("held_out_error", 0.0, Figure::counted("", "Error on held-out calls.", Unit::share));
  });
}

void fields(auto& v, Of<LayoutRows> auto&) {
  v("name", std::string());
  v("fit", LayoutCostRows());
  v("held_out", LayoutCostRows());
}

void fields(auto& v, Of<DifferenceRows> auto&) {
  v("parts", int64_t{0});
  for (const char* figure : {"imbalance", "cross_pairs", "ranks_per_token", "objective"})
    v.group(figure, [](auto& each) {
      each("value", 0.0, Figure::counted("", "The difference of two layouts."));
      each("ci95", std::vector<double>(), Figure::counted("", "Its 95 % interval."));
    });
}

void fields(auto& v, Of<CalibratedPhaseRows> auto&) {
  for (const char* key : {"us", "t0_us", "rate", "size", "held_out_error", "laboratories_spread"})
    v(key, 0.0, Figure::counted("", "Of the calibration of a phase."));
  v.group("rows", [](auto& each) {
    each("measured", std::vector<int64_t>()), each("step", std::vector<int64_t>());
    each("mean", 0.0, Figure::counted("", "Mean rows of a step."));
  });
}

void fields(auto& v, Of<PlacementRows> auto&) {
  for (const char* key : {"run", "placement", "already_stored", "slots", "dropped_choices", "requests", "moved_slots"})
    v(key, int64_t{0});
  v.group("model", [](auto& each) { each("layers", int64_t{0}), each("branches", int64_t{0}); });
  v.group("cluster", [](auto& each) { each("nodes", int64_t{0}), each("ranks", int64_t{0}); });
  v("fit_fraction", 0.0, Figure::counted("", "The part of the data that the layouts are fitted to.", Unit::share));
  v.group("steps", [](auto& each) { each("fit", int64_t{0}), each("held_out", int64_t{0}); });
  v.group("costed_steps", [](auto& each) {
    for (const char* key : {"tokens_per_step", "amortise", "fit", "held_out"}) each(key, int64_t{0});
  });
  v.group("sizes", [](auto& each) {
    each("hidden", int64_t{0}), each("ffn", int64_t{0});
    each("branch_bytes", 0.0, Figure::counted("", "Bytes of the weights of a branch.", Unit::bytes));
    each("flops_per_row", 0.0, Figure::counted("", "Operations of a row."));
  });
  v.group("calibration", [](auto& each) {
    each("tokens_per_step", 0.0, Figure::counted("", "Tokens in a calibrated step."));
    each("phases", std::vector<CalibratedPhaseRows>());
  });
  v("seconds", 0.0, Figure::timed("", "Time of the search.", Unit::seconds));
  v("layouts", std::vector<LayoutRows>());
  v("front", std::vector<LayoutRows>());
  v("differences", std::vector<DifferenceRows>());
  v("slot_bytes", int64_t{0}, Figure::counted("", "Bytes of a slot.", Unit::bytes));
  v.group("spare", [](auto& each) {
    each("gpu_bytes", 0.0, Figure::counted("", "Bytes of a GPU beside its slots.", Unit::bytes));
    each("memory_share", 0.0, Figure::counted("", "The same as a share of its memory.", Unit::share));
    each("kv_tokens", 0.0, Figure::counted("", "Tokens whose keys and values have room there."));
  });
  v("bound", 0.0, Figure::predicted("", "The best objective that is possible.", Unit::milliseconds));
  v("phases", std::vector<PlacementRows>());
}

void fields(auto& v, Of<TraceRouterRows> auto&) {
  v("imbalance", 0.0, Figure::counted("imbalance", "max load / mean load - 1.", Unit::none, Better::less));
  v("balancedness", 0.0, Figure::counted("", "Mean load / largest load."));
  v("entropy_bits", 0.0, Figure::counted("", "Entropy of the loads' distribution.", Unit::bits));
  v("gini", 0.0, Figure::counted("", "Gini coefficient of the loads."));
  v("touched", 0.0, Figure::counted("", "Branches that got a cell."));
  v("load", std::vector<int64_t>(), Figure::counted("", "Cells that each branch got."));
  v("share", std::vector<double>(), Figure::counted("", "The same as shares.", Unit::share));
}

void fields(auto& v, Of<TraceRows> auto&) {
  for (const char* key : {"rows_read", "rows_skipped", "rows_masked"}) v(key, int64_t{0});
  v.group("model", [](auto& each) {
    for (const char* key : {"layers", "branches", "k"}) each(key, int64_t{0});
  });
  v("routing", std::vector<TraceRouterRows>());
}

}  // namespace stormcell

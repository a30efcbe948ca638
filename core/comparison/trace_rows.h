// The rows of the figures of imported traces, which compare counts from their loads (summary_figures.cpp).
#pragma once
#include <cstdint>
#include <vector>

#include "core/figures/figure.h"
#include "core/summary/field_of.h"

namespace stormcell {

struct TraceRouterRows {};
struct TraceRows {};

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

// The page of compare.
#pragma once
#include <cstdint>
#include <vector>

#include "app/cli/page.h"
#include "core/comparison/compare.h"

namespace stormcell::cli {

/// The amount shown: everything, or the rows that differ most, so that both tables have room on a page.
enum class ShownFigures : uint8_t { short_table, details, all };

/// Compares two runs.
Page comparison_page(const Comparison& comparison, ShownFigures shown);
/// Compares each run with the first; one comparison gives the page of two runs.
Page comparisons_page(const std::vector<Comparison>& runs, ShownFigures shown);

}  // namespace stormcell::cli

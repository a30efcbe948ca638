// The difference of two recordings as one self-contained HTML page.
#pragma once
#include <string>

#include "core/difference/difference.h"

namespace stormcell {

/// Cells of each router and group of positions that the page needs as `samples`.
inline constexpr int32_t kSamplesOfReport = 2;

/// `output`: a file or "-". Nothing in the page refers to anything outside it.
void write_difference_report(const DifferenceFigures& figures, const std::string& output);

}  // namespace stormcell

// Text of generate.
#pragma once
#include <cstdint>

#include "app/cli/page.h"
#include "core/summary/results.h"

namespace stormcell::cli {

/// Texts that were printed while they were written are not printed again.
enum class TextsOfPage : uint8_t { shown, left_out };

Page page_of(const GenerateFigures& figures, bool verbose, TextsOfPage texts = TextsOfPage::shown);

}  // namespace stormcell::cli

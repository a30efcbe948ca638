// How wide a panel of weights is: of the layout (packed_weight.h), and of the products that read it (kernel_table.h).
#pragma once
#include <cstdint>

namespace stormcell::cpu {

/// Output columns of a panel. 64 wide and up to 6 rows keeps both FMA ports busy with one packed copy for every row
/// count; 32 wide loses 18 % at 4 rows.
inline constexpr int64_t kPanelColumns = 64;

}  // namespace stormcell::cpu

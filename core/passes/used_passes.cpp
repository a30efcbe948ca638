// Alone in its file: a program that defines passes() itself is linked without this one.
#include "core/passes/pass.h"

namespace stormcell {

std::span<const Pass> passes() { return standard_passes(); }

}  // namespace stormcell

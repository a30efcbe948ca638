// Advice in errors of the operating system.
#pragma once
#include <string_view>

namespace stormcell {

/// Advice if a file cannot be opened or examined; `error`: errno.
std::string_view advice_on_errno(int error);

}  // namespace stormcell

// What errors of the operating system tell to do.
#pragma once
#include <string_view>

namespace stormcell {

/// Where a file cannot be opened or looked at; `error`: errno.
std::string_view advice_on_errno(int error);

}  // namespace stormcell

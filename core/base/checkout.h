// The folders that this program was built in, for what is not installed: a checkout finds its own resources, data and
// tests. A program of a package (STORMCELL_CHECKOUT=OFF) knows neither.
#pragma once
#include <string>

namespace stormcell {

/// Absolute path of the source tree; empty in a package.
std::string checkout_source_folder();
/// Absolute path of the build folder; empty in a package.
std::string checkout_build_folder();

}  // namespace stormcell

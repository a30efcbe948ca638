// The folders that this program was built in, for a program that is not installed: a checkout finds its own resources,
// data and tests.
#pragma once
#include <string>

namespace stormcell {

/// Absolute path of the source tree; empty in a package.
std::string checkout_source_folder();
/// Absolute path of the build folder; empty in a package.
std::string checkout_build_folder();

}  // namespace stormcell

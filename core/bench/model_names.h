// Models and data that come with the program, for programs that name them.
#pragma once
#include <string>
#include <vector>

namespace stormcell {

/// "preset:NAME" of each preset, then "demo:NAME" of each demo that is installed here.
std::vector<std::string> list_models();
/// "demo:NAME" of each demo's data, whether it was made on this machine or not.
std::vector<std::string> list_demo_data();

}  // namespace stormcell

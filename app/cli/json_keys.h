// The reference of the JSON, from the rows of the verbs' figures.
#pragma once
#include <string>

namespace stormcell::cli {

/// The section "Every key" of docs/reference/json.md.
std::string json_keys_text();

}  // namespace stormcell::cli

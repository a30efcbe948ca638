// The keys of the verbs' JSON as a page: docs/reference/json.md ends with it.
#pragma once
#include <string>

namespace stormcell {

/// The section "Every key" in Markdown: a table for each kind of file whose struct has fields(), with the value, unit,
/// better direction, origin and meaning of every key.
std::string json_keys_page();

}  // namespace stormcell

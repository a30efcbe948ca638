// Labels of requests from a table: a line of names with `request` and `label`, then a row for each request.
#pragma once
#include <cstdint>
#include <map>
#include <string>

namespace stormcell {

/// Labels by number of request. Error(bad_input): no such file, no such columns, a request below 0, an empty label, or
/// two labels for one request.
std::map<int64_t, std::string> read_label_file(const std::string& path);

}  // namespace stormcell

// JSON from files and texts that nobody vouches for: strict, bounded, with the place of every mistake.
#pragma once
#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace stormcell {

struct JsonLimits {
  size_t bytes = size_t{256} << 20;
  int depth = 64;  ///< nested arrays and objects
};

/// Parses one JSON value. Refused, with line and column, as an Error of kind bad_input that begins with `where`: what RFC 8259
/// does not allow, invalid UTF-8, a key that occurs twice in one object, and more than the limits.
nlohmann::json parse_json_text(std::string_view text, std::string_view where, const JsonLimits& limits = {});

/// The same for texts that may well be none, as those in a session of another version: null where parse_json_text refuses.
nlohmann::json json_or_null(std::string_view text);

/// Reads and parses a file.
nlohmann::json read_json_file(const std::string& path, const JsonLimits& limits = {});

}  // namespace stormcell

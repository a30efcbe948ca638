// JSON from untrusted files and texts: strict, bounded, with the place of every mistake.
#pragma once
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace stormcell {

struct JsonLimits {
  size_t bytes = size_t{256} << 20;
  int depth = 64;  ///< nested arrays and objects
};

/// Parses one JSON value. Throws Error(bad_input) that begins with `where`, with line and column, for: text that RFC
/// 8259 does not allow, invalid UTF-8, a key that occurs twice in one object, and more than the limits. `first_line`:
/// line of the text in its file. NaN, Infinity and -Infinity, which Python writes, become values of a type that no
/// reader accepts (is_not_finite).
nlohmann::json parse_json_text(std::string_view text, std::string_view where, const JsonLimits& limits = {},
                               int64_t first_line = 1);

/// Receives the values of one object or list of a JSON text, which the result then has empty: for lists of 10^5 values
/// that a reader stores in less memory.
class JsonTaker {
 public:
  virtual ~JsonTaker() = default;
  /// True: the values of the object or list `key` of the root's member `outer` are handed over.
  virtual bool takes(std::string_view outer, std::string_view key, bool is_list) const = 0;
  /// `level` 1: a value of it; 2: a value of a list in it, and so on. `key`: of the values of an object.
  virtual void text(int level, std::string_view key, std::string_view value) = 0;
  virtual void whole(int level, std::string_view key, int64_t value) = 0;
  virtual void other(int level, std::string_view key) = 0;
  /// A list or object inside begins or ends; `level` is that of its values.
  virtual void open(int level) = 0;
  virtual void close(int level) = 0;
};
/// The same as parse_json_text(), with what `taker` takes left out.
nlohmann::json parse_json_with(std::string_view text, std::string_view where, JsonTaker& taker);

/// NaN, Infinity or -Infinity.
bool is_not_finite(const nlohmann::json& value);
/// Throws "FILE: line 3: rope_theta is NaN, not a finite number" for a reader of that key. The value must be
/// is_not_finite().
[[noreturn]] void refuse_not_finite(const nlohmann::json& value, std::string_view key);
/// The value in one line for messages: JSON, or a word such as NaN.
std::string shown_json(const nlohmann::json& value);
/// Writes as dump() does: keys sorted, no white space; NaN and Infinity as texts.
std::string canonical_json(const nlohmann::json& value);

/// The same for texts that may well be none, as those in a session of another version: null where parse_json_text
/// refuses.
nlohmann::json json_or_null(std::string_view text);

/// Reads and parses a file.
nlohmann::json read_json_file(const std::string& path, const JsonLimits& limits = {});

}  // namespace stormcell

// JSON read value by value from a file, without keeping it: for headers and indices of any length.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

class HeaderBytes;

/// The keys that lead to a value, outermost first; "*" for elements of a list.
class JsonPath {
 public:
  size_t size() const { return keys_.size(); }
  /// Empty beyond the end.
  std::string_view key(size_t level) const { return level < keys_.size() ? keys_[level] : std::string_view(); }
  std::string_view last() const { return keys_.empty() ? std::string_view() : keys_.back(); }

  std::vector<std::string> keys_;  ///< of walk_json()
};

/// Receives the values of JSON. A member that a visitor does not override passes over its values.
class JsonVisitor {
 public:
  virtual ~JsonVisitor() = default;
  virtual void text(const JsonPath&, const std::string&) {}
  /// Beyond 2^63 it is passed over.
  virtual void whole(const JsonPath&, int64_t) {}
  virtual void flag(const JsonPath&, bool) {}
  /// An object or list begins or ends.
  virtual void open(const JsonPath&, bool /*is_list*/) {}
  virtual void close(const JsonPath&) {}
  /// True: nothing more is wanted, and the rest is not read.
  virtual bool done() const { return false; }
};

/// Reads `size` bytes from where `bytes` is. Error(bad_input) that begins with `where`: it is not JSON, or is nested
/// deeper than 64 levels.
void walk_json(HeaderBytes& bytes, uint64_t size, JsonVisitor& visitor, const std::string& where);

}  // namespace stormcell

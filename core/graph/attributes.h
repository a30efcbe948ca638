// Named parameters of an operator: integers, reals, words, and lists of integers.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace stormcell {

using Attribute = std::variant<int64_t, double, std::string, std::vector<int64_t>>;

/// Ordered by name, so that the text form is canonical. get() with a default for optional ones; the others throw an
/// Error.
class Attributes {
 public:
  Attributes() = default;
  Attributes(std::initializer_list<std::pair<const std::string, Attribute>> list) : map_(list) {}

  bool has(std::string_view name) const { return map_.find(name) != map_.end(); }
  int64_t integer(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t otherwise) const { return has(name) ? integer(name) : otherwise; }
  double real(std::string_view name) const;
  double real(std::string_view name, double otherwise) const { return has(name) ? real(name) : otherwise; }
  const std::string& word(std::string_view name) const;
  std::string word(std::string_view name, std::string_view otherwise) const {
    return has(name) ? word(name) : std::string(otherwise);
  }
  const std::vector<int64_t>& list(std::string_view name) const;

  void set(std::string_view name, Attribute value) { map_.insert_or_assign(std::string(name), std::move(value)); }
  void erase(std::string_view name) {
    if (const auto at = map_.find(name); at != map_.end()) map_.erase(at);
  }
  auto begin() const { return map_.begin(); }
  auto end() const { return map_.end(); }
  bool operator==(const Attributes&) const = default;

 private:
  const Attribute& at(std::string_view name, const char* kind) const;
  std::map<std::string, Attribute, std::less<>> map_;
};

/// The shortest text that reads back as the same number, with a point or an exponent: "1e-07", "2.0".
std::string real_text(double value);

}  // namespace stormcell

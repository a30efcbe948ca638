// Reads one line of the text form piece by piece; every error names the line, what was expected and what came.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace stormcell {

class TextCursor {
 public:
  TextCursor(std::string_view where, std::string_view line, int64_t number)
      : where_(where), line_(line), number_(number) {}

  [[noreturn]] void fail(std::string_view expected);
  [[noreturn]] void complain(std::string_view what) const;
  /// "file:12"
  std::string place() const { return std::string(where_) + ":" + std::to_string(number_); }

  bool at_end();
  /// Takes `text` if it comes next; a word must end there.
  bool accept(std::string_view text);
  void expect(std::string_view text);
  /// True when `c` comes next; nothing is taken.
  bool sees(char c);
  /// A plain or quoted name.
  std::string name(std::string_view what);
  std::string quoted();
  /// "%name"
  std::string value_name();
  int64_t integer(std::string_view what);
  /// Everything up to one of `stops`, without the spaces around it.
  std::string_view until(std::string_view stops);

 private:
  void skip_spaces();

  std::string_view where_, line_;
  int64_t number_;
  size_t at_ = 0;
};

}  // namespace stormcell

// Prints the texts of generate on standard output while they are written.
#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "app/cli/console.h"
#include "core/summary/text_listener.h"

namespace stormcell::cli {

/// One text after the other, in the order of the data: the first that has not ended is printed as it comes, and those
/// behind it wait. At most kMostTexts of them, unless all are asked for.
class TextPrinter final : public TextListener {
 public:
  static constexpr int64_t kMostTexts = 8;
  explicit TextPrinter(Console& console);

  void begin(int64_t item, std::string_view prompt) override;
  void write(int64_t item, std::string_view text) override;
  void end(int64_t item) override;
  /// Any text was printed.
  bool printed() const { return shown_ > 0; }

 private:
  struct Waiting {
    std::string text;  ///< of it and its prompt, not printed yet
    bool ended = false;
  };
  void print(std::string_view text);
  void print_what_may();

  Console& console_;
  bool ascii_ = false, ends_line_ = true;
  int64_t shown_ = 0;  // texts that were begun
  std::map<int64_t, Waiting> waiting_;
};

}  // namespace stormcell::cli

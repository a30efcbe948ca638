// Ends a text that comes in pieces before the first of some texts. What may be the beginning of one is held back until
// it is known.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace stormcell {

class StopTexts {
 public:
  explicit StopTexts(std::vector<std::string> stops = {}) : stops_(std::move(stops)) {}

  /// The text that is certain after this piece. Empty once it has stopped.
  std::string add(std::string_view piece);
  /// The text that was held back. Call it once, after the last piece.
  std::string finish();
  /// One of the texts came: nothing behind its beginning counts.
  bool stopped() const { return stopped_; }

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_ = false;
};

}  // namespace stormcell

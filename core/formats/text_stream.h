// Writes the text of tokens as they come. A token that ends within a character waits for the rest of it.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace stormcell {

class Tokenizer;

/// The texts of all calls together are decode() of all ids, unless bytes are broken.
class TextStream {
 public:
  explicit TextStream(std::shared_ptr<const Tokenizer> tokenizer);

  /// The text that is certain after this token, which may be empty.
  std::string add(int32_t id);
  /// The rest. Call it once, after the last token.
  std::string finish();

 private:
  /// The text that was not written yet.
  std::string rest() const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::vector<int32_t> ids_;  // the tokens that were written last, and those that wait
  size_t written_ = 0;        // how many of ids_ were written
};

}  // namespace stormcell

// Uses a tokenizer that was accepted.
#pragma once
#include <array>

#include "core/formats/file_text.h"
#include "core/formats/text_stream.h"
#include "core/formats/tokenizer.h"
#include "tests/fuzz/fuzz.h"

namespace stormcell::fuzz {

inline void use(const std::shared_ptr<const Tokenizer>& opened) {
  const Tokenizer& tokenizer = *opened;
  static const std::array<std::string, 6> kTexts = {"",
                                                    "the cat  sat on\tthe sill. ",
                                                    "Où est la clé ? 1,334.00!",
                                                    "ｶﾒﾗ ½ e\u0301\u0300 아침에 \u1100\u1161\u11bc",
                                                    "😀 ჰჱ \u0001 </s> <extra_id_0> <x>",
                                                    std::string("a\0b▁▁", 9)};
  for (const std::string& text : kTexts) {
    const std::vector<int32_t> ids = tokenizer.encode(text, true);
    for (const int32_t id : ids)
      require(id >= 0 && id < tokenizer.vocabulary_size(), "ids are below the size of the vocabulary");
    require(find_invalid_utf8(tokenizer.decode(ids)) == std::string_view::npos, "decoded text is valid UTF-8");
    TextStream stream(opened);
    for (const int32_t id : ids)
      require(find_invalid_utf8(stream.add(id)) == std::string_view::npos, "streamed text is valid UTF-8");
    require(find_invalid_utf8(stream.finish()) == std::string_view::npos, "the end of streamed text is valid UTF-8");
  }
}

}  // namespace stormcell::fuzz

#include "core/formats/tokenizer_config.h"

#include "core/formats/sentencepiece_model.h"
#include "tests/fuzz/tokenizer_use.h"

using namespace stormcell;

namespace {
/// A tokenizer that accepts any configuration.
std::string small_model() {
  return plain_unigram_model(std::vector<Piece>{{"<unk>", 0, PieceType::unknown},
                                                {"<s>", 0, PieceType::control},
                                                {"</s>", 0, PieceType::control},
                                                {"a", -1},
                                                {" ", -1}},
                             false);
}
}  // namespace

STORMCELL_FUZZ_TARGET(tokenizer_config) {
  static const std::string kModel = small_model();
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  fuzz::refused_or_done([&] {
    const TokenizerConfig config = parse_tokenizer_config(json, "input");
    for (const FrameRule rule : {FrameRule{}, FrameRule{.begin = true, .end = false}}) {
      const auto tokenizer = Tokenizer::from_sentencepiece(kModel, "model", rule, config);
      for (const std::vector<int32_t>* ids : {&tokenizer->frame().before, &tokenizer->frame().behind})
        for (const int32_t id : *ids)
          fuzz::require(id >= 0 && id < tokenizer->vocabulary_size(), "special tokens are in the vocabulary");
      fuzz::use(tokenizer);
    }
  });
  return 0;
}

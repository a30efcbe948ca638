// A tokenizer for tests: one id a letter.
#pragma once
#include <string>

#include "core/data/dataset.h"
#include "core/formats/tokenizer.h"
#include "tests/testing/file_bytes.h"

namespace stormcell::testing {

/// a is 3, b is 4, ...; pad 0, end 1.
class Letters : public Tokenizer {
 public:
  std::vector<int32_t> encode(std::string_view text, bool framed) const override {
    std::vector<int32_t> ids;
    for (const char c : text) ids.push_back(c - 'a' + 3);
    return framed ? frame_.around(ids) : ids;
  }
  std::string decode(std::span<const int32_t> ids) const override {
    std::string text;
    for (const int32_t id : ids)
      if (id >= 3) text += static_cast<char>('a' + id - 3);
    return text;
  }
  std::string piece(int32_t) const override { return {}; }
  int32_t pad_id() const override { return 0; }
  const TokenFrame& frame() const override { return frame_; }
  int32_t vocabulary_size() const override { return 29; }
  const std::string& path() const override { return path_; }

 private:
  std::string path_ = "letters";
  TokenFrame frame_{{}, {1}};
};

/// Returns what an encoder asks for, and a decoder beside it.
inline std::vector<InputSpec> encoder_inputs() {
  return {{"input_ids", DType::i32, InputRole::ids, "token", "sequence", 0, {}},
          {"attention_mask", DType::i32, InputRole::mask, "token", "sequence", 0, {}}};
}
inline std::vector<InputSpec> decoder_inputs() {
  std::vector<InputSpec> inputs = encoder_inputs();
  inputs.push_back({"decoder_input_ids", DType::i32, InputRole::target, "decoder_token", "sequence", 0, {}});
  inputs.push_back({"decoder_attention_mask", DType::i32, InputRole::mask, "decoder_token", "sequence", 0, {}});
  return inputs;
}
/// Opens data for an encoder where the options name no inputs.
inline std::shared_ptr<const Dataset> open_data(const std::string& spec, std::shared_ptr<const Tokenizer> tokenizer,
                                                DataOptions options) {
  if (options.inputs.empty()) options.inputs = encoder_inputs();
  return Dataset::open(spec, std::move(tokenizer), options);
}

inline std::shared_ptr<const Tokenizer> letters() { return std::make_shared<Letters>(); }

}  // namespace stormcell::testing

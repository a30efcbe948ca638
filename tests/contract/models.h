// Small models and data for the program: fixtures of the reference implementation, and copies of them with one defect.
#pragma once
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/contract/program.h"
#include "tests/core/formats/scratch.h"

namespace stormcell::testing {

/// tests/reference/switch/NAME
std::string switch_model(const std::string& name = "encoder-decoder-8-experts");
std::string switch_data(const std::string& name = "encoder-decoder-8-experts");
std::string mixtral_model(const std::string& name = "top-2-of-8-grouped-heads");

/// A copy of a model folder in `scratch`, to be damaged.
class ModelCopy {
 public:
  explicit ModelCopy(const std::string& model = switch_model());
  std::string folder() const { return scratch_.path("model"); }
  std::string file(const std::string& name) const { return scratch_.path("model/" + name); }
  std::string weights() const { return file("model.safetensors"); }
  void change_config(const std::function<void(nlohmann::json&)>& change) const;
  /// The header of the weights, and the bytes of all tensors behind it.
  nlohmann::json header() const;
  std::string data() const;
  /// Changes the header; the data stay as they are.
  void change_header(const std::function<void(nlohmann::json&)>& change) const;
  /// Writes `value` over the first element of an f32 tensor.
  void poison(const std::string& tensor, float value) const;
  void write(const std::string& name, std::string_view content) const { scratch_.write("model/" + name, content); }
  const Scratch& scratch() const { return scratch_; }

 private:
  Scratch scratch_;
};

/// A copy of a Mixtral whose embeddings and head have `vocabulary` rows, for a tokenizer of that size. Its folder is in
/// `scratch`.
std::string mixtral_with_vocabulary(const Scratch& scratch, int64_t vocabulary);

/// encoder-only-dense with the vocabulary of tests/reference/tokenizers/spiece.model, and that tokenizer.
std::string model_with_tokenizer(const Scratch& scratch);

/// A safetensors file of some tensors of another one, in the order of `names`.
std::string file_of_tensors(const std::vector<std::string>& names, const nlohmann::json& header,
                            const std::string& data);

/// The warnings of a `run` without those about measuring, its counts, and the logits of its first batch, bit for bit.
struct ForwardRun {
  std::vector<std::string> warnings;
  std::string logits;
  int64_t masked = 0, unread_tensors = 0;
};
ForwardRun forward_run(const Scratch& scratch, const std::string& model, const std::string& data,
                       const Arguments& more = {});
/// True if figures of optimize, or of one of its passes, state a speed-up or say why it was not measured well enough.
/// The machine decides which.
bool states_or_withholds(const nlohmann::json& figures, const std::string& key = "speedup");
/// True if the rule forbids figures of optimize to state a speed-up. It is computed here from their conditions.
bool must_withhold(const nlohmann::json& figures);

/// "run" MODEL "--data" DATA, measuring no longer than it must, on one thread (under ThreadSanitizer two) where `more`
/// does not say how many.
Arguments short_run(const std::string& verb, const std::string& model, const std::string& data,
                    const Arguments& more = {});

}  // namespace stormcell::testing

// How well a decoder foresees a text: the mean of -log p of each token, given those before it in its sequence. The first
// token of a sequence has none before it, and is not judged. Perplexity is the exponential of that mean.
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "core/base/counted.h"
#include "core/quality/task.h"

namespace stormcell {
namespace {

/// -log of the softmax of one logit. Infinite if the logit has no probability, NaN if there are no probabilities.
double surprise(const float* logits, int64_t vocabulary, int32_t token) {
  float most = -std::numeric_limits<float>::infinity();
  for (int64_t v = 0; v < vocabulary; ++v) {
    if (std::isnan(logits[v])) return std::numeric_limits<double>::quiet_NaN();
    most = std::max(most, logits[v]);
  }
  double sum = 0;
  for (int64_t v = 0; v < vocabulary; ++v) sum += std::exp(static_cast<double>(logits[v]) - static_cast<double>(most));
  return std::log(sum) + static_cast<double>(most) - static_cast<double>(logits[token]);
}

class LanguageJudge final : public TaskJudge {
 public:
  LanguageJudge(const Dataset& data, int64_t vocabulary) : data_(data), vocabulary_(vocabulary) {}

  void score(const Batch& batch, const OutputValue& answers, std::vector<ItemScore>& scores) override {
    const auto at = std::ranges::find(batch.inputs, InputRole::ids, &BatchInput::role);
    if (batch.texts.empty() || at == batch.inputs.end()) return;
    const std::vector<int32_t>& ids = at->integers;
    const auto cells = std::ranges::find(batch.spaces, true, &BatchCells::holds_tokens);
    expect_values(batch, answers, std::ssize(ids) * vocabulary_, "the logits of its tokens");
    const int64_t per_item = std::ssize(ids) / batch.size();
    for (int64_t i = 0; i < batch.size(); ++i) {
      ItemScore score{.item = batch.items[i], .part = 0, .whole = 0};
      int64_t before = -1;  // the real token before
      for (int64_t t = i * per_item; t < (i + 1) * per_item; ++t) {
        if (cells != batch.spaces.end() && !cells->real.empty() && cells->real[t] == 0) continue;
        if (before >= 0) {
          score.part += surprise(answers.reals.data() + before * vocabulary_, vocabulary_, ids[t]);
          score.whole += 1;
        }
        before = t;
      }
      if (score.whole == 0) continue;
      if (std::isfinite(score.part))
        scores.push_back(score);
      else
        no_answers_.insert(batch.items[i]);
    }
  }

  std::vector<std::string> warnings() const override {
    if (no_answers_.empty()) return {};
    return {data_.name() + ": " + counted(std::ssize(no_answers_), "sequence has", "sequences have") +
            " tokens without a probability, and perplexity leaves them out; the first is " +
            data_.place(*no_answers_.begin())};
  }

 private:
  const Dataset& data_;
  int64_t vocabulary_;
  std::set<int64_t> no_answers_;  // items
};

}  // namespace

std::unique_ptr<TaskJudge> judge_language(const Model& model, const Dataset& data, std::vector<std::string>&) {
  if (!data.has_text()) return nullptr;
  return std::make_unique<LanguageJudge>(data, model.vocabulary);
}

}  // namespace stormcell

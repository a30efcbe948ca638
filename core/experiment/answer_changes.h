// Two runs over the same data, compared item by item: which answers and which bits of outputs differ.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/bench/ready_plan.h"
#include "core/bench/state.h"
#include "core/formats/tokenizer.h"
#include "core/summary/changed_answers.h"
#include "core/summary/what_if.h"

namespace stormcell {

/// One item's outputs.
struct ItemAnswers {
  uint64_t bits = 0;             ///< of its real cells' outputs, hashed
  std::vector<int32_t> answers;  ///< answers that count; of decoding the tokens that were written
};

/// The outputs of one run, each item once. Kept, they take 4 bytes an answer.
struct RunAnswers {
  std::string output;                    ///< output that answers; empty: none does
  std::string answer;                    ///< the word for one
  std::map<int64_t, ItemAnswers> items;  ///< by number in the data
};

/// Reads the answers of a forward pass or of decoding while it runs.
class AnswerReader {
 public:
  /// `new_tokens`: of each sequence at most, in decoding; 0: a forward pass.
  AnswerReader(const ExperimentState& state, int64_t new_tokens);
  /// The outputs of one batch, each batch once.
  void add(const Batch& batch, const ReadyPlan& plan);
  const RunAnswers& answers() const { return answers_; }

 private:
  void add_texts(const Batch& batch, const std::vector<int32_t>& tokens);
  void add_bits(const OutputValue& output, const std::vector<int32_t>& real, std::vector<ItemAnswers>& items) const;
  void add_answers(const OutputValue& output, const std::vector<int32_t>& real, std::vector<ItemAnswers>& items) const;

  RunAnswers answers_;
  int64_t classes_ = 0;  // among which an answer is the largest
  int64_t new_tokens_;
};

/// Changes over all items that both runs have. `item`: the noun for one.
AnswersChanged changed_answers(const RunAnswers& before, const RunAnswers& after, const std::string& item);

/// The texts that differ, of two runs that decoded. `tokenizer`: null where there is none.
std::vector<ChangedText> changed_texts(const RunAnswers& before, const RunAnswers& after, const Tokenizer* tokenizer);

}  // namespace stormcell

// Two runs over the same data, compared batch by batch: which answers and which bits of outputs differ.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/bench/ready_plan.h"
#include "core/bench/state.h"
#include "core/summary/what_if.h"

namespace stormcell {

class AnswerChanges {
 public:
  explicit AnswerChanges(const ExperimentState& state);

  enum class Side : uint8_t { before, after };
  /// The outputs of one batch, each side once.
  void add(Side side, const Batch& batch, const ReadyPlan& plan);
  /// Over all items that both sides ran.
  void write_to(WhatIfFigures& figures) const;

 private:
  /// One item's outputs.
  struct Answered {
    uint64_t bits = 0;             ///< of its real cells' outputs, hashed
    std::vector<int32_t> answers;  ///< those that count
  };
  void add_bits(const OutputValue& output, const std::vector<int32_t>& real, std::vector<Answered>& items) const;
  void add_answers(const OutputValue& output, const std::vector<int32_t>& real, std::vector<Answered>& items) const;

  const ExperimentState& state_;
  std::string output_;                                // that answers; empty: none does
  std::string answer_;                                // the word for one
  int64_t classes_ = 0;                               // among which an answer is the largest
  std::map<int64_t, std::array<Answered, 2>> items_;  // by number in the data
};

}  // namespace stormcell

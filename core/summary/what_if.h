// Figures of what-if: a model as it came beside the same model with its routing changed.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/summary/changed_answers.h"
#include "core/summary/results.h"

namespace stormcell {

/// A measure before and after.
struct QualityChange {
  std::string name;   ///< name of the class; empty: all items
  int64_t items = 0;  ///< items that were judged
  double before = 0, after = 0;
  std::optional<std::array<double, 2>> before_ci95, after_ci95;
  /// Whether the intervals have no value in common. False if there are none.
  bool is_beyond() const {
    return before_ci95 && after_ci95 && ((*before_ci95)[1] < (*after_ci95)[0] || (*after_ci95)[1] < (*before_ci95)[0]);
  }
};

/// The cells that the branches of one router got, padding left out.
struct LoadChange {
  std::string router;
  std::vector<int32_t> off;  ///< its branches that are off
  std::vector<int64_t> before, after;
  std::string capacity = {};                      ///< "8", "1.25x", "all"; empty: it was not changed
  int64_t dropped_before = 0, dropped_after = 0;  ///< choices that a capacity dropped, padding included
};

inline constexpr int64_t kMostChangedTexts = 1000;

/// A text that was decoded otherwise.
struct ChangedText {
  int64_t item = 0, place = 0;                       ///< place of the first token that differs, counted from 0
  std::optional<int32_t> token_before, token_after;  ///< its ids; nothing: that text had ended
  std::string before, after;                         ///< the texts; ids with blanks between if there is no tokenizer
};

struct WhatIfFigures {
  std::vector<std::string> changes;     ///< a sentence for each part of the intervention: "a.router/3 is off"
  std::string item;                     ///< "picture", "sequence", "item"; "text" if it was decoded
  ChangedCount outputs;                 ///< items of whose outputs any bit differs
  std::string answer;                   ///< "answer", "token", "pixel"; empty: the model's outputs are no answers
  std::optional<ChangedCount> answers;  ///< nothing: the same
  std::vector<ChangedText> texts;       ///< in the data's order, the first kMostChangedTexts; empty: no decoding
  std::string measure, unit;            ///< names of the quality, as QualityFigures has them; empty: the data do not
                                        ///< tell it
  bool more_is_better = true;
  std::optional<QualityChange> quality;
  std::vector<QualityChange> groups;  ///< by class
  /// counted for an item; nothing: there are no item costs
  std::optional<double> operations_before, operations_after;
  std::vector<LoadChange> routers;  ///< those that were changed
  std::shared_ptr<const RunSummaryFigures> before, after;
  std::vector<std::string> warnings;
};

/// "stormcell.what-if/1"
std::string to_json(const WhatIfFigures& figures);

}  // namespace stormcell

// Answers to single items, from the figures of a run of a network that tells classes.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

struct KnownAnswer {
  std::string answer;  ///< the class that was answered; empty: not known
  bool wrong = false;
};

class KnownAnswers {
 public:
  KnownAnswers() = default;
  /// `quality` has to outlive this; null: nothing is known. `items`: of the run.
  KnownAnswers(const QualityFigures* quality, int64_t items);
  KnownAnswer of(int64_t item, const std::string& label) const;
  /// Items that are known to be answered wrong, ascending.
  std::vector<int64_t> wrong_items() const;

 private:
  const QualityFigures* quality_ = nullptr;
  bool all_judged_ = false;  ///< items that are not listed as wrong are right
};

}  // namespace stormcell

#include "core/readings/known_answers.h"

#include <algorithm>

namespace stormcell {

KnownAnswers::KnownAnswers(const QualityFigures* quality, int64_t items) : quality_(quality) {
  if (!quality) return;
  const PlanQuality* plan = quality->baseline    ? &*quality->baseline
                            : quality->optimized ? &*quality->optimized
                                                 : nullptr;
  if (!plan || !plan->counted) return;
  // Figures of earlier versions count wrong answers, and do not list them.
  const size_t wrong = std::max<int64_t>(0, plan->items - *plan->counted);
  all_judged_ = quality->wrong.size() == std::min(wrong, kMostWrong) && quality->items == items;
}

std::vector<int64_t> KnownAnswers::wrong_items() const {
  std::vector<int64_t> items;
  if (quality_)
    for (const WrongAnswer& w : quality_->wrong) items.push_back(w.item);
  return items;
}

KnownAnswer KnownAnswers::of(int64_t item, const std::string& label) const {
  if (!quality_ || label.empty()) return {};
  const std::vector<WrongAnswer>& wrong = quality_->wrong;
  const auto at = std::lower_bound(wrong.begin(), wrong.end(), item,
                                   [](const WrongAnswer& w, int64_t number) { return w.item < number; });
  if (at != wrong.end() && at->item == item) return {at->answer, true};
  // A list that was cut says nothing of later items.
  return all_judged_ && (wrong.size() < kMostWrong || at != wrong.end()) ? KnownAnswer{label, false} : KnownAnswer{};
}

}  // namespace stormcell

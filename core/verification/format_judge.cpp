#include "core/verification/format_judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "core/models/model.h"

namespace stormcell {
namespace {

const OutputValue* output(const Observed& o, std::string_view name) {
  const auto at =
      std::find_if(o.outputs.begin(), o.outputs.end(), [&](const OutputValue& v) { return v.name == name; });
  return at == o.outputs.end() ? nullptr : &*at;
}

/// The outputs that are compared: the logits alone.
std::vector<OutputValue> logits_of(const Observed& o) {
  const OutputValue* logits = output(o, kLogits);
  return logits ? std::vector{*logits} : std::vector<OutputValue>();
}

/// [sequences] how many tokens two texts have before they part, and the one where they do.
std::vector<int64_t> tokens_that_count(const std::vector<int32_t>& expected, const std::vector<int32_t>& ours,
                                       int64_t tokens) {
  std::vector<int64_t> counts;
  for (size_t first = 0; first < expected.size(); first += static_cast<size_t>(tokens)) {
    int64_t count = 0;
    while (count < tokens && expected[first + count] >= 0) {
      const size_t at = first + count++;
      if (at >= ours.size() || ours[at] != expected[at]) break;
    }
    counts.push_back(count);
  }
  return counts;
}

/// The cells of tokens that count, by output.
std::map<std::string, std::vector<int32_t>> real_logits(const std::vector<int64_t>& counts, int64_t tokens) {
  std::vector<int32_t> real;
  for (const int64_t count : counts)
    for (int64_t t = 0; t < tokens; ++t) real.push_back(t < count);
  return {{std::string(kLogits), std::move(real)}};
}

}  // namespace

void FormatJudge::add_replayed(const std::vector<OutputValue>& ours, const Observed& stored) {
  replayed_.add(ours, stored.outputs, stored.real, stored.items);
}

void FormatJudge::add_free(const Observed& ours, const Observed& stored, const std::vector<JudgedDecision>& expected) {
  free_.add(ours.outputs, stored.outputs, stored.real, stored.items);
  const ChoiceCount count = count_choices(expected, ours.decisions);
  choices_.choices += count.choices, choices_.elsewhere += count.elsewhere;
}

void FormatJudge::add_decoded(const Observed& stored, const Observed& replayed, const Observed& free, int64_t tokens) {
  const std::vector<int32_t>& expected = output(stored, kGenerated)->integers;
  const auto counts_of = [&](const Observed& ours) {
    return tokens_that_count(expected, output(ours, kGenerated)->integers, tokens);
  };
  const std::vector<int64_t> counts = counts_of(free);
  const auto items = std::ssize(counts);
  const std::vector<OutputValue> theirs = logits_of(stored);
  replayed_.add(logits_of(replayed), theirs, real_logits(counts_of(replayed), tokens), items);
  free_.add(logits_of(free), theirs, real_logits(counts, tokens), items);
  const ChoiceCount count = count_choices(decisions_of_tokens(stored.decisions, counts), free.decisions);
  choices_.choices += count.choices, choices_.elsewhere += count.elsewhere;
  const std::vector<int32_t>& ours = output(free, kGenerated)->integers;
  for (int64_t s = 0; s < items; ++s, ++sequences_)
    equal_ += std::equal(expected.begin() + s * tokens, expected.begin() + (s + 1) * tokens, ours.begin() + s * tokens);
}

void FormatJudge::judge(DType format, double tolerance, Verification& v) const {
  FormatCost& cost = v.format.emplace();
  cost.dtype = std::string(to_text(format));
  cost.outputs = replayed_.differences();
  const std::vector<OutputDifference> freely = free_.differences();
  for (size_t i = 0; i < cost.outputs.size(); ++i) cost.outputs[i].free_max_rel_diff = freely[i].max_rel_diff;
  cost.max_rel_diff = largest(cost.outputs);
  cost.free_max_rel_diff = largest(freely);
  cost.choices = choices_.choices, cost.differing_choices = choices_.elsewhere;
  cost.sequences = sequences_, cost.equal_sequences = equal_;
  cost.tolerance = tolerance;
  cost.passed = cost.max_rel_diff <= tolerance;
  if (!cost.passed)
    v.reasons.push_back(fmt::format("{} changes the outputs by {:.2g} of their largest value; the tolerance is {:.2g}",
                                    cost.dtype, cost.max_rel_diff, cost.tolerance));
}

}  // namespace stormcell

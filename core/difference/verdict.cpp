#include "core/difference/verdict.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/counted.h"
#include "core/base/listed_words.h"
#include "core/difference/branch_causes.h"
#include "core/difference/place_causes.h"
#include "core/difference/weight_causes.h"

namespace stormcell {
namespace {

constexpr double kMostlyTies = .85, kFirstAgrees = .9, kUnlike = .5, kOtherWeights = .2;
constexpr const char* kRecordScores =
    "record scores with profile --record-scores, or margins with a recorder (list: stormcell recorder)";
// A bias or groups of branches overruled the scores, so more scores would tell no more.
constexpr const char* kRecordMargins = "record margins with a recorder (list: stormcell recorder)";
constexpr const char* kRecordWeights = "record weights with stormcell recorder transformers-5, pytorch or llama-cpp";

std::string percent(double share) {
  const double value = share * 100;
  const int64_t hundredths = std::llround(value * 100);
  std::string text = std::to_string(hundredths / 100);
  if (hundredths % 100)
    text += "." + std::to_string(hundredths % 100 / 10) +
            (hundredths % 10 ? std::to_string(hundredths % 10) : std::string());
  return text + " %";
}

double share(int64_t part, int64_t of) { return of > 0 ? static_cast<double>(part) / static_cast<double>(of) : 0; }

/// Causes in the choices themselves, the one that explains most first.
std::vector<FoundCause> causes_of_choices(const SampledChoices& sample) {
  std::vector<FoundCause> found;
  const auto add = [&](std::optional<FoundCause> cause) {
    if (cause && cause->explained >= kExplainedPart) found.push_back(*std::move(cause));
  };
  std::optional<FoundCause> shifted = find_token_shift(sample), padded = find_recorded_padding(sample);
  // Padding in front of a request moves its tokens.
  if (shifted && padded) {
    padded->evidence += "; " + shifted->evidence, padded->explained = shifted->explained;
    add(std::exchange(padded, std::nullopt));
  } else {
    add(shifted);
  }
  add(find_layer_shift(sample));
  add(find_exchanged_requests(sample));
  add(find_permuted_ids(sample));
  const std::optional<FoundCause> shared = find_shared_experts(sample);
  add(shared);
  add(find_ignored_groups(sample));
  if (!shared) add(find_other_k(sample));
  std::stable_sort(found.begin(), found.end(),
                   [](const FoundCause& x, const FoundCause& y) { return x.explained > y.explained; });
  // Without a disagreement beside it, padding stands behind what explains one.
  add(padded);
  return found;
}

void set_cause(const FoundCause& cause, DiffVerdict& verdict) {
  verdict.cause = to_text(cause.cause);
  verdict.confidence = cause.explained;
  verdict.evidence = cause.evidence;
  verdict.next = next_check(cause.cause);
}

FoundCause agreement_of(const DifferenceFigures& f) {
  FoundCause cause{DiffCause::agree, 1, {}};
  if (f.differing > 0) {
    cause.explained = share(*f.near_ties, f.origins);
    cause.evidence = "these recordings agree but for near ties: " + percent(share(f.differing, f.compared)) + " of " +
                     counted(f.compared, "choice") + " of cells differ, and " + with_commas(*f.near_ties) + " of the " +
                     counted(f.origins, "cell") + " where a difference begins are near ties";
    return cause;
  }
  cause.evidence = "all " + counted(f.compared, "choice") + " of cells are the same sets";
  return cause;
}

std::string with_servers(const char* advice, const std::string& servers) {
  return servers.empty() ? advice : std::string(advice) + "; " + servers;
}

void tell_missing(const HeldParts& held, const DifferenceFigures& f, DiffVerdict& verdict) {
  std::string record;
  if (f.differing > 0 && !held.margins && verdict.cause.empty()) {
    verdict.cannot_be_told.emplace_back(to_text(DiffCause::router_precision));
    record = held.scores ? kRecordMargins : with_servers(kRecordScores, held.margins_how);
  }
  if (!held.weights) {
    for (const DiffCause cause :
         {DiffCause::softmax_order, DiffCause::not_renormalised, DiffCause::scale_lost, DiffCause::bias_in_weights})
      verdict.cannot_be_told.emplace_back(to_text(cause));
    add_to_list(record, with_servers(kRecordWeights, held.weights_how), "; ");
  }
  verdict.record = record;
}

/// The verdict where no rule tells a cause.
void judge_rest(const HeldParts& held, const DifferenceFigures& f, DiffVerdict& verdict) {
  if (f.differing == 0) {
    FoundCause cause = agreement_of(f);
    if (f.weights && f.weights->median_difference > kOtherWeights && f.weights->median_unexplained > kOtherWeights)
      cause = {DiffCause::unlike, 0,
               "the choices agree, but weights of a cell differ by " + percent(f.weights->median_difference) +
                   " in the middle, and no rule tells why"};
    return set_cause(cause, verdict);
  }
  if (f.near_ties && share(*f.near_ties, f.origins) >= kMostlyTies) return set_cause(agreement_of(f), verdict);
  const auto first = std::find_if(f.layers.begin(), f.layers.end(), [](const DiffLayer& l) { return l.cells > 0; });
  const double at_first = first == f.layers.end() ? 1 : *first->agreement;
  std::string evidence =
      percent(share(f.differing, f.compared)) + " of " + counted(f.compared, "choice") + " of cells differ";
  if (f.near_ties)
    evidence += ", and " + with_commas(*f.near_ties) + " of the " + counted(f.origins, "cell") +
                " where a difference begins are near ties";
  if (held.margins || at_first <= kUnlike) {
    FoundCause unlike{DiffCause::unlike, 0, evidence + "; no rule tells why"};
    if (at_first <= kUnlike)
      unlike.evidence += "; at the first router they have " + percent(at_first) + " of their choices in common";
    return set_cause(unlike, verdict);
  }
  verdict.evidence = evidence + "; why cannot be told from " + (held.scores ? "these scores" : "ids");
  verdict.next = "the margins of the cells that differ: near ties are chance, others are not";
}

}  // namespace

void judge(const SampledChoices& sample, const HeldParts& held, DifferenceFigures& f) {
  DiffVerdict& verdict = f.verdict;
  if (!held.margins) f.record_margins = held.scores ? kRecordMargins : with_servers(kRecordScores, held.margins_how);
  std::vector<FoundCause> found;
  if (f.exchanged > 0)
    found.push_back({DiffCause::requests_exchanged, 1,
                     counted(f.exchanged, "request has", "requests have") +
                         " the number of another request in b, told by their tokens; matched by tokens, " +
                         percent(1 - share(f.differing, f.compared)) + " of the choices of cells agree"});
  for (FoundCause& cause : causes_of_choices(sample)) found.push_back(std::move(cause));
  WeightFigures weights = compare_weights(sample);
  if (weights.compared > 0)
    f.weights = DiffWeights{weights.compared, weights.mean_sum_a, weights.mean_sum_b, weights.median_difference,
                            weights.median_unexplained};
  const auto first = std::find_if(f.layers.begin(), f.layers.end(), [](const DiffLayer& l) { return l.cells > 0; });
  if (first == f.layers.end() || *first->agreement >= kFirstAgrees || found.empty())
    for (FoundCause& cause : weights.causes) found.push_back(std::move(cause));
  if (f.differing > 0)
    if (std::optional<FoundCause> precision = find_router_precision(sample)) found.push_back(*std::move(precision));
  if (std::optional<FoundCause> scores = find_other_scores(sample);
      scores &&
      std::none_of(found.begin(), found.end(), [](const FoundCause& c) { return c.cause == DiffCause::softmax_order; }))
    found.push_back(*std::move(scores));
  if (found.empty())
    judge_rest(held, f, verdict);
  else
    set_cause(found[0], verdict);
  tell_missing(held, f, verdict);
  for (size_t i = 1; i < found.size(); ++i)
    verdict.also.push_back({std::string(to_text(found[i].cause)), found[i].evidence,
                            std::string(next_check(found[i].cause)), found[i].explained});
}

}  // namespace stormcell

#include "core/verification/verify_decoded.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/summary/verdict_text.h"
#include "core/verification/relative_error.h"

namespace stormcell {
namespace {

/// The least share of the reference's tokens whose logits have to be compared. A sequence's first token, which always
/// is, shows no more than its prompt's pass; only later turns read what turns before them wrote. A quarter is four of
/// the 16 tokens that are verified, at least two such turns. Honest runs hold it easily: if one token of a thousand
/// differs, nine of ten batches of eight that share a capacity, and are cut off together, are compared past their
/// twelfth.
constexpr double kLeastCompared = 0.25;

const OutputValue& output(const Observed& o, std::string_view name) {
  for (const OutputValue& v : o.outputs)
    if (v.name == name) return v;
  failed("generate", "the decoding graph gives no " + std::string(name));
}

/// Takes the tokens out. All other outputs are judged as those of a forward pass.
std::vector<int32_t> take_tokens(Observed& o) {
  std::vector<int32_t> tokens = output(o, kGenerated).integers;
  std::erase_if(o.outputs, [](const OutputValue& v) { return v.name == kGenerated; });
  return tokens;
}

/// The logits that one token was chosen by.
std::span<const float> logits_at(const Observed& o, size_t place, size_t places) {
  const std::vector<float>& all = output(o, kLogits).reals;
  const size_t width = all.size() / places;
  return {all.data() + place * width, width};
}
/// The token of the largest logit but one, the lowest of equals.
int32_t best_of(std::span<const float> logits, int32_t but) {
  int32_t best = -1;
  for (size_t i = 0; i < logits.size(); ++i)
    if (static_cast<int32_t>(i) != but && (best < 0 || logits[i] > logits[best])) best = static_cast<int32_t>(i);
  return best;
}
}  // namespace

void DecodedJudge::add(const Batch& batch, Observed reference, Observed replayed, Observed free,
                       const std::vector<int32_t>& ours, std::span<const int64_t> stopped) {
  const Tokens expected = take_tokens(reference), of_replay = take_tokens(replayed), of_free = take_tokens(free);
  const auto sequences = std::ssize(expected) / tokens_;
  std::vector<int64_t> first(sequences, tokens_);  // by sequence: place of the first token that differs
  for (const Tokens* list : {&of_replay, &of_free, &ours})
    for (int64_t s = 0; s < sequences; ++s)
      for (int64_t t = 0, end = list == &ours ? end_of(stopped, s) : tokens_; t < std::min(first[s], end); ++t)
        if ((*list)[at(s, t)] != expected[at(s, t)]) first[s] = t;
  // Sequences that share a capacity take each other's places: all read the same as long as every one does.
  const bool by_itself = reference.by_item.contains(std::string(kLogits));
  if (!by_itself && sequences > 0) first.assign(first.size(), *std::min_element(first.begin(), first.end()));

  // Up to and with that token a sequence reads the same. One that has ended decodes what nobody reads.
  std::vector<int64_t> turns;
  for (const int64_t place : first) turns.push_back(std::min(place + 1, tokens_));
  std::vector<int32_t>& counts = reference.real[std::string(kLogits)];
  counts.assign(expected.size(), 0);
  for (int64_t s = 0; s < sequences; ++s)
    for (int64_t t = 0; t < turns[s]; ++t) {
      counts[at(s, t)] = expected[at(s, t)] >= 0;
      if (expected[at(s, t)] < 0 || t >= end_of(stopped, s)) continue;
      ++compared_;
      furthest_ = std::max(furthest_, t + 1);
    }
  for (int64_t s = 0; s < sequences; ++s)
    for (int64_t t = 0; t < end_of(stopped, s); ++t) written_ += expected[at(s, t)] >= 0;
  for (Observed* o : {&reference, &replayed, &free}) o->decisions = decisions_of_tokens(o->decisions, turns);
  reference.items = sequences;
  const Reached reached = judge_.add(batch.index, reference, replayed, &free);
  const bool apart = !reached.every_item && by_itself;

  measure(expected, of_replay, reference, replayed);
  compare_with_own(batch, of_replay, replayed);
  compare_with_own(batch, of_free, free);
  compare_written(batch, ours, stopped, {{&of_free, &free}, {&expected, &reference}});
  for (int64_t s = 0; s < sequences; ++s) {
    ++sequences_;
    const int64_t end = end_of(stopped, s);
    equal_ += std::equal(ours.begin() + s * tokens_, ours.begin() + s * tokens_ + end, expected.begin() + s * tokens_);
    const int64_t place = first[s];
    if (place == tokens_) continue;
    const std::span<const float> logits = logits_at(reference, at(s, place), expected.size());
    const bool follows = reached.any && (!apart || reached.items.contains(s));
    const auto compare = [&](const Tokens& list, bool may_follow, bool written) {
      const int32_t theirs = expected[at(s, place)], got = list[at(s, place)];
      if (got == theirs) return;
      // Both wrote the same up to here. A text that continues behind its end, or ends without an end token, follows
      // from no logit and no choice.
      const bool one_ended = theirs < 0 || got < 0;
      const double margin = one_ended ? INFINITY : choice_.margin(logits, theirs, got, {batch.items[s], place});
      differing_.push_back({batch.items[s], place, theirs, got, margin, size_of(logit_of(logits, theirs)),
                            may_follow && !one_ended, written, false});
    };
    compare(of_replay, false, false);
    compare(of_free, follows, false);
    if (place < end) compare(ours, follows, true);
  }
  ++batches_;
}

void DecodedJudge::add_own(const Batch& batch, Observed execution, const std::vector<int32_t>& ours,
                           std::span<const int64_t> stopped) {
  const Tokens tokens = take_tokens(execution);
  compare_with_own(batch, tokens, execution);
  compare_written(batch, ours, stopped, {{&tokens, &execution}});
  compared_ += std::count_if(ours.begin(), ours.end(), [](int32_t token) { return token >= 0; });
  ++batches_;
}

void DecodedJudge::measure(const Tokens& expected, const Tokens& of_replay, const Observed& reference,
                           const Observed& replayed) {
  const std::vector<int32_t>& counts = reference.real.at(std::string(kLogits));
  for (size_t i = 0; i < expected.size(); ++i) {
    if (counts[i] == 0) continue;
    const std::span<const float> theirs = logits_at(reference, i, expected.size()),
                                 ours = logits_at(replayed, i, expected.size());
    const int32_t next = best_of(theirs, expected[i]);
    const double best = logit_of(theirs, expected[i]), margin = best - logit_of(theirs, next);
    if (!std::isfinite(margin)) continue;
    logits_.add_size(size_of(best));
    // A token that differs measures nothing: it would explain itself.
    if (of_replay[i] == expected[i])
      logits_.add_difference(std::fabs(logit_of(ours, expected[i]) - logit_of(ours, next) - margin), size_of(best));
  }
}

void DecodedJudge::compare_with_own(const Batch& batch, const Tokens& tokens, const Observed& execution) {
  for (int64_t s = 0; s < batch.size(); ++s)
    for (int64_t t = 0; t < tokens_ && tokens[at(s, t)] >= 0; ++t) {
      const std::span<const float> logits = logits_at(execution, at(s, t), tokens.size());
      const TokenPlace place{batch.items[s], t};
      const int32_t best = choice_.token(logits, place), got = tokens[at(s, t)];
      if (got != best)
        differing_.push_back({batch.items[s], t, best, got, choice_.margin(logits, best, got, place),
                              size_of(logit_of(logits, best)), false, false, true});
    }
}

void DecodedJudge::compare_written(const Batch& batch, const Tokens& ours, std::span<const int64_t> stopped,
                                   const std::vector<std::pair<const Tokens*, const Observed*>>& executions) {
  for (int64_t s = 0; s < batch.size(); ++s) {
    auto alike = executions;  // up to here
    for (int64_t t = 0; t < end_of(stopped, s) && !alike.empty(); ++t) {
      const int32_t got = ours[at(s, t)];
      std::optional<Differing> nearest;
      bool is_one = false;
      for (const auto& [tokens, execution] : alike) {
        const int32_t theirs = (*tokens)[at(s, t)];
        is_one |= theirs == got;
        // The logits behind the end of its text say nothing.
        const std::span<const float> logits = logits_at(*execution, at(s, t), ours.size());
        const double best = theirs < 0 ? 0 : logit_of(logits, theirs),
                     margin = theirs < 0 ? INFINITY : choice_.margin(logits, theirs, got, {batch.items[s], t});
        if (!nearest || margin < nearest->margin)
          nearest = {batch.items[s], t, theirs, got, margin, size_of(best), false, true, true};
      }
      if (!is_one) differing_.push_back(*nearest);
      std::erase_if(alike, [&](const auto& execution) { return (*execution.first)[at(s, t)] != got; });
    }
  }
}

bool DecodedJudge::is_near(const Differing& d, double share) const {
  return d.margin <= kMarginFactor * share * logits_.scale(d.size);
}

void DecodedJudge::judge_tokens(bool own, Verification& v) const {
  const double share = std::max(logits_.largest(), rounding_unit(arithmetic_));
  const Differing* worst = nullptr;
  int64_t unexplained = 0;
  for (const Differing& d : differing_) {
    if (d.own != own) continue;
    const bool near = is_near(d, share);
    v.tokens->near_ties += !own && d.written && near;
    v.tokens->follows += !own && d.written && !near && d.follows;
    if (near || d.follows) continue;
    ++unexplained;
    if (!worst || d.margin > worst->margin) worst = &d;
  }
  if (!worst) return;
  const std::string of = own ? fmt::format("its own logits say {}, and those", worst->best)
                             : fmt::format("{} decodes {}, and their logits", reference_, worst->best);
  const std::string where = worst->best < 0 ? (own ? "its own" : reference_ + "'s") + " text has ended"
                                            : fmt::format("{} differ by {:.2g}", of, worst->margin);
  v.reasons.push_back(fmt::format("token {} of sequence {} is {} where {}: no near tie{}", worst->place, worst->item,
                                  worst->got, where,
                                  unexplained > 1 ? fmt::format(" ({} tokens like it)", unexplained) : ""));
}

Verification DecodedJudge::verification(int64_t written) const {
  Verification v = judge_.verdict();
  v.batches = batches_;
  v.tokens = DecodedTokens{sequences_, equal_, tokens_, compared_, 0, 0};
  judge_tokens(false, v);
  judge_tokens(true, v);
  v.passed = v.reasons.empty();
  const DecodedTokens& t = *v.tokens;
  const std::string compared =
      written > 0 ? fmt::format("{} of {} written tokens", with_commas(compared_), with_commas(written))
                  : compared_text();
  v.text = fmt::format("the first {} of {} of {} equal {}'s; the logits of {} compared", counted(t.tokens, "token"),
                       t.equal, counted(t.sequences, "sequence"), reference_, compared);
  if (t.near_ties > 0)
    v.text += fmt::format("; {} a near tie", counted(t.near_ties, "token differs,", "tokens differ, each"));
  if (t.follows > 0)
    v.text += fmt::format("; {} from a routing choice", counted(t.follows, "token follows", "tokens follow"));
  return v;
}

std::string DecodedJudge::compared_text() const {
  return fmt::format("{} of {}", with_commas(compared_), counted(written_, "token"));
}

void DecodedJudge::refuse_too_little(const std::string& where, Verification& v) const {
  if (static_cast<double>(compared_) >= kLeastCompared * static_cast<double>(written_)) return;
  v.reasons.push_back(fmt::format(
      "{}{}{} could be compared ({:.0f} %), and {:.0f} % have to be; after a near tie another text is decoded", where,
      kInconclusive, compared_text(), 100 * static_cast<double>(compared_) / written_, 100 * kLeastCompared));
  v.what_to_do = "compare fewer tokens with --max-new-tokens, or more batches with --verify-seconds";
}

DecodedVerification decoded_verification(const Verification& v) {
  DecodedVerification d;
  d.passed = v.passed, d.reasons = v.reasons, d.what_to_do = v.what_to_do;
  d.batches = v.batches, d.sequences = v.tokens->sequences, d.equal = v.tokens->equal, d.tokens = v.tokens->tokens;
  d.compared = v.tokens->compared, d.tolerance = v.tolerance, d.max_rel_diff = v.max_rel_diff;
  d.flips = v.flips, d.explained_flips = v.explained_flips, d.near_ties = v.tokens->near_ties,
  d.follows = v.tokens->follows;
  d.text = fmt::format("{}; largest difference {:.2g} of the largest one (tolerance {:.1g}); {}", v.text,
                       v.max_rel_diff, v.tolerance, flips_text(v));
  return d;
}

}  // namespace stormcell

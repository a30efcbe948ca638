// Decoding as it is judged: by its tokens, by the logits that they were chosen by, and by what its routers decided.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/bench/sampling_options.h"
#include "core/verification/flip_items.h"
#include "core/verification/judged_plan.h"
#include "core/verification/judged_texts.h"
#include "core/verification/verify_decoded.h"

namespace stormcell {
namespace {

/// With so many rows, a sequence uses the second page of its states: one turn writes there, and the next one reads it.
constexpr int64_t kPastAPage = kPageRows + 2;

/// Rows that a prompt leaves in a sequence's states; a decoder behind an encoder begins with one token.
int64_t rows_of_prompt(const Batch& batch, int64_t item, bool has_encoder) {
  int64_t rows = has_encoder ? 1 : 0;
  for (const BatchCells& cells : batch.spaces) {
    if (has_encoder || !cells.holds_tokens) continue;
    if (cells.real.empty()) return cells.per_item;
    const auto begin = cells.real.begin() + item * cells.per_item;
    rows = std::count(begin, begin + cells.per_item, 1);
  }
  return rows;
}

/// Bytes of logits that are held at most to compare a text with its own.
constexpr int64_t kMostLogits = int64_t{128} << 20;

/// Number of tokens after which every text that parts from the other has done so, for two texts of each sequence
/// [sequences, tokens]. 0: none parts.
int64_t tokens_until_parted(const std::vector<int32_t>& a, const std::vector<int32_t>& b, int64_t tokens) {
  int64_t most = 0;
  for (size_t begin = 0; begin < a.size(); begin += static_cast<size_t>(tokens))
    for (int64_t t = 0; t < tokens; ++t) {
      const size_t at = begin + static_cast<size_t>(t);
      if (a[at] == b[at]) continue;
      most = std::max(most, t + 1);
      break;
    }
  return most;
}

/// [sequences, new_tokens] the tokens that a plan decoded last of a batch.
const std::vector<int32_t>& tokens_of(ExperimentState& state, ReadyPlan& plan, const Batch& batch) {
  if (!plan.decoded.contains(batch.index)) state.run_batch(plan, batch, {});
  return plan.decoded.at(batch.index);
}

/// Its logits come from the same plan that keeps them, which runs beside it; the tokens are those that the plan itself
/// wrote.
class JudgedDecoding final : public JudgedPlan, public JudgedTexts {
 public:
  JudgedDecoding(const WorkloadJudge& judge, ReadyPlan& plan, int64_t tokens, const Progress& progress)
      : JudgedDecoding(
            judge, plan, tokens,
            judge.work().state().make_plan(plan.name() + ", with its logits", plan.judged(), tokens, progress)) {}

  void compare_with_oracle(const Batch& batch, const Observed& reference, FormatJudge* format) override {
    compare(batch, reference, beside_oracle_, format);
  }
  void compare_with_stored(const Batch& batch, const Observed& stored, FormatJudge& format) override {
    if (goes_elsewhere(batch, stored.decisions)) return;
    const Observed replayed = run(batch, &stored), free = run(batch, nullptr);
    Observed expected = stored;
    expected.decisions = made_by_plan(batch, std::move(expected.decisions));
    format.add_decoded(expected, replayed, free, tokens_);
  }
  void compare_with_baseline(const Batch& batch, Observed reference) override {
    compare(batch, std::move(reference), beside_baseline_, nullptr);
  }

  JudgedTexts* texts() override { return this; }

  /// The first batch with a text that the plan wrote past a page of states. Which have run is known: the first one of
  /// all has.
  std::optional<Further> further(const std::vector<int64_t>& batches, const CancellationToken& cancel) const override {
    const ExperimentState& s = work_.state();
    if ((s.model->has_encoder ? 0 : s.data->max_length() - 1) + plan_.new_tokens <= kPageRows) return {};
    for (const int64_t b : batches) {
      const int64_t tokens = plan_.decoded.contains(b) ? tokens_past_a_page(s.data->batch(b, cancel)) : 0;
      if (tokens > 0 && tokens <= tokens_ && b == batches.front()) return {};  // it is compared that far
      if (tokens > 0) return Further{b, std::max(tokens, tokens_)};
    }
    return {};
  }
  void compare_further(const Batch& batch, const Observed& reference, int64_t tokens,
                       const Progress& progress) override {
    JudgedDecoding judged(judge_, plan_, tokens, progress);
    judged.compare_with_oracle(batch, reference, nullptr);
    further_.emplace(std::move(judged.beside_oracle_));
  }

  /// The longest text that it wrote.
  void compare_with_own(const Progress& progress) override {
    int64_t longest = 0, number = 0;
    for (const auto& [b, tokens] : plan_.decoded)
      for (size_t begin = 0; begin < tokens.size(); begin += static_cast<size_t>(plan_.new_tokens)) {
        const int64_t written = count_written(std::span(tokens).subspan(begin, plan_.new_tokens));
        if (written > longest) longest = written, number = b;
      }
    if (longest <= tokens_) return;
    const Batch batch = work_.state().data->batch(number, progress.cancel);
    const int64_t bytes_of_turn = batch.size() * work_.state().model->vocabulary * 4;
    const int64_t tokens = std::min(longest, kMostLogits / std::max<int64_t>(bytes_of_turn, 1));
    if (tokens <= tokens_) return;
    progress.report("verifying a text to its end", 0, 0);
    JudgedDecoding to_the_end(judge_, plan_, tokens, progress);
    own_.emplace(work_.tolerance_beside_itself(), work_.arithmetic_beside_itself(), tokens, "the plan itself",
                 work_.state().nonfinite(), choice());
    own_->add_own(batch, to_the_end.run(batch, nullptr), to_the_end.first_tokens(batch), stopped(batch));
  }
  void compare_texts(ReadyPlan& baseline, double until, const Progress& progress) override {
    std::map<int64_t, int64_t> parted;  // by batch: the number of tokens that show it
    for (const auto& [b, ours] : plan_.decoded) {
      const auto theirs = baseline.decoded.find(b);
      const int64_t tokens =
          theirs == baseline.decoded.end() ? 0 : tokens_until_parted(ours, theirs->second, plan_.new_tokens);
      if (tokens > 0) parted.emplace(b, tokens);
    }
    parted_count_ = std::ssize(parted);
    for (const auto& [b, tokens] : parted) {
      if (!parted_.empty() && seconds_now() >= until) break;
      progress.report("verifying texts that part from the baseline's", std::ssize(parted_), parted_count_);
      parted_.emplace(b, compare_text(work_.state().data->batch(b, progress.cancel), baseline, tokens, progress));
    }
  }

  Verification verdict() const override {
    int64_t written = 0;
    for (const auto& [batch, tokens] : plan_.decoded) written += count_written(tokens);
    Verification v = beside_oracle_.verification(written);
    if (further_) {
      const int64_t tokens = further_->tokens(), furthest = further_->furthest();
      add_found(in_the_first(tokens), further_->verification(), v);
      v.text += fmt::format("; the first {} of one batch too, {} compared", counted(tokens, "token"),
                            further_->compared_text());
      if (furthest < tokens) v.text += fmt::format(", none past the first {} of a sequence", furthest);
    }
    if (own_) {
      add_found("to the end of its text", own_->verification(), v);
      v.text += fmt::format("; each of {} of one batch what its own logits say", counted(own_->compared(), "token"));
    }
    if (beside_baseline_.batches() > 0) add_found("beside the baseline", beside_baseline_.verification(), v);
    for (const auto& [batch, found] : parted_)
      add_found(fmt::format("beside the baseline's text of batch {}", batch), found, v);
    if (parted_count_ > 0)
      v.text += fmt::format("; {} written otherwise than by the baseline, {} of them compared",
                            counted(parted_count_, "batch", "batches"), parted_.size());
    add_elsewhere(v);
    name_decoded_items(*work_.state().data, *work_.state().model, v.listed);
    return v;
  }
  std::vector<std::string> differences() const override {
    Verification v = beside_baseline_.verification();
    add_elsewhere(v);
    return v.reasons;
  }
  void refuse_too_little(Verification& v) const override {
    beside_oracle_.refuse_too_little("", v);
    if (further_) further_->refuse_too_little(in_the_first(further_->tokens()) + ": ", v);
    beside_baseline_.refuse_too_little("beside the baseline: ", v);
  }

 private:
  /// Compares one batch as far as texts part. The baseline's text has to be its own, too, or the plan would answer for
  /// it.
  Verification compare_text(const Batch& batch, ReadyPlan& baseline, int64_t tokens, const Progress& progress) {
    JudgedDecoding of_baseline(judge_, baseline, tokens, progress), judged(judge_, plan_, tokens, progress);
    const Observed reference = of_baseline.run(batch, nullptr);
    judged.compare_with_baseline(batch, reference);
    Verification found = judged.beside_baseline_.verification();
    DecodedJudge own(work_.tolerance_beside_itself(), work_.arithmetic_beside_itself(), tokens, "the baseline",
                     work_.state().nonfinite(), choice());
    own.add_own(batch, reference, of_baseline.first_tokens(batch));
    add_found("the baseline", own.verification(), found);
    return found;
  }

  JudgedDecoding(const WorkloadJudge& judge, ReadyPlan& plan, int64_t tokens, std::unique_ptr<ReadyPlan> with_logits)
      : JudgedPlan(judge, *with_logits),
        plan_(plan),
        tokens_(tokens),
        with_logits_(std::move(with_logits)),
        beside_oracle_(work_.tolerance(), work_.arithmetic(), tokens, "the oracle", work_.state().nonfinite(),
                       choice()),
        beside_baseline_(work_.tolerance_beside_baseline(plan), work_.arithmetic_beside_baseline(plan), tokens,
                         "the baseline", work_.state().nonfinite(), choice()) {
    with_logits_->promises = plan.promises;
    with_logits_->forced = plan.forced;
  }

  void compare(const Batch& batch, Observed reference, DecodedJudge& judge, FormatJudge* format) {
    if (goes_elsewhere(batch, reference.decisions)) return;
    Observed replayed = run(batch, &reference), free = run(batch, nullptr);
    reference.decisions = made_by_plan(batch, std::move(reference.decisions));
    if (format) format->add_decoded(reference, replayed, free, tokens_);
    judge.add(batch, std::move(reference), std::move(replayed), std::move(free), first_tokens(batch), stopped(batch));
  }
  TokenChoice choice() const { return TokenChoice(sampling_of(work_.state().options)); }
  /// How many tokens of each sequence count where the host ended texts; empty: all.
  std::span<const int64_t> stopped(const Batch& batch) const {
    const auto at = plan_.stopped.find(batch.index);
    return at == plan_.stopped.end() ? std::span<const int64_t>() : std::span<const int64_t>(at->second);
  }
  static std::string in_the_first(int64_t tokens) { return "in the first " + counted(tokens, "token"); }
  /// The fewest tokens of each sequence that show the second page of one's states: of those whose text the plan wrote
  /// as far as there, which may end there. 0: none did.
  int64_t tokens_past_a_page(const Batch& batch) const {
    int64_t fewest = 0;
    const std::vector<int32_t>& all = plan_.decoded.at(batch.index);
    for (int64_t i = 0; i < batch.size(); ++i) {
      const auto begin = all.begin() + i * plan_.new_tokens;
      const int64_t written = count_written({begin, begin + plan_.new_tokens});
      // The last token is written and never read.
      const int64_t before = rows_of_prompt(batch, i, work_.state().model->has_encoder) - 1;
      if (written == 0 || before + written <= kPageRows) continue;
      const int64_t tokens = std::clamp<int64_t>(kPastAPage - before, 1, written);
      fewest = fewest == 0 ? tokens : std::min(fewest, tokens);
    }
    return fewest;
  }
  /// [sequences, tokens] that the plan decoded last.
  std::vector<int32_t> first_tokens(const Batch& batch) {
    const std::vector<int32_t>& all = tokens_of(work_.state(), plan_, batch);
    std::vector<int32_t> first;
    for (int64_t i = 0; i < batch.size(); ++i) {
      const auto begin = all.begin() + i * plan_.new_tokens;
      first.insert(first.end(), begin, begin + tokens_);
    }
    return first;
  }

  ReadyPlan& plan_;
  int64_t tokens_;
  std::unique_ptr<ReadyPlan> with_logits_;
  DecodedJudge beside_oracle_, beside_baseline_;
  std::optional<DecodedJudge> further_;     // judge of the batch of which more is compared
  std::optional<DecodedJudge> own_;         // judge of one batch to its end
  std::map<int64_t, Verification> parted_;  // by batch
  int64_t parted_count_ = 0;                // number of batches, whether there was time to compare them or not
};

class DecodingJudge final : public WorkloadJudge {
 public:
  explicit DecodingJudge(Workload& work) : WorkloadJudge(work, RepeatStop::ignored) {}
  std::unique_ptr<JudgedPlan> judged(ReadyPlan& plan, int64_t tokens, const Progress& progress) const override {
    return std::make_unique<JudgedDecoding>(*this, plan, tokens, progress);
  }
  /// The result of a plan is its tokens. If they are the baseline's, the plan does not differ; otherwise the logits
  /// decide.
  bool wrote_alike(ReadyPlan& plan, ReadyPlan& baseline, const Batch& batch) const override {
    return tokens_of(work().state(), plan, batch) == tokens_of(work().state(), baseline, batch);
  }
};

}  // namespace

std::unique_ptr<WorkloadJudge> judge_of_decoding(Workload& work) { return std::make_unique<DecodingJudge>(work); }

}  // namespace stormcell

// Decoding beside the oracle: every token, the logits it was chosen by, and what each router chose on the way to it.
//
// Tokens cannot be replayed as decisions can: if one differs, another text follows. So a sequence is compared up to its
// first token that differs, in any of its executions (if sequences share a capacity, all of a batch up to the first of
// theirs). That token has to be explained: its logit lies as near to the reference's as rounding reaches, or a routing
// choice before it differs, is explained itself and reaches its sequence. Behind it, too, each token has to be the one
// that the logits of its own execution say.
#pragma once
#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/bench/state.h"
#include "core/verification/judge.h"
#include "core/verification/token_choice.h"

namespace stormcell {

/// The figures as `generate` has them, from a verification that has tokens.
DecodedVerification decoded_verification(const Verification& verification);

class DecodedJudge {
 public:
  /// `tokens`: of each sequence, at most. `tolerance`: of the logits, as a share of the largest. `reference`: what
  /// sentences call it. `choice`: how tokens follow from logits.
  DecodedJudge(double tolerance, Arithmetic arithmetic, int64_t tokens, std::string reference = "the oracle",
               NonFinite nonfinite = NonFinite::refused, TokenChoice choice = {})
      : arithmetic_(arithmetic),
        tokens_(tokens),
        reference_(std::move(reference)),
        choice_(std::move(choice)),
        judge_(tolerance, arithmetic, nonfinite) {}

  /// One batch: outputs kGenerated [sequences, tokens] and kLogits [sequences * tokens, n] of the reference, of the
  /// plan with the reference's decisions replayed, and of the plan running freely; `ours` [sequences, tokens]: what was
  /// written in the run that is judged, -1 behind its end. `stopped`: by sequence, how many of these tokens count because
  /// the host ended its text there; empty: all. The other executions went on.
  void add(const Batch& batch, Observed reference, Observed replayed, Observed free, const std::vector<int32_t>& ours,
           std::span<const int64_t> stopped = {});
  /// Compares one batch without a reference: each written token with the logits of the judged plan, which ran once
  /// more.
  void add_own(const Batch& batch, Observed execution, const std::vector<int32_t>& ours,
               std::span<const int64_t> stopped = {});
  /// Outputs and routing as Judge::verdict() has them, and the tokens. `written`: by the run that is judged, of all
  /// batches, for the text; 0: nobody says.
  Verification verification(int64_t written = 0) const;
  DecodedVerification verdict() const { return decoded_verification(verification()); }

  int64_t tokens() const { return tokens_; }  ///< tokens of each sequence, at most
  int64_t batches() const { return batches_; }
  int64_t compared() const { return compared_; }
  /// "40 of 48 tokens": those of the reference's tokens whose logits, and the routing that led to them, were compared.
  std::string compared_text() const;
  /// The most tokens of a sequence that were compared.
  int64_t furthest() const { return furthest_; }
  /// Changes a verification that found nothing wrong: if near ties cut nearly all tokens away, it says too little to
  /// pass. `where` begins the reason.
  void refuse_too_little(const std::string& where, Verification& verification) const;

 private:
  /// A token that is not the one that some logits give.
  struct Differing {
    int64_t item = 0, place = 0;
    int32_t best = 0, got = 0;
    double margin = 0, size = 0;  ///< TokenChoice::margin() of the two; what its error is measured by
    bool follows = false;         ///< behind a routing choice that differs
    bool written = false;         ///< written in the run that is judged; else in an execution beside it
    bool own = false;             ///< the logits are those of the execution itself, not the reference's
  };
  using Tokens = std::vector<int32_t>;  ///< [sequences, tokens]
  /// The tokens of a sequence that count among those of the run that is judged.
  int64_t end_of(std::span<const int64_t> stopped, int64_t sequence) const {
    return stopped.empty() ? tokens_ : std::min(tokens_, stopped[sequence]);
  }
  size_t at(int64_t sequence, int64_t place) const { return static_cast<size_t>(sequence * tokens_ + place); }
  void measure(const Tokens& expected, const Tokens& of_replay, const Observed& reference, const Observed& replayed);
  /// Each token beside the logits that it was chosen by.
  void compare_with_own(const Batch& batch, const Tokens& tokens, const Observed& execution);
  /// Compares each written token with the logits of an execution that chose the same tokens before, as long as there is
  /// one.
  void compare_written(const Batch& batch, const Tokens& ours, std::span<const int64_t> stopped,
                       const std::vector<std::pair<const Tokens*, const Observed*>>& executions);
  bool is_near(const Differing& differing, double share) const;
  /// Reports the worst of those that nothing explains.
  void judge_tokens(bool own, Verification& verification) const;

  Arithmetic arithmetic_;
  int64_t tokens_;
  std::string reference_;
  TokenChoice choice_;
  Judge judge_;
  RelativeError logits_;  ///< errors of the distance of the best two
  std::vector<Differing> differing_;
  int64_t batches_ = 0, sequences_ = 0, equal_ = 0, compared_ = 0, written_ = 0,
          furthest_ = 0;  // written: by the reference
};

}  // namespace stormcell

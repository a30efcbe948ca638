// How a plan was judged beside the oracle.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stormcell {

/// A cell whose branches differ from the reference's.
struct Flip {
  std::string router;
  int64_t batch = 0, execution = 0;  ///< execution: how often a router of this name decided before
  int64_t turn = -1;                 ///< turn of the repeat that the router is in (of decoding, say); -1: it is in none
  int64_t cell = 0;                  ///< its row in the batch's dense space
  int64_t item = -1,
          position = 0;  ///< number of the cell's item in the data set, and its place there; -1: an older run does not
                         ///< say
  std::string above;     ///< the branches that led there, of nested routers: "stage.0=1, stage.1=0"; else empty
  int32_t reference = 0, ours = 0;  ///< branches, -1: none
  double margin = 0, score_error = 0;
  bool explained = false;  ///< its own margin in the reference is below 8 times the router's score error
  /// a consequence of a flip before it, seen where the plan runs freely: not judged by its margin
  bool follows = false;
};

/// One output of the graph beside the reference's, each item on its own scale (the usual one where that is larger).
struct OutputDifference {
  std::string name;
  double max_abs_diff = 0, max_rel_diff = 0;  ///< with the reference's decisions replayed
  double free_max_rel_diff = 0;               ///< free-running, flips included
};

/// One router beside the reference's, asked on the reference's inputs.
struct RouterDifference {
  std::string router;
  double score_error = 0;   ///< error of a margin if scores have the usual size: the largest share of the size that one
                            ///< differs by, times that
  double score_scale = 0;   ///< that size, in the margins' unit
  double weight_error = 0;  ///< largest difference of a weight
  int64_t flips = 0, explained_flips = 0;
};

/// The price of another number format than the stored one: the plan beside the oracle on the stored weights.
struct FormatCost {
  std::string dtype;
  double max_rel_diff = 0,
         tolerance = 0;  ///< with that oracle's decisions replayed, which is what the tolerance judges
  bool passed = false;
  std::vector<OutputDifference> outputs;
  double free_max_rel_diff = 0;  ///< running freely
  int64_t choices = 0,
          /// of the oracle; those that the plan, running freely, makes otherwise; 0, 0: not counted
      differing_choices = 0;
  /// Decoded sequences, and those of them in which no token differs although they run freely. A sequence counts up to
  /// its first token that differs.
  int64_t sequences = 0, equal_sequences = 0;
};

/// "0.42 running freely, where 99 of 5,760 routing choices (1.7 %) differ from those of the stored weights"; empty: not
/// counted.
std::string free_cost_text(const FormatCost& cost);

/// The further comparisons where tokens are decoded: the first ones of each sequence.
struct DecodedTokens {
  int64_t sequences = 0, equal = 0;  ///< equal: all tokens that were compared
  int64_t tokens = 0;                ///< tokens of each sequence, at most
  int64_t compared = 0;              ///< tokens whose logits, and the routing that led to them, were compared
  int64_t near_ties = 0,
          follows = 0;  ///< tokens that differ: logits nearly equal; behind a routing choice that differs
};

/// So many pictures of a batch were compared with the oracle, which would have taken too long for all.
struct JudgedPart {
  int64_t batch = 0, pictures = 0, of = 0;
};
/// "8 of 128 pictures of batch 0"; of many batches the first three, and how many more.
std::string parts_text(const std::vector<JudgedPart>& parts);

/// Nodes of a plan that were proved together.
struct ExactRegion {
  int64_t nodes = 0;
  std::optional<bool> equal;  ///< nothing: not known
};
/// Needs of a proof that did not run.
struct ExactNeeds {
  int64_t bytes = 0;
  double seconds = 0;
};
/// The plan beside its model in a finite field, which has no rounding (docs/method/verification.md).
struct ExactProof {
  int64_t draws = 0;          ///< of inputs and of decisions
  int64_t plans = 0;          ///< that are equal: the stated one first, then those on the way and of single passes
  std::optional<bool> equal;  ///< nothing: not known; `reason` says why
  int64_t nodes = 0;          ///< of the plan
  int64_t branches_without_cells = 0;
  std::vector<ExactRegion> regions;
  std::optional<ExactNeeds> needs;  ///< only if it is not known whether the plan is equal
  std::string first_difference;     ///< empty: none
  std::string reason;               ///< empty: it is known
};

/// The execution is judged by an oracle that holds the weights of the format that runs.
struct Verification {
  bool passed = false;
  std::string text;                  ///< "3 of 100 batches against the oracle, 97 more against the baseline"
  std::vector<std::string> reasons;  ///< why it did not pass, a sentence each
  std::string what_to_do;            ///< about it; empty: it is an error of the program
  double tolerance = 0, max_abs_diff = 0, max_rel_diff = 0;  ///< the largest of all outputs, each on its own scale
  double free_max_rel_diff = 0;                              ///< free-running, flips included
  int64_t batches = 0;                                       ///< compared with the oracle, whole or in part
  std::vector<JudgedPart> parts;                             ///< those of them that were judged in part
  int64_t baseline_batches = 0;                              ///< optimised compared with the baseline
  int64_t flips = 0, explained_flips = 0;
  /// of flips: cells that decide otherwise, are dropped or kept, or are there on one side only, further on
  int64_t consequences = 0;
  int64_t dropped = 0;    ///< dropped by the reference, for capacity
  int64_t nonfinite = 0;  ///< values that are not finite, the same on both sides, with --allow-nonfinite
  std::vector<OutputDifference> outputs;
  std::vector<RouterDifference> routers;
  std::optional<FormatCost> format;     ///< set if the plan does not run in the stored format
  std::optional<DecodedTokens> tokens;  ///< for decoding
  std::optional<ExactProof> exact;      ///< nothing: there is no plan beside the model, or an older run
  std::vector<Flip> listed;             ///< 100 at most: unexplained ones first, consequences last
  double seconds = 0;
};

/// "Equal exactly (4 draws) and numerically (210 of 210 batches)", of so many batches of the data. Empty: there was no
/// plan to prove.
std::string equality_text(const Verification& verification, int64_t batches);

/// "no routing choice differs", "2 routing choices differ, all of them near ties; 5 more follow from them", ...
std::string flips_text(const Verification& verification);

/// Decoding beside the oracle: the first tokens of the first batches. If a token differs, its sequence is compared up
/// to that token, and so are all of its batch if sequences share a capacity: from there on another text is decoded. A
/// token whose logit is nearly equal to another's may differ; so may one behind a routing choice that was explained. It
/// did not pass if too few tokens are left.
struct DecodedVerification {
  bool passed = false;
  std::vector<std::string> reasons;  ///< why it did not pass, a sentence each
  std::string what_to_do;            ///< about it; empty: it is an error of the program
  int64_t batches = 0;               ///< compared, and of them
  int64_t sequences = 0, equal = 0;  ///< equal: all tokens that were compared
  int64_t tokens = 0;                ///< tokens of each sequence, at most
  int64_t compared = 0;              ///< tokens whose logits, and the routing that led to them, were compared
  double tolerance = 0,
         max_rel_diff = 0;  ///< largest error of the logits with the oracle's decisions replayed, as a share of the
                            ///< largest logit
  int64_t flips = 0, explained_flips = 0;  ///< flips of routing choices
  int64_t near_ties = 0,
          follows = 0;  ///< tokens that differ: logits nearly equal; behind a routing choice that differs
  std::string text;     ///< "the first 16 tokens of 3 of 3 sequences equal the oracle's; the logits of 48 of 96 written
                        ///< tokens compared ..."
};

}  // namespace stormcell

// Cells that the figures of a difference name one by one.
#pragma once
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stormcell {

/// The first position of a request at which a choice differs.
struct DiffSequence {
  int64_t request = 0;  ///< its number in a
  int32_t position = 0;
  std::string router;
  int32_t token = -1;  ///< at this position; -1: not recorded
  std::string text;    ///< of the token, as the vocabulary has it; empty: not recorded
};
/// A cell whose choices differ at a router, with the choices of both recordings.
struct DiffSample {
  int32_t layer = 0, group = 0;  ///< indexes into `layers`, and into its `positions`
  int64_t request = 0;           ///< its number in a
  int32_t position = 0;
  int32_t token = -1;            ///< -1: not recorded
  std::string text;              ///< of the token, as the vocabulary has it; empty: not recorded
  bool consequence = false;      ///< an earlier router's choices of the cell differ too
  std::optional<double> margin;  ///< null: not recorded
  std::vector<int32_t> a, b;     ///< branches in the order of the recording
  /// Scores of either(), before softmax or sigmoid if the recording has them so; empty: that side did not record them.
  std::vector<float> scores_a, scores_b;
  /// Branches of a, then those that b alone has.
  std::vector<int32_t> either() const {
    std::vector<int32_t> branches = a;
    for (const int32_t branch : b)
      if (std::find(a.begin(), a.end(), branch) == a.end()) branches.push_back(branch);
    return branches;
  }
};

}  // namespace stormcell

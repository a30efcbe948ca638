// How the answers of a run differ from those of another run over the same data.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace stormcell {

/// The item of AnswersChanged where it was decoded.
inline constexpr const char* kDecodedItem = "text";

/// Things that came out otherwise, of all.
struct ChangedCount {
  int64_t changed = 0, of = 0;
  std::optional<std::array<double, 2>> share_ci95;  ///< over the items; nothing: too few of them
  double share() const { return of > 0 ? static_cast<double>(changed) / static_cast<double>(of) : 0; }
};

struct AnswersChanged {
  int64_t run = 0;                      ///< number in the session of the run that these are compared with; 0: none
  std::string item;                     ///< "picture", "sequence", "item"
  ChangedCount outputs;                 ///< items of whose outputs any bit differs
  std::string answer;                   ///< "answer", "token", "pixel"; empty: the model's outputs are no answers
  std::optional<ChangedCount> answers;  ///< nothing: the same
  /// Place of the earliest token that differs, counted from 0, and the item whose text has it. Nothing: no text differs,
  /// or nothing was decoded.
  std::optional<int64_t> first_token = {}, first_item = {};
};

}  // namespace stormcell

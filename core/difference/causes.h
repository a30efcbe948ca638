// Causes of a difference between two recordings.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/enum_words.h"

namespace stormcell {

enum class DiffCause : uint8_t {
  agree,
  layer_shift,         ///< routers of one recording are another layer's of the other
  ids_permuted,        ///< branches have other numbers
  shared_experts,      ///< one recording lists branches that every cell gets
  other_k,             ///< cells have another number of choices
  softmax_order,       ///< weights are made from scores by another rule
  not_renormalised,    ///< weights of a cell do not sum up to one in b
  scale_lost,          ///< all weights differ by one factor
  bias_in_weights,     ///< weights hold what each branch adds to its scores
  groups_ignored,      ///< choices are not confined to some groups of branches
  router_precision,    ///< scores are rounded to a shorter number format
  token_shift,         ///< choices are those of a neighbouring token
  padding_recorded,    ///< padding is recorded as cells
  requests_exchanged,  ///< choices are those of another request
  unlike,              ///< they differ, and no rule above tells why
};
inline constexpr std::array<std::string_view, 15> kDiffCauses = {"agree",
                                                                 "layer-shift",
                                                                 "ids-permuted",
                                                                 "shared-experts",
                                                                 "other-k",
                                                                 "softmax-order",
                                                                 "not-renormalised",
                                                                 "scale-lost",
                                                                 "bias-in-weights",
                                                                 "groups-ignored",
                                                                 "router-precision",
                                                                 "token-shift",
                                                                 "padding-recorded",
                                                                 "requests-exchanged",
                                                                 "unlike"};
inline std::string_view to_text(DiffCause cause) { return row_of(kDiffCauses, cause); }
/// The next thing that a user should look at.
std::string_view next_check(DiffCause cause);

/// A cause that the recordings show.
struct FoundCause {
  DiffCause cause = DiffCause::unlike;
  double explained = 0;  ///< the part of the disagreement that it takes away, on cells that it was not fitted to
  std::string evidence;
};

}  // namespace stormcell

// A failure that only the data of a step shows. A kernel of a card cannot throw: it leaves the failure in the status of
// the execution (status_area.h), and the executor throws it once the device is done. The oracle throws the same words.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "core/graph/graph.h"

namespace stormcell {

/// Plain numbers: a device writes it in its own memory.
struct StepFailure {
  enum What : int32_t {
    none = 0,
    rows_beyond_places = 1,  ///< `got` rows of a parent from place `at` on, where a state has `most` places
    missing_page = 2,        ///< no page of a state for place `at` of sequence `parent`
    elsewhere = 3,           ///< a submission goes on at leaf `got`, and the device waits at leaf `at`; -1: nowhere
  };
  int32_t what = none;
  NodeId node;  ///< node that was computed; kNone: whoever finds the failure does not know it
  int64_t parent = 0, at = 0, got = 0, most = 0;
  explicit operator bool() const { return what != none; }
};

/// Says what was expected and what came, without the node.
std::string to_text(const StepFailure& failure);
/// Throws Error(failed) about the node of this name. `device`: that found the failure; empty: the host.
[[noreturn]] void throw_failure(std::string_view node, const StepFailure& failure, std::string_view device = {});

}  // namespace stormcell

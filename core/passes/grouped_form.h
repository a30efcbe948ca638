// What a node with weights of its own in each branch (a product, a convolution, a norm) hands to the grouped form that
// its operator names.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "core/graph/operator.h"

namespace stormcell {

inline bool has_grouped_form(const Node& node) { return !node.op->grouped_as.empty(); }

/// The inputs of which its grouped form has one for each branch: all weights before the extras, and a bias. None where
/// it has no grouped form.
std::vector<size_t> own_weights(const Node& node);
/// The first extra or attribute of a node that its grouped form does not know; empty: it knows all.
std::string not_grouped(const Node& node);
/// What of its attributes the grouped form carries, which still needs its branches and slots.
Attributes grouped_attributes(const Node& node);

}  // namespace stormcell

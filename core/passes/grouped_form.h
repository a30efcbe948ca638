// Weights and attributes that a node with weights of its own in each branch (a product, a convolution, a norm) hands to
// the grouped form that its operator names.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "core/graph/operator.h"

namespace stormcell {

inline bool has_grouped_form(const Node& node) { return !node.op->grouped_as.empty(); }

/// Inputs of a node of which the grouped form has one for each branch: all weights before the extras, and a bias. None
/// if it has no grouped form.
std::vector<size_t> own_weights(const Node& node);
/// The first extra or attribute of a node that its grouped form does not know; empty: it knows all.
std::string not_grouped(const Node& node);
/// Attributes of a node that its grouped form carries; that still needs its branches and slots.
Attributes grouped_attributes(const Node& node);

}  // namespace stormcell

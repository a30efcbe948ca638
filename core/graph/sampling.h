// The rule of a `sample` node, as its attributes hold it.
#pragma once
#include "core/cell/sampling.h"
#include "core/graph/graph.h"

namespace stormcell {

SamplingRule sampling_of(const Node& node);
Attributes sampling_attributes(const SamplingRule& rule);

}  // namespace stormcell

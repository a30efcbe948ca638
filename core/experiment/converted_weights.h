// A model in another number format than the stored one.
#pragma once
#include <memory>

#include "core/graph/graph.h"
#include "core/weights/weight_source.h"

namespace stormcell {

/// The stored weights in another number format: what `--dtype` asks for. Integers and what is small (norms) stay as they are.
struct ConvertedModel {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const WeightSource> weights;
};
ConvertedModel convert_weights(std::shared_ptr<const Graph> graph, std::shared_ptr<const WeightSource> weights, DType to);

}  // namespace stormcell

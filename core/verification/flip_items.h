// The cells that differ: their items' numbers in the data, and their places there.
#pragma once
#include <vector>

#include "core/data/dataset.h"
#include "core/models/model.h"
#include "core/summary/results.h"

namespace stormcell {

/// Names the items of flips by their numbers in the data. A judge names them by their places in a batch.
void name_items(const Dataset& data, std::vector<Flip>& flips);
/// The same if `model` decodes: a cell that a turn added has the place that a session records, behind its own prompt.
void name_decoded_items(const Dataset& data, const Model& model, std::vector<Flip>& flips);

}  // namespace stormcell

// Small batches drawn from the whole field, for the inputs that a graph declares.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/graph.h"
#include "core/oracle/residue_oracle.h"

namespace stormcell {

/// The padding that a mask has in the data. A plan may rely on it.
struct DrawnPadding {
  bool none = true;  ///< every cell is real
  bool last = true;  ///< padding lies behind the real cells of a sequence
};

struct FieldExtents {
  int64_t items = 1;       ///< pictures or sequences
  int64_t most_cells = 8;  ///< of an item, where a symbol counts them
  int64_t vocabulary = 0;  ///< ids are below it
  /// Symbols with a value of their own, such as the tokens to decode.
  std::vector<std::pair<std::string, int64_t>> fixed = {};
  /// By the mask's name; a mask that is not named has no padding.
  std::map<std::string, DrawnPadding, std::less<>> padding = {};
};

struct DrawnBatch {
  Bindings bindings;
  OracleInputs<Residue> inputs;
};

/// Symbols count unlike numbers of cells: the first `most_cells`, each further one less.
Bindings field_bindings(const Graph& graph, const FieldExtents& extents);
DrawnBatch draw_field_batch(const Graph& graph, const FieldExtents& extents, uint64_t seed);

}  // namespace stormcell

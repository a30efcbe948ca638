// Loads of a router's branches over a window of consecutive batches, and tables of pairs of branches.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace stormcell {

/// Loads of all branches of one router over a window of batches. Sums, so that windows merge by adding.
struct RouterLoads {
  int64_t batches = 0;
  int64_t cells = 0;             ///< cells that came, padding included
  std::vector<int64_t> load;     ///< cells a branch got, padding included
  std::vector<int64_t> padding;  ///< of these, padding
  std::vector<int64_t> dropped;  ///< cells that a capacity kept out
  std::vector<int64_t> padded;   ///< load by the rule of supported capacities: rows that a padded product would compute
  std::vector<double> weight;    ///< sum of the weights of the cells it got

  RouterLoads() = default;
  explicit RouterLoads(int32_t branches);
  int32_t branches() const { return static_cast<int32_t>(load.size()); }
  /// [branches] load without padding.
  std::vector<int64_t> real() const;
  /// Cells without padding, if each cell gets `fan_out` branches. `cells` includes padding, so its part is estimated
  /// from the choices.
  int64_t cells_without_padding(int32_t fan_out) const;
  void add(const RouterLoads& other);
  void clear();
  bool operator==(const RouterLoads&) const = default;
};

/// One entry of a sparse table of counts.
struct PairCount {
  int32_t from = 0, to = 0;
  int64_t count = 0;
  bool operator==(const PairCount&) const = default;
};

/// Sparse counts of pairs (branch of one router, branch of the next; or two branches of one router), ascending by
/// (from, to).
struct PairTable {
  int32_t rows = 0, columns = 0;
  std::vector<PairCount> entries;
  int64_t total() const;
  /// Dense [rows, columns].
  std::vector<int64_t> dense() const;
  /// Adds a table of the same shape.
  void add(const PairTable& other);
  bool operator==(const PairTable&) const = default;
};

}  // namespace stormcell

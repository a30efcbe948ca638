// Choices of cells, kept as small as their ids allow: one byte each up to 253 branches. Of a sample of the cells it also
// keeps weights and scores.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "core/difference/cell_index.h"
#include "core/traces/trace.h"

namespace stormcell {

/// A share of all cells, told by request and position alone, so that two recordings sample the same ones.
class CellSample {
 public:
  CellSample() = default;
  explicit CellSample(double share);
  bool holds(int64_t request, int32_t position) const;
  bool holds_all() const { return all_; }

 private:
  bool all_ = true;
  uint64_t limit_ = 0;
};

class ChoiceStore {
 public:
  ChoiceStore(const TraceHeader& header, const std::vector<RouterParts>& parts);

  /// Room for `cells` more of a stack: numbers from the first free one on. Until set() they met no router.
  int64_t add(int32_t stack, int64_t cells);
  int64_t cells(int32_t stack) const { return stacks_[stack].cells; }
  void set(int32_t router, int64_t cell, std::span<const int32_t> choice);
  /// Keeps weights (and scores) of a cell; call it before set_details().
  void keep_details(int32_t stack, int64_t cell, bool scores);
  void set_details(int32_t router, int64_t cell, std::span<const float> weights, std::span<const float> scores);

  /// Kept with two digits.
  void set_margin(int32_t router, int64_t cell, float margin);
  /// Not a number: not kept.
  float margin(int32_t router, int64_t cell) const;

  /// Branches that were chosen, also those that dropped the cell, in the order of the recording; empty: the cell did not
  /// meet the router.
  void ids(int32_t router, int64_t cell, std::vector<int32_t>& out) const;
  /// [fan_out] by rank, as ids() without choices of no branch; empty: not kept.
  std::span<const float> weights(int32_t router, int64_t cell) const;
  /// [score columns]; empty: not kept.
  std::span<const float> scores(int32_t router, int64_t cell) const;
  const TraceRouter& router(int32_t r) const { return header_.routers[r]; }
  int64_t bytes() const;

 private:
  struct Router {
    int32_t stack = 0, offset = 0, k = 1, columns = 0, score_offset = 0;
    bool weights = false;
    std::vector<uint16_t> margins;  ///< [cells] upper halves of floats; empty: none is kept
  };
  struct Stack {
    int32_t row = 0, score_row = 0;  ///< choices and scores of one cell
    int64_t cells = 0;
    std::vector<std::unique_ptr<uint8_t[]>> chunks;
    std::unordered_map<int64_t, int64_t> kept, kept_scores;  ///< row of a cell's details
    std::vector<float> weights, scores;
  };
  uint8_t* place(const Stack& stack, int64_t cell, int32_t offset) const;
  int32_t value(const uint8_t* at) const;
  void put(uint8_t* at, int32_t value) const;

  TraceHeader header_;
  std::vector<Router> routers_;
  std::vector<Stack> stacks_;
  int32_t width_ = 1;  ///< bytes of an id
  int32_t none_ = 0;   ///< ids from here on are no branches: none chosen, router not met
};

enum class KeepMargins : uint8_t { no, yes };

/// Takes the choices of all cells, and details of a sample.
class ChoiceReader : public TraceSink {
 public:
  ChoiceReader(ChoiceStore& store, const CellSample& details, const CellSample& scores, KeepMargins margins)
      : store_(store), details_(details), scores_(scores), margins_(margins) {}
  void begin(const TraceHeader&) override {}
  void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) override;
  void loads(int64_t, int32_t, std::span<const int64_t>) override {}

 private:
  ChoiceStore& store_;
  const CellSample details_, scores_;
  const KeepMargins margins_;
};

/// Scores that a decision has of some branches for its i-th cell; empty: it has no score for each branch.
std::vector<float> scores_of(const DecisionRecord& decision, int64_t i, int32_t branches,
                             std::span<const int32_t> wanted);

/// Row of a decision's i-th cell in its batch's table.
inline int64_t row_of_cell(const DecisionRecord& d, int64_t i) { return d.ancestor.empty() ? i : d.ancestor[i]; }

}  // namespace stormcell

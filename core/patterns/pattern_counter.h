// Counts while recordings are read: nothing of a cell is kept.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/difference/difference_counter.h"
#include "core/patterns/patterns.h"
#include "core/profile/loads.h"
#include "core/profile/pair_counter.h"
#include "core/profile/statistics.h"
#include "core/profile/vocabulary.h"
#include "core/traces/trace.h"

namespace stormcell {

/// Cells by their margin at one router.
struct CountedMargins {
  MarginBins bins;
  std::vector<int64_t> below;  ///< by PatternOptions::margins
  int64_t cells = 0;
  void add(float margin, const std::vector<double>& limits);
};

/// Loads of one router by label: [labels] of [branches].
struct CountedLabels {
  std::vector<std::vector<int64_t>> load;
  std::vector<int64_t> cells;
};

/// As recorded, else as the name says; -1: not known.
int32_t layer_number(const TraceRouter& router);

struct CountedRouter {
  explicit CountedRouter(const TraceRouter& router, int32_t k);
  TraceRouter about;
  int32_t k = 1;  ///< choices that count
  int64_t cells = 0;
  RouterLoads loads;
  CountedMargins cut, first;
  PairCounter together, neighbours;
  CountedLabels labels;
  std::optional<TokenBranches> vocabulary;
};

/// Transitions from one router to another of the same stack.
struct CountedGap {
  CountedGap(int32_t from_router, int32_t to_router, const std::vector<CountedRouter>& routers);
  int32_t from = 0, to = 0;
  PairCounter all, equal_ranks;
};

/// A decision with the choices that count, in order of rank.
struct RankedChoices {
  std::vector<int32_t> choice;
  /// The heaviest come first where weights are recorded; without weights the recorded order stays.
  void take(const DecisionRecord& decision, int32_t fan_out, int32_t k);
};

class PatternCounter : public TraceSink {
 public:
  explicit PatternCounter(const PatternOptions& options) : options_(options) {}

  /// Label of all cells that come next; without it, labels are those of requests.
  void set_label(int32_t label) { label_ = label; }
  /// `index`: of each request.
  void set_labels(std::map<int64_t, int32_t> index) { label_of_ = std::move(index); }
  /// For errors of begin().
  void set_name(const std::string& name) { name_ = name; }
  /// From now on only the vocabulary of these routers is counted. `tokens`: distinct ids of the recordings.
  void count_vocabulary_of(const std::vector<int32_t>& routers, int64_t tokens);

  void begin(const TraceHeader& header) override;
  void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) override;
  void loads(int64_t, int32_t, std::span<const int64_t>) override {}

  std::vector<CountedRouter>& routers() { return routers_; }
  const std::vector<CountedRouter>& routers() const { return routers_; }
  std::vector<CountedGap>& gaps() { return gaps_; }
  const std::vector<CountedGap>& gaps() const { return gaps_; }
  const TraceHeader& header() const { return *header_; }
  int64_t cells() const { return cells_; }
  int64_t cells_without_label() const { return cells_without_label_; }
  /// Labels that a request has, and whose requests came.
  bool met_label() const { return met_label_; }
  bool has_tokens() const { return has_tokens_; }

 private:
  void place_rows(const TraceCells& table);
  void count(const DecisionRecord& recorded, CountedRouter& router, const DecisionRecord& ranked);
  void count_margins(const DecisionRecord& decision, CountedRouter& router);
  void count_labels(const DecisionRecord& ranked, CountedRouter& router);
  void make_gaps();
  int32_t router_of_layer(int64_t layer) const;
  bool is_real(size_t row) const { return mask_.empty() || mask_[row] != 0; }

  const PatternOptions& options_;
  std::string name_;
  std::optional<TraceHeader> header_;
  std::vector<CountedRouter> routers_;
  std::vector<CountedGap> gaps_;
  std::map<int64_t, int32_t> label_of_;
  int32_t label_ = -1;
  int64_t cells_ = 0, cells_without_label_ = 0;
  bool met_label_ = false, has_tokens_ = false, vocabulary_only_ = false;
  // The table at hand:
  std::vector<uint8_t> mask_;
  std::span<const int32_t> tokens_;
  std::vector<int32_t> row_label_, scratch_;
  std::vector<RankedChoices> ranked_;        // by router
  std::vector<DecisionRecord> decision_of_;  // by router; no choices: it got no cell of the table
};

}  // namespace stormcell

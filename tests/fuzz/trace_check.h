// Checks every batch that a trace reader hands on, whatever the file is.
#pragma once
#include <set>
#include <stdexcept>

#include "core/traces/trace.h"

namespace stormcell::fuzz {

/// Throws std::logic_error where a reader breaks its word.
class CheckedSink : public TraceSink {
 public:
  void begin(const TraceHeader& header) override {
    must(!begun_, "begins once");
    begun_ = true;
    header_ = header;
    must(!header.stacks.empty() && !header.routers.empty() && header.routers.size() <= 4096 &&
             header.stacks.size() <= 64,
         "has stacks and routers");
    for (const TraceRouter& r : header.routers) {
      must(r.branches >= 1 && r.fan_out >= 1, "a router has branches and choices");
      must(r.stack >= 0 && static_cast<size_t>(r.stack) < header.stacks.size(), "a router is of a stack");
    }
    must(header.recorded_slots.layers.empty() || header.recorded_slots.layers.size() == header.routers.size(),
         "slots of each router, or of none");
    for (size_t r = 0; r < header.recorded_slots.layers.size(); ++r) {
      const SlotLoads& of = header.recorded_slots.layers[r];
      must(!of.expert.empty() && of.expert.size() == of.load.size(), "a load for each slot");
      for (const int32_t expert : of.expert)
        must(expert >= -1 && expert < header.routers[r].branches, "slots hold branches");
      for (const int64_t load : of.load) must(load >= 0, "loads of slots");
    }
    for (const std::string& fact : header.lacks) {
      bool known = false;
      for (const std::string_view f : kTraceFacts) known |= f == fact;
      must(known, "what is lacking is a fact of a trace");
    }
  }

  void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) override {
    must(begun_, "begins before the first batch");
    must(labels_ < 0 || (!cells.empty() && labels_ == cells.front().cells.sequences), "a label for each sequence");
    labels_ = -1;
    std::set<int32_t> stacks, routers;
    for (const TraceCells& c : cells) {
      must(stacks.insert(c.stack).second && static_cast<size_t>(c.stack) < header_.stacks.size(), "a stack once");
      must(c.cells.sequences > 0 && c.cells.per_sequence > 0 && c.cells.step >= 0 && c.cells.first_sequence >= 0,
           "cells have names");
      must(int64_t{c.cells.step} + c.cells.per_sequence <= INT32_MAX, "positions do not overflow");
      must(c.tokens.empty() || (header_.tokens && static_cast<int64_t>(c.tokens.size()) == c.cells.cells()),
           "a token for each cell");
      for (const int32_t token : c.tokens) must(token >= 0, "tokens have ids");
      must(c.mask.empty() || static_cast<int64_t>(c.mask.size()) == c.cells.cells(), "a mask is as long as its cells");
    }
    for (const DecisionRecord& d : decisions) {
      must(d.router >= 0 && static_cast<size_t>(d.router) < header_.routers.size() && routers.insert(d.router).second,
           "a router once");
      const TraceRouter& r = header_.routers[static_cast<size_t>(d.router)];
      const TraceCells* of = nullptr;
      for (const TraceCells& c : cells)
        if (c.stack == r.stack) of = &c;
      must(of != nullptr, "the cells of a decision are there");
      const auto k = static_cast<size_t>(r.fan_out), n = d.choice.size() / k;
      must(d.choice.size() == n * k, "k choices a cell");
      const auto fits = [&](size_t size) { return size == 0 || size == n * k; };
      must(fits(d.weight.size()) && fits(d.residency.size()) && fits(d.bytes_read.size()), "parts fit the choices");
      must(d.scores.empty() || (d.score_columns > 0 && d.scores.size() == n * static_cast<size_t>(d.score_columns)),
           "as many scores for each cell");
      must(d.margin.empty() || d.margin.size() == n, "a margin for each cell");
      must(d.ancestor.empty() ? static_cast<int64_t>(n) == of->cells.cells() : d.ancestor.size() == n,
           "every cell is named");
      for (const int32_t row : d.ancestor) must(row >= 0 && row < of->cells.cells(), "rows are cells");
      for (const int32_t c : d.choice) must(branch_of(c) < r.branches, "choices are branches");
      for (const uint8_t v : d.residency) must(v <= 2, "a residency");
      for (const int64_t v : d.bytes_read) must(v >= 0, "bytes");
      rows_ += static_cast<int64_t>(d.choice.size());
    }
    ++batches_;
  }
  void labels(std::span<const int32_t> classes) override {
    for (const int32_t label : classes) must(label >= -1, "labels are classes");
    labels_ = static_cast<int64_t>(classes.size());
  }
  void loads(int64_t step, int32_t router, std::span<const int64_t> counts) override {
    must(begun_ && header_.counts, "says that loads come");
    must(router >= 0 && static_cast<size_t>(router) < header_.routers.size(), "loads are of a router");
    must(static_cast<int64_t>(counts.size()) == header_.routers[static_cast<size_t>(router)].branches,
         "a load for each branch");
    must(step == step_ ? router > router_ : step == step_ + 1 && router == 0, "steps and their routers ascend");
    for (const int64_t count : counts) must(count >= 0, "counts");
    step_ = step, router_ = router;
    batches_ = step + 1;
    rows_ += static_cast<int64_t>(counts.size());
  }
  int64_t rows() const { return rows_; }
  int64_t batches() const { return batches_; }

 private:
  static void must(bool holds, const char* what) {
    if (!holds) throw std::logic_error(what);
  }
  bool begun_ = false;
  TraceHeader header_;
  int64_t rows_ = 0, batches_ = 0, step_ = -1;
  int64_t labels_ = -1;  // of the batch that follows; -1: none
  int32_t router_ = -1;
};

}  // namespace stormcell::fuzz

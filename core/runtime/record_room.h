// Decisions on their way out and in, the same on every device: the room of each router's records, how a router's cells
// are followed to those that replayed choices name, and where these choices lie among the staged ones.
#pragma once
#include <cstdint>
#include <vector>

#include "core/base/id_vector.h"
#include "core/runtime/cell_chain.h"
#include "core/runtime/device.h"

namespace stormcell {

/// An execution of a router: its index in the program, and the turn of the repeat that it is in.
struct RouterTurn {
  RouterId router;
  int32_t turn;
};

class RecordRoom {
 public:
  struct Router {
    CellChain chain;                  ///< how its cells are followed to the dense ones
    std::vector<OperandId> operands;  ///< its decision, and behind it what the chain takes
    OperandId scores;                 ///< the router's input, which has a row for each cell that came
  };
  /// The place of each cell's choices among the staged ones.
  struct Staged {
    int64_t first, cells;
    int32_t fan_out;
    bool by_row;
    /// The first choice of cell `cell`. `chain` and `in`: of its router.
    template <class Inputs>
    int64_t of(int64_t cell, const CellChain& chain, const Inputs& in) const {
      return first + (by_row ? chain.follow(in, cell) : cell) * fan_out;
    }
  };

  /// Adds the room of the records to `layout`; `scores`: records keep what routers decide by.
  RecordRoom(const Program& program, ExecutableLayout& layout, const Bindings& bounds, bool scores);

  const Router& operator[](RouterId router) const { return routers_[router]; }
  /// The most choices that one execution of any router makes.
  int64_t most_choices() const { return most_choices_; }
  /// There is a record for an execution of the router; `dim(DimId)` is the value of an extent in this submission.
  template <class Dims>
  bool has_room(RouterId router, int32_t execution, Dims&& dim) const {
    return execution < dim(program_.routers[router].executions);
  }
  /// `came`: cells of the router in this execution.
  template <class Dims>
  Staged staged(RouterTurn at, int64_t came, Dims&& dim) const {
    const ProgramRouter& router = program_.routers[at.router];
    const int32_t fan_out = program_.decision_of(router).fan_out;
    return {at.turn * dim(program_.replayed_rows(router)) * fan_out, came, fan_out, router.by_row};
  }

 private:
  void find_chains(const Bindings& bounds);
  int32_t columns_of_scores(const ProgramRouter& router) const;
  void lay_out(const Bindings& bounds, bool scores, ExecutableLayout& layout) const;

  const Program& program_;
  IdVector<RouterId, Router> routers_;
  int64_t most_choices_ = 0;
};

}  // namespace stormcell

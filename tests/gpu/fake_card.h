// A card for the tests, as the table of calls that the module gives. It keeps count of everything that is made and
// freed, can let any call fail, runs nothing before somebody waits for it, and plays the kernels of a graph on the host
// in an order of its own that the graph's edges allow.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "gpu/device/card_calls.h"

namespace stormcell::testing {

struct FakeGraph;

/// A node as add_node() or add_loop() was told of it.
struct FakeNode {
  int32_t kernel = -1;  ///< -1: a loop
  int64_t blocks = 0;
  std::vector<std::byte> args;
  std::vector<int32_t> after;       ///< places in the graph
  std::shared_ptr<FakeGraph> body;  ///< of a loop, which turns while the condition is not 0
  std::shared_ptr<int32_t> condition;
};

struct FakeGraph {
  std::vector<FakeNode> nodes;
  std::vector<std::shared_ptr<int32_t>> conditions;
  const FakeGraph* made_of = nullptr;  ///< of one that can be launched
};

/// One at a time, in one thread: the functions of the table find it by themselves.
class FakeCard {
 public:
  FakeCard();
  ~FakeCard();
  FakeCard(const FakeCard&) = delete;
  FakeCard& operator=(const FakeCard&) = delete;
  const card::CardCalls& calls() const;

  // As the driver tells.
  int32_t driver = 13000, needed = 13000, cards = 1;
  card::CardFacts facts{.name = "a card of the tests", .major = 9, .minor = 0, .multiprocessors = 2};
  int64_t memory = int64_t{1} << 30;  ///< bytes

  /// The call that fails, counted from 1 on; 0: none. `error`: with what. Calls that free are not counted, and do not
  /// fail.
  int64_t fails_at = 0;
  int error = 999;
  int64_t calls_made = 0;
  std::string failed_call;  ///< its name in the table
  /// Errors of calls by their names in the table, whenever they are called.
  std::map<std::string, int> fails;

  /// Things held, by their kind: "memory", "pinned", "stream", "event", "graph", "program". Empty: nothing.
  std::map<std::string, int64_t> held() const;
  int64_t held_bytes() const;
  /// Pointers that were freed twice or were never given.
  int64_t wrong_frees = 0;
  int64_t allocations = 0;

  /// The nodes of the graph that was instantiated last.
  std::vector<FakeNode> nodes;
  int64_t launches = 0, turns = 0;  ///< of graphs, and of loops
  std::string wrong;                ///< what a kernel or the device did wrong

 private:
  friend struct FakeCalls;
  struct Work;
  struct Stream;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stormcell::testing

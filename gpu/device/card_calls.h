// The calls of CUDA that a device makes, as a table of functions. The module stormcell_cuda.so gives the table; tests
// give one of their own. The program and the module share plain data alone: no class, no exception and no memory of the
// allocator crosses the boundary, so neither needs a symbol of the other.
#pragma once
#include <cstdint>

namespace stormcell::card {

/// Changes with any change of the structs below.
inline constexpr uint32_t kCardInterface = 2;
inline constexpr const char* kModuleFile = "stormcell_cuda.so";
/// The module's one symbol: a function without arguments that gives a const ModuleFacts*.
inline constexpr const char* kModuleEntry = "stormcell_cuda_module";

// Handles of the module's own.
using CardStream = struct CardStreamTag*;
using CardEvent = struct CardEventTag*;
using CardGraph = struct CardGraphTag*;
using CardNode = struct CardNodeTag*;
using CardProgram = struct CardProgramTag*;  ///< a graph that can be launched

// Errors that the program acts upon, by CUDA's own numbers. 0 is success.
inline constexpr int kOutOfMemory = 2, kOldDriver = 35, kNoCard = 100, kNoImage = 209;

struct CardFacts {
  char name[128];
  int32_t major, minor;  ///< compute capability
  int32_t multiprocessors;
};

/// `kernel`: its number in the list of kernels (card_kernels.h). `args`: of that kernel, copied by the call. Functions
/// that return an int return 0 or an error. `card` is CUDA's number of the card.
struct CardCalls {
  const char* architectures;  ///< architectures with machine code in the module: "sm_90a"
  const char* (*error_name)(int error);
  const char* (*error_text)(int error);

  int (*driver_version)(int32_t* version, int32_t* needed);  ///< 1000 major + 10 minor; 0: no driver
  int (*count_cards)(int32_t* count);
  int (*describe)(int card, CardFacts* facts);
  int (*prepare)(int card);  ///< once, before the first launch; an error where no kernel runs on this card
  int (*count_memory)(int card, int64_t* free, int64_t* all);  ///< bytes

  int (*allocate)(int card, uint64_t* address, int64_t bytes);
  int (*release)(int card, uint64_t address);
  int (*allocate_pinned)(int card, void** memory, int64_t bytes);
  int (*release_pinned)(int card, void* memory);

  int (*create_stream)(int card, CardStream* stream);
  int (*destroy_stream)(int card, CardStream stream);
  int (*synchronize)(int card, CardStream stream);
  int (*copy_to_card)(int card, uint64_t to, const void* from, int64_t bytes, CardStream stream);
  int (*copy_to_host)(int card, void* to, uint64_t from, int64_t bytes, CardStream stream);

  int (*create_event)(int card, CardEvent* event);
  int (*destroy_event)(int card, CardEvent event);
  int (*record)(int card, CardEvent event, CardStream stream);
  int (*wait)(int card, CardEvent event, CardStream stream);
  int (*synchronize_event)(int card, CardEvent event);

  int (*launch)(int card, int32_t kernel, int64_t blocks, const void* args, CardStream stream);
  int (*create_graph)(int card, CardGraph* graph);
  int (*destroy_graph)(int card, CardGraph graph);
  int (*add_node)(int card, CardGraph graph, int32_t kernel, int64_t blocks, const void* args, const CardNode* after,
                  int64_t count, CardNode* node);
  /// Creates the condition that a loop tests before each turn. A kernel of the graph or of the loop's body sets it
  /// (flow_kernels.h).
  int (*create_condition)(int card, CardGraph graph, uint64_t* condition);
  /// Adds a node that runs `body` while the condition of the same graph holds. The node owns `body`, which is empty at
  /// first.
  int (*add_loop)(int card, CardGraph graph, uint64_t condition, const CardNode* after, int64_t count, CardNode* node,
                  CardGraph* body);
  int (*instantiate)(int card, CardGraph graph, CardProgram* program);
  int (*destroy_program)(int card, CardProgram program);
  int (*launch_program)(int card, CardProgram program, CardStream stream);
};

struct ModuleFacts {
  uint32_t interface;  ///< kCardInterface of the module; nothing behind it is read where it differs
  const char* version;
  uint64_t build;  ///< build_id() of the module
  const CardCalls* calls;
};

}  // namespace stormcell::card

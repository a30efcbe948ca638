// Finds the module stormcell_cuda.so, opens it, and says in one line why there is no GPU.
#pragma once
#include <string>
#include <vector>

#include "gpu/device/card_calls.h"

namespace stormcell::card {

/// An opened module, or one line that says why there is none. An opened module stays loaded until the program ends.
struct FoundModule {
  const CardCalls* calls = nullptr;
  std::string path;    ///< of the module
  std::string reason;  ///< empty: `calls` is there
};
/// The folders that are searched, in their order: the program's own, and lib/stormcell beside it.
std::vector<std::string> module_folders();
/// Opens the first module in these folders. One that is wrong ends the search.
FoundModule find_module(const std::vector<std::string>& folders);
/// Empty, or why a module of these facts is not this program's: another interface, version or build.
std::string refusal_of(const ModuleFacts& facts);

/// Empty, or why no program can run on a card: no driver, driver too old, no such card, card without kernels, no memory.
std::string why_no_card(const CardCalls& calls, int card);

}  // namespace stormcell::card

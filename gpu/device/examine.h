// The GPUs that doctor reports.
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/device/card_calls.h"

namespace stormcell {
class Device;
}

namespace stormcell::card {

struct ExaminedCard {
  std::string name;
  int major = 0, minor = 0;  ///< compute capability
  int64_t free_bytes = 0, bytes = 0;
  std::string reason;  ///< why no program runs on it; empty: it can be used
};

struct ExaminedCards {
  std::string module;         ///< path; empty: none was found
  std::string architectures;  ///< architectures with machine code in the module
  std::vector<ExaminedCard> cards;
  std::string reason;  ///< why no program can run on a GPU; empty: it can
};
/// Looks for the module in these folders, and asks the driver through it.
ExaminedCards examine_cards(const std::vector<std::string>& folders);
/// The same of a module's calls. `cards` are those that the driver counts.
ExaminedCards examine_cards(const CardCalls& calls);

/// The first card as a device. Throws Error(bad_input) that names --device and the reason if there is none.
/// `host_threads`: threads of the host, for its work beside the device.
std::unique_ptr<Device> open_first_card(const std::vector<std::string>& folders, int host_threads);

}  // namespace stormcell::card

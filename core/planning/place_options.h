// Options of a search for a placement, as a user gives them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/enum_words.h"
#include "core/planning/step_figures.h"

namespace stormcell {

/// The quantity that a search reduces.
enum class PlacementAim : uint8_t {
  cost,     ///< cost of steps
  traffic,  ///< traffic, at about the EPLB rule's balance
};
inline constexpr std::string_view kPlacementAims[] = {"cost", "traffic"};
inline std::string_view to_text(PlacementAim aim) { return row_of(kPlacementAims, aim); }

struct PlaceOptions {
  std::string session;  ///< S.storm, S.storm#3, S.storm#name: whose loads
  std::string cluster;  ///< preset:NAME or a file
  std::string solver = "eplb";
  std::string name;           ///< name of the placement; empty: the solver's
  std::string phase;          ///< "prefill", "decode": of these batches alone; empty: of all
  int64_t redundant = 0;      ///< spare slots a layer, on all ranks together; kSlotsOfFrom: as many as `from` has
  int64_t groups = 0;         ///< groups of consecutive experts that a node should hold whole; 0: as the model says,
                              ///< else none
  double fit_fraction = 0.7;  ///< share of the steps that it is fitted to; the rest judges
  StepOptions step;           ///< how a step is costed
  SizeOptions sizes;          ///< sizes of the model, if the session lacks them
  int64_t amortise = 0;       ///< steps over which moving the experts pays off; 0: moving is not counted
  /// a calibration's file: measured calls say rates and start-up times where they can; may be empty
  std::string calibration;
  std::string aim;         ///< a word of kPlacementAims, for joint and exact; empty: cost where it is known
  std::string from;        ///< a placement's file, or S.storm#4: what stands now; empty: the contiguous layout
  double time_limit = 15;  ///< seconds that a search may take
  /// a search does the work of that time to its end, however long that takes here: alike on every machine
  bool repeatable = false;
};

inline constexpr int64_t kSlotsOfFrom = -1;

}  // namespace stormcell

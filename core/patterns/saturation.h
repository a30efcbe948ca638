// Saturation: which share of the last checkpoint's choices earlier checkpoints made already, for the same tokens. OLMoE
// defines it (arXiv 2409.02060, section 5.1).
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/chance/chance_figure.h"

namespace stormcell {

struct SaturationOptions {
  /// Recordings of the same tokens, from the first checkpoint to the last. NAME=RECORDING names one, such as
  /// 10%=step120000.safetensors.
  std::vector<std::string> recordings;
};

/// One router at one earlier checkpoint.
struct SaturationPoint {
  int64_t cells = 0;
  std::optional<double> share;        ///< of the last one's choices that this one has; null: no cells
  std::optional<double> first_share;  ///< of cells whose first choices are equal
  std::optional<double> by_load;      ///< share if cells chose by the loads of both alone
  ChanceFigure chance;                ///< of `share`, beside an even router
  bool beyond = false;                ///< called, with regard to the number of routers and checkpoints
};

struct SaturationRouter {
  std::string router;
  int32_t layer = -1;  ///< -1: not known
  int32_t branches = 1, k = 1;
  std::vector<SaturationPoint> points;  ///< by checkpoint, without the last
};

struct SaturationFigures {
  std::vector<std::string> names, recordings;  ///< by checkpoint, the last one too
  std::string origin;                          ///< for exported files
  int64_t cells = 0;
  bool by_tokens = false;  ///< token ids of all recordings were compared and agree
  std::vector<SaturationRouter> routers;
  std::vector<SaturationPoint> all;  ///< by checkpoint, of all routers together
  std::vector<std::string> warnings;
};

/// Reads all recordings in step, each once: a few thousand cells of each are in memory. Throws Error(bad_input) if there
/// are fewer than two, if they are of unlike models, if their cells are not the same in the same order, and if one ends
/// before the others.
SaturationFigures saturation_of(const SaturationOptions& options, const Progress& progress = {});
/// The command that compares the same.
std::string command_of(const SaturationOptions& options);
/// stormcell.saturation/1
std::string to_json(const SaturationFigures& figures);
/// A row for each router and checkpoint.
std::string saturation_table_text(const SaturationFigures& figures);

}  // namespace stormcell

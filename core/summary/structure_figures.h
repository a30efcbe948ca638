// The structure of a model and of its plan, as `inspect` shows them.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/run_kind.h"
#include "core/summary/sheet_figures.h"

namespace stormcell {

struct RouterStructure {
  std::string name;
  int32_t branches = 0;
  std::string cell_space, protocol;
  std::vector<std::string> depends, mixes;
  double hoistable_bytes = 0, hoistable_flops = 0;
  /// of an exit: operations where all answer there, as a share of those through the whole network
  std::optional<double> exit_cost = {};
};
/// The pictures that a model takes.
struct PictureStructure {
  int64_t height = 0, width = 0, channels = 0;  ///< the input that the structure is shown for
  int64_t least = 0, most = 0;                  ///< range of heights and widths that it takes, too; 0: this size alone
};
/// Patches that a picture of that size is cut into.
struct GridStructure {
  std::string cell_space;
  int64_t rows = 0, columns = 0;
  int64_t patch_height = 0, patch_width = 0, stride = 0;  ///< in pixels
};
/// An input that the data have to bring.
struct InputStructure {
  std::string name, role, cell_space;
  std::vector<int64_t> content;  ///< shape of one cell; empty: one number
};
/// Operations of one item in a network with exits.
struct ItemFlops {
  double first_exit = 0;  ///< for an item that answers at the first exit
  double whole = 0;       ///< through the whole network, of which RouterStructure::exit_cost is a share
};
/// A segment of a plan, as it lies in its tree.
struct SegmentStructure {
  std::string kind;             ///< "program", "branch", "taken", "fallback", "repeat", "leaf"
  std::string of;               ///< owner of the branch, body or turns; empty: for the program and for a leaf
  std::optional<int64_t> leaf;  ///< its number, of a leaf
  int64_t begin = 0, end = 0;   ///< steps [begin, end)
  int64_t kernels = 0, branches = 0, guards = 0,
          repeats = 0;   ///< for a leaf: steps that compute, regions that lie in it whole
  std::string ends, at;  ///< why, and at which node, a submission may end with a leaf; empty: it does not
  std::vector<SegmentStructure> children;
};
/// A plan in segments, each of which the device runs without the host.
struct PlanStructure {
  WorkPhase phase = WorkPhase::forward;     ///< forward or decode
  int64_t weight_budget = 0;                ///< bytes; 0: none
  int64_t steps = 0, leaves = 0, ends = 0;  ///< ends: leaves with which a submission may end
  SegmentStructure program;
};
/// The kernels of an operator that `kernel=` of an annotation may name.
struct KernelsOfOperator {
  std::string op;
  std::vector<std::string> devices;  ///< devices that have them; empty: all devices, because none differs
  std::vector<std::string> names;    ///< in the order in which they are tried
};
struct ModelStructure {
  std::string version;  ///< version of the program that wrote it; empty: this one
  std::string name, family;
  std::string weights;         ///< as ModelFigures
  bool weights_stated = true;  ///< the same
  int64_t parameters = 0, weight_bytes = 0;
  int64_t expert_bytes = 0;  ///< weights of branches, all together, as the CPU lays them out
  int64_t least_budget = 0;  ///< the largest of these: the least --weight-budget; 0: it has no branches
  /// where each cell takes as many branches as it may, and all branches get equally many cells
  double flops_per_cell = 0;
  std::optional<ItemFlops> item_flops;  ///< nothing: it has no exits
  std::vector<InputStructure> inputs;
  std::optional<PictureStructure> picture;  ///< none: it takes no pictures
  std::vector<GridStructure> grids;
  std::vector<RouterStructure> routers;
  std::map<std::string, int64_t> operators;
  std::vector<KernelsOfOperator> kernels;
  std::vector<std::string> annotations;  ///< annotations that were asked for, as the graph has them, NAME.KEY=WORD each
  std::optional<PlanStructure> plan;     ///< set if it was asked for
  std::vector<std::string> unsupported, warnings;
  std::optional<ModelSheet> sheet;  ///< nothing: a preset has no files
};

}  // namespace stormcell

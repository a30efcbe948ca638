// Model of the placement view: one layer of a placement on its GPUs, and figures of the whole before and after the
// changes. Pure: no widget, no reading.
#pragma once
#include <QString>
#include <optional>
#include <vector>

#include "core/planning/edited_placement.h"
#include "core/readings/session_view.h"
#include "views/frame/table.h"

namespace stormcell::views {

struct ShownSlot {
  int32_t branch = -1;   ///< -1: it is empty
  double load = 0;       ///< choices that come to it
  int32_t replicas = 0;  ///< of the branch in this layer
  bool moved = false;    ///< its branch was not on this GPU at the start
};

/// A figure for one part of the data, before and now; less is better for all of them.
struct ShownFigure {
  QString name, tip;
  std::optional<double> before, now;
  int digits = 4;
};

struct PlacementPage {
  QString headline;  ///< layer, cluster, and unusual choices for tokens
  QString state;     ///< changes made, and reasons why a server could not use it
  size_t layer = 0;
  int nodes = 1, ranks = 1, slots_of_rank = 1;
  bool nearest = false;                             ///< a token goes to the nearest replica; else all share evenly
  std::vector<ShownSlot> held;                      ///< [ranks x slots_of_rank]
  std::vector<double> gpus;                         ///< [ranks] load over the mean
  std::vector<double> gpus_before;                  ///< the same at the start
  double most = 0;                                  ///< the largest load of a slot
  QString part;                                     ///< "held out", "fitted"
  std::vector<ShownFigure> figures, other_figures;  ///< of the part on show, and of the other one
  QString other_part;                               ///< empty: there is no other
  std::vector<double> layers;                       ///< [layers] imbalance of each
  /// [layers] the router's loads over the whole run beside those of even routers; null: not judged
  std::vector<std::optional<LoadChance>> chances;
  std::vector<FrontPoint> front;                    ///< the most even one first; empty: nothing was searched
  QString front_of;                                 ///< placement that the front belongs to: "#4 joint"
  std::optional<FrontPoint> here, start;            ///< on the fitted part, as the front; none: there are only counts

  /// Even routers can have such loads: those of the layer are grey.
  bool within_chance(size_t of_layer) const {
    return of_layer < chances.size() && chances[of_layer] && !chances[of_layer]->beyond;
  }
  size_t rank_of(size_t slot) const { return slot / static_cast<size_t>(slots_of_rank); }
};

PlacementPage make_placement_page(const EditedPlacement& edited, size_t layer, DataPart part,
                                  const LoadChances& chances = {});
/// The router's name, or the model's number of the layer.
QString layer_name(const EditedAbout& about, size_t layer);
/// The entry of a list: "#4 joint, 16 GPUs, 144 slots".
QString choice_text(const StoredLayout& stored);
QString describe_slot(const PlacementPage& page, size_t slot);
QString describe_gpu(const PlacementPage& page, size_t rank);
/// A figure as text; "-": not known.
QString value_text(const ShownFigure& figure, const std::optional<double>& value);
/// "−12.5 %"; empty: nothing to compare, or nothing changed.
QString difference_text(const ShownFigure& figure);
/// The GPU of a layer with the least load.
size_t least_loaded(const PlacementPage& page);
Table make_placement_table(const PlacementPage& page);

}  // namespace stormcell::views

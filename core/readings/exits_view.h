// Early exits of a run, as plain values for views: the items by exit, results of other thresholds, and single items by
// exit.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/cell/thumbnail.h"
#include "core/readings/cells_view.h"
#include "core/summary/results.h"

namespace stormcell {

/// An item that was recorded, and the exit that it took.
struct ExitItem {
  int64_t sequence = 0;  ///< its number in the run
  std::string label;     ///< empty: the data give none
  int32_t exit = 0;      ///< counted from 0; the last is the end of the network
  /// how far its confidence there, at the end that of the last test, was from the threshold
  std::optional<double> margin;
  Thumbnail picture = {};   ///< empty: none is kept
  std::string answer = {};  ///< the class that was answered, as the run's figures have it; empty: they do not say
  bool wrong = false;       ///< it is not the label's
};

struct ExitsOfRun {
  int64_t run = 0;
  std::string headline;  ///< exits_headline() of the run, and what it needs; empty: it left no figures of exits
  /// nothing: the model has no exits, or the run left no figures; without labels its values are empty
  std::optional<ExitCurve> curve;
  std::optional<ExitTarget> target;
  bool verified = false;
  std::vector<std::string> routers;    ///< exit tests, in running order; empty: the model has none
  std::vector<int64_t> cells_by_exit;  ///< the end is an exit too: cells that were counted while the run was recorded
  bool decisions = false;              ///< every decision is stored, so that single items can be told
  int64_t items = 0;                   ///< items of the run
  int64_t thumbnails = 0;              ///< number of items with a kept picture
  int64_t looked_at = 0;               ///< items that were read to choose from, besides those known to be wrong
  /// Items in GalleryOrder; among equals, one of every label, then a second one of every label, and so on, evenly
  /// spread over the run. Each exit has at most as many as were asked for.
  std::vector<ExitItem> gallery;
};
/// The items that come first: all that are known to be answered wrong and then those with a kept picture, or the latter
/// alone.
enum class GalleryOrder : uint8_t { wrong_first, pictured_first };
/// The exit by which a cell of a page left, counted from 0; the last is the end of the network. Nothing: no exit saw
/// it.
std::optional<int32_t> exit_of(const std::vector<RouterLine>& routers, const CellLine& line, size_t cell);

/// `run` 0: the newest. Chooses `most_of_exit` items of each exit. With wrong_first items known to be wrong are read
/// first, in 200 places of the run at most, until each exit has four times as many. Then pages are read, those with
/// pictures first, evenly spread over the run, until each exit has four times as many to choose from (or all that left
/// there), or `most_items` were read; the last page is read whole.
std::shared_ptr<const ExitsOfRun> read_exits_of_run(const std::string& file, int64_t run, int64_t most_of_exit,
                                                    int64_t most_items = 20'000, const Progress& progress = {},
                                                    GalleryOrder order = GalleryOrder::wrong_first);

}  // namespace stormcell

// The pictures on a report's page: those that a session keeps, each with the way of its cells.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/cell/thumbnail.h"
#include "core/readings/known_answers.h"

namespace stormcell::report {

/// The kind of routing, which decides what a picture shows.
enum class PictureKind : uint8_t {
  patches,  ///< a router chooses for each patch of it
  branch,   ///< one router chooses for the whole of it
  exit,     ///< a chain of exits does
  places,   ///< many routers do: `places_computed` counts the places of their graph that computed it
  unknown   ///< no decision was recorded, or there is none
};
struct RoutedPicture {
  int64_t item = 0;
  std::string label;
  Thumbnail picture;
  int64_t columns = 1, rows = 1;         ///< of its patches
  std::vector<int32_t> branch_of_patch;  ///< -1: none; for kind `branch` a single one, for the whole picture
  int32_t exit = 0;
  int32_t places_computed = 0;
  KnownAnswer known = {};
};
struct RoutedPictures {
  PictureKind kind = PictureKind::branch;
  std::string router;                           ///< of kinds `patches` and `branch`
  int32_t branches = 0, exits = 0, places = 0;  ///< of that router; with the end; of the graph, depending on the kind
  std::vector<RoutedPicture> pictures;          ///< by exit; by places; else by item
  int64_t kept = 0, items = 0;                  ///< of so many items of the run a picture is kept
};
/// Reads some pictures of every label and exit, evenly spread over the kept ones, few enough for a page. Empty if the
/// run keeps none. `quality`: figures of the run, null: none.
RoutedPictures read_routed_pictures(const std::string& file, int64_t run, const QualityFigures* quality = nullptr);

}  // namespace stormcell::report

// A run's data in words: sequences of tokens, or pictures with their sizes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

/// True where the items are pictures: then `cells` and `cells_per_s` count these, and not what their routers decide
/// about.
inline bool are_pictures(const DatasetFigures& data) { return !data.sizes.empty(); }
/// The number of items in all of the data, those too that a time limit left out.
int64_t items_of_data(const DatasetFigures& data);
/// "picture", "sequence" of tokens, or "item": Dataset::item_noun() by what `cells` counts, which an older run does not
/// say.
inline std::string item_noun(const DatasetFigures& data) {
  return are_pictures(data) ? "picture" : data.unit == "item" ? "item" : "sequence";
}
/// "24 pictures of 64x64"; "7 pictures: 4 of 16x40, 3 of 20x20"; of more than six sizes their range and the most
/// frequent one. With the number of `batches`: "24 pictures of 64x64 in 3 batches", "7 pictures in 2 batches: 4 of
/// 16x40, 3 of 20x20".
std::string pictures_text(const std::vector<PictureFigures>& sizes, int64_t batches = 0);
/// "24 pictures of 64x64"; "3 sequences, 60 cells (41 without padding)"; "5 items". With the number of `batches`: "5
/// items in 2 batches".
std::string items_text(const DatasetFigures& data, int64_t batches = 0);
/// The model's name without the folders above it, and without "demo:" or "preset:".
std::string short_name(const ModelFigures& model);
/// The unit of PlanFigures::cells_per_s: "pictures a second", "real cells a second".
std::string rate_name(const RunSummaryFigures& figures);

}  // namespace stormcell

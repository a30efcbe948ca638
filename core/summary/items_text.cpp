#include "core/summary/items_text.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/run_kind.h"

namespace stormcell {
namespace {

std::string size_text(const PictureFigures& p) { return std::to_string(p.height) + "x" + std::to_string(p.width); }
std::string in_batches(int64_t batches) { return batches > 0 ? " in " + counted(batches, "batch") : std::string(); }

}  // namespace

int64_t items_of_data(const DatasetFigures& data) {
  int64_t pictures = 0;
  for (const PictureFigures& p : data.sizes) pictures += p.items;
  return are_pictures(data) ? pictures : data.sequences;
}

std::string pictures_text(const std::vector<PictureFigures>& sizes, int64_t batches) {
  constexpr size_t kListed = 6;
  int64_t pictures = 0;
  for (const PictureFigures& p : sizes) pictures += p.items;
  std::string text = counted(pictures, "picture");
  if (sizes.empty()) return text + in_batches(batches);
  if (sizes.size() == 1) return text + " of " + size_text(sizes[0]) + in_batches(batches);
  if (sizes.size() <= kListed) {
    text += in_batches(batches);
    for (const PictureFigures& p : sizes)
      text += (&p == sizes.data() ? ": " : ", ") + with_commas(p.items) + " of " + size_text(p);
    return text;
  }
  const PictureFigures& most = *std::max_element(
      sizes.begin(), sizes.end(), [](const PictureFigures& a, const PictureFigures& b) { return a.items < b.items; });
  return text + " of " + counted(std::ssize(sizes), "size") + " from " + size_text(sizes.front()) + " to " +
         size_text(sizes.back()) + in_batches(batches) + ", most often " + size_text(most) + " (" +
         with_commas(most.items) + ")";
}

std::string items_text(const DatasetFigures& d, int64_t batches) {
  if (are_pictures(d))
    return pictures_text(d.sizes, batches) + (d.skipped > 0 ? "; " + counted(d.skipped, "file") + " skipped" : "");
  if (const std::string noun = item_noun(d); noun == "item") return counted(d.sequences, noun) + in_batches(batches);
  return counted(d.sequences, "sequence") + in_batches(batches) + ", " + counted(d.cells, "cell") + " (" +
         with_commas(d.cells_without_padding) + " without padding)";
}

std::string short_name(const ModelFigures& m) {
  std::string name = m.name;
  while (name.ends_with('/')) name.pop_back();
  return name.substr(name.find_last_of("/:") + 1);
}

std::string rate_name(const RunSummaryFigures& f) {
  if (work_phase(f.phase) == WorkPhase::decode) return "tokens written a second";
  return are_pictures(f.dataset) ? "pictures a second" : "real cells a second";
}

}  // namespace stormcell

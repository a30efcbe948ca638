#include "core/summary/items_text.h"

#include <algorithm>

namespace stormcell {
namespace {

/// "12,345 cells", "1 cell".
std::string plural(int64_t count, const std::string& word) {
  std::string text = std::to_string(count);
  for (auto at = static_cast<int64_t>(text.size()) - 3; at > 0; at -= 3) text.insert(static_cast<size_t>(at), ",");
  return text + (word.empty() ? "" : " " + word) + (count == 1 || word.empty() ? "" : "s");
}

std::string size_text(const PictureFigures& p) { return std::to_string(p.height) + "x" + std::to_string(p.width); }

}  // namespace

std::string pictures_text(const std::vector<PictureFigures>& sizes) {
  constexpr size_t kListed = 6;
  int64_t pictures = 0;
  for (const PictureFigures& p : sizes) pictures += p.items;
  std::string text = plural(pictures, "picture");
  if (sizes.empty()) return text;
  if (sizes.size() == 1) return text + " of " + size_text(sizes[0]);
  if (sizes.size() <= kListed) {
    for (const PictureFigures& p : sizes) text += (&p == sizes.data() ? ": " : ", ") + plural(p.items, "") + " of " + size_text(p);
    return text;
  }
  const PictureFigures& most =
      *std::max_element(sizes.begin(), sizes.end(), [](const PictureFigures& a, const PictureFigures& b) { return a.items < b.items; });
  return text + " of " + plural(static_cast<int64_t>(sizes.size()), "size") + " from " + size_text(sizes.front()) + " to " +
         size_text(sizes.back()) + ", most often " + size_text(most) + " (" + plural(most.items, "") + ")";
}

std::string items_text(const DatasetFigures& d) {
  if (are_pictures(d)) return pictures_text(d.sizes);
  return plural(d.sequences, "sequence") + ", " + plural(d.cells, "cell") + " (" + plural(d.cells_without_padding, "") +
         " without padding)";
}

std::string rate_text(const DatasetFigures& data) { return are_pictures(data) ? "pictures a second" : "real cells a second"; }

}  // namespace stormcell

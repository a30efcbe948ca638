#include "core/report/routed_pictures.h"

#include <algorithm>

#include "core/readings/cells_view.h"
#include "core/readings/exits_view.h"
#include "core/session/session_reader.h"

namespace stormcell::report {
namespace {

/// With base64 a page of these pictures stays well below 1 MB; those of exits are small, and more of them tell more.
constexpr int64_t kMostPictures = 18, kMostOfExit = 16;
constexpr size_t kMostBytes = 480'000;

void add(RoutedPicture picture, size_t& bytes, RoutedPictures& to) {
  bytes += picture.picture.pixels.size();
  if (bytes <= kMostBytes) to.pictures.push_back(std::move(picture));
}

void read_exits(const std::string& file, int64_t run, RoutedPictures& to) {
  const auto exits = read_exits_of_run(file, run, kMostOfExit);
  to.kind = PictureKind::exit;
  to.branches = static_cast<int32_t>(exits->routers.size()) + 1;
  size_t bytes = 0;
  std::vector<ExitItem> items;
  std::copy_if(exits->gallery.begin(), exits->gallery.end(), std::back_inserter(items),
               [](const ExitItem& i) { return !i.picture.empty(); });
  std::stable_sort(items.begin(), items.end(), [](const ExitItem& a, const ExitItem& b) { return a.exit < b.exit; });
  for (ExitItem& item : items) add({item.sequence, item.label, std::move(item.picture), 1, 1, {item.exit}}, bytes, to);
}

/// Of a whole picture, or of each of its patches, what the first router chose; of many routers how many sent it on.
std::vector<int32_t> choices(const CellPage& page, const CellLine& line, bool many) {
  if (many) {
    const auto sent_on = [](const CellLine::Routed& r) {
      return std::any_of(r.choice.begin(), r.choice.end(), [](int32_t choice) { return choice >= 0; });
    };
    return {static_cast<int32_t>(std::count_if(line.routed.begin(), line.routed.end(), sent_on))};
  }
  std::vector<int32_t> branch;
  const auto each = static_cast<size_t>(page.routers.front().fan_out);
  const std::vector<int32_t>& choice = line.routed.front().choice;
  for (size_t at = 0; at < choice.size(); at += each) branch.push_back(std::max(-1, choice[at]));
  return branch;
}

void read_cells(const std::string& file, int64_t run, const std::string& space, RoutedPictures& to) {
  size_t bytes = 0;
  std::vector<int64_t> items;
  for (const auto& [item, picture] : SessionReader(file).thumbnails(run)) items.push_back(item);
  const auto count = static_cast<int64_t>(items.size()), shown = std::min(count, kMostPictures);
  for (int64_t i = 0; i < shown; ++i) {
    const auto page = read_cell_page(file, run, {space, items[static_cast<size_t>(i * count / shown)], 1});
    if (page->lines.empty() || page->routers.empty()) continue;
    const CellLine& line = page->lines.front();
    const auto cells = static_cast<int64_t>(line.position.size());
    // Cells of sequences have no place on a picture.
    if (cells == 0 || (cells > 1 && line.columns < 1)) return;
    const bool many = cells == 1 && page->routers.size() > 1;
    to.kind = cells > 1 ? PictureKind::patches : many ? PictureKind::routers : PictureKind::branch;
    to.router = many ? std::string() : page->routers.front().name;
    to.branches = many ? static_cast<int32_t>(page->routers.size()) : page->routers.front().branches;
    const int64_t columns = cells > 1 ? line.columns : 1;
    add({line.sequence, line.label, line.picture, columns, (cells + columns - 1) / columns, choices(*page, line, many)}, bytes, to);
  }
}

}  // namespace

RoutedPictures read_routed_pictures(const std::string& file, int64_t run) {
  RoutedPictures all;
  const auto overview = read_cells_overview(file, run);
  all.kept = overview->thumbnails, all.items = overview->sequences;
  if (all.kept == 0 || !overview->decisions || overview->routers.empty()) return all;
  const RouterLine& first = overview->routers.front();
  if (first.protocol == "exit-threshold")
    read_exits(file, run, all);
  else
    read_cells(file, run, first.space, all);
  return all;
}

}  // namespace stormcell::report

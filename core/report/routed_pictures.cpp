#include "core/report/routed_pictures.h"

#include <algorithm>
#include <map>
#include <span>

#include "core/readings/cells_view.h"
#include "core/readings/exits_view.h"
#include "core/readings/router_places.h"
#include "core/session/session_reader.h"

namespace stormcell::report {
namespace {

/// With base64, a page of these pictures stays well below 1 MB. Those of exits are small, so more are shown. For
/// places, all that are read are sorted, and a part of them is shown.
constexpr int64_t kMostPictures = 12, kMostOfExit = 15, kMostOfExitsRead = 20'000, kMostLookedAt = 96;
constexpr size_t kMostBytes = 480'000;

void add(RoutedPicture picture, size_t& bytes, RoutedPictures& to) {
  bytes += picture.picture.pixels.size();
  if (bytes <= kMostBytes) to.pictures.push_back(std::move(picture));
}

void read_exits(const std::string& file, int64_t run, RoutedPictures& to) {
  const auto exits = read_exits_of_run(file, run, kMostOfExit, kMostOfExitsRead, {}, GalleryOrder::pictured_first);
  to.kind = PictureKind::exit;
  to.exits = static_cast<int32_t>(exits->routers.size()) + 1;
  size_t bytes = 0;
  std::vector<ExitItem> items;
  std::copy_if(exits->gallery.begin(), exits->gallery.end(), std::back_inserter(items),
               [](const ExitItem& i) { return !i.picture.empty(); });
  std::stable_sort(items.begin(), items.end(), [](const ExitItem& a, const ExitItem& b) { return a.exit < b.exit; });
  for (ExitItem& item : items)
    add({.item = item.sequence, .label = item.label, .picture = std::move(item.picture), .exit = item.exit}, bytes, to);
}

/// The first router's choices for a whole picture, or for each of its patches.
std::vector<int32_t> choices(const CellPage& page, const CellLine& line) {
  std::vector<int32_t> branch;
  const size_t each = page.routers.front().fan_out;
  const std::vector<int32_t>& choice = line.routed.front().choice;
  for (size_t at = 0; at < choice.size(); at += each) branch.push_back(std::max(-1, choice[at]));
  return branch;
}

/// Chooses items evenly; if they have labels, from every label in turn.
std::vector<int64_t> chosen_items(const SessionReader& reader, int64_t run, int64_t most) {
  std::map<std::string, std::vector<int64_t>> of_label;
  std::map<int64_t, std::string> labels;
  for (const SequenceInput& input : reader.inputs(run)) labels[input.sequence] = input.label;
  const std::vector<int64_t> kept = reader.thumbnail_items(run);
  for (const int64_t item : kept) of_label[labels[item]].push_back(item);
  // Labels with few leave the others more.
  std::map<std::string, int64_t> share;
  for (int64_t left = std::min(most, std::ssize(kept)); left > 0;)
    for (const auto& [label, items] : of_label)
      if (left > 0 && share[label] < std::ssize(items)) ++share[label], --left;
  std::vector<int64_t> chosen;
  for (const auto& [label, items] : of_label) {
    const auto all = std::ssize(items);
    for (int64_t i = 0; i < share[label]; ++i)
      chosen.push_back(items[i * (all - 1) / std::max<int64_t>(1, share[label] - 1)]);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

/// Keeps pictures for every number of places in turn, and sorts them by that number.
void choose_by_places(std::vector<RoutedPicture>& all) {
  const auto order = [&](const auto& key) {
    std::stable_sort(all.begin(), all.end(),
                     [&](const RoutedPicture& a, const RoutedPicture& b) { return key(a) < key(b); });
  };
  std::map<int32_t, int32_t> met;
  std::map<int64_t, int32_t> turn;  // by item
  for (const RoutedPicture& p : all) turn[p.item] = met[p.places_computed]++;
  order([&](const RoutedPicture& p) { return turn[p.item]; });
  if (std::ssize(all) > kMostPictures) all.resize(kMostPictures);
  order([](const RoutedPicture& p) { return p.places_computed; });
}

void read_cells(const std::string& file, int64_t run, const std::string& space, bool many, RoutedPictures& to) {
  size_t bytes = 0;
  const SessionReader reader(file);
  std::vector<RoutedPicture> found;
  for (const int64_t item : chosen_items(reader, run, many ? kMostLookedAt : kMostPictures)) {
    const auto page = read_cell_page(file, run, {space, item, 1});
    if (page->lines.empty() || page->routers.empty()) continue;
    const CellLine& line = page->lines.front();
    const auto cells = std::ssize(line.position);
    // Cells of sequences have no place on a picture.
    if (cells == 0 || (cells > 1 && line.columns < 1)) return;
    const bool by_places = cells == 1 && many;
    to.kind = cells > 1 ? PictureKind::patches : by_places ? PictureKind::places : PictureKind::branch;
    RoutedPicture picture{.item = line.sequence, .label = line.label, .picture = line.picture};
    if (by_places) {
      const std::vector<RouterPlace> places = places_of(page->routers);
      to.places = static_cast<int32_t>(places.size());
      picture.places_computed = static_cast<int32_t>(
          places_computed(page->routers, places, [&](size_t r) { return std::span(line.routed[r].choice); }));
    } else {
      to.router = page->routers.front().name, to.branches = page->routers.front().branches;
      picture.columns = cells > 1 ? line.columns : 1;
      picture.rows = (cells + picture.columns - 1) / picture.columns;
      picture.branch_of_patch = choices(*page, line);
    }
    found.push_back(std::move(picture));
  }
  if (to.kind == PictureKind::places)
    choose_by_places(found);
  else if (std::ssize(found) > kMostPictures)
    found.resize(kMostPictures);
  for (RoutedPicture& picture : found) add(std::move(picture), bytes, to);
}

void read_alone(const std::string& file, int64_t run, RoutedPictures& to) {
  const SessionReader reader(file);
  to.kind = PictureKind::unknown;
  size_t bytes = 0;
  std::map<int64_t, std::string> labels;
  for (const SequenceInput& input : reader.inputs(run)) labels[input.sequence] = input.label;
  for (const int64_t item : chosen_items(reader, run, kMostPictures))
    add({.item = item, .label = labels[item], .picture = std::move(reader.thumbnails(run, {item, item + 1})[item])},
        bytes, to);
}

}  // namespace

RoutedPictures read_routed_pictures(const std::string& file, int64_t run, const QualityFigures* quality) {
  RoutedPictures all;
  const auto overview = read_cells_overview(file, run);
  all.kept = overview->thumbnails, all.items = overview->sequences;
  if (all.kept == 0) return all;
  const std::vector<RouterLine>& routers = overview->routers;
  const auto is_first = [&](const RouterLine& r) { return r.space == routers.front().space; };
  if (!overview->decisions || routers.empty())
    read_alone(file, run, all);
  else if (is_exit(routers.front()))
    read_exits(file, run, all);
  else
    read_cells(file, run, routers.front().space, std::count_if(routers.begin(), routers.end(), is_first) > 1, all);
  const KnownAnswers answers(quality, all.items);
  for (RoutedPicture& picture : all.pictures) picture.known = answers.of(picture.item, picture.label);
  return all;
}

}  // namespace stormcell::report

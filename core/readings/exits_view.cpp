#include "core/readings/exits_view.h"

#include <algorithm>

#include "core/base/blocking.h"
#include "core/readings/cells_view.h"
#include "core/readings/run_facts.h"
#include "core/summary/exits_text.h"

namespace stormcell {
namespace {

constexpr const char* kProtocol = "exit-threshold";
constexpr int64_t kPage = 512;  // items that are read at once

/// The routers of one page that are exits, in running order, and the branch by which each lets items leave.
struct Chain {
  std::vector<size_t> routers;
  int32_t leave = 0;
};

/// Items go on by the branch in which the next router stands; of one router alone they leave by the first.
Chain chain_of(const std::vector<RouterLine>& lines) {
  Chain chain;
  for (size_t r = 0; r < lines.size(); ++r) {
    if (lines[r].protocol != kProtocol) continue;
    if (!chain.routers.empty() && lines[r].parent_branch >= 0) chain.leave = 1 - lines[r].parent_branch;
    chain.routers.push_back(r);
  }
  return chain;
}

/// How many left at each test, and how many the last one let go on.
std::vector<int64_t> left_of(const RunFacts& facts, const std::vector<std::string>& routers, int32_t leave) {
  std::vector<int64_t> left;
  int64_t on = 0;
  for (const std::string& name : routers) {
    const auto row = std::find_if(facts.routers.begin(), facts.routers.end(), [&](const auto& r) { return r.router == name; });
    const bool there = row != facts.routers.end() && row->load.size() == 2;
    left.push_back(there ? row->load[static_cast<size_t>(leave)] : 0);
    on = there ? row->load[static_cast<size_t>(1 - leave)] : 0;
  }
  if (!routers.empty()) left.push_back(on);
  return left;
}

/// Nothing of padding, and of items that no exit saw.
std::optional<ExitItem> item_of(const CellLine& line, const Chain& chain) {
  if (line.position.empty() || line.real.front() == 0) return std::nullopt;
  ExitItem item{line.sequence, line.label, static_cast<int32_t>(chain.routers.size()), {}, line.picture};
  bool seen = false;
  for (size_t test = 0; test < chain.routers.size(); ++test) {
    const CellLine::Routed& routed = line.routed[chain.routers[test]];
    if (routed.choice.empty() || routed.choice.front() == kNoChoice) continue;
    seen = true;
    if (!routed.margin.empty()) item.margin = static_cast<double>(routed.margin.front());
    if (routed.choice.front() != chain.leave) continue;
    item.exit = static_cast<int32_t>(test);
    break;
  }
  return seen ? std::optional(item) : std::nullopt;
}

/// Those that can be shown come first, and of each exit no more than `most`.
void choose_gallery(size_t exits, int64_t most, std::vector<ExitItem>& gallery) {
  std::stable_partition(gallery.begin(), gallery.end(), [](const ExitItem& item) { return !item.picture.empty(); });
  std::vector<int64_t> taken(exits, 0);
  std::erase_if(gallery, [&](const ExitItem& item) { return taken[static_cast<size_t>(item.exit)]++ >= most; });
}

void read_gallery(const std::string& file, const std::string& space, int64_t most_of_exit, int64_t most_items, const Progress& progress,
                  ExitsOfRun& view) {
  std::vector<int64_t> found(view.routers.size() + 1, 0);
  const int64_t end = std::min(view.items, most_items);
  int64_t pictures = 0;
  for (int64_t first = 0; first < end;) {
    progress.cancel.check();
    const auto page = read_cell_page(file, view.run, {space, first, std::min(kPage, end - first)}, progress);
    if (page->lines.empty()) break;
    const Chain chain = chain_of(page->routers);
    for (const CellLine& line : page->lines) {
      std::optional<ExitItem> item = item_of(line, chain);
      if (!item || static_cast<size_t>(item->exit) >= found.size()) continue;
      if (found[static_cast<size_t>(item->exit)]++ >= most_of_exit && item->picture.empty()) continue;
      view.gallery.push_back(std::move(*item));
    }
    first = page->end_sequence();
    pictures += std::count_if(page->lines.begin(), page->lines.end(), [](const CellLine& l) { return !l.picture.empty(); });
    if (pictures >= view.thumbnails && std::all_of(found.begin(), found.end(), [&](int64_t n) { return n >= most_of_exit; })) break;
  }
  choose_gallery(found.size(), most_of_exit, view.gallery);
}

}  // namespace

std::shared_ptr<const ExitsOfRun> read_exits_of_run(const std::string& file, int64_t run, int64_t most_of_exit, int64_t most_items,
                                                    const Progress& progress) {
  may_block("read_exits_of_run");
  auto view = std::make_shared<ExitsOfRun>();
  const auto facts = read_run_facts(file, run, progress);
  view->run = facts->line.id;
  if (facts->line.result) {
    const RunSummaryFigures& f = facts->line.result->figures;
    view->curve = f.exits, view->target = f.exit_target;
    view->verified = f.is_verified();
    view->headline = exits_headline(f);
  }
  const auto overview = read_cells_overview(file, view->run);
  const Chain chain = chain_of(overview->routers);
  for (const size_t r : chain.routers) view->routers.push_back(overview->routers[r].name);
  view->left = left_of(*facts, view->routers, chain.leave);
  view->decisions = overview->decisions;
  view->items = overview->sequences;
  view->thumbnails = overview->thumbnails;
  if (!chain.routers.empty() && view->decisions)
    read_gallery(file, overview->routers[chain.routers.front()].space, most_of_exit, most_items, progress, *view);
  return view;
}

}  // namespace stormcell

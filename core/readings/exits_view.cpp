#include "core/readings/exits_view.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/base/blocking.h"
#include "core/readings/cells_view.h"
#include "core/readings/known_answers.h"
#include "core/readings/run_facts.h"
#include "core/session/session_reader.h"
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
  ExitItem item{line.sequence, line.label, static_cast<int32_t>(chain.routers.size())};
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

/// An item that may be shown, and where it stands among those of its exit and label: evenly spread over the run, whatever number is taken.
struct Candidate {
  ExitItem item;
  bool pictured = false;
  int64_t turn = 0;
  uint64_t rank() const { return static_cast<uint64_t>(item.sequence) * 0x9E3779B97F4A7C15U; }
};

void choose_gallery(size_t exits, int64_t most, std::vector<Candidate>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(!a.pictured, a.rank()) < std::pair(!b.pictured, b.rank());
  });
  std::map<std::pair<int32_t, std::string>, int64_t> turns[2];
  for (Candidate& c : all) c.turn = turns[c.pictured][{c.item.exit, c.item.label}]++;
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    // Numbers in their order: the shorter first.
    return std::tuple(!a.pictured, a.turn, a.item.label.size(), std::string_view(a.item.label)) <
           std::tuple(!b.pictured, b.turn, b.item.label.size(), std::string_view(b.item.label));
  });
  std::vector<int64_t> taken(exits, 0);
  std::erase_if(all, [&](const Candidate& c) { return taken[static_cast<size_t>(c.item.exit)]++ >= most; });
}

void read_gallery(const std::string& file, const std::string& space, int64_t most_of_exit, int64_t most_items, const KnownAnswers& answers,
                  const Progress& progress, ExitsOfRun& view) {
  std::vector<Candidate> all;
  const int64_t end = std::min(view.items, most_items);
  for (int64_t first = 0; first < end;) {
    progress.cancel.check();
    const auto page = read_cell_page(file, view.run, {space, first, std::min(kPage, end - first)}, progress);
    if (page->lines.empty()) break;
    const Chain chain = chain_of(page->routers);
    for (const CellLine& line : page->lines)
      if (std::optional<ExitItem> item = item_of(line, chain); item && static_cast<size_t>(item->exit) <= view.routers.size())
        all.push_back({std::move(*item), !line.picture.empty()});
    first = page->end_sequence();
  }
  choose_gallery(view.routers.size() + 1, most_of_exit, all);
  const SessionReader reader(file);
  for (Candidate& c : all) {
    if (c.pictured) c.item.picture = std::move(reader.thumbnails(view.run, {c.item.sequence, c.item.sequence + 1})[c.item.sequence]);
    const KnownAnswer known = answers.of(c.item.sequence, c.item.label);
    c.item.answer = known.answer, c.item.wrong = known.wrong;
    view.gallery.push_back(std::move(c.item));
  }
}

}  // namespace

std::shared_ptr<const ExitsOfRun> read_exits_of_run(const std::string& file, int64_t run, int64_t most_of_exit, int64_t most_items,
                                                    const Progress& progress) {
  may_block("read_exits_of_run");
  auto view = std::make_shared<ExitsOfRun>();
  const auto facts = read_run_facts(file, run, progress);
  view->run = facts->line.id;
  const QualityFigures* quality = nullptr;
  if (facts->line.result) {
    const RunSummaryFigures& f = facts->line.result->figures;
    if (f.quality) quality = &*f.quality;
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
    read_gallery(file, overview->routers[chain.routers.front()].space, most_of_exit, most_items, KnownAnswers(quality, view->items),
                 progress, *view);
  return view;
}

}  // namespace stormcell

#include "core/readings/exits_view.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/base/blocking.h"
#include "core/readings/cells_view.h"
#include "core/readings/known_answers.h"
#include "core/readings/router_places.h"
#include "core/readings/run_facts.h"
#include "core/session/session_reader.h"
#include "core/summary/exits_text.h"

namespace stormcell {
namespace {

constexpr int64_t kPage = 512;   // items that are read at once
constexpr int64_t kSparse = 16;  // items of which one is wanted, on average, are read each alone

/// The routers of one page that are exits, in running order, and the branch by which each lets items leave.
struct Chain {
  std::vector<size_t> routers;
  std::vector<int32_t> leave;  ///< by router
};

Chain chain_of(const std::vector<RouterLine>& lines) {
  const std::vector<ExitRole> tests = exit_roles(lines);
  Chain chain;
  for (size_t r = 0; r < tests.size(); ++r)
    if (tests[r].exit >= 0) chain.routers.push_back(r), chain.leave.push_back(tests[r].leave);
  return chain;
}

/// Whether an exit saw a cell: it has one choice a cell.
bool saw(const CellLine::Routed& routed, size_t cell) {
  return cell < routed.choice.size() && routed.choice[cell] != kNoChoice;
}

std::optional<int32_t> exit_of(const Chain& chain, const CellLine& line, size_t cell) {
  bool seen = false;
  for (size_t test = 0; test < chain.routers.size(); ++test) {
    const CellLine::Routed& routed = line.routed[chain.routers[test]];
    if (!saw(routed, cell)) continue;
    seen = true;
    if (routed.choice[cell] == chain.leave[test]) return static_cast<int32_t>(test);
  }
  return seen ? std::optional(static_cast<int32_t>(chain.routers.size())) : std::nullopt;
}

/// Nothing for padding, and for items that no exit saw.
std::optional<ExitItem> item_of(const CellLine& line, const Chain& chain) {
  if (line.position.empty() || line.real.front() == 0) return std::nullopt;
  const std::optional<int32_t> exit = exit_of(chain, line, 0);
  if (!exit) return std::nullopt;
  ExitItem item{line.sequence, line.label, *exit};
  // An item that reaches the end has the figures of the last test.
  for (size_t test = 0; test < chain.routers.size() && static_cast<int32_t>(test) <= *exit; ++test) {
    const CellLine::Routed& routed = line.routed[chain.routers[test]];
    if (saw(routed, 0) && !routed.margin.empty()) item.margin = static_cast<double>(routed.margin.front());
  }
  return item;
}

/// Numbers in the order of their ranks lie evenly over all of them, however many are taken.
uint64_t spread_rank(int64_t number) { return static_cast<uint64_t>(number) * 0x9E3779B97F4A7C15U; }

/// Kinds in the order in which they are shown; if pictured ones come first whatever they were answered, none is of the
/// first two kinds.
enum class CandidateKind : uint8_t { wrong_and_pictured, wrong, pictured, other };

/// An item that may be shown, and its place among those of its kind, exit and label: evenly spread over the run,
/// however many are taken.
struct Candidate {
  ExitItem item;
  bool pictured = false;
  CandidateKind kind = CandidateKind::other;
  int64_t turn = 0;
  uint64_t rank() const { return spread_rank(item.sequence); }
};

void choose_gallery(size_t exits, int64_t most, std::vector<Candidate>& all) {
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    return std::pair(a.kind, a.rank()) < std::pair(b.kind, b.rank());
  });
  std::map<std::tuple<CandidateKind, int32_t, std::string>, int64_t> turns;
  for (Candidate& c : all) c.turn = turns[{c.kind, c.item.exit, c.item.label}]++;
  std::stable_sort(all.begin(), all.end(), [](const Candidate& a, const Candidate& b) {
    // Numbers in their order: the shorter first.
    return std::tuple(a.kind, a.turn, a.item.label.size(), std::string_view(a.item.label)) <
           std::tuple(b.kind, b.turn, b.item.label.size(), std::string_view(b.item.label));
  });
  std::vector<int64_t> taken(exits, 0);
  std::erase_if(all, [&](const Candidate& c) { return taken[c.item.exit]++ >= most; });
}

/// Items that are read together: [first, end).
struct Stretch {
  int64_t first = 0, end = 0;
};

/// Some of a run, ascending, and what lies between those that are near each other.
std::vector<Stretch> stretches_around(const std::vector<int64_t>& some, int64_t items) {
  std::vector<Stretch> all;
  for (const int64_t item : some) {
    if (item < 0 || item >= items) continue;
    if (!all.empty() && item - all.back().end < kSparse && item - all.back().first < kPage)
      all.back().end = item + 1;
    else
      all.push_back({item, item + 1});
  }
  return all;
}

/// All of a run, where it is looked at until there is enough to choose from: what holds pictures first, all of it
/// evenly spread. A picture among many items without one is read alone.
std::vector<Stretch> stretches_of(int64_t items, std::vector<int64_t> pictured) {
  const auto by_rank = [](int64_t a, int64_t b) { return spread_rank(a) < spread_rank(b); };
  const bool alone = std::ssize(pictured) * kSparse < items;
  std::vector<int64_t> pages((items + kPage - 1) / kPage);
  std::iota(pages.begin(), pages.end(), 0);
  std::sort(pages.begin(), pages.end(), by_rank);
  std::sort(pictured.begin(), pictured.end(), by_rank);
  std::vector<Stretch> all;
  std::vector<bool> listed(pages.size(), false);
  const auto list = [&](int64_t page) {
    if (!listed[page]) all.push_back({page * kPage, std::min(items, (page + 1) * kPage)});
    listed[page] = true;
  };
  for (const int64_t item : pictured) {
    if (alone)
      all.push_back({item, item + 1});
    else
      list(item / kPage);
  }
  for (const int64_t page : pages) list(page);
  return all;
}

/// Labels take turns among those that are shown of an exit, so there should be more of it than are shown.
bool is_enough(const std::vector<int64_t>& found, const std::vector<int64_t>& cells_by_exit, int64_t most_of_exit) {
  constexpr int64_t kTimes = 4;
  for (size_t exit = 0; exit < found.size(); ++exit)
    if (found[exit] < std::min(cells_by_exit[exit], kTimes * most_of_exit)) return false;
  return true;
}

/// Reads the gallery of a run; its `view` has all the rest.
class GalleryReader {
 public:
  /// `space`: that of the exits. All must outlive it.
  GalleryReader(const std::string& file, const std::string& space, const KnownAnswers& answers, GalleryOrder order,
                const Progress& progress, ExitsOfRun& view)
      : file_(file),
        space_(space),
        answers_(answers),
        order_(order),
        progress_(progress),
        view_(view),
        found_(view.routers.size() + 1) {}

  /// Reads wrong items evenly spread over the run, until each exit has enough of them; at kMostPlaces at most, each of
  /// which is a reading of its own. These places do not tell how many others there are to choose from, nor does what is
  /// read with them: it is not counted.
  void read_wrong(int64_t most_of_exit) {
    std::vector<Stretch> places = stretches_around(answers_.wrong_items(), view_.items);
    std::sort(places.begin(), places.end(),
              [](Stretch a, Stretch b) { return spread_rank(a.first) < spread_rank(b.first); });
    places.resize(std::min(places.size(), kMostPlaces));
    std::vector<int64_t> wrong(found_.size());
    for (const Stretch& items : places) {
      if (is_enough(wrong, view_.cells_by_exit, most_of_exit)) return;
      read(items, [&](const CellLine& line, const Chain& chain) {
        const std::optional<size_t> exit = list(line, chain);
        if (exit && answers_.of(line.sequence, line.label).wrong) ++wrong[*exit];
      });
    }
  }

  /// `pictured`: items that have a picture.
  void read_until_enough(const std::vector<int64_t>& pictured, int64_t most_of_exit, int64_t most_items) {
    for (const Stretch& items : stretches_of(view_.items, pictured)) {
      if (view_.looked_at >= most_items || is_enough(found_, view_.cells_by_exit, most_of_exit)) return;
      read(items, [&](const CellLine& line, const Chain& chain) {
        if (!counted_.insert(line.sequence).second) return;
        if (const std::optional<size_t> exit = list(line, chain)) ++found_[*exit];
      });
      view_.looked_at = std::ssize(counted_);
    }
  }

  /// Chooses the gallery and puts it into the view.
  void choose(int64_t most_of_exit) {
    choose_gallery(found_.size(), most_of_exit, listed_);
    const SessionReader reader(file_);
    for (Candidate& c : listed_) {
      if (c.pictured)
        c.item.picture =
            std::move(reader.thumbnails(view_.run, {c.item.sequence, c.item.sequence + 1})[c.item.sequence]);
      view_.gallery.push_back(std::move(c.item));
    }
  }

 private:
  static constexpr size_t kMostPlaces = 200;

  /// `visit(line, chain)` for each of them, and for what is read with them.
  template <class Visit>
  void read(Stretch items, const Visit& visit) {
    while (items.first < items.end) {
      progress_.cancel.check();
      const auto page = read_cell_page(file_, view_.run, {space_, items.first, items.end - items.first}, progress_);
      if (page->lines.empty()) return;
      const Chain chain = chain_of(page->routers);
      for (const CellLine& line : page->lines) visit(line, chain);
      items.first = page->end_sequence();
    }
  }

  /// Once, however often it is read. The exit that it took; nothing where it took none.
  std::optional<size_t> list(const CellLine& line, const Chain& chain) {
    std::optional<ExitItem> item = item_of(line, chain);
    if (!item || static_cast<size_t>(item->exit) >= found_.size()) return std::nullopt;
    const size_t exit = item->exit;
    if (!is_listed_.insert(line.sequence).second) return exit;
    const KnownAnswer known = answers_.of(item->sequence, item->label);
    item->answer = known.answer, item->wrong = known.wrong;
    const bool pictured = !line.picture.empty();
    listed_.push_back({std::move(*item), pictured, kind_of(known.wrong, pictured)});
    return exit;
  }

  CandidateKind kind_of(bool wrong, bool pictured) const {
    if (order_ == GalleryOrder::wrong_first && wrong)
      return pictured ? CandidateKind::wrong_and_pictured : CandidateKind::wrong;
    return pictured ? CandidateKind::pictured : CandidateKind::other;
  }

  const std::string& file_;
  const std::string& space_;
  const KnownAnswers& answers_;
  const GalleryOrder order_;
  const Progress& progress_;
  ExitsOfRun& view_;
  std::vector<Candidate> listed_;
  std::set<int64_t> is_listed_, counted_;
  std::vector<int64_t> found_;  // by exit, among those that are counted
};

}  // namespace

std::optional<int32_t> exit_of(const std::vector<RouterLine>& routers, const CellLine& line, size_t cell) {
  return exit_of(chain_of(routers), line, cell);
}

std::shared_ptr<const ExitsOfRun> read_exits_of_run(const std::string& file, int64_t run, int64_t most_of_exit,
                                                    int64_t most_items, const Progress& progress, GalleryOrder order) {
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
    if (!view->headline.empty()) view->headline += ", and " + exits_needs_text(*f.exits);
  }
  const auto overview = read_cells_overview(file, view->run);
  const Chain chain = chain_of(overview->routers);
  for (const size_t r : chain.routers) view->routers.push_back(overview->routers[r].name);
  view->cells_by_exit = facts->cells_by_exit;
  view->decisions = overview->decisions;
  view->items = overview->sequences;
  view->thumbnails = overview->thumbnails;
  if (chain.routers.empty() || !view->decisions) return view;
  const KnownAnswers answers(quality, view->items);
  GalleryReader gallery(file, overview->routers[chain.routers.front()].space, answers, order, progress, *view);
  if (order == GalleryOrder::wrong_first) gallery.read_wrong(most_of_exit);
  gallery.read_until_enough(overview->pictured, most_of_exit, most_items);
  gallery.choose(most_of_exit);
  return view;
}

}  // namespace stormcell

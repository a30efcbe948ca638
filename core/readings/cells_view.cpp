#include "core/readings/cells_view.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "core/base/blocking.h"
#include "core/base/error.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

static_assert(kNoChoice == kNoBranch);

/// Decoding steps of one sequence; more are not shown.
constexpr int64_t kMostSteps = 8192;
/// Rows of token_load that a writer stores for a router.
constexpr int64_t kMostTokens = 4096;

/// Routers of one cell space, by their index in the layout.
std::vector<int32_t> routers_of(const RunLayout& layout, int32_t space) {
  std::vector<int32_t> routers;
  for (size_t r = 0; r < layout.routers.size(); ++r)
    if (layout.routers[r].space == space) routers.push_back(static_cast<int32_t>(r));
  return routers;
}

/// Finds the row of a decision, which saw only some rows, for a row of a part of a batch; -1: it did not see the row.
class RowsOf {
 public:
  RowsOf(const StoredDecision& d, int64_t cells) : cells_(d.cells) {
    if (d.ancestor.empty()) return;
    at_.assign(cells, -1);
    for (size_t i = 0; i < d.ancestor.size(); ++i)
      if (d.ancestor[i] >= 0 && d.ancestor[i] < cells) at_[d.ancestor[i]] = static_cast<int64_t>(i);
  }
  int64_t operator()(int64_t row) const {
    const int64_t at = at_.empty() ? row : at_[row];
    return at < cells_ ? at : -1;
  }

 private:
  int64_t cells_;
  std::vector<int64_t> at_;
};

/// The rows of a batch that any of its decisions saw.
class RowsSeen {
 public:
  explicit RowsSeen(int64_t cells) : seen_(cells, 0) {}
  void add(const RowsOf& rows) {
    any_ = true;
    for (size_t row = 0; row < seen_.size(); ++row) seen_[row] |= rows(static_cast<int64_t>(row)) >= 0;
  }
  /// True where no decision says anything.
  bool operator()(int64_t row) const { return !any_ || seen_[row]; }

 private:
  bool any_ = false;
  std::vector<uint8_t> seen_;
};

/// Adds `count` rows from `row` on to a line; a weight or margin that is missing for some leaves the whole line
/// without.
void add_choices(const StoredDecision& d, const RowsOf& rows, int64_t row, int64_t count, CellLine::Routed& to) {
  const size_t k = d.fan_out;
  for (int64_t r = row; r < row + count; ++r) {
    const int64_t at = rows(r);
    const auto from = static_cast<size_t>(std::max<int64_t>(0, at)) * k;
    for (size_t j = 0; j < k; ++j) {
      to.choice.push_back(at < 0 ? kNoChoice : d.choice[from + j]);
      if (!d.weight.empty()) to.weight.push_back(at < 0 ? 0 : d.weight[from + j]);
    }
    if (!d.margin.empty()) to.margin.push_back(at < 0 ? 0 : d.margin[at]);
  }
}

/// The cells of one batch that belong to the page.
void add_batch(const SessionReader& reader, int64_t batch, const BatchSpace& s, const std::vector<int32_t>& routers,
               int64_t most_cells, CellPage& page) {
  const int64_t per = s.cells.per_sequence;
  // Sequences of the page that are in the batch, with their place in it.
  struct Here {
    size_t line = 0;
    int64_t first_row = 0, before = 0, taken = 0;
  };
  std::vector<Here> here;
  for (int64_t i = 0; i < s.cells.sequences && per > 0; ++i)
    if (const int64_t q = s.cells.sequence(i); q >= page.first_sequence && q < page.end_sequence())
      here.push_back({static_cast<size_t>(q - page.first_sequence), i * per, 0, 0});
  if (here.empty()) return;
  for (Here& h : here) {
    CellLine& line = page.lines[h.line];
    h.before = std::ssize(line.position);
    h.taken = std::clamp<int64_t>(most_cells - h.before, 0, per);
    line.cells += per;
    line.columns = s.cells.columns;
    for (int64_t p = 0; p < h.taken; ++p) {
      const size_t row = h.first_row + p;
      line.position.push_back(s.cells.position(h.first_row + p));
      line.phase.push_back(static_cast<uint8_t>(s.cells.phase));
      line.real.push_back(s.mask.empty() || (row < s.mask.size() && s.mask[row]));
      if (row < s.tokens.size()) line.token.push_back(s.tokens[row]);
    }
  }
  RowsSeen seen(s.cells.cells());
  for (size_t r = 0; r < routers.size(); ++r) {
    const auto d = reader.decision(page.run, routers[r], batch);
    if (!d) continue;
    const RowsOf rows(*d, s.cells.cells());
    seen.add(rows);
    for (const Here& h : here) {
      CellLine::Routed& routed = page.lines[h.line].routed[r];
      // Batches without this decision leave a gap, so that the arrays keep their step.
      routed.choice.resize(h.before * d->fan_out, kNoChoice);
      add_choices(*d, rows, h.first_row, h.taken, routed);
    }
  }
  for (const Here& h : here)
    for (int64_t p = 0; p < h.taken; ++p) page.lines[h.line].seen.push_back(seen(h.first_row + p));
}

/// Arrays as long as the line, or empty.
void even_out(CellPage& page) {
  for (CellLine& line : page.lines) {
    const size_t n = line.position.size();
    if (line.token.size() != n) line.token.clear();
    for (size_t r = 0; r < page.routers.size(); ++r) {
      const size_t slots = n * static_cast<size_t>(page.routers[r].fan_out);
      line.routed[r].choice.resize(slots, kNoChoice);
      if (line.routed[r].weight.size() != slots) line.routed[r].weight.clear();
      if (line.routed[r].margin.size() != n) line.routed[r].margin.clear();
    }
  }
}

}  // namespace

std::shared_ptr<const CellsOverview> read_cells_overview(const std::string& file, int64_t run, int64_t first_batch,
                                                         int64_t end_batch) {
  may_block("read_cells_overview");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  auto o = std::make_shared<CellsOverview>();
  o->run = summary.id;
  for (const RouterInfo& r : layout.routers) o->routers.push_back(line_of(layout, r));
  o->sequences = o->end_sequence = reader.sequences(summary.id);
  o->decisions = reader.has_decisions(summary.id);
  o->pieces = reader.has_pieces();
  o->thumbnails = reader.thumbnail_count(summary.id);
  o->pictured = reader.thumbnail_items(summary.id);
  if (summary.batches == 0) return o;
  constexpr int64_t kLookedAt = 64;
  for (const Phase phase : reader.phases(summary.id))
    for (const SpaceOfBatch& s : reader.batches_of_phase(summary.id, phase, {0, std::min(summary.batches, kLookedAt)}))
      o->phases[layout.spaces[s.space]].emplace(to_text(phase));
  // The first batch tells: what is recorded is recorded for all of a run.
  for (const BatchSpace& s : reader.spaces(summary.id, 0)) o->tokens |= !s.tokens.empty();
  for (const SequenceInput& input : reader.inputs(summary.id, {0, 64}))
    o->texts |= !input.text.empty(), o->labels |= !input.label.empty();
  for (size_t r = 0; r < layout.routers.size() && o->decisions; ++r)
    if (const auto d = reader.decision(summary.id, static_cast<int32_t>(r), 0))
      o->margins |= !d->margin.empty(), o->weights |= !d->weight.empty();
  const int64_t end = end_batch < 0 || end_batch > summary.batches ? summary.batches : std::max<int64_t>(1, end_batch);
  const int64_t first = std::clamp<int64_t>(first_batch, 0, end - 1);
  if (first == 0 && end == summary.batches) return o;
  if (const auto held = reader.sequences_of(summary.id, {first, end})) {
    o->first_sequence = held->first, o->end_sequence = held->end;
  } else {
    o->scattered = true;
  }
  return o;
}

std::shared_ptr<const CellPage> read_cell_page(const std::string& file, int64_t run, const CellPageRequest& request,
                                               const Progress& progress) {
  may_block("read_cell_page");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  const auto space = std::find(layout.spaces.begin(), layout.spaces.end(), request.space);
  auto page = std::make_shared<CellPage>();
  page->run = summary.id;
  page->space = request.space;
  page->first_sequence = std::max<int64_t>(0, request.first_sequence);
  if (space == layout.spaces.end()) return page;
  const int32_t number = space - layout.spaces.begin();
  const std::vector<int32_t> routers = routers_of(layout, number);
  int64_t each = 1;
  for (const int32_t r : routers) {
    page->routers.push_back(line_of(layout, layout.routers[r]));
    each += page->routers.back().fan_out;
  }
  const int64_t end =
      std::min(reader.sequences(summary.id), page->first_sequence + std::max<int64_t>(1, request.count));
  if (page->first_sequence >= end) return page;
  page->lines.resize(end - page->first_sequence);
  for (size_t i = 0; i < page->lines.size(); ++i) {
    page->lines[i].sequence = page->first_sequence + static_cast<int64_t>(i);
    page->lines[i].routed.resize(routers.size());
  }
  int64_t choices = 0, reached = 0;  // one past the last sequence that was read
  for (const int64_t batch : reader.batches_with(summary.id, {page->first_sequence, end}, kMostSteps)) {
    progress.report("reading cells", reached, end);
    for (const BatchSpace& s : reader.spaces(summary.id, batch)) {
      // Steps of sequences that were begun are always read to their end.
      if (s.space != number || (choices > request.most_choices && !s.items && s.cells.first_sequence >= reached))
        continue;
      add_batch(reader, batch, s, routers, request.most_cells, *page);
      // Listed items are in any order: then all of the page is read.
      reached = s.items ? end : std::max(reached, std::min(end, s.cells.first_sequence + s.cells.sequences));
      choices += s.cells.cells() * each;
    }
  }
  if (reached > page->first_sequence) page->lines.resize(std::min(end, reached) - page->first_sequence);
  even_out(*page);
  std::set<int32_t> tokens;
  for (const CellLine& line : page->lines) tokens.insert(line.token.begin(), line.token.end());
  const std::vector<int32_t> wanted(tokens.begin(), tokens.end());
  page->pieces = reader.pieces(wanted);
  for (const SequenceInput& input :
       reader.inputs(summary.id, {page->first_sequence, page->first_sequence + std::ssize(page->lines)})) {
    CellLine& line = page->lines[input.sequence - page->first_sequence];
    line.label = input.label, line.text = input.text;
  }
  for (auto& [item, picture] : reader.thumbnails(summary.id, {page->first_sequence, page->end_sequence()}))
    page->lines[item - page->first_sequence].picture = std::move(picture);
  return page;
}

std::shared_ptr<const BranchDictionary> read_branch_dictionary(const std::string& file, int64_t run,
                                                               const std::string& router, int32_t branch,
                                                               const Progress& progress) {
  may_block("read_branch_dictionary");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  auto dictionary = std::make_shared<BranchDictionary>();
  dictionary->router = router;
  dictionary->branch = branch;
  const auto found =
      std::find_if(layout.routers.begin(), layout.routers.end(), [&](const RouterInfo& r) { return r.name == router; });
  if (found == layout.routers.end() || branch < 0 || branch >= found->branches) return dictionary;
  const int32_t number = found - layout.routers.begin();
  const size_t b = branch;
  progress.report("reading tokens", 0, 1);
  const std::vector<TokenLoads> tokens = reader.token_loads(summary.id, number, kMostTokens);
  int64_t listed_branch = 0, listed = 0;
  for (const TokenLoads& t : tokens) {
    const int64_t everywhere = std::accumulate(t.load.begin(), t.load.end(), int64_t{0});
    listed_branch += t.load[b], listed += everywhere;
    if (t.load[b] > 0) dictionary->entries.push_back({t.token, {}, t.load[b], everywhere, 0});
  }
  // The totals of a run that is still going are ahead of its loads by token.
  dictionary->cells = listed_branch, dictionary->all = listed;
  if (summary.status != RunStatus::running) {
    const RouterLoads total = reader.total_loads(summary.id, number);
    for (size_t i = 0; i < total.load.size(); ++i) {
      const int64_t real = total.load[i] - total.padding[i];
      if (i == b) dictionary->cells = std::max(listed_branch, real);
      dictionary->all += i == 0 ? real - listed : real;
    }
    dictionary->all = std::max(listed, dictionary->all);
  }
  dictionary->complete = dictionary->all == listed;
  std::vector<int32_t> ids;
  for (BranchDictionary::Entry& e : dictionary->entries) {
    ids.push_back(e.token);
    e.lift = static_cast<double>(e.count) / dictionary->cells * dictionary->all / e.everywhere;
  }
  const auto pieces = reader.pieces(ids);
  for (BranchDictionary::Entry& e : dictionary->entries)
    if (const auto piece = pieces.find(e.token); piece != pieces.end()) e.piece = piece->second;
  std::stable_sort(dictionary->entries.begin(), dictionary->entries.end(),
                   [](const auto& x, const auto& y) { return x.count > y.count; });
  return dictionary;
}

}  // namespace stormcell

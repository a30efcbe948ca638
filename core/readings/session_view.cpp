#include "core/readings/session_view.h"

#include <sys/stat.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/blocking.h"
#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/profile/layout_edges.h"
#include "core/profile/statistics.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

/// A trace that says nothing of weights or drops is not one of weight 0, or without drops.
void leave_out_what_is_lacking(const RunSummary& run, LoadWindows& loads) {
  if (run_kind(run.kind) != RunKind::import) return;
  const bool drops = std::any_of(loads.routers.begin(), loads.routers.end(), [](const LoadWindows::Router& router) {
    return std::any_of(router.dropped.begin(), router.dropped.end(), [](int64_t cells) { return cells > 0; });
  });
  for (LoadWindows::Router& router : loads.routers)
    if (!drops) router.dropped.clear();
  const nlohmann::json about = json_or_null(run.dataset);
  for (const nlohmann::json& fact : list_at(about, "lacks"))
    for (LoadWindows::Router& router : loads.routers) {
      if (fact == "weights") router.weight.clear();
    }
}

/// The choices in words: positions of the sequence if it is there, else sequences.
std::string cells_there(const SessionReader& reader, int64_t run, int64_t sequence) {
  const int64_t sequences = reader.sequences(run);
  if (sequences == 0) return "the run has no cells";
  if (sequence >= sequences) return "sequences 0 to " + std::to_string(sequences - 1);
  // One row a step of decoding; the last one has the last position.
  int64_t positions = 0;
  for (const int64_t batch : reader.batches_with(run, {sequence, sequence + 1}, INT32_MAX))
    for (const BatchSpace& s : reader.spaces(run, batch))
      if (const int64_t line = s.cells.index_of(sequence); line >= 0)
        positions = std::max<int64_t>(positions, s.cells.per_sequence + s.cells.start(line));
  return "this sequence has positions 0 to " + std::to_string(positions - 1) + "; sequences 0 to " +
         std::to_string(sequences - 1);
}

/// Whether a cell came from one step of its path to another with no router between.
bool leads_to(const RunLayout& layout, const PathStep& from, const PathStep& to) {
  const int32_t edge = from.batch == to.batch ? find_edge(layout, from.router, to.router) : -1;
  if (edge < 0) return false;
  const std::vector<int32_t>& branches = layout.edges[edge].branches;
  return branches.empty() || std::any_of(from.choice.begin(), from.choice.end(), [&](int32_t choice) {
           return std::binary_search(branches.begin(), branches.end(), choice);
         });
}

/// Indexes of the steps of a path from which the cell came to step `to` with no router between.
std::vector<int32_t> steps_before(const RunLayout& layout, const std::vector<PathStep>& path, size_t to) {
  std::vector<int32_t> before;
  const auto router = [&](size_t step) -> const RouterInfo& { return layout.routers[path[step].router]; };
  bool in_branch = false;  // it came from a router of the branch that it is in, not from the one that sent it there
  for (size_t from = 0; from < to; ++from) {
    if (!leads_to(layout, path[from], path[to])) continue;
    before.push_back(static_cast<int32_t>(from));
    in_branch |= router(from).parent == router(to).parent && router(from).parent_branch == router(to).parent_branch;
  }
  // No edge leads to another cell space: there the branch tells.
  for (size_t from = 0; from < to && !in_branch; ++from)
    if (path[from].batch == path[to].batch && router(to).parent == path[from].router &&
        router(from).space != router(to).space)
      before.push_back(static_cast<int32_t>(from));
  return before;
}

}  // namespace

SessionOverview open_session(const std::string& file) {
  may_block("open_session");
  const SessionReader reader(file);
  const SessionSummary& s = reader.summary();
  SessionOverview overview{file, s.id, s.created, s.model.name, s.model.family, {}};
  for (const RunSummary& run : reader.runs()) overview.runs.push_back(line_of(reader, run));
  return overview;
}

std::string session_revision(const std::string& file) {
  may_block("session_revision");
  // Size and time of the file and of the log that a writer keeps beside it: no lock is taken, nothing is opened.
  std::string revision;
  for (const char* suffix : {"", "-wal"}) {
    struct stat s {};
    if (::stat((file + suffix).c_str(), &s) != 0) {
      if (*suffix == 0) return {};
      continue;
    }
    revision += std::to_string(s.st_ino) + ":" + std::to_string(s.st_size) + ":" + std::to_string(s.st_mtim.tv_sec) +
                "." + std::to_string(s.st_mtim.tv_nsec) + ";";
  }
  return revision;
}

std::shared_ptr<const RoutingLoads> read_loads(const std::string& file, int64_t run) {
  may_block("read_loads");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  auto result = std::make_shared<RoutingLoads>();
  result->run = summary.id;
  result->batches = summary.batches;
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    const RouterLoads loads = reader.total_loads(summary.id, static_cast<int32_t>(r));
    RoutingLoads::Row row;
    row.router = layout.routers[r].name;
    row.branches = layout.routers[r].branches;
    row.load = loads.load;
    row.dropped = loads.dropped;
    // The spread is that of real cells, without padding.
    const std::vector<int64_t> real = loads.real();
    row.imbalance = imbalance(real);
    row.entropy = entropy_bits(real);
    result->rows.push_back(std::move(row));
  }
  return result;
}

int64_t LoadWindows::end_batch() const { return std::min(batches, (first_window + windows) * batches_per_window); }

std::shared_ptr<const LoadWindows> read_load_windows(const std::string& file, int64_t run, BatchRange range,
                                                     int64_t most_windows, const Progress& progress) {
  may_block("read_load_windows");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  auto result = std::make_shared<LoadWindows>();
  result->run = summary.id;
  result->batches = summary.batches;
  const int64_t first_batch = std::clamp<int64_t>(range.first, 0, std::max<int64_t>(0, summary.batches - 1)),
                end_batch = range.end < 0 || range.end > summary.batches ? summary.batches : range.end;
  int32_t level = 0;
  while (level < coarsest_level(summary.batches) &&
         window_of(std::max(first_batch, end_batch - 1), level) - window_of(first_batch, level) >= most_windows)
    ++level;
  result->batches_per_window = int64_t{1} << (kWindowBits * level);
  result->first_window = window_of(first_batch, level);
  result->windows = end_batch > first_batch ? window_of(end_batch - 1, level) - result->first_window + 1 : 0;

  for (size_t r = 0; r < layout.routers.size(); ++r) {
    progress.report("reading loads", static_cast<int64_t>(r), std::ssize(layout.routers));
    LoadWindows::Router router{line_of(layout, layout.routers[r]), {}, {}, {}, {}, {}};
    const auto windows = reader.loads(summary.id, static_cast<int32_t>(r), level,
                                      {result->first_window, result->first_window + result->windows});
    const auto branches = static_cast<size_t>(router.line.branches),
               size = static_cast<size_t>(result->windows) * branches;
    router.cells.resize(result->windows);
    for (auto* values : {&router.load, &router.padding, &router.dropped}) values->resize(size);
    router.weight.resize(size);
    for (size_t w = 0; w < windows.size(); ++w) {
      router.cells[w] = windows[w].cells;
      for (size_t b = 0; b < branches; ++b) {
        const size_t at = w * branches + b;
        router.load[at] = windows[w].load[b];
        router.padding[at] = windows[w].padding[b];
        router.dropped[at] = windows[w].dropped[b];
        router.weight[at] = static_cast<float>(windows[w].weight[b]);
      }
    }
    result->routers.push_back(std::move(router));
  }
  leave_out_what_is_lacking(summary, *result);
  return result;
}

std::shared_ptr<const CellTrail> read_cell_trail(const std::string& file, int64_t run, const CellPlace& place) {
  may_block("read_cell_trail");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  const std::string where = file + "#" + std::to_string(summary.id);
  if (!reader.has_decisions(summary.id))
    bad_input(where, "keeps no decisions, only their sums", "record the run with `stormcell profile`");
  auto trail = std::make_shared<CellTrail>();
  trail->place = place;
  std::vector<PathStep> seen;  // as trail->steps
  for (size_t space = 0; space < layout.spaces.size(); ++space)
    // The cell is of a forward pass, of a prompt, or of the decoding step that wrote this position.
    for (const auto& [phase, step] :
         {std::pair{Phase::forward, 0}, {Phase::prefill, 0}, {Phase::decode, place.position}}) {
      const CellId cell{place.sequence, place.sequence, place.position, step, phase};
      const std::vector<PathStep> path = reader.cell_path(summary.id, static_cast<int32_t>(space), cell);
      std::vector<int32_t> listed;  // by step of the path: where it stands in the trail
      for (size_t i = 0; i < path.size(); ++i) {
        const PathStep& s = path[i];
        // A sequence's router is on the ways of its own cell and of all that are members of it.
        const auto known = std::find_if(seen.begin(), seen.end(), [&](const PathStep& k) {
          return k.router == s.router && k.batch == s.batch && k.position == s.position;
        });
        listed.push_back(static_cast<int32_t>(known - seen.begin()));
        if (known == seen.end()) {
          seen.push_back(s);
          trail->steps.push_back({layout.routers[s.router].name, s.batch, s.choice, s.weight, {}});
          for (const int32_t before : steps_before(layout, path, i))
            trail->steps.back().after.push_back(listed[before]);
        }
        if (trail->token >= 0) continue;
        for (const BatchSpace& b : reader.spaces(summary.id, s.batch)) {
          if (b.space != static_cast<int32_t>(space) || b.tokens.empty()) continue;
          const int64_t line = b.cells.index_of(place.sequence);
          if (line < 0) continue;
          const int64_t row = line * b.cells.per_sequence + place.position - b.cells.start(line);
          if (row >= 0 && row < std::ssize(b.tokens)) trail->token = b.tokens[row];
        }
      }
    }
  if (trail->steps.empty())
    bad_input(where,
              "no cell at sequence " + std::to_string(place.sequence) + ", position " + std::to_string(place.position),
              cells_there(reader, summary.id, place.sequence));
  if (trail->token >= 0 && reader.has_pieces())
    for (const auto& [token, piece] : reader.pieces(std::vector<int32_t>{trail->token})) trail->piece = piece;
  for (const SequenceInput& input : reader.inputs(summary.id, {place.sequence, place.sequence + 1})) {
    trail->text = input.text;
    trail->label = input.label;
  }
  return trail;
}

}  // namespace stormcell

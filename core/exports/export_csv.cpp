#include "core/exports/export_csv.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/nearest_words.h"
#include "core/cell/decision.h"
#include "core/exports/csv_row.h"
#include "core/exports/export_origin.h"
#include "core/exports/text_output.h"
#include "core/profile/router_layer.h"
#include "core/profile/skew.h"
#include "core/profile/statistics.h"
#include "core/readings/lacks.h"
#include "core/readings/session_lookup.h"
#include "core/session/session_reader.h"

namespace stormcell {
namespace {

/// Puts a row; `tail` ends it unchanged.
template <class... T>
void put_row_with(const std::string& tail, TextOutput& out, const T&... cells) {
  out.write(csv_row(cells...) + tail + "\n");
}
template <class... T>
void put_row(TextOutput& out, const T&... cells) {
  put_row_with({}, out, cells...);
}

struct Source {
  const SessionReader& session;
  RunSummary run;
  RunLayout layout;
  bool grids = false;  ///< cells of some space are in grids
};

// Windows of the coarsest level: every batch of a short run, at most 256 windows of a long one.
void write_loads(const Source& from, TextOutput& out, const Progress& progress) {
  out.write("router,first_batch,batches,branch,cells,padding,dropped,padded,weight\n");
  const PyramidLevel level = from.session.levels(from.run.id).back();
  for (size_t r = 0; r < from.layout.routers.size(); ++r) {
    progress.report("loads", static_cast<int64_t>(r), std::ssize(from.layout.routers));
    const auto windows = from.session.loads(from.run.id, static_cast<int32_t>(r), level.level, {0, level.windows});
    for (size_t w = 0; w < windows.size(); ++w) {
      const RouterLoads& l = windows[w];
      for (size_t b = 0; b < l.load.size(); ++b)
        put_row(out, from.layout.routers[r].name, static_cast<int64_t>(w) * level.batches_per_window, l.batches,
                static_cast<int64_t>(b), l.load[b], l.padding[b], l.dropped[b], l.padded[b], l.weight[b]);
    }
  }
}

// Cells without padding, as far as the run was counted.
void write_labels(const Source& from, TextOutput& out, const Progress& progress) {
  out.write("router,label,branch,cells\n");
  bool labelled = false;
  for (size_t r = 0; r < from.layout.routers.size(); ++r) {
    progress.report("labels", static_cast<int64_t>(r), std::ssize(from.layout.routers));
    for (const LabelLoads& l : from.session.label_loads(from.run.id, static_cast<int32_t>(r))) {
      labelled = true;
      for (size_t b = 0; b < l.load.size(); ++b)
        put_row(out, from.layout.routers[r].name, l.label, static_cast<int64_t>(b), l.load[b]);
    }
  }
  if (!labelled)
    bad_input(from.session.path(), "run #" + std::to_string(from.run.id) + " holds no labels",
              "record them with profile --label-field");
}

void write_transitions(const Source& from, TextOutput& out, const Progress& progress) {
  out.write("router,branch,next_router,next_branch,cells\n");
  for (size_t r = 0; r < from.layout.routers.size(); ++r) {
    progress.report("transitions", static_cast<int64_t>(r), std::ssize(from.layout.routers));
    for (const LayoutEdge& edge : from.layout.edges) {
      if (edge.from != static_cast<int32_t>(r)) continue;
      const std::string& next = from.layout.routers[edge.to].name;
      for (const PairCount& pair :
           from.session.transitions(from.run.id, edge.from, edge.to, {0, from.run.batches}).entries)
        put_row(out, from.layout.routers[r].name, pair.from, next, pair.to, pair.count);
    }
  }
}

struct CellPlaced {
  CellId id;
  bool real = true;
  std::string in_grid;  ///< ",row,column"; ",," for cells in sequences; empty if no cells of the run are in grids
};
CellPlaced place_of(const Source& from, const StoredDecision& d, int64_t cell, const BatchSpace& space) {
  const int64_t row = d.ancestor.empty() ? cell : d.ancestor[cell];
  CellPlaced placed{row < space.cells.cells() ? space.cells.id(row) : CellId{},
                    space.mask.empty() || (row < std::ssize(space.mask) && space.mask[row] != 0),
                    from.grids ? ",," : ""};
  if (space.cells.columns > 0) {
    const GridPlace place = space.cells.place(placed.id.position);
    placed.in_grid = "," + std::to_string(place.row) + "," + std::to_string(place.column);
  }
  return placed;
}

/// The first batch tells: batches differ in the size of their grids alone.
bool has_grids(const SessionReader& session, const RunSummary& run) {
  const std::vector<BatchSpace> spaces = session.spaces(run.id, 0);
  return std::any_of(spaces.begin(), spaces.end(), [](const BatchSpace& s) { return s.cells.columns > 0; });
}
std::string head_of(const Source& from, const std::string& columns) {
  return columns + (from.grids ? ",grid_row,grid_column" : "") + "\n";
}

// A choice that a capacity dropped names the branch that it was dropped from.
void put_decision(const Source& from, int32_t router, int64_t batch, const StoredDecision& d, const BatchSpace& space,
                  TextOutput& out) {
  const std::string& name = from.layout.routers[router].name;
  for (int64_t c = 0; c < d.cells; ++c) {
    const auto [id, real, in_grid] = place_of(from, d, c, space);
    for (int32_t k = 0; k < d.fan_out; ++k) {
      const size_t slot = c * d.fan_out + k;
      const int32_t choice = d.choice[slot];
      if (choice == kNoBranch) continue;
      put_row_with(in_grid, out, batch, name, id.sequence, id.position, id.step, int64_t{real}, k, branch_of(choice),
                   int64_t{is_dropped(choice)}, slot < d.weight.size() ? csv_cell(d.weight[slot]) : std::string());
    }
  }
}

/// visit(router, batch, decision, space) for every decision of the run.
template <class Visit>
void for_each_decision(const Source& from, const Progress& progress, Visit visit) {
  for (int64_t b = 0; b < from.run.batches; ++b) {
    progress.report("decisions", b, from.run.batches);
    const std::vector<BatchSpace> spaces = from.session.spaces(from.run.id, b);
    for (size_t r = 0; r < from.layout.routers.size(); ++r) {
      const auto d = from.session.decision(from.run.id, static_cast<int32_t>(r), b);
      const auto space = std::find_if(spaces.begin(), spaces.end(),
                                      [&](const BatchSpace& s) { return s.space == from.layout.routers[r].space; });
      if (d && space != spaces.end()) visit(static_cast<int32_t>(r), b, *d, *space);
    }
  }
}

void write_decisions(const Source& from, TextOutput& out, const Progress& progress) {
  if (!from.session.has_decisions(from.run.id))
    bad_input(from.session.path(), "run #" + std::to_string(from.run.id) + " holds no decisions",
              "record them with profile");
  out.write(head_of(from, "batch,router,sequence,position,step,real,choice,branch,dropped,weight"));
  for_each_decision(from, progress,
                    [&](int32_t router, int64_t batch, const StoredDecision& d, const BatchSpace& space) {
                      put_decision(from, router, batch, d, space, out);
                    });
}

void put_scores(const Source& from, int32_t router, int64_t batch, const StoredDecision& d, const BatchSpace& space,
                TextOutput& out) {
  const std::string& name = from.layout.routers[router].name;
  for (int64_t c = 0; c < d.cells && !d.scores.empty(); ++c) {
    const auto [id, real, in_grid] = place_of(from, d, c, space);
    for (int32_t b = 0; b < d.score_columns; ++b)
      put_row_with(in_grid, out, batch, name, id.sequence, id.position, id.step, int64_t{real}, b,
                   csv_cell(d.scores[c * d.score_columns + b]));
  }
}

void write_scores(const Source& from, TextOutput& out, const Progress& progress) {
  out.write(head_of(from, "batch,router,sequence,position,step,real,branch,score"));
  bool scored = false;
  for_each_decision(from, progress,
                    [&](int32_t router, int64_t batch, const StoredDecision& d, const BatchSpace& space) {
                      scored |= !d.scores.empty();
                      put_scores(from, router, batch, d, space, out);
                    });
  if (!scored)
    bad_input(from.session.path(), "run #" + std::to_string(from.run.id) + " holds no scores",
              "record them with profile --record-scores");
}

// Writes one row a batch with the whole time, and one for each of its steps if step events were recorded.
void write_timings(const Source& from, TextOutput& out, const Progress& progress) {
  out.write("batch,step,name,op,branch,worker,begin_ms,duration_ms\n");
  constexpr int64_t kAtATime = 256;
  for (int64_t first = 0; first < from.run.batches; first += kAtATime) {
    for (const BatchSummary& batch : from.session.batches(from.run.id, {first, first + kAtATime})) {
      progress.report("timings", batch.number, from.run.batches);
      put_row(out, batch.number, std::string_view(), std::string_view("batch"), std::string_view("batch"),
              std::string_view(), std::string_view(), int64_t{0}, batch.latency_ms);
      const std::vector<StepEvent> events = from.session.events(from.run.id, batch.number);
      uint64_t zero = UINT64_MAX;
      for (const StepEvent& e : events) zero = std::min(zero, e.begin_ns);
      for (const StepEvent& e : events) {
        const StepInfo step = e.step < from.layout.steps.size() ? from.layout.steps[e.step] : StepInfo{};
        put_row(out, batch.number, int64_t{e.step}, step.name, step.op,
                step.branch < 0 ? std::string() : std::to_string(step.branch), int64_t{e.worker},
                static_cast<double>(e.begin_ns - zero) / 1e6, static_cast<double>(e.end_ns - e.begin_ns) / 1e6);
      }
    }
  }
}

struct Table {
  CsvTable about;
  void (*write)(const Source&, TextOutput&, const Progress&);
};
/// Loads of a layer, and the number of real cells that met it.
struct LayerTotals {
  const RouterInfo& router;
  std::string layer;  ///< of the model; empty: not known
  std::vector<int64_t> loads;
  int64_t cells = 0;
};
/// Estimates the real cells if there is padding: of padded cells only those in a branch are known, so cells follow from
/// choices at the full fan-out.
int64_t real_cells(const RouterLoads& total, int32_t fan_out) {
  const auto sum = [](const std::vector<int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
  };
  if (total.cells > 0 && sum(total.padding) == 0) return total.cells;
  const std::vector<int64_t> real = total.real();
  const int64_t choices = sum(real) + sum(total.dropped), k = std::max(fan_out, 1);
  return std::max((choices + k - 1) / k, real.empty() ? 0 : *std::max_element(real.begin(), real.end()));
}
std::vector<LayerTotals> totals_of(const Source& from, const Progress& progress) {
  const std::vector<std::string> lacks = lacks_of_import(from.run);
  if (std::find(lacks.begin(), lacks.end(), "k") != lacks.end())
    bad_input(from.session.path(), "does not say how many branches a cell chooses",
              how_to_get(from.run, "k", "import it with --model-config"));
  std::vector<LayerTotals> out;
  for (size_t r = 0; r < from.layout.routers.size(); ++r) {
    progress.report("loads", static_cast<int64_t>(r), std::ssize(from.layout.routers));
    const RouterInfo& router = from.layout.routers[r];
    const int32_t layer = router.layer >= 0 ? router.layer : layer_in_name(router.name);
    const RouterLoads total = from.session.total_loads(from.run.id, static_cast<int32_t>(r));
    out.push_back({router, layer >= 0 ? std::to_string(layer) : "", total.real(), real_cells(total, router.fan_out)});
  }
  return out;
}

// Writes the figures that simulators of serving take in place of a trace.
void write_skew(const Source& from, TextOutput& out, const Progress& progress) {
  out.write("router,layer,branches,choices_of_cell,cells,largest_over_mean,power_law_alpha,power_law_error\n");
  for (const LayerTotals& t : totals_of(from, progress)) {
    const auto law = power_law_of(t.loads, t.cells);
    if (!law) continue;
    put_row(out, t.router.name, t.layer, std::ssize(t.loads), t.router.fan_out, t.cells, imbalance(t.loads) + 1,
            law->alpha, law->error);
  }
}

void write_distinct(const Source& from, TextOutput& out, const Progress& progress) {
  constexpr int64_t kMostCells = 8192;
  out.write("router,layer,cells,distinct_branches,of_even_loads\n");
  for (const LayerTotals& t : totals_of(from, progress)) {
    if (t.cells == 0) continue;
    const double all = t.loads.size();
    for (int64_t cells = 1; cells <= kMostCells; cells *= 2) {
      const double drawn = cells;
      put_row(out, t.router.name, t.layer, cells, distinct_branches(t.loads, t.cells, drawn),
              all * (1 - std::pow(1 - std::min(t.router.fan_out / all, 1.), drawn)));
    }
  }
}

constexpr std::array kTables = {
    Table{{"loads", "cells of each branch over time"}, write_loads},
    Table{{"labels", "cells of each branch by label"}, write_labels},
    Table{{"transitions", "cells from branch to branch of the routers that they met next"}, write_transitions},
    Table{{"decisions", "every choice of every cell"}, write_decisions},
    Table{{"scores", "every score of every cell"}, write_scores},
    Table{{"timings", "every batch and its steps"}, write_timings},
    Table{{"skew", "of each layer the exponent of a power law of its loads, for simulators of serving"}, write_skew},
    Table{{"distinct", "how many branches of each layer 1, 2, 4, ... cells meet"}, write_distinct},
};
constexpr auto kAbout = [] {
  std::array<CsvTable, kTables.size()> list{};
  for (size_t i = 0; i < list.size(); ++i) list[i] = kTables[i].about;
  return list;
}();

}  // namespace

std::span<const CsvTable> csv_tables() { return kAbout; }

void write_csv(const ExportOptions& options, const Progress& progress) {
  const Table* table = nullptr;
  for (const Table& t : kTables)
    if (t.about.what == options.what) table = &t;
  const std::string advice = advice_on_word(options.what, kTables, [](const Table& t) { return t.about.what; });
  if (!table && options.what.empty())
    bad_input("--what", "is missing: --format csv needs it to know which table", advice);
  if (!table)
    bad_input("--what",
              "\"" + options.what + "\" is " + (options.what == "placement" ? "not in this version" : "no table"),
              advice);
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  const RunSummary run = choose_recorded_run(session, path.run);
  const Source source{session, run, session.layout(run.id), has_grids(session, run)};
  TextOutput out(options.output);
  out.write("# " + origin_of(session, run).line() + "; " + std::string(table->about.what) + "\n");
  table->write(source, out, progress);
  out.finish();
}

}  // namespace stormcell

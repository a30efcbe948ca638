#include "core/readings/selected_view.h"

#include <algorithm>
#include <set>

#include "core/base/blocking.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

/// Windows of single batches that are in memory at once.
constexpr int64_t kChunk = 1024;

bool only_phase(const SessionReader& reader, int64_t run, const std::string& phase) {
  const std::vector<Phase> phases = reader.phases(run);
  return phases.size() == 1 && to_text(phases[0]) == phase;
}

/// Adds the batches of `ranges` to the windows that they lie in.
void add_batches(const SessionReader& reader, int64_t run, int32_t number, const std::vector<BatchRange>& ranges,
                 const LoadWindows& windows, LoadWindows::Router& to) {
  const size_t branches = to.line.branches;
  for (const BatchRange& range : ranges)
    for (int64_t first = range.first; first < range.end; first += kChunk) {
      const auto loads = reader.loads(run, number, 0, {first, std::min(first + kChunk, range.end)});
      for (size_t i = 0; i < loads.size(); ++i) {
        const int64_t window = (first + static_cast<int64_t>(i)) / windows.batches_per_window - windows.first_window;
        if (window < 0 || window >= windows.windows) continue;
        const size_t w = window;
        to.cells[w] += loads[i].cells;
        // A value that the trace lacks has nothing to add to.
        const auto add = [&](auto& values, const auto& more) {
          using Element = std::decay_t<decltype(values[0])>;
          for (size_t b = 0; b < branches && !values.empty(); ++b)
            values[w * branches + b] += static_cast<Element>(more[b]);
        };
        add(to.load, loads[i].load);
        add(to.padding, loads[i].padding);
        add(to.dropped, loads[i].dropped);
        add(to.weight, loads[i].weight);
      }
    }
}

}  // namespace

SelectionChoices read_selection_choices(const std::string& file, int64_t run) {
  may_block("read_selection_choices");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  SelectionChoices choices;
  choices.run = summary.id, choices.batches = summary.batches;
  for (const Phase phase : reader.phases(summary.id)) choices.phases.emplace_back(to_text(phase));
  std::set<std::string> labels;
  // A router that met no cell of a label has no row for it.
  for (const RouterInfo& router : layout.routers) choices.routers.push_back(line_of(layout, router));
  for (size_t r = 0; r < layout.routers.size() && r < 4; ++r)
    for (const LabelLoads& l : reader.label_loads(summary.id, static_cast<int32_t>(r)))
      if (!l.label.empty()) labels.insert(l.label);
  choices.labels.assign(labels.begin(), labels.end());
  return choices;
}

std::vector<std::vector<BatchRange>> batches_of_phase(const SessionReader& reader, int64_t run,
                                                      const std::string& phase, BatchRange batches,
                                                      const Progress& progress) {
  std::vector<std::vector<BatchRange>> ranges(reader.layout(run).spaces.size());
  if (only_phase(reader, run, phase)) {
    for (auto& of_space : ranges) of_space = {batches};
    return ranges;
  }
  progress.report("reading phases", 0, 1);
  for (const Phase each : {Phase::forward, Phase::prefill, Phase::decode}) {
    if (to_text(each) != phase) continue;
    for (const SpaceOfBatch& at : reader.batches_of_phase(run, each, batches)) {
      if (static_cast<size_t>(at.space) >= ranges.size()) continue;
      auto& of_space = ranges[at.space];
      if (!of_space.empty() && of_space.back().end == at.batch)
        ++of_space.back().end;
      else
        of_space.push_back({at.batch, at.batch + 1});
    }
  }
  return ranges;
}

std::shared_ptr<const LoadWindows> read_phase_windows(const std::string& file, int64_t run, const std::string& phase,
                                                      BatchRange range, int64_t most_windows,
                                                      const Progress& progress) {
  may_block("read_phase_windows");
  const auto all = read_load_windows(file, run, range, most_windows, progress);
  const SessionReader reader(file);
  if (only_phase(reader, all->run, phase)) return all;
  auto result = std::make_shared<LoadWindows>(*all);
  const auto ranges =
      batches_of_phase(reader, result->run, phase, {result->first_batch(), result->end_batch()}, progress);
  const RunLayout layout = reader.layout(result->run);
  for (size_t r = 0; r < result->routers.size(); ++r) {
    progress.report("reading loads", static_cast<int64_t>(r), std::ssize(result->routers));
    LoadWindows::Router& router = result->routers[r];
    std::fill(router.cells.begin(), router.cells.end(), 0);
    for (auto* values : {&router.load, &router.padding, &router.dropped}) std::fill(values->begin(), values->end(), 0);
    std::fill(router.weight.begin(), router.weight.end(), 0.0f);
    add_batches(reader, result->run, static_cast<int32_t>(r), ranges[layout.routers[r].space], *result, router);
  }
  return result;
}

std::shared_ptr<const LoadWindows> read_label_window(const std::string& file, int64_t run, const std::string& label,
                                                     const Progress& progress) {
  may_block("read_label_window");
  const OpenedRun opened(file, run);
  const auto& [reader, summary, layout] = opened;
  auto result = std::make_shared<LoadWindows>();
  result->run = summary.id;
  result->batches = summary.batches;
  result->batches_per_window = std::max<int64_t>(1, summary.batches);
  result->windows = summary.batches > 0 ? 1 : 0;
  for (size_t r = 0; r < layout.routers.size(); ++r) {
    progress.report("reading loads by label", static_cast<int64_t>(r), std::ssize(layout.routers));
    const RouterInfo& info = layout.routers[r];
    LoadWindows::Router router{line_of(layout, info), {}, {}, {}, {}, {}};
    router.cells.resize(result->windows);
    router.load.resize(int64_t{result->windows} * info.branches);
    if (result->windows > 0)
      for (const LabelLoads& l : reader.label_loads(summary.id, static_cast<int32_t>(r))) {
        if (l.label != label) continue;
        router.cells[0] = l.cells;
        for (size_t b = 0; b < router.load.size(); ++b) router.load[b] = l.load[b];
      }
    result->routers.push_back(std::move(router));
  }
  return result;
}

int64_t find_sequence(const std::string& file, int64_t run, const std::string& label, int64_t from,
                      const Progress& progress) {
  may_block("find_sequence");
  const SessionReader reader(file);
  const RunSummary summary = find_run(reader, run);
  const int64_t end = reader.sequences(summary.id);
  for (int64_t first = from; first < end; first += kChunk) {
    progress.report("looking for a label", first, end);
    for (const SequenceInput& input : reader.inputs(summary.id, {first, first + kChunk}))
      if (input.label == label) return input.sequence;
  }
  return -1;
}

}  // namespace stormcell

#include "core/exports/export_trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/exports/export_origin.h"
#include "core/exports/text_output.h"
#include "core/readings/session_lookup.h"
#include "core/session/session_reader.h"

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

std::string dumped(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Microseconds with three digits: the format's unit, at the clock's resolution.
double micros(uint64_t ns) { return static_cast<double>(ns) / 1e3; }

bool has_events(const SessionReader& session, const RunSummary& run) { return run.batches > 0 && !session.events(run.id, 0).empty(); }

}  // namespace

// Times begin at the first event of the run. The batches stand in a row of their own above the workers.
void write_chrome_trace(const ExportOptions& options, const Progress& progress) {
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  const RunSummary run = find_exported_run(session, path.run, has_events, "holds no step events");
  const RunLayout layout = session.layout(run.id);
  const ExportOrigin origin = origin_of(session, run);
  TextOutput out(options.output);
  const Json about = {{"version", origin.version}, {"model", origin.model}, {"device", origin.device}, {"date", origin.date},
                      {"session", origin.session}, {"run", origin.run},     {"kind", origin.kind}};
  out.write("{\"displayTimeUnit\": \"ms\", \"otherData\": " + dumped(about) + ", \"traceEvents\": [\n");
  out.write(
      dumped({{"ph", "M"}, {"pid", 1}, {"name", "process_name"}, {"args", {{"name", "stormcell " + origin.kind + " " + origin.model}}}}));
  out.write(",\n" + dumped({{"ph", "M"}, {"pid", 1}, {"tid", 0}, {"name", "thread_name"}, {"args", {{"name", "batches"}}}}));
  std::vector<bool> known_worker;
  uint64_t zero = 0;
  constexpr int64_t kAtATime = 256;
  for (int64_t first = 0; first < run.batches; first += kAtATime) {
    for (const BatchSummary& batch : session.batches(run.id, {first, first + kAtATime})) {
      progress.report("trace", batch.number, run.batches);
      const std::vector<StepEvent> events = session.events(run.id, batch.number);
      if (events.empty()) continue;
      uint64_t begin = UINT64_MAX, end = 0;
      for (const StepEvent& e : events) begin = std::min(begin, e.begin_ns), end = std::max(end, e.end_ns);
      if (zero == 0) zero = begin;
      begin = std::max(begin, zero);
      out.write(",\n" + dumped({{"ph", "X"},
                                {"pid", 1},
                                {"tid", 0},
                                {"ts", micros(begin - zero)},
                                {"dur", micros(std::max(end, begin) - begin)},
                                {"name", "batch " + std::to_string(batch.number)},
                                {"cat", "batch"},
                                {"args", {{"sequences", batch.sequences}, {"guard_misses", batch.guard_misses}}}}));
      for (const StepEvent& e : events) {
        const StepInfo step = e.step < layout.steps.size() ? layout.steps[e.step] : StepInfo{};
        if (known_worker.size() <= e.worker) known_worker.resize(size_t{e.worker} + 1);
        if (!known_worker[e.worker]) {
          known_worker[e.worker] = true;
          out.write(",\n" + dumped({{"ph", "M"},
                                    {"pid", 1},
                                    {"tid", e.worker + 1},
                                    {"name", "thread_name"},
                                    {"args", {{"name", "worker " + std::to_string(e.worker)}}}}));
        }
        Json args = {{"batch", batch.number}, {"step", e.step}};
        if (step.router >= 0 && static_cast<size_t>(step.router) < layout.routers.size())
          args["router"] = layout.routers[static_cast<size_t>(step.router)].name;
        if (step.branch >= 0) args["branch"] = step.branch;
        out.write(",\n" + dumped({{"ph", "X"},
                                  {"pid", 1},
                                  {"tid", e.worker + 1},
                                  {"ts", micros(std::max(e.begin_ns, zero) - zero)},
                                  {"dur", micros(e.end_ns - e.begin_ns)},
                                  {"name", step.name.empty() ? "step " + std::to_string(e.step) : step.name},
                                  {"cat", step.op.empty() ? "step" : step.op},
                                  {"args", args}}));
      }
    }
  }
  out.write("\n]}\n");
  out.finish();
}

}  // namespace stormcell

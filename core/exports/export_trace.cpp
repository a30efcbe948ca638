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

bool has_events(const SessionReader& session, const RunSummary& run) {
  return run.batches > 0 && !session.events(run.id, 0).empty();
}

/// Writes one line an event. Times begin at the first event of the run; the batches have a row of their own above the
/// workers.
class TraceLines {
 public:
  TraceLines(TextOutput& out, const RunLayout& layout) : out_(out), layout_(layout) {}

  void begin(const ExportOrigin& origin) {
    const Json about = {{"version", origin.version}, {"model", origin.model},     {"device", origin.device},
                        {"date", origin.date},       {"session", origin.session}, {"run", origin.run},
                        {"kind", origin.kind}};
    out_.write("{\"displayTimeUnit\": \"ms\", \"otherData\": " + dumped(about) + ", \"traceEvents\": [\n");
    out_.write(dumped({{"ph", "M"},
                       {"pid", 1},
                       {"name", "process_name"},
                       {"args", {{"name", "stormcell " + origin.kind + " " + origin.model}}}}));
    name_row(0, "batches");
  }
  void add(const BatchSummary& batch, const std::vector<StepEvent>& events) {
    uint64_t begin = UINT64_MAX, end = 0;
    for (const StepEvent& e : events) begin = std::min(begin, e.begin_ns), end = std::max(end, e.end_ns);
    if (zero_ == 0) zero_ = begin;
    begin = std::max(begin, zero_);
    write({{"ph", "X"},
           {"pid", 1},
           {"tid", 0},
           {"ts", micros(begin - zero_)},
           {"dur", micros(std::max(end, begin) - begin)},
           {"name", "batch " + std::to_string(batch.number)},
           {"cat", "batch"},
           {"args", {{"sequences", batch.sequences}, {"guard_misses", batch.guard_misses}}}});
    for (const StepEvent& e : events) add(batch, e);
  }
  void end() { out_.write("\n]}\n"); }

 private:
  void write(const Json& event) { out_.write(",\n" + dumped(event)); }
  void name_row(int64_t row, const std::string& name) {
    write({{"ph", "M"}, {"pid", 1}, {"tid", row}, {"name", "thread_name"}, {"args", {{"name", name}}}});
  }
  void add(const BatchSummary& batch, const StepEvent& e) {
    const StepInfo step = e.step < layout_.steps.size() ? layout_.steps[e.step] : StepInfo{};
    if (known_worker_.size() <= e.worker) known_worker_.resize(size_t{e.worker} + 1);
    if (!known_worker_[e.worker]) {
      known_worker_[e.worker] = true;
      name_row(e.worker + 1, "worker " + std::to_string(e.worker));
    }
    Json args = {{"batch", batch.number}, {"step", e.step}};
    if (step.router >= 0 && static_cast<size_t>(step.router) < layout_.routers.size())
      args["router"] = layout_.routers[step.router].name;
    if (step.branch >= 0) args["branch"] = step.branch;
    write({{"ph", "X"},
           {"pid", 1},
           {"tid", e.worker + 1},
           {"ts", micros(std::max(e.begin_ns, zero_) - zero_)},
           {"dur", micros(e.end_ns - e.begin_ns)},
           {"name", step.name.empty() ? "step " + std::to_string(e.step) : step.name},
           {"cat", step.op.empty() ? "step" : step.op},
           {"args", args}});
  }

  TextOutput& out_;
  const RunLayout& layout_;
  std::vector<bool> known_worker_;
  uint64_t zero_ = 0;
};

}  // namespace

void write_chrome_trace(const ExportOptions& options, const Progress& progress) {
  const SessionPath path = parse_session_path(options.session);
  const SessionReader session(path.file);
  const RunSummary run = choose_run(session, path.run, has_events, "holds no step events");
  const RunLayout layout = session.layout(run.id);
  TextOutput out(options.output);
  TraceLines lines(out, layout);
  lines.begin(origin_of(session, run));
  constexpr int64_t kAtATime = 256;
  for (int64_t first = 0; first < run.batches; first += kAtATime)
    for (const BatchSummary& batch : session.batches(run.id, {first, first + kAtATime})) {
      progress.report("trace", batch.number, run.batches);
      if (const std::vector<StepEvent> events = session.events(run.id, batch.number); !events.empty())
        lines.add(batch, events);
    }
  lines.end();
  out.finish();
}

}  // namespace stormcell

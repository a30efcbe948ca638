#include "core/imports/import.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/run_kind.h"
#include "core/formats/sha256.h"
#include "core/formats/trace/routed_alone.h"
#include "core/formats/trace/slot_loads.h"
#include "core/formats/trace/trace.h"
#include "core/imports/missing_parts.h"
#include "core/imports/trace_files.h"
#include "core/profile/layout_edges.h"
#include "core/profile/recorder.h"
#include "core/session/session_writer.h"
#include "core/summary/summary_json.h"

namespace stormcell {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

bool is_stop(const Error& e) { return e.kind() == ErrorKind::interrupted || e.kind() == ErrorKind::terminated; }

/// Where a trace names no weights file, its model is told by name and shape.
std::string fingerprint_of(const TraceHeader& header) {
  if (!header.fingerprint.empty()) return header.fingerprint;
  std::string text = "trace\n" + header.model + "\n";
  for (const TraceRouter& r : header.routers) text += r.name + " " + std::to_string(r.branches) + "\n";
  return sha256_hex(text);
}

TracedShape shape_of(const TraceHeader& header) {
  TracedShape shape{header.model, static_cast<int64_t>(header.routers.size()), 0, 0};
  for (const TraceRouter& r : header.routers) {
    shape.branches = std::max<int64_t>(shape.branches, r.branches);
    shape.k = std::max<int64_t>(shape.k, r.fan_out);
  }
  return shape;
}

RunLayout layout_of(const TraceHeader& header) {
  RunLayout layout;
  layout.spaces = header.stacks;
  for (const TraceRouter& r : header.routers) {
    RouterInfo info;
    info.name = r.name;
    info.branches = r.branches;
    info.fan_out = r.fan_out;
    info.protocol = r.protocol.empty() ? "not known" : r.protocol;
    info.space = r.stack;
    info.stack = header.stacks[static_cast<size_t>(r.stack)];
    info.parent = r.parent;
    info.parent_branch = r.parent_branch;
    info.layer = r.layer;
    info.branch_bytes = r.branch_bytes;
    info.dense_bytes = r.dense_bytes;
    layout.routers.push_back(std::move(info));
  }
  if (!header.counts) layout.edges = chain_edges(layout);  // counts say nothing of who went on where
  return layout;
}

Json json_of(const ImportFigures& f) {
  Json json = json_of_verb("import");
  json["format"] = f.format;
  json["rows_read"] = f.rows_read;
  json["rows_skipped"] = f.rows_skipped;
  json["rows_masked"] = f.rows_masked;
  json["rows_shared"] = f.rows_shared;
  json["model"] = {{"name", f.model.name}, {"layers", f.model.layers}, {"branches", f.model.branches}, {"k", f.model.k}};
  if (std::find(f.lacks.begin(), f.lacks.end(), "k") != f.lacks.end()) json["model"]["k"] = nullptr;
  json["lacks"] = f.lacks;
  json["lacks_how"] = Json::object();
  for (size_t i = 0; i < f.lacks.size(); ++i)
    if (!f.lacks_how[i].empty()) json["lacks_how"][f.lacks[i]] = f.lacks_how[i];
  json["files_known"] = f.runs_known.size();
  json["runs_known"] = f.runs_known;
  json["session"] = f.session;
  json["runs"] = f.runs;
  json["seconds"] = f.seconds;
  json["warnings"] = f.warnings;
  return json;
}

void find_how(ImportFigures& f) {
  f.lacks_how.clear();
  for (const std::string& fact : f.lacks) f.lacks_how.emplace_back(how_to_record(f.format, fact));
}

void add_lacks(const std::vector<std::string>& more, std::vector<std::string>& lacks) {
  for (const std::string& fact : more)
    if (std::find(lacks.begin(), lacks.end(), fact) == lacks.end()) lacks.push_back(fact);
}

/// The session that all traces go into. Opened by the first trace that has a header: what cannot be read changes nothing.
class Target {
 public:
  explicit Target(const ImportOptions& options) : options_(options) {}

  SessionWriter& open(const TraceHeader& header, const std::string& trace) {
    const std::string fingerprint = fingerprint_of(header);
    if (session_) {
      if (fingerprint != fingerprint_)
        bad_input(trace, "is of another model than " + options_.traces.front() + ": " + told(header) + " and not " + name_,
                  "import it into a session of its own");
      return *session_;
    }
    fingerprint_ = fingerprint;
    name_ = told(header);
    const TracedShape shape = shape_of(header);
    ModelSummary model{fingerprint, header.model.empty() ? std::filesystem::path(trace).stem().string() : header.model, header.family, {}};
    model.json = nlohmann::json{{"layers", shape.layers}, {"branches", shape.branches}, {"k", shape.k}, {"traced", true}}.dump(
        -1, ' ', false, nlohmann::json::error_handler_t::replace);
    model.form = header.fingerprint.empty() ? "trace" : "";
    session_ = std::make_unique<SessionWriter>(options_.session, model);
    session_->hold();
    return *session_;
  }
  void keep() {
    if (!session_) return;
    session_->keep();
    session_->close();
  }
  void take_back() {
    if (!session_) return;
    session_->take_back();
    session_->close();
  }

 private:
  static std::string told(const TraceHeader& header) {
    const TracedShape shape = shape_of(header);
    return (header.model.empty() ? "" : header.model + ", ") + counted(shape.layers, "layer") + " of " + counted(shape.branches, "branch");
  }
  const ImportOptions& options_;
  std::unique_ptr<SessionWriter> session_;
  std::string fingerprint_, name_;
};

/// One trace as one run. Destroyed without finish(), it is marked interrupted.
class TraceRun : public TraceSink {
 public:
  TraceRun(const ImportOptions& options, const TraceSource& source, std::string_view format, Target& target)
      : options_(options), source_(source), format_(format), target_(target) {}
  ~TraceRun() override {
    recorder_.reset();  // writes what it has, before the run ends
  }

  void begin(const TraceHeader& header) override {
    if (const int64_t here = shape_of(header).branches, there = source_.model.branches; there > 0 && here != there)
      bad_input(source_.path(), "has " + counted(here, "expert") + " a layer, " + options_.model_config + " " + std::to_string(there),
                "name the config.json of the model that was traced");
    SessionWriter& session = target_.open(header, source_.path());
    figures_.model = shape_of(header);
    figures_.lacks = header.lacks;
    RunStart start;
    start.kind = to_text(RunKind::import);
    start.name = std::filesystem::path(source_.path()).stem().string();
    start.decisions = !header.counts;
    Json about = {{"name", source_.path()},
                  {"format", format_},
                  {"content", content_of(*source_.file)},
                  {"modified", modified_of(source_.path())},
                  {"origin", header.origin},
                  {"lacks", header.lacks}};
    if (const std::string told = told_of(options_); !told.empty()) about["told"] = told;
    if (header.rank >= 0) about["rank"] = header.rank;
    rank_ = header_rank_ = header.rank;
    if (header.model_layers > 0) about["layers"] = header.model_layers;
    const int64_t hidden = options_.hidden > 0 ? options_.hidden : source_.model.hidden,
                  ffn = options_.ffn > 0 ? options_.ffn : source_.model.ffn;
    if (hidden > 0) about["hidden"] = hidden;
    if (ffn > 0) about["ffn"] = ffn;
    if (const Json slots = json_of(header.recorded_slots); !slots.is_null()) about.update(slots);
    start.dataset = about.dump(-1, ' ', false, Json::error_handler_t::replace);
    start.layout = layout_of(header);
    writer_ = session.begin_run(start);
    recorder_ = std::make_unique<Recorder>(std::vector<RecordSink*>{writer_.get()});
  }

  void batch(std::span<const TraceCells> cells, std::span<const TraceDecision> decisions) override {
    BatchRecord& record = begin_record();
    for (const TraceCells& c : cells) record.add_space(c.stack, c.cells, c.mask);
    for (const TraceDecision& d : decisions) {
      DecisionRecord r;
      r.router = d.router;
      r.choice = d.choice;
      r.weight = d.weight;
      r.ancestor = d.row;
      r.residency = d.residency;
      r.bytes_read = d.bytes_read;
      record.add_decision(r);
    }
    recorder_->submit();
  }

  void server_step(int64_t number) override {
    end_step();
    server_step_ = number;
  }

  void rank(int32_t number) override { rank_ = number; }
  /// -1: it is of several, or does not say.
  int32_t rank_of_file() const { return header_rank_; }

  void loads(int64_t step, int32_t router, std::span<const int64_t> counts) override {
    if (step != step_) end_step();
    step_ = step;
    held_.push_back({router, counts_.size(), counts.size()});
    counts_.insert(counts_.end(), counts.begin(), counts.end());
  }

  /// The figures of this trace alone.
  ImportFigures finish(const TraceCounts& counts, const std::string& format, double seconds) {
    end_step();
    recorder_->finish();
    figures_.format = format;
    figures_.rows_read = counts.rows_read;
    figures_.rows_skipped = counts.rows_skipped;
    figures_.rows_masked = counts.rows_masked;
    figures_.rows_shared = counts.rows_shared;
    figures_.warnings = counts.warnings;
    count_idle_steps();
    figures_.session = options_.session;
    figures_.runs = {writer_->id()};
    figures_.seconds = seconds;
    find_how(figures_);
    writer_->finish(RunStatus::finished, to_json(figures_));
    return figures_;
  }

 private:
  BatchRecord& begin_record() {
    BatchRecord& record = recorder_->begin_batch();
    record.number = batches_++;
    record.server_step = server_step_;
    record.rank = rank_;
    return record;
  }
  /// A step in which no expert was chosen, as of an idle pass, counts nothing.
  void end_step() {
    if (held_.empty()) return;
    if (std::any_of(counts_.begin(), counts_.end(), [](int64_t count) { return count != 0; })) {
      BatchRecord& record = begin_record();
      for (const HeldLoads& h : held_) record.add_loads({h.router, std::span(counts_).subspan(h.begin, h.size)});
      recorder_->submit();
    } else {
      ++idle_steps_;
    }
    held_.clear(), counts_.clear();
  }
  void count_idle_steps() {
    if (idle_steps_ == 0) return;
    if (batches_ == 0) bad_input(source_.path(), "is zero all over: no expert was ever chosen", "record while the server answers requests");
    figures_.warnings.push_back(source_.path() + ": " + with_commas(idle_steps_) + " of " + with_commas(idle_steps_ + batches_) +
                                " steps have no load, and count nothing");
  }

  const ImportOptions& options_;
  const TraceSource& source_;
  const std::string_view format_;
  Target& target_;
  int64_t batches_ = 0, server_step_ = -1;
  int32_t rank_ = -1, header_rank_ = -1;
  int64_t step_ = -1;
  struct HeldLoads {
    int32_t router;
    size_t begin, size;
  };
  std::vector<HeldLoads> held_;  // of the step whose loads are coming
  std::vector<int64_t> counts_;
  int64_t idle_steps_ = 0;
  ImportFigures figures_;
  std::unique_ptr<RunWriter> writer_;
  std::unique_ptr<Recorder> recorder_;
};

/// No run where the trace holds nothing. Its rank, where it says one, is added to `ranks`.
ImportFigures import_one(const ImportOptions& options, const TraceSource& source, Target& target, std::set<int64_t>& ranks,
                         const Progress& progress) {
  const Clock::time_point begin = Clock::now();
  if (source.file->size() == 0) bad_input(source.path(), "is empty, not a routing trace", "record it again");
  const TraceFormat& format = options.format.empty() ? recognize_trace(*source.file) : find_trace_format(options.format);
  TraceRun run(options, source, format.id, target);
  RoutedAlone routed(source, run);
  const TraceCounts counts = format.read(source, routed, progress);
  const int64_t rank = counts.nothing.empty() ? run.rank_of_file() : counts.rank_of_nothing;
  if (rank >= 0) ranks.insert(rank);
  if (!counts.nothing.empty()) {
    ImportFigures none;
    none.warnings = {source.path() + ": " + counts.nothing + "; left out"};
    return none;
  }
  return run.finish(routed.routed(counts), std::string(format.id), std::chrono::duration<double>(Clock::now() - begin).count());
}

void add(const ImportFigures& one, ImportFigures& all) {
  all.warnings.insert(all.warnings.end(), one.warnings.begin(), one.warnings.end());
  if (one.runs.empty()) return;
  all.format = all.runs.empty() || all.format == one.format ? one.format : "mixed";
  all.rows_read += one.rows_read;
  all.rows_skipped += one.rows_skipped;
  all.rows_masked += one.rows_masked;
  all.rows_shared += one.rows_shared;
  all.model = one.model;
  all.runs.insert(all.runs.end(), one.runs.begin(), one.runs.end());
  add_lacks(one.lacks, all.lacks);
}

}  // namespace

std::vector<ImportFormat> import_formats() {
  std::vector<ImportFormat> list;
  for (const TraceFormat& f : trace_formats()) list.push_back({f.id, f.summary, f.suffix});
  return list;
}

ImportFigures import_traces(const ImportOptions& options, const Progress& progress) {
  const Clock::time_point begin = Clock::now();
  if (options.traces.empty()) bad_input("TRACE", "is missing", "name a routing trace");
  if (options.session.empty()) bad_input("-o", "is missing", "-o S.storm");
  if (!options.format.empty()) find_trace_format(options.format);
  TracedModel model = options.model_config.empty() ? TracedModel{} : read_traced_model(options.model_config);
  if (options.shared_experts > kMostSharedExperts)
    bad_input("--shared-experts", "is " + std::to_string(options.shared_experts), "0 to " + std::to_string(kMostSharedExperts));
  if (options.shared_experts >= 0) model.shared = static_cast<int32_t>(options.shared_experts);
  const TraceFiles files = find_trace_files(options, progress);
  ImportFigures all;
  all.session = options.session;
  all.runs_known = files.known;
  all.warnings = files.warnings;
  Target target(options);
  std::set<int64_t> ranks;
  try {
    for (const std::string& trace : files.traces) {
      const TraceSource source{MappedFile::open(trace), model};
      add(import_one(options, source, target, ranks, progress), all);
    }
    if (all.runs.empty() && files.known.empty() && !files.traces.empty())
      bad_input(files.traces.front(), "holds nothing: no token was recorded in it", "record while the server answers requests");
  } catch (const Error& e) {
    is_stop(e) ? target.keep() : target.take_back();
    throw;
  } catch (...) {
    target.take_back();
    throw;
  }
  target.keep();
  // By their names the files that are missing are known; else by what the traces say.
  if (const std::string missing = missing_ranks(ranks); !missing.empty() && !files.part_missing && files.known.empty())
    all.warnings.push_back(options.traces.front() + ": " + missing);
  if (all.rows_masked > 0)
    all.warnings.push_back(with_commas(all.rows_masked) + " of " + counted(all.rows_read + all.rows_masked, "row") + " name no branch");
  find_how(all);
  all.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return all;
}

std::string to_json(const ImportFigures& figures) { return json_text(json_of(figures)); }

}  // namespace stormcell

#include "core/imports/import.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/base/run_kind.h"
#include "core/formats/file_kind.h"
#include "core/imports/exits_json.h"
#include "core/imports/import_targets.h"
#include "core/imports/missing_parts.h"
#include "core/imports/trace_files.h"
#include "core/profile/layout_edges.h"
#include "core/profile/recorder.h"
#include "core/session/session_writer.h"
#include "core/summary/summary_json.h"
#include "core/traces/routed_alone.h"
#include "core/traces/slot_loads.h"
#include "core/traces/trace.h"

namespace stormcell {
namespace {

using Json = nlohmann::ordered_json;
using Clock = std::chrono::steady_clock;

constexpr std::string_view kComplete = "complete";

bool is_stop(const Error& e) { return e.kind() == ErrorKind::interrupted || e.kind() == ErrorKind::terminated; }

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
    info.stack = header.stacks[r.stack];
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

Json json_of(const TracedShape& shape) {
  return {{"name", shape.name}, {"layers", shape.layers}, {"branches", shape.branches}, {"k", shape.k}};
}

Json json_of(const ImportFigures& f) {
  Json json = json_of_verb("import");
  json["format"] = f.format;
  json["rows_read"] = f.rows_read;
  json["choices"] = f.choices;
  json["rows_skipped"] = f.rows_skipped;
  json["rows_masked"] = f.rows_masked;
  json["rows_shared"] = f.rows_shared;
  json["empty_lines"] = f.empty_lines;
  json["model"] = json_of(f.model);
  if (std::find(f.lacks.begin(), f.lacks.end(), "k") != f.lacks.end()) json["model"]["k"] = nullptr;
  json["recorded"] = f.recorded.empty() ? Json() : Json(f.recorded);
  json["exits"] = json_of(f.exits);
  json["lacks"] = f.lacks;
  json["lacks_how"] = Json::object();
  for (size_t i = 0; i < f.lacks.size(); ++i)
    if (!f.lacks_how[i].empty()) json["lacks_how"][f.lacks[i]] = f.lacks_how[i];
  json["files_known"] = f.files_known;
  json["runs_known"] = f.runs_known;
  json["session"] = f.session;
  json["runs"] = f.runs;
  json["sessions"] = Json::array();
  for (const ImportedSession& s : f.sessions)
    json["sessions"].push_back({{"session", s.session},
                                {"model", s.runs.empty() ? Json() : json_of(s.model)},
                                {"runs", s.runs},
                                {"runs_known", s.runs_known}});
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

/// One trace as one run. Destroyed without finish(), it is marked interrupted.
class TraceRun : public TraceSink {
 public:
  TraceRun(const ImportOptions& options, const TraceSource& source, std::string_view format, ImportTargets& targets)
      : options_(options), source_(source), format_(format), targets_(targets) {}
  ~TraceRun() override {
    recorder_.reset();  // writes what it has, before the run ends
  }

  void begin(const TraceHeader& header) override {
    if (const int64_t here = shape_of(header).branches, there = source_.model.branches; there > 0 && here != there)
      bad_input(source_.path(),
                "has " + counted(here, "expert") + " a layer, " + options_.model_config + " " + std::to_string(there),
                "name the config.json of the model that was traced");
    check_layers_of_model(source_, header);
    const int64_t here = shape_of(header).k, k = std::min<int64_t>(source_.model.k, shape_of(header).branches);
    if (k > 0 && here != k && std::find(header.lacks.begin(), header.lacks.end(), "k") == header.lacks.end())
      unlike_k_ = source_.path() + ": has " + counted(here, "choice") + " of a token, " + options_.model_config +
                  " says " + std::to_string(k) + ": check that both are of one model";
    for (const TraceRouter& r : header.routers) layers_.push_back(r.stack == 0 ? r.layer : kOtherStack);
    used_.assign(header.routers.size(), 0);
    rank_ = header_rank_ = header.rank;
    header_ = header;
  }

  void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) override {
    BatchRecord& record = begin_record();
    for (const TraceCells& c : cells) record.add_space(c.stack, c.cells, c.mask, c.tokens);
    for (const int32_t label : labels_) record.add_sequence(label < 0 ? std::string() : std::to_string(label));
    labels_.clear();
    for (const DecisionRecord& d : decisions) {
      record.add_decision(d);
      uint8_t& used = used_[d.router];
      if (!used)
        used = std::any_of(d.choice.begin(), d.choice.end(), [](int32_t choice) { return choice != kNoBranch; });
    }
    recorder_->submit();
  }

  void server_step(int64_t number) override {
    end_step();
    server_step_ = number;
  }

  void rank(int32_t number) override { rank_ = number; }
  void labels(std::span<const int32_t> classes) override { labels_.assign(classes.begin(), classes.end()); }
  /// The rank of a trace; -1: it is of several ranks, or does not state one.
  int32_t rank_of_file() const { return header_rank_; }

  void loads(int64_t step, int32_t router, std::span<const int64_t> counts) override {
    if (step != step_) end_step();
    step_ = step;
    held_.push_back({router, counts_.size(), counts.size()});
    counts_.insert(counts_.end(), counts.begin(), counts.end());
    counted_choices_ = std::accumulate(counts.begin(), counts.end(), counted_choices_);
    uint8_t& used = used_[router];
    if (!used) used = std::any_of(counts.begin(), counts.end(), [](int64_t count) { return count != 0; });
  }

  /// The numbers of the layers in which an expert was chosen, -1: not known.
  std::vector<int32_t> recorded_layers() const {
    std::vector<int32_t> recorded;
    for (size_t r = 0; r < layers_.size(); ++r)
      if (used_[r] && layers_[r] != kOtherStack) recorded.push_back(layers_[r]);
    return recorded;
  }

  /// True if an expert was chosen in the trace. Call it after the whole trace was read.
  bool has_run() {
    end_step();
    return writer_ != nullptr;
  }

  /// The figures of this trace alone.
  ImportFigures finish(const TraceCounts& counts, const std::string& format, double seconds) {
    recorder_->finish();
    figures_.format = format;
    figures_.rows_read = counts.rows_read;
    figures_.choices = header_.counts ? counted_choices_ : counts.rows_read;
    figures_.rows_skipped = counts.rows_skipped;
    figures_.rows_masked = counts.rows_masked;
    figures_.rows_shared = counts.rows_shared;
    figures_.empty_lines = counts.empty_lines.count;
    figures_.warnings = counts.warnings;
    if (counts.rows_masked > 0)
      figures_.warnings.push_back(source_.path() + ": " + with_commas(counts.rows_masked) + " of " +
                                  counted(counts.rows_read + counts.rows_masked, "row") +
                                  (counts.rows_masked == 1 ? " names" : " name") + " no branch");
    for (const std::string& doubt : {branches_warning_, unlike_k_})
      if (!doubt.empty()) figures_.warnings.push_back(doubt);
    if (!header_.recorder.empty()) figures_.recorded = header_.cut.empty() ? std::string(kComplete) : header_.cut;
    if (!header_.cut.empty())
      figures_.warnings.push_back(source_.path() + ": its recorder (" + header_.recorder +
                                  ") left out: " + header_.cut);
    if (std::string left_out = counts.empty_lines.warning(source_.path()); !left_out.empty())
      figures_.warnings.push_back(std::move(left_out));
    count_idle_steps();
    // A rank may have only some layers; the layers of all ranks together are checked later.
    if (const std::string missing = missing_layers(source_.model, recorded_layers());
        header_rank_ < 0 && !missing.empty())
      figures_.warnings.push_back(source_.path() + ": " + missing);
    figures_.runs = {writer_->id()};
    figures_.seconds = seconds;
    find_how(figures_);
    writer_->finish(RunStatus::finished, to_json(figures_));
    return figures_;
  }

 private:
  /// Begins with the first batch: a trace in which no expert was ever chosen makes no run.
  void start_run() {
    const int64_t named = shape_of(header_).branches;
    SessionWriter& session = targets_.open(header_, source_.path());
    if (const int64_t all = shape_of(header_).branches; all != named)
      branches_warning_ = source_.path() + ": names " + counted(named, "expert") + ", other traces of its model " +
                          std::to_string(all) + ", which are taken: --model-config states the number";
    figures_.session = session.path();
    figures_.model = shape_of(header_);
    figures_.lacks = header_.lacks;
    if (!header_.exits.exits.empty()) figures_.exits = {header_.exits};
    RunStart start;
    start.kind = to_text(RunKind::import);
    start.name = name_of_trace(source_.path());
    start.decisions = !header_.counts;
    start.inputs = header_.tokens;
    if (!header_.pieces.empty())
      start.piece = [this](int32_t token) {
        const auto found = header_.pieces.find(token);
        return found == header_.pieces.end() ? std::string() : found->second;
      };
    Json about = {{"name", source_.path()},
                  {"format", format_},
                  {"content", content_of(*source_.file)},
                  {"modified", modified_of(source_.path())},
                  {"origin", header_.origin},
                  {"lacks", header_.lacks}};
    if (const std::string told = told_of(options_); !told.empty()) about["told"] = told;
    if (header_.rank >= 0) about["rank"] = header_.rank;
    if (header_.model_layers > 0) about["layers"] = header_.model_layers;
    const int64_t hidden = options_.hidden > 0 ? options_.hidden : source_.model.hidden,
                  ffn = options_.ffn > 0 ? options_.ffn : source_.model.ffn;
    if (hidden > 0) about["hidden"] = hidden;
    if (ffn > 0) about["ffn"] = ffn;
    if (const Json slots = json_of(header_.recorded_slots); !slots.is_null()) about.update(slots);
    start.dataset = about.dump(-1, ' ', false, Json::error_handler_t::replace);
    start.layout = layout_of(header_);
    writer_ = session.begin_run(start);
    recorder_ = std::make_unique<Recorder>(std::vector<RecordSink*>{writer_.get()});
  }

  BatchRecord& begin_record() {
    if (!writer_) start_run();
    BatchRecord& record = recorder_->begin_batch();
    record.number = batches_++;
    record.server_step = server_step_;
    record.rank = rank_;
    return record;
  }
  /// A step in which no expert was chosen, such as an idle pass, counts nothing.
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
    figures_.warnings.push_back(
        source_.path() + ": " + with_commas(idle_steps_) + " of " + counted(idle_steps_ + batches_, "step") +
        (idle_steps_ == 1 ? " has no load, and counts" : " have no load, and count") + " nothing");
  }

  const ImportOptions& options_;
  const TraceSource& source_;
  const std::string_view format_;
  ImportTargets& targets_;
  int64_t batches_ = 0, server_step_ = -1;
  int32_t rank_ = -1, header_rank_ = -1;
  std::vector<int32_t> labels_;  // of the batch that follows
  int64_t step_ = -1;
  struct HeldLoads {
    int32_t router;
    size_t begin, size;
  };
  std::vector<HeldLoads> held_;  // the step whose loads follow
  std::vector<int64_t> counts_;
  int64_t counted_choices_ = 0;
  int64_t idle_steps_ = 0;
  std::string unlike_k_;          // the config.json has another number of choices; empty: it has not
  std::string branches_warning_;  // the number of experts comes from other traces; empty: it does not
  TraceHeader header_;
  static constexpr int32_t kOtherStack = -2;
  std::vector<int32_t> layers_;  // by router: the model's number of its layer, -1: not known
  std::vector<uint8_t> used_;    // by router: an expert was chosen
  ImportFigures figures_;
  std::unique_ptr<RunWriter> writer_;
  std::unique_ptr<Recorder> recorder_;
};

/// The parts that the traces of one import hold together.
struct RecordedParts {
  std::set<int64_t> ranks;
  std::set<int32_t> layers;     ///< layers with a chosen expert, from traces of single ranks
  std::string of_single_ranks;  ///< the first trace of a single rank; empty: there is none
  std::string nothing;          ///< why the first empty trace is empty; empty: there is none
};

/// Takes the header alone: it stops the reader, which has looked at all ids before it hands the header on.
struct HeaderIsRead {};
class HeaderSink : public TraceSink {
 public:
  explicit HeaderSink(ImportTargets& targets) : targets_(targets) {}
  void begin(const TraceHeader& header) override {
    targets_.expect(header);
    throw HeaderIsRead();
  }
  void batch(std::span<const TraceCells>, std::span<const DecisionRecord>) override {}
  void loads(int64_t, int32_t, std::span<const int64_t>) override {}

 private:
  ImportTargets& targets_;
};

const TraceFormat& format_of(const ImportOptions& options, const TraceSource& source) {
  if (options.format.empty()) return recognize_trace(*source.file);
  const TraceFormat& format = find_trace_format(options.format);
  // --format overrides the format that was recognised, unless the file is of a completely different kind.
  if (!format.recognize(source.text())) refuse_other_kind(source.path(), source.text(), FileUse::trace);
  return format;
}

/// Reads the numbers of experts that several traces show only by their largest ids, so that ranks of one model get one
/// number.
void look_at_branches(const ImportOptions& options, const TraceFiles& files, const TracedModel& model,
                      ImportTargets& targets, const Progress& progress) {
  if (model.branches > 0 || files.traces.size() < 2) return;
  for (const TraceFile& trace : files.traces) {
    const TraceSource source{trace.unpacked ? trace.unpacked : open_trace(trace.path, progress), model};
    const TraceFormat& format = format_of(options, source);
    if (!format.branches_by_ids) continue;
    HeaderSink header(targets);
    RoutedAlone routed(source, header);
    try {
      format.read(source, routed, progress);
    } catch (const HeaderIsRead&) {
    }
  }
}

/// Returns no run if the trace is empty. Adds the trace's rank, if it states one, and its layers to `parts`.
ImportFigures import_one(const ImportOptions& options, const TraceSource& source, ImportTargets& targets,
                         RecordedParts& parts, const Progress& progress) {
  const Clock::time_point begin = Clock::now();
  const TraceFormat& format = format_of(options, source);
  TraceRun run(options, source, format.id, targets);
  RoutedAlone routed(source, run);
  const TraceCounts counts = format.read(source, routed, progress);
  const int64_t rank = counts.nothing.empty() ? run.rank_of_file() : counts.rank_of_nothing;
  if (rank >= 0) parts.ranks.insert(rank);
  const std::string nothing = counts.nothing.empty() && !run.has_run() ? std::string(kNothingChosen) : counts.nothing;
  if (!nothing.empty()) {
    if (parts.nothing.empty()) parts.nothing = nothing;
    ImportFigures none;
    none.warnings = counts.warnings;
    none.warnings.push_back(source.path() + ": " + nothing + "; left out");
    return none;
  }
  if (rank >= 0) {
    const std::vector<int32_t> layers = run.recorded_layers();
    parts.layers.insert(layers.begin(), layers.end());
    if (parts.of_single_ranks.empty()) parts.of_single_ranks = source.path();
  }
  return run.finish(routed.routed(counts), std::string(format.id),
                    std::chrono::duration<double>(Clock::now() - begin).count());
}

ImportedSession& session_of(const std::string& path, ImportFigures& all) {
  const auto at = std::find_if(all.sessions.begin(), all.sessions.end(),
                               [&](const ImportedSession& s) { return s.session == path; });
  if (at != all.sessions.end()) return *at;
  all.sessions.push_back({path, {}, {}, {}});
  return all.sessions.back();
}

/// All traces together are complete if each says so.
void add_recorded(const std::string& one, ImportFigures& all) {
  const bool first =
      std::all_of(all.sessions.begin(), all.sessions.end(), [](const ImportedSession& s) { return s.runs.empty(); });
  if (first || all.recorded == kComplete)
    all.recorded = one;
  else if (all.recorded.empty() || one.empty())
    all.recorded.clear();
  else if (one != kComplete && one != all.recorded)
    all.recorded += "; " + one;
}

void add(const ImportFigures& one, ImportFigures& all) {
  all.warnings.insert(all.warnings.end(), one.warnings.begin(), one.warnings.end());
  if (one.runs.empty()) return;
  all.format = all.format.empty() || all.format == one.format ? one.format : "mixed";
  all.rows_read += one.rows_read;
  all.choices += one.choices;
  all.rows_skipped += one.rows_skipped;
  all.rows_masked += one.rows_masked;
  all.rows_shared += one.rows_shared;
  all.empty_lines += one.empty_lines;
  add_recorded(one.recorded, all);
  all.exits.insert(all.exits.end(), one.exits.begin(), one.exits.end());
  ImportedSession& session = session_of(one.session, all);
  session.model = one.model;
  session.runs.insert(session.runs.end(), one.runs.begin(), one.runs.end());
  if (one.session == all.session) all.model = one.model, all.runs = session.runs;
  add_lacks(one.lacks, all.lacks);
}

std::string models_text(const ImportFigures& all) {
  std::vector<std::string> read;
  for (const ImportedSession& s : all.sessions)
    if (!s.runs.empty()) read.push_back(s.session);
  return "the traces are of " + std::to_string(read.size()) + " models, each in a session of its own: " + joined(read);
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
    bad_input("--shared-experts", "is " + std::to_string(options.shared_experts),
              "0 to " + std::to_string(kMostSharedExperts));
  if (options.shared_experts >= 0) model.shared = static_cast<int32_t>(options.shared_experts);
  const TraceFiles files = find_trace_files(options, progress);
  ImportFigures all;
  all.session = options.session;
  all.warnings = files.warnings;
  if (!model.doubt.empty()) all.warnings.push_back(model.doubt);
  if (!model.unlike.empty()) all.warnings.push_back(model.unlike);
  for (const KnownRun& known : files.known) session_of(known.session, all).runs_known.push_back(known.run);
  all.files_known = std::ssize(files.known);
  ImportTargets targets(options, model);
  RecordedParts parts;
  look_at_branches(options, files, model, targets, progress);
  try {
    for (const TraceFile& trace : files.traces) {
      const TraceSource source{trace.unpacked ? trace.unpacked : open_trace(trace.path, progress), model};
      add(import_one(options, source, targets, parts, progress), all);
    }
    if (all.sessions.empty() && !files.traces.empty())
      bad_input(files.traces.front().path, "holds nothing: no token was recorded in it; " + parts.nothing,
                "record while the server answers requests");
    targets.check(std::any_of(files.known.begin(), files.known.end(),
                              [&](const KnownRun& k) { return k.session == options.session; }));
  } catch (const Error& e) {
    is_stop(e) ? targets.keep() : targets.take_back();
    throw;
  } catch (...) {
    targets.take_back();
    throw;
  }
  targets.keep();
  // If names of files already show which files are missing, the ranks that traces state are not checked as well.
  if (const std::string missing = missing_ranks(parts.ranks);
      !missing.empty() && !files.part_missing && files.known.empty())
    all.warnings.push_back(options.traces.front() + ": " + missing);
  if (!parts.of_single_ranks.empty() && files.known.empty())
    if (const std::string missing = missing_layers(model, {parts.layers.begin(), parts.layers.end()}); !missing.empty())
      all.warnings.push_back((parts.ranks.size() == 1 ? parts.of_single_ranks : options.traces.front()) + ": " +
                             missing);
  for (const ImportedSession& s : all.sessions)
    if (s.session == all.session) all.runs_known = s.runs_known;
  const auto is_read = [](const ImportedSession& s) { return !s.runs.empty(); };
  if (std::count_if(all.sessions.begin(), all.sessions.end(), is_read) > 1) all.warnings.push_back(models_text(all));
  find_how(all);
  all.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  return all;
}

std::string to_json(const ImportFigures& figures) { return json_text(json_of(figures)); }

}  // namespace stormcell

#include "core/difference/recording_source.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "core/difference/native_rows.h"
#include "core/imports/trace_files.h"
#include "core/readings/lacks.h"
#include "core/readings/session_lookup.h"
#include "core/readings/session_runs.h"
#include "core/session/session_reader.h"
#include "core/traces/routed_alone.h"

namespace stormcell {
namespace {

constexpr const char* kNoChoices = "holds counts, without the choices of single cells";

TraceHeader header_of(const SessionReader& reader, const RunSummary& run, const RunLayout& layout) {
  TraceHeader header;
  const ModelSummary& model = reader.summary().model;
  header.model = model.name;
  header.family = model.family;
  if (model.form != kTraceForm) header.fingerprint = model.fingerprint;
  header.stacks = layout.spaces;
  header.lacks = lacks_of_import(run);
  for (const RouterInfo& r : layout.routers) {
    TraceRouter router;
    router.name = r.name, router.protocol = r.protocol, router.layer = r.layer;
    router.branches = r.branches, router.fan_out = r.fan_out, router.stack = r.space;
    header.routers.push_back(std::move(router));
  }
  return header;
}

class SessionSource : public RecordingSource {
 public:
  explicit SessionSource(const SessionPath& path) : reader_(path.file) {
    const auto has_choices = [](const SessionReader& session, const RunSummary& run) {
      return run.batches > 0 && session.has_decisions(run.id);
    };
    run_ = choose_run(reader_, path.run, has_choices,
                      std::string(kNoChoices) + " (" + how_to_get_choices(path.run) + ")");
    layout_ = reader_.layout(run_.id);
    name_ = path.file + "#" + std::to_string(run_.id);
  }
  const std::string& name() const override { return name_; }
  std::string origin() const override {
    return "device " + device_of(run_) + "; date " + run_.started + "; session " + reader_.summary().id + "; run #" +
           std::to_string(run_.id) + " (" + run_.kind + ")";
  }
  std::string how_to_record(std::string_view fact) const override { return how_to_get(run_, fact); }
  std::map<int32_t, std::string> pieces(std::span<const int32_t> tokens) const override {
    return reader_.has_pieces() ? reader_.pieces(tokens) : std::map<int32_t, std::string>();
  }

  std::map<int64_t, std::string> labels() const override {
    constexpr int64_t kAtATime = 4096;  // their texts are read with them
    std::map<int64_t, std::string> known;
    const int64_t end = reader_.sequences(run_.id);
    for (int64_t first = 0; first < end; first += kAtATime)
      for (SequenceInput& input : reader_.inputs(run_.id, {first, std::min(first + kAtATime, end)}))
        if (!input.label.empty()) known.emplace(input.sequence, std::move(input.label));
    return known;
  }

  void read(ReadParts parts, TraceSink& sink, const Progress& progress) override {
    sink.begin(header_of(reader_, run_, layout_));
    bool seen = false;
    for (int64_t b = 0; b < run_.batches; ++b) {
      progress.report("reading " + name_, b, run_.batches);
      const std::vector<BatchSpace> spaces = reader_.spaces(run_.id, b);
      std::vector<StoredDecision> stored;
      std::vector<DecisionRecord> decisions;
      // A run keeps the same parts of all its decisions: the first batch shows them.
      if (parts == ReadParts::choices || !seen) {
        stored.reserve(layout_.routers.size());
        for (int32_t r = 0; r < std::ssize(layout_.routers); ++r)
          if (auto d = reader_.decision(run_.id, r, b); d && d->cells > 0) {
            stored.push_back(std::move(*d));
            decisions.push_back(stored.back().record(r));
          }
        seen = seen || !decisions.empty();
      }
      pass_on(spaces, decisions, sink);
    }
  }

 private:
  /// For the import without choices that is named, or the newest one, else for runs of this program.
  std::string how_to_get_choices(const std::string& named) const {
    std::string how = "record them with profile, or import a recording that has them";
    for (const RunSummary& run : reader_.runs()) {
      if (!named.empty() && named != std::to_string(run.id) && named != run.name) continue;
      const std::vector<std::string> lacks = lacks_of_import(run);
      if (std::find(lacks.begin(), lacks.end(), "decisions") != lacks.end()) how = how_to_get(run, "decisions", how);
    }
    return how;
  }
  static void pass_on(const std::vector<BatchSpace>& spaces, const std::vector<DecisionRecord>& decisions,
                      TraceSink& sink) {
    std::vector<std::vector<int32_t>> masks(spaces.size());
    std::vector<TraceCells> tables;
    for (size_t s = 0; s < spaces.size(); ++s) {
      masks[s].assign(spaces[s].mask.begin(), spaces[s].mask.end());
      tables.push_back({spaces[s].space, spaces[s].cells, masks[s], spaces[s].tokens});
    }
    sink.batch(tables, decisions);
  }

  SessionReader reader_;
  RunSummary run_;
  RunLayout layout_;
  std::string name_;
};

/// Gives pages of the file back while it is read: a recording of any size takes little memory.
class DroppingSink : public TraceSink {
 public:
  /// `how`: what records choices in a program that writes this format.
  DroppingSink(const MappedFile& file, TraceSink& sink, std::optional<TraceHeader>& header, std::string_view how)
      : file_(file), sink_(sink), header_(header), how_(how) {}
  void begin(const TraceHeader& header) override {
    if (header.counts)
      bad_input(file_.path(), kNoChoices,
                how_.empty() ? "record the choices of each token: stormcell recorder lists recorders" : how_);
    header_ = header;
    sink_.begin(header);
  }
  void batch(std::span<const TraceCells> cells, std::span<const DecisionRecord> decisions) override {
    sink_.batch(cells, decisions);
    for (const DecisionRecord& d : decisions) passed_ += std::ssize(d.choice);
    constexpr int64_t kChoices = 1 << 20;  // 4 MiB of ids
    if (passed_ < kChoices) return;
    file_.drop_pages(0, file_.size());
    passed_ = 0;
  }
  void loads(int64_t, int32_t, std::span<const int64_t>) override {}

 private:
  const MappedFile& file_;
  TraceSink& sink_;
  std::optional<TraceHeader>& header_;
  const std::string_view how_;
  int64_t passed_ = 0;
};

class TraceFileSource : public RecordingSource {
 public:
  TraceFileSource(const std::string& path, const Progress& progress)
      : source_{open_trace(path, progress), {}}, format_(recognize_trace(*source_.file)), name_(path) {}
  const std::string& name() const override { return name_; }
  std::string origin() const override { return "trace " + name_; }
  std::string how_to_record(std::string_view fact) const override {
    return std::string(stormcell::how_to_record(format_.id, fact));
  }
  std::map<int32_t, std::string> pieces(std::span<const int32_t> tokens) const override {
    std::map<int32_t, std::string> known;
    for (const int32_t token : tokens)
      if (header_)
        if (const auto at = header_->pieces.find(token); at != header_->pieces.end()) known.insert(*at);
    return known;
  }
  std::vector<std::string> warnings() const override { return warnings_; }

  void read(ReadParts parts, TraceSink& sink, const Progress& progress) override {
    if (parts == ReadParts::choices && header_ && by_rows_)
      return read_native_rows(source_.file, *header_, sink, progress);
    DroppingSink dropping(*source_.file, sink, header_, stormcell::how_to_record(format_.id, "decisions"));
    RoutedAlone routed(source_, dropping);
    const TraceCounts counts = format_.read(source_, routed, progress);
    if (!counts.nothing.empty()) bad_input(name_, "holds no choice: " + counts.nothing, "record while requests run");
    warnings_ = counts.warnings;
    by_rows_ = format_.id == "native" && has_plain_rows(source_.file);
  }

 private:
  TraceSource source_;
  const TraceFormat& format_;
  std::string name_;
  std::vector<std::string> warnings_;
  std::optional<TraceHeader> header_;  // of the last read
  bool by_rows_ = false;
};

}  // namespace

std::unique_ptr<RecordingSource> open_recording(const std::string& named, const Progress& progress) {
  const SessionPath path = parse_session_path(named);
  if (!path.run.empty() || is_session_file(path.file)) return std::make_unique<SessionSource>(path);
  return std::make_unique<TraceFileSource>(named, progress);
}

}  // namespace stormcell

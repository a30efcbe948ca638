#include "core/bench/recording.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/base/scratch_folder.h"
#include "core/bench/experiment_figures.h"
#include "core/formats/tokenizer.h"
#include "core/graph/expert_widths.h"
#include "core/profile/statistics.h"

namespace stormcell {
namespace {

ModelSummary summary_of(const ExperimentState& state) {
  ModelSummary model;
  model.fingerprint = state.model->fingerprint;
  model.is_older_fingerprint = [of = state.model](std::string_view known) { return of->is_known_as(known); };
  if (state.model->path.empty()) model.form = "seeded";
  model.name = state.model->name;
  model.family = state.model->family;
  model.json = nlohmann::json{{"parameters", state.model->parameters},
                              {"weight_bytes", state.model->weight_bytes},
                              {"weights", std::string(to_text(state.model->origin))},
                              {"weights_stated", state.model->origin_stated}}
                   .dump();
  return model;
}

/// The options by which the run is stored.
RecordOptions stored_options(const ExperimentState& state, const RunAbout& about) {
  return {about.decisions, state.options.record_inputs || state.options.data.starts_with("demo:"),
          state.options.record_scores};
}

/// The pictures that the writer of such a run keeps.
KeptPictures kept_pictures(const ExperimentState& state) {
  return {kMostThumbnails, state.options.record_inputs ? kMostThumbnailBytes : kUnaskedThumbnailBytes};
}

/// Takes texts that a person typed out of settings or of a summary, which has settings and prompts.
void take_typed_texts(nlohmann::json& json) {
  if (!json.is_object()) return;
  if (json.contains("prompts")) json["prompts"] = nlohmann::json::array();
  if (json.contains("system")) json["system"] = "";
  for (const char* part : {"settings", "decode"})
    if (const auto at = json.find(part); at != json.end()) take_typed_texts(*at);
}
/// Typed texts are kept only where inputs are.
bool hides_texts(const ExperimentState& state, const RecordOptions& options) {
  return !options.inputs && (!state.options.prompts.empty() || !state.options.system.empty());
}

RunStart start_of(const ExperimentState& state, const ReadyPlan& plan, const RunAbout& about) {
  const RecordOptions options = stored_options(state, about);
  RunStart start;
  start.kind = to_text(about.kind);
  start.config = about.config;
  const DeviceFigures device = device_figures(state);
  start.machine = nlohmann::json{{"name", device.name},
                                 {"backend", device.backend},
                                 {"threads", device.threads},
                                 {"core_placement", device.core_placement},
                                 {"isa", device.isa},
                                 {"peak_gflops", device.peak_gflops},
                                 {"read_gbps", device.read_gbps}}
                      .dump();
  nlohmann::json sizes = nlohmann::json::array();
  for (const SizeCount& s : state.data->sizes())
    sizes.push_back({{"height", s.size.height}, {"width", s.size.width}, {"items", s.items}, {"batches", s.batches}});
  nlohmann::json about_data = {
      {"name", state.data->name()},
      {"fingerprint", state.data->fingerprint()},
      {"sequences", state.data->items()},
      {"batches", state.data->batch_count()},
      {"pictures", !state.data->sizes().empty() && !asks_for(state.model->inputs, InputRole::ids)},
      {"sizes", sizes},
      {"settings", nlohmann::json::parse(about.settings)}};
  if (hides_texts(state, options)) take_typed_texts(about_data);
  if (const std::optional<ExpertWidths> widths = expert_widths(*state.model->forward)) {
    about_data["hidden"] = widths->hidden, about_data["ffn"] = widths->ffn, about_data["matrices"] = widths->matrices;
    about_data["dtype"] = std::string(to_text(state.dtype));
  }
  start.dataset = about_data.dump();
  start.layout = plan.layout();
  start.decisions = options.decisions;
  start.inputs = options.inputs;
  if (!state.options.record_inputs) start.picture_bytes = kUnaskedThumbnailBytes;
  if (options.inputs && state.model->tokenizer)
    start.piece = [tokenizer = state.model->tokenizer](int32_t token) { return tokenizer->piece(token); };
  return start;
}

/// The records of plan.result, one after another: of the batch, and of each turn. `number` is the next one's.
void record(const ExperimentState& state, const ReadyPlan& plan, const Batch& batch, RecordOptions options,
            uint8_t part, Recorder& recorder, int64_t& number) {
  const auto submit = [&](const auto& fill) {
    BatchRecord& into = recorder.begin_batch();
    into.number = number++;
    into.part = part;
    fill(into);
    recorder.submit();
  };
  const Bindings bindings = plan.bindings(batch);
  const Executed executed{*plan.records, *plan.program, batch, bindings, plan.result};
  submit([&](BatchRecord& into) { fill_record(executed, options, into); });
  const auto tokens = plan.decoded.find(batch.index);
  if (tokens == plan.decoded.end() || !plan.records->has_turns()) return;
  for (const DecodedTurn& turn : decoded_turns(*state.model, executed, tokens->second, plan.new_tokens))
    submit([&](BatchRecord& into) { fill_turn(executed, turn, options, into); });
}

}  // namespace

SessionRun::SessionRun(const ExperimentState& state, const ReadyPlan& plan, const RunAbout& about,
                       CancellationToken cancel)
    : state_(state), plan_(plan), cancel_(std::move(cancel)) {
  RecordSink* sink = nullptr;
  if (about.session.empty()) {
    counted_ = std::make_unique<ProfileAccumulator>(plan.layout(), nullptr, Counted::loads);
    sink = counted_.get();
  } else {
    options_ = stored_options(state, about);
    if (options_.inputs) options_.pictures = &pictures_.emplace(kept_pictures(state));
    session_ = std::make_unique<SessionWriter>(about.session, summary_of(state));
    writer_ = session_->begin_run(start_of(state, plan, about));
    sink = writer_.get();
  }
  recorder_ = std::make_unique<Recorder>(std::vector<RecordSink*>{sink});
}

// A run that was stopped, or that failed, keeps its records: the recorder writes what it has, the run is marked, and
// the session is closed.
SessionRun::~SessionRun() {
  if (!writer_ || cancel_.cancelled()) return;
  recorder_.reset();
  try {
    writer_->finish(RunStatus::failed);
  } catch (const std::exception&) {  // the writer marks it interrupted, where it can
  }
}

void SessionRun::add(const Batch& batch, uint8_t part) {
  decisions_made_ += std::ssize(standing_decisions(*plan_.program, plan_.records->routers, plan_.result));
  record(state_, plan_, batch, options_, part, *recorder_, records_);
  // Counts before the next batch runs. That is fast now; during an execution it would take time from it.
  if (counted_) recorder_->flush();
}

const ProfileAccumulator& SessionRun::profile() {
  recorder_->flush();
  return counted_ ? *counted_ : writer_->profile();
}

int64_t SessionRun::windows() const {
  int64_t windows = 0;
  for (int32_t level = 0; level <= coarsest_level(records_); ++level) windows += window_count(records_, level);
  return windows;
}

int64_t SessionRun::finish(const std::string& summary) {
  recorder_->finish();
  recorder_.reset();
  if (!writer_) return 0;
  const int64_t id = writer_->id();
  if (hides_texts(state_, options_)) {
    nlohmann::json kept = nlohmann::json::parse(summary);
    take_typed_texts(kept);
    writer_->finish(RunStatus::finished, kept.dump());
  } else {
    writer_->finish(RunStatus::finished, summary);
  }
  writer_.reset();
  session_->close();
  return id;
}

// The members go in the opposite order: the thread that writes, the run, the file, its folder.
struct RecordingMeasure::Session {
  Session(const ModelSummary& model, const RunStart& start, RecordOptions stored, KeptPictures kept)
      : session(folder.path() + "/measured.storm", model),
        writer(session.begin_run(start)),
        recorder({writer.get()}),
        pictures(std::move(kept)),
        options(stored) {
    if (options.inputs) options.pictures = &pictures;
  }
  ScratchFolder folder;
  SessionWriter session;
  std::unique_ptr<RunWriter> writer;
  Recorder recorder;
  KeptPictures pictures;
  RecordOptions options;
  int64_t records = 0, batches = 0;
};

RecordingMeasure::RecordingMeasure(const ExperimentState& state, const ReadyPlan& plan, const RunAbout& about)
    : state_(state), plan_(plan), about_(about) {}
RecordingMeasure::~RecordingMeasure() = default;

void RecordingMeasure::add(const Batch& batch) {
  if (failed_) return;
  try {
    if (!session_)
      session_ = std::make_unique<Session>(summary_of(state_), start_of(state_, plan_, about_),
                                           stored_options(state_, about_), kept_pictures(state_));
    record(state_, plan_, batch, session_->options, kNoPart, session_->recorder, session_->records);
    ++session_->batches;
  } catch (const std::exception&) {
    failed_ = true;
  }
}

bool RecordingMeasure::finish() {
  if (failed_ || !session_) return false;
  try {
    session_->recorder.flush();
  } catch (const std::exception&) {
    failed_ = true;
  }
  return !failed_;
}

double RecordingMeasure::work() const {
  if (!session_ || session_->batches == 0) return 0;
  const RecorderCounts counts = session_->recorder.counts();
  return (counts.produce_ms + counts.write_ms) / static_cast<double>(session_->batches);
}

}  // namespace stormcell

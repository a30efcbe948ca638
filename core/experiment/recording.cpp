#include "core/experiment/recording.h"

#include <nlohmann/json.hpp>

#include "core/base/scratch_folder.h"
#include "core/formats/tokenizer.h"
#include "core/profile/statistics.h"

namespace stormcell {
namespace {

ModelSummary summary_of(const Experiment::State& state) {
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

RunStart start_of(const Experiment::State& state, const ReadyPlan& plan, const std::string& kind, const RecordOptions& options,
                  const std::string& config, const std::string& settings) {
  RunStart start;
  start.kind = kind;
  start.config = config;
  const DeviceFigures device = state.device_figures();
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
  start.dataset =
      nlohmann::json{{"name", state.data->name()},
                     {"fingerprint", state.data->fingerprint()},
                     {"sequences", state.data->items()},
                     {"batches", state.data->batch_count()},
                     {"pictures", !state.data->sizes().empty() && !asks_for(state.model->inputs, InputRole::ids)},
                     {"sizes", sizes},
                     // Known from the beginning, so that an interrupted run, too, can be run again.
                     {"settings",
                      nlohmann::json::parse(settings.empty() ? state.settings_json(plan.new_tokens > 0 ? "decode" : "forward") : settings)}}
          .dump();
  start.layout = plan.layout();
  start.decisions = options.decisions;
  start.inputs = options.inputs;
  if (options.inputs && state.model->tokenizer)
    start.piece = [tokenizer = state.model->tokenizer](int32_t token) { return tokenizer->piece(token); };
  return start;
}

}  // namespace

// The members go in the opposite order: the thread that writes, the run, the file, its folder.
struct SessionRun::Measured {
  Measured(const ModelSummary& model, const RunStart& start)
      : session(folder.path() + "/measured.storm", model), writer(session.begin_run(start)), recorder({writer.get()}) {}
  ScratchFolder folder;
  SessionWriter session;
  std::unique_ptr<RunWriter> writer;
  Recorder recorder;
  int64_t records = 0, batches = 0;
};

SessionRun::SessionRun(const std::string& path, const Experiment::State& state, const ReadyPlan& plan, const std::string& kind,
                       bool decisions, const std::string& config, const std::string& settings)
    : state_(state),
      plan_(plan),
      options_{decisions, state.options.record_inputs || state.options.data.starts_with("demo:"), state.options.record_scores} {
  start_ = start_of(state, plan, kind, options_, config, settings);
  if (path.empty()) {
    counted_ = std::make_unique<ProfileAccumulator>(plan.layout(), nullptr, Counted::loads);
    return;
  }
  session_ = std::make_unique<SessionWriter>(path, summary_of(state));
  writer_ = session_->begin_run(start_);
  recorder_ = std::make_unique<Recorder>(std::vector<RecordSink*>{writer_.get()});
}

// An interrupted run keeps what was recorded: the recorder writes what it has, the run is marked interrupted, the session closed.
SessionRun::~SessionRun() = default;

BatchRecord& SessionRun::begin_record() {
  if (recorder_) return recorder_->begin_batch();
  record_.clear();
  return record_;
}

void SessionRun::submit() {
  if (recorder_) {
    recorder_->submit();
  } else {
    counted_->batch(record_);
  }
}

const ProfileAccumulator& SessionRun::profile() {
  if (!recorder_) return *counted_;
  recorder_->flush();
  return writer_->profile();
}

template <class Begin, class Submit>
void SessionRun::records_of(const Batch& batch, RecordOptions options, Begin&& begin, Submit&& submit) {
  const RecordPlan& plan = *plan_.records;
  const Program& program = *plan_.program;
  const Bindings bindings = bindings_of(*plan_.graph, batch, plan_.new_tokens);
  BatchRecord& whole = begin();
  fill_record(plan, program, batch, bindings, plan_.result, options, whole);
  submit();
  if (plan_.new_tokens == 0 || !plan.has_turns()) return;
  const std::vector<int32_t>& tokens = plan_.decoded.at(batch.index);
  for (const DecodedTurn& turn : decoded_turns(*state_.model, plan, program, batch, plan_.result, tokens, plan_.new_tokens)) {
    fill_turn(plan, program, batch, bindings, turn, plan_.result, options, begin());
    submit();
  }
}

void SessionRun::add(const Batch& batch, uint8_t part) {
  decisions_made_ += static_cast<int64_t>(standing_decisions(*plan_.program, plan_.records->routers, plan_.result).size());
  const auto begin = [&]() -> BatchRecord& {
    BatchRecord& record = begin_record();
    record.number = records_++;
    record.part = part;
    return record;
  };
  records_of(batch, recorder_ ? options_ : RecordOptions{}, begin, [&] { submit(); });
}

// A place where nothing can be written says nothing about the cost, and must not end a run that is otherwise done.
void SessionRun::measure_recording(const Batch& batch) {
  if (unmeasured_) return;
  try {
    if (!measured_) measured_ = std::make_unique<Measured>(summary_of(state_), start_);
    const auto begin = [&]() -> BatchRecord& {
      BatchRecord& record = measured_->recorder.begin_batch();
      record.number = measured_->records++;
      return record;
    };
    records_of(batch, options_, begin, [&] { measured_->recorder.submit(); });
    ++measured_->batches;
  } catch (const std::exception&) {
    unmeasured_ = true;
  }
}

bool SessionRun::finish_measured() {
  if (unmeasured_ || !measured_) return false;
  try {
    measured_->recorder.flush();
  } catch (const std::exception&) {
    unmeasured_ = true;
  }
  return !unmeasured_;
}

double SessionRun::measured_work() const {
  if (!measured_ || measured_->batches == 0) return 0;
  const RecorderCounts counts = measured_->recorder.counts();
  return (counts.produce_ms + counts.write_ms) / static_cast<double>(measured_->batches);
}

int64_t SessionRun::windows() const {
  int64_t windows = 0;
  for (int32_t level = 0; level <= coarsest_level(records_); ++level) windows += window_count(records_, level);
  return windows;
}

int64_t SessionRun::finish(const std::string& summary) {
  if (!writer_) return 0;
  recorder_->finish();
  const int64_t id = writer_->id();
  writer_->finish(RunStatus::finished, summary);
  recorder_.reset();
  writer_.reset();
  session_->close();
  return id;
}

}  // namespace stormcell

#include "core/experiment/recording.h"

#include <nlohmann/json.hpp>

#include "core/formats/tokenizer.h"
#include "core/profile/statistics.h"

namespace stormcell {
namespace {
class Nowhere : public RecordSink {
 public:
  void batch(const BatchRecord&) override {}
  void commit() override {}
};
}  // namespace

SessionRun::SessionRun(const std::string& path, const Experiment::State& state, const ReadyPlan& plan, const std::string& kind,
                       bool decisions, const std::string& config)
    : state_(state), plan_(plan), options_{decisions, state.options.record_inputs || state.options.data.starts_with("demo:"), state.options.record_scores} {
  if (path.empty()) return;
  ModelSummary model;
  model.fingerprint = state.model->fingerprint;
  model.name = state.model->name;
  model.family = state.model->family;
  model.json = nlohmann::json{{"parameters", state.model->parameters},
                              {"weight_bytes", state.model->weight_bytes},
                              {"weights", std::string(to_text(state.model->origin))}}
                   .dump();
  session_ = std::make_unique<SessionWriter>(path, model);
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
  start.dataset =
      nlohmann::json{{"name", state.data->name()},
                     {"fingerprint", state.data->fingerprint()},
                     {"sequences", state.data->sequences()},
                     // Known from the beginning, so that an interrupted run, too, can be run again.
                     {"settings", nlohmann::json::parse(state.settings_json())}}
          .dump();
  start.layout = plan.records.layout;
  start.decisions = decisions;
  start.inputs = options_.inputs;
  if (options_.inputs && state.model->tokenizer)
    start.piece = [tokenizer = state.model->tokenizer](int32_t token) { return tokenizer->piece(token); };
  writer_ = session_->begin_run(start);
  recorder_ = std::make_unique<Recorder>(std::vector<RecordSink*>{writer_.get()});
}

// An interrupted run keeps what was recorded: the recorder writes what it has, the run is marked interrupted, the session closed.
SessionRun::~SessionRun() = default;

void SessionRun::add(const Batch& batch) {
  decisions_made_ += static_cast<int64_t>(standing_decisions(*plan_.program, plan_.records.routers, plan_.result).size());
  ++records_;
  if (!recorder_) return;
  BatchRecord& record = recorder_->begin_batch();
  record.number = batch.index;
  fill_record(plan_.records, *plan_.program, batch, bindings_of(*plan_.graph, batch, 0), plan_.result, options_, record);
  recorder_->submit();
}

void SessionRun::add_decoded(const Batch& batch, const Bindings& bindings, const std::vector<DecodedTurn>& turns) {
  if (!recorder_) return;
  BatchRecord& prefill = recorder_->begin_batch();
  prefill.number = records_++;
  fill_record(plan_.records, *plan_.program, batch, bindings, plan_.result, options_, prefill);
  recorder_->submit();
  if (!plan_.records.has_turns()) return;
  for (const DecodedTurn& turn : turns) {
    BatchRecord& record = recorder_->begin_batch();
    record.number = records_++;
    fill_turn(plan_.records, *plan_.program, batch, bindings, turn, plan_.result, options_, record);
    recorder_->submit();
  }
}

void SessionRun::measure_recording(const Batch& batch) {
  if (!discarding_) {
    nowhere_ = std::make_unique<Nowhere>();
    discarding_ = std::make_unique<Recorder>(std::vector<RecordSink*>{nowhere_.get()});
  }
  BatchRecord& record = discarding_->begin_batch();
  record.number = batch.index;
  fill_record(plan_.records, *plan_.program, batch, bindings_of(*plan_.graph, batch, 0), plan_.result, {true, options_.inputs, options_.margins}, record);
  discarding_->submit();
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

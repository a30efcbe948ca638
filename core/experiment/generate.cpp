// generate: every batch decoded once, recorded where asked for, counted, and verified.
#include <algorithm>
#include <numeric>
#include <span>

#include "core/bench/experiment_figures.h"
#include "core/bench/recording.h"
#include "core/bench/workload.h"
#include "core/experiment/experiment.h"
#include "core/experiment/routing_figures.h"
#include "core/experiment/run_summary.h"
#include "core/formats/tokenizer.h"
#include "core/summary/latency.h"
#include "core/verification/verify.h"
#include "core/verification/verify_decoded.h"

namespace stormcell {
namespace {

/// Turns the written tokens into figures, batch by batch.
class Generated {
 public:
  /// `most` tokens of each sequence.
  Generated(const ExperimentState& state, int64_t most, GenerateFigures& figures)
      : tokenizer_(state.model->tokenizer.get()), ends_(state.model->tokens.ends), most_(most), figures_(figures) {
    figures_.ids.resize(state.data->end_item());
    if (tokenizer_) figures_.texts.resize(figures_.ids.size());
  }

  /// `written` [sequences, most]: -1 behind a sequence's end.
  void add(const Batch& batch, std::span<const int32_t> written, double milliseconds) {
    for (int64_t i = 0; i < batch.size(); ++i) {
      const size_t item = batch.items[i];
      add_sequence(item, written.subspan(i * most_, most_));
      if (!tokenizer_) continue;
      figures_.texts[item] = tokenizer_->decode(figures_.ids[item]);
      if (batch.targets.empty()) continue;
      ++judged_;
      exact_ += figures_.texts[item] == batch.targets[i];
    }
    figures_.sequences += batch.size();
    ++figures_.batches;
    milliseconds_.push_back(milliseconds);
  }

  void finish() {
    figures_.latency_ms = latency_of(milliseconds_);
    const double total = std::accumulate(milliseconds_.begin(), milliseconds_.end(), 0.0);
    figures_.tokens_per_s = total > 0 ? static_cast<double>(figures_.tokens) / (total * 1e-3) : 0;
    if (judged_ > 0) figures_.accuracy = static_cast<double>(exact_) / judged_;
  }

 private:
  void add_sequence(size_t item, std::span<const int32_t> written) {
    bool ended = false;
    for (size_t t = 0; t < written.size() && written[t] >= 0 && !ended; ++t) {
      figures_.ids[item].push_back(written[t]);
      ++figures_.tokens;
      ended = std::find(ends_.begin(), ends_.end(), written[t]) != ends_.end();
    }
    ++(ended ? figures_.stopped_eos : figures_.stopped_length);
  }

  const Tokenizer* tokenizer_;
  const std::vector<int32_t>& ends_;
  int64_t most_, exact_ = 0, judged_ = 0;
  GenerateFigures& figures_;
  std::vector<double> milliseconds_;
};

std::shared_ptr<GenerateFigures> start_figures(const Workload& work, const std::string& session) {
  const ExperimentState& s = work.state();
  auto r = std::make_shared<GenerateFigures>();
  r->model = model_figures(s);
  r->dataset = dataset_figures(s);
  r->device = device_figures(s);
  r->settings = settings_json(s, work.phase());
  r->session = session;
  r->warnings = warnings_of(s);
  if (s.options.tolerance && s.dtype != s.model->dtype)
    r->warnings.push_back("--tolerance has no effect on generate: what --dtype costs is measured by run");
  return r;
}

void verify_tokens(Decoding& work, ReadyPlan& plan, GenerateFigures& r, const Progress& progress) {
  VerifyOptions options = verify_options(work.state());
  options.format_cost = false;  // run measures it
  r.verified = decoded_verification(stormcell::verify(work, plan, nullptr, options, progress));
  if (r.verified->passed && r.verified->equal < r.verified->sequences)
    r.warnings.push_back(std::to_string(r.verified->sequences - r.verified->equal) + " of " +
                         std::to_string(r.verified->sequences) +
                         " sequences differ from the oracle's: nearly equal scores flip under rounding, and all tokens "
                         "after a flip differ");
}

}  // namespace

std::shared_ptr<const GenerateFigures> Experiment::generate(const std::string& session, const Progress& progress) {
  ExperimentState& s = *state_;
  s.ceilings.begin_call();
  s.budget.restart();
  Decoding work(s);
  const std::shared_ptr<GenerateFigures> result = start_figures(work, session);
  GenerateFigures& r = *result;
  work.check_fits(work.graph(), {}, r.warnings);
  const std::unique_ptr<ReadyPlan> plan = work.make_plan("generate", work.graph(), {}, progress);
  SessionRun recording(s, *plan, {session, RunKind::generate, true, r.settings}, progress.cancel);
  Generated generated(s, work.new_tokens(), r);
  TimedReads read;
  for (int64_t b = 0; b < s.data->batch_count(); ++b) {
    progress.report("generating", b, s.data->batch_count());
    const Batch batch = s.data->batch(b, progress.cancel);
    ExecuteOptions execute;
    execute.record = true;
    execute.events = recording.open();
    const BudgetMeter::Timed timed(s.budget, b);
    s.run_batch(*plan, batch, execute);
    read += timed.end(plan->result.milliseconds);
    recording.add(batch);
    generated.add(batch, plan->decoded.at(b), plan->result.milliseconds);
  }
  generated.finish();
  r.routing = router_figures(recording.profile());
  s.budget.end_readings(s.ceilings.peak_resident());
  verify_tokens(work, *plan, r, progress);
  if (plan->states.planned_bytes > 0) r.states = plan->states;
  r.weights_read = read.mean();
  warn_of_lost_events(*plan, r.warnings);
  tell_of_budget(s, r.weight_budget, r.warnings);
  r.session_run = recording.finish(to_json(r));
  return result;
}

}  // namespace stormcell

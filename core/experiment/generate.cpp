// generate: every batch decoded once, recorded where asked for, counted, and verified.
#include <algorithm>
#include <numeric>
#include <span>

#include "core/base/error.h"
#include "core/bench/experiment_figures.h"
#include "core/bench/recording.h"
#include "core/bench/sampling_options.h"
#include "core/bench/workload.h"
#include "core/experiment/experiment.h"
#include "core/experiment/routing_figures.h"
#include "core/experiment/run_summary.h"
#include "core/experiment/written_texts.h"
#include "core/formats/chat_form.h"
#include "core/formats/chat_template.h"
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

  /// `written` [sequences, most]: -1 behind a sequence's end. `texts`: as they were heard. `by_turns`: token by token.
  void add(const Batch& batch, std::span<const int32_t> written, const WrittenTexts& texts, bool by_turns,
           double milliseconds) {
    if (!batch.texts.empty()) figures_.prompts.resize(figures_.ids.size());
    for (int64_t i = 0; i < batch.size(); ++i) {
      const size_t item = batch.items[i];
      const bool stopped = texts.stopped()[i] != kNotStopped;
      add_sequence(item, written.subspan(i * most_, most_), stopped);
      if (!batch.texts.empty()) figures_.prompts[item] = batch.texts[i];
      if (!tokenizer_) continue;
      figures_.texts[item] = stopped ? texts.text(i) : tokenizer_->decode(figures_.ids[item]);
      if (batch.targets.empty()) continue;
      ++judged_;
      exact_ += figures_.texts[item] == batch.targets[i];
    }
    figures_.sequences += batch.size();
    ++figures_.batches;
    milliseconds_.push_back(milliseconds);
    if (!by_turns) return;
    first_tokens_.push_back(texts.first_token_ms());
    tokens_.insert(tokens_.end(), texts.token_ms().begin(), texts.token_ms().end());
  }

  void finish() {
    figures_.latency_ms = latency_of(milliseconds_);
    if (!first_tokens_.empty()) figures_.first_token_ms = latency_of(first_tokens_);
    if (!tokens_.empty()) figures_.token_ms = latency_of(tokens_);
    const double total = std::accumulate(milliseconds_.begin(), milliseconds_.end(), 0.0);
    figures_.tokens_per_s = total > 0 ? static_cast<double>(figures_.tokens) / (total * 1e-3) : 0;
    if (judged_ > 0) figures_.accuracy = static_cast<double>(exact_) / judged_;
  }

 private:
  void add_sequence(size_t item, std::span<const int32_t> written, bool stopped) {
    bool ended = false;
    for (size_t t = 0; t < written.size() && written[t] >= 0 && !ended; ++t) {
      figures_.ids[item].push_back(written[t]);
      ++figures_.tokens;
      ended = std::find(ends_.begin(), ends_.end(), written[t]) != ends_.end();
    }
    ++(stopped ? figures_.stopped_text : ended ? figures_.stopped_eos : figures_.stopped_length);
  }

  const Tokenizer* tokenizer_;
  const std::vector<int32_t>& ends_;
  int64_t most_, exact_ = 0, judged_ = 0;
  GenerateFigures& figures_;
  std::vector<double> milliseconds_, first_tokens_, tokens_;
};

/// Runs batches with the options of generate: texts that stop, a listener, tokens as they come.
class Writing {
 public:
  Writing(ExperimentState& state, ReadyPlan& plan, TextListener* listener)
      : state_(state),
        plan_(plan),
        settings_{state.model->tokenizer, state.model->tokens.ends, state.options.stop, listener} {
    if (!settings_.stops.empty() && !settings_.tokenizer)
      bad_input("--stop", "is text, and " + state.options.model + " has no tokenizer",
                "name one with --tokenizer, or leave it out");
  }

  /// Tokens behind a stop text are taken away before anybody counts or records it.
  WrittenTexts run(const Batch& batch, ExecuteOptions execute) {
    WrittenTexts texts(settings_, batch);
    execute.turns = &texts;
    execute.turn_output = kGenerated;
    plan_.stopped.erase(batch.index);
    state_.run_batch(plan_, batch, execute);
    texts.finish();
    if (texts.some_stopped()) {
      plan_.stopped[batch.index] = texts.stopped();
      end_texts(texts.stopped(), plan_.new_tokens, plan_.decoded.at(batch.index));
    }
    return texts;
  }

 private:
  ExperimentState& state_;
  ReadyPlan& plan_;
  const WrittenTexts::Settings settings_;
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
  if (s.options.chat) r->chat = chat_form_name(chat_template_of(s.model->text_place).text);
  if (const std::optional<SamplingRule> rule = sampling_of(s.options))
    r->sampling = SamplingFigures{rule->seed, rule->temperature, rule->top_p, rule->top_k};
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

std::shared_ptr<const GenerateFigures> Experiment::generate(const std::string& session, const Progress& progress,
                                                            TextListener* listener) {
  ExperimentState& s = *state_;
  s.ceilings.begin_call();
  s.budget.restart();
  Decoding work(s);
  work.end_turns();
  const std::shared_ptr<GenerateFigures> result = start_figures(work, session);
  GenerateFigures& r = *result;
  work.check_fits(work.graph(), {}, r.warnings);
  const std::unique_ptr<ReadyPlan> plan = work.make_plan("generate", work.graph(), {}, progress);
  SessionRun recording(s, *plan, {session, RunKind::generate, true, r.settings}, progress.cancel);
  Generated generated(s, work.new_tokens(), r);
  Writing writing(s, *plan, listener);
  const bool by_turns = plan->executor->layout().ends_turns;
  TimedReads read;
  for (int64_t b = 0; b < s.data->batch_count(); ++b) {
    progress.report("generating", b, s.data->batch_count());
    const Batch batch = s.data->batch(b, progress.cancel);
    ExecuteOptions execute;
    execute.record = true;
    execute.events = recording.open();
    const BudgetMeter::Timed timed(s.budget, b);
    const WrittenTexts texts = writing.run(batch, execute);
    read += timed.end(plan->result.milliseconds);
    recording.add(batch);
    generated.add(batch, plan->decoded.at(b), texts, by_turns, plan->result.milliseconds);
  }
  generated.finish();
  r.routing = router_figures(recording.profile());
  s.budget.end_readings(s.ceilings.peak_resident());
  verify_tokens(work, *plan, r, progress);
  if (plan->states.planned_bytes > 0) r.states = plan->states;
  r.weights_read = read.mean();
  warn_of_lost_events(*plan, r.warnings);
  tell_of_budget(s, r.weight_budget, r.warnings);
  GenerateFigures kept = r;
  if (!s.options.record_inputs) kept.prompts.clear();  // texts of the data are inputs
  r.session_run = recording.finish(to_json(kept));
  return result;
}

}  // namespace stormcell

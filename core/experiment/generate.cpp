#include <algorithm>

#include "core/experiment/recording.h"
#include "core/experiment/routing_figures.h"
#include "core/experiment/verify_decoded.h"
#include "core/experiment/workload.h"
#include "core/formats/tokenizer.h"
#include "core/summary/latency.h"

namespace stormcell {
std::shared_ptr<const GenerateFigures> Experiment::generate(const std::string& session, const Progress& progress) {
  State& s = *state_;
  s.budget.restart();
  Decoding work(s);
  auto result = std::make_shared<GenerateFigures>();
  GenerateFigures& r = *result;
  r.model = s.model_figures();
  r.dataset = s.dataset_figures();
  r.device = s.device_figures();
  r.settings = s.settings_json(s.options.phase);
  r.session = session;
  r.warnings = s.warnings();
  if (s.options.tolerance && s.dtype != s.model->dtype)
    r.warnings.push_back("--tolerance has no effect on generate: what --dtype costs is measured by run");
  const int64_t most = work.new_tokens();
  work.check_fits(work.graph(), {}, r.warnings);
  const std::unique_ptr<ReadyPlan> plan = work.make_plan("generate", work.graph(), {}, progress);
  const std::vector<int32_t>& ends = s.model->tokens.ends;
  std::vector<double> milliseconds;
  int64_t exact = 0, judged = 0;
  SessionRun recording(session, s, *plan, "generate", true, "{}", r.settings);
  r.ids.resize(static_cast<size_t>(s.data->end_item()));
  if (s.model->tokenizer) r.texts.resize(r.ids.size());
  for (int64_t b = 0; b < s.data->batch_count(); ++b) {
    progress.report("generating", b, s.data->batch_count());
    const Batch batch = s.data->batch(b);
    ExecuteOptions execute;
    execute.record = true;
    execute.events = recording.open();
    s.run_batch(*plan, batch, execute);
    milliseconds.push_back(plan->result.milliseconds);
    recording.add(batch);
    const std::vector<int32_t>& generated = plan->decoded.at(b);
    for (int64_t i = 0; i < batch.size(); ++i) {
      const auto item = static_cast<size_t>(batch.items[static_cast<size_t>(i)]);
      std::vector<int32_t>& ids = r.ids[item];
      bool ended = false;
      for (int64_t t = 0; t < most && !ended; ++t) {
        const int32_t id = generated[static_cast<size_t>(i * most + t)];
        if (id < 0) break;
        ++r.tokens;
        ended = std::find(ends.begin(), ends.end(), id) != ends.end();
        ids.push_back(id);
      }
      ++(ended ? r.stopped_eos : r.stopped_length);
      if (s.model->tokenizer) r.texts[item] = s.model->tokenizer->decode(ids);
      if (!batch.targets.empty() && s.model->tokenizer) {
        ++judged;
        exact += r.texts[item] == batch.targets[static_cast<size_t>(i)];
      }
    }
    r.sequences += batch.size();
    ++r.batches;
  }
  r.latency_ms = latency_of(milliseconds);
  double total = 0;
  for (const double ms : milliseconds) total += ms;
  r.tokens_per_s = total > 0 ? static_cast<double>(r.tokens) / (total * 1e-3) : 0;
  if (judged > 0) r.accuracy = static_cast<double>(exact) / static_cast<double>(judged);
  r.routing = router_figures(recording.profile());
  r.verified = decoded_verification(work.verify(*plan, nullptr, progress));
  if (r.verified->passed && r.verified->equal < r.verified->sequences)
    r.warnings.push_back(
        std::to_string(r.verified->sequences - r.verified->equal) + " of " + std::to_string(r.verified->sequences) +
        " sequences differ from the oracle's: nearly equal scores flip under rounding, and all tokens after a flip differ");
  r.weight_budget = s.budget.figures();
  r.session_run = recording.finish(to_json(r));
  return result;
}

}  // namespace stormcell

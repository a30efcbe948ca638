#include <algorithm>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/experiment/converted_weights.h"
#include "core/experiment/memory_check.h"
#include "core/experiment/recording.h"
#include "core/experiment/routing_figures.h"
#include "core/experiment/state.h"
#include "core/experiment/verify_decoded.h"
#include "core/formats/tokenizer.h"
#include "core/machine/memory.h"
#include "core/summary/latency.h"

namespace stormcell {
namespace {

const std::vector<int32_t>& generated_of(const ExecutionResult& result) {
  for (const OutputValue& out : result.outputs)
    if (out.name == kGenerated) return out.integers;
  failed("generate", "the decoding graph gives no tokens");
}

}  // namespace

std::shared_ptr<const GenerateFigures> Experiment::generate(const std::string& session, const Progress& progress) {
  State& s = *state_;
  s.budget.restart();
  if (!s.model->generates) bad_input(s.options.model, "this model cannot generate", "it has no decoder with a head; use run");
  auto result = std::make_shared<GenerateFigures>();
  GenerateFigures& r = *result;
  r.model = s.model_figures();
  r.dataset = s.dataset_figures();
  r.device = s.device_figures();
  r.settings = s.settings_json();
  r.session = session;
  r.warnings = s.warnings();
  if (s.options.tolerance && s.dtype != s.model->dtype)
    r.warnings.push_back("--tolerance has no effect on generate: what --dtype costs is measured by run");
  std::shared_ptr<const Graph> graph = s.model->generate();
  if (s.dtype != s.model->dtype) graph = convert_weights(*graph, s.dtype);
  const int64_t most = s.options.most_new_tokens;
  if (most < 1 || most > 1 << 16) bad_input("--max-new-tokens", std::to_string(most), "use 1 to 65536");
  // A decoder's positions end where the model's do; with an encoder before it, it counts from its own beginning.
  const int64_t longest = (s.model->has_encoder ? 0 : s.data->max_length()) + most;
  if (s.model->max_length > 0 && longest > s.model->max_length)
    bad_input("--max-new-tokens",
              counted(most, "token") + (s.model->has_encoder ? "" : " behind an input of " + std::to_string(s.data->max_length())) +
                  (most == 1 ? " is" : " are") + " more than the model's " + counted(s.model->max_length, "position"),
              "choose fewer, or a smaller --length with --truncate");
  check_memory(*s.device, *s.store, {{graph, {bounds_of(*graph, *s.data, most), s.options.record_scores}}}, available_memory(),
               s.options.model);
  std::unique_ptr<ReadyPlan> plan = s.make_plan("generate", graph, most, progress);
  const std::vector<int32_t>& ends = s.model->tokens.ends;
  std::vector<double> milliseconds;
  int64_t exact = 0, judged = 0;
  SessionRun recording(session, s, *plan, "generate", true);
  r.ids.resize(static_cast<size_t>(s.data->end_item()));
  if (s.model->tokenizer) r.texts.resize(r.ids.size());
  for (int64_t b = 0; b < s.data->batch_count(); ++b) {
    progress.report("generating", b, s.data->batch_count());
    const Batch batch = s.data->batch(b);
    ExecuteOptions execute;
    execute.outputs = execute.record = true;
    execute.events = recording.open();
    s.run_batch(*plan, batch, execute, most);
    milliseconds.push_back(plan->result.milliseconds);
    const std::vector<int32_t>& generated = generated_of(plan->result);
    const std::vector<DecodedTurn> turns = decoded_turns(*s.model, *plan->records, *plan->program, batch, plan->result, generated, most);
    recording.add_decoded(batch, bindings_of(*plan->graph, batch, most), turns);
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
  r.verified = verify_decoded(s, r.ids, most, progress);
  if (r.verified->passed && r.verified->equal < r.verified->sequences)
    r.warnings.push_back(
        std::to_string(r.verified->sequences - r.verified->equal) + " of " + std::to_string(r.verified->sequences) +
        " sequences differ from the oracle's: nearly equal scores flip under rounding, and all tokens after a flip differ");
  r.weight_budget = s.budget.figures();
  r.session_run = recording.finish(to_json(r));
  return result;
}

}  // namespace stormcell

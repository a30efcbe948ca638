#include "core/experiment/verify_decoded.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/base/error.h"
#include "core/experiment/converted_weights.h"
#include "core/experiment/observe.h"

namespace stormcell {
namespace {

double seconds_now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

const OutputValue& output(const Observed& o, std::string_view name) {
  for (const OutputValue& v : o.outputs)
    if (v.name == name) return v;
  failed("generate", "the decoding graph gives no " + std::string(name));
}

/// Takes the tokens out: what is left is judged as any forward pass is.
std::vector<int32_t> take_tokens(Observed& o) {
  std::vector<int32_t> tokens = output(o, kGenerated).integers;
  std::erase_if(o.outputs, [](const OutputValue& v) { return v.name == kGenerated; });
  return tokens;
}

std::string plural(int64_t n, const char* one, const char* many) { return fmt::format("{} {}", n, n == 1 ? one : many); }

}  // namespace

void DecodedJudge::add(const Batch& batch, Observed reference, Observed replayed, Observed free, const std::vector<int32_t>& ours) {
  const std::vector<int32_t> expected = take_tokens(reference);
  const std::vector<int32_t> of_replay = take_tokens(replayed), of_free = take_tokens(free);
  const auto sequences = static_cast<int64_t>(expected.size()) / tokens_;
  const auto at = [&](int64_t sequence, int64_t place) { return static_cast<size_t>(sequence * tokens_ + place); };
  int64_t first = tokens_;  // place of the first token that differs
  for (const auto* list : {&of_replay, &of_free, &ours})
    for (int64_t s = 0; s < sequences; ++s)
      for (int64_t t = 0; t < first; ++t)
        if ((*list)[at(s, t)] != expected[at(s, t)]) first = t;

  // Up to and with that token all read the same. A sequence that has ended decodes what nobody reads.
  const int64_t turns = std::min(first + 1, tokens_);
  std::vector<int32_t>& counts = reference.real[std::string(kLogits)];
  counts.assign(expected.size(), 0);
  for (int64_t s = 0; s < sequences; ++s)
    for (int64_t t = 0; t < turns; ++t) compared_ += counts[at(s, t)] = expected[at(s, t)] >= 0;
  for (Observed* o : {&reference, &replayed, &free})
    std::erase_if(o->decisions, [&](const JudgedDecision& d) { return d.execution >= turns; });
  const bool alike = decided_alike(reference.decisions, free.decisions);

  const std::vector<float>& logits = output(reference, kLogits).reals;
  const size_t width = expected.empty() ? 0 : logits.size() / expected.size();
  for (size_t i = 0; i < logits.size(); ++i)
    if (counts[i / width] != 0 && std::isfinite(logits[i])) scale_ = std::max(scale_, std::fabs(static_cast<double>(logits[i])));
  const auto logit = [&](int64_t sequence, int32_t token) {
    const bool is_one = token >= 0 && static_cast<size_t>(token) < width;
    return is_one ? static_cast<double>(logits[at(sequence, first) * width + static_cast<size_t>(token)]) : -INFINITY;
  };
  for (int64_t s = 0; s < sequences; ++s) {
    const auto item = batch.items[static_cast<size_t>(s)];
    ++sequences_;
    equal_ += std::equal(ours.begin() + s * tokens_, ours.begin() + (s + 1) * tokens_, expected.begin() + s * tokens_);
    if (first == tokens_) continue;
    const int32_t theirs = expected[at(s, first)];
    const auto compare = [&](const std::vector<int32_t>& list, bool follows, bool written) {
      const int32_t got = list[at(s, first)];
      if (got != theirs) differing_.push_back({item, first, theirs, got, logit(s, theirs) - logit(s, got), follows, written});
    };
    compare(of_replay, false, false);
    compare(of_free, !alike, false);
    compare(ours, !alike, true);
  }
  judge_.add(batch.index, reference, replayed, &free);
  ++batches_;
}

DecodedVerification DecodedJudge::verdict() const {
  const Verification judged = judge_.verdict();
  DecodedVerification v;
  v.reasons = judged.reasons;
  v.tolerance = tolerance_;
  v.max_rel_diff = judged.max_rel_diff;
  v.flips = judged.flips, v.explained_flips = judged.explained_flips;
  v.batches = batches_, v.sequences = sequences_, v.equal = equal_, v.tokens = tokens_, v.compared = compared_;
  const double error = std::max(judged.max_abs_diff, rounding_unit(arithmetic_) * scale_);
  const Differing* worst = nullptr;
  int64_t unexplained = 0;
  for (const Differing& d : differing_) {
    const bool near = !(d.margin > kMarginFactor * error);
    v.near_ties += d.written && near;
    v.follows += d.written && !near && d.follows;
    if (near || d.follows) continue;
    ++unexplained;
    if (!worst || d.margin > worst->margin) worst = &d;
  }
  if (worst)
    v.reasons.push_back(fmt::format("{} of sequence {} is {} where the oracle decodes {}, and their logits differ by {:.2g}: no near tie{}",
                                    "token " + std::to_string(worst->place), worst->item, worst->got, worst->reference, worst->margin,
                                    unexplained > 1 ? fmt::format(" ({} tokens like it)", unexplained) : ""));
  v.passed = v.reasons.empty();
  v.text = fmt::format(
      "the first {} of {} of {} equal the oracle's; the logits of {} compared, largest difference {:.2g} of the largest "
      "one (tolerance {:.1g}); {}",
      plural(tokens_, "token", "tokens"), equal_, plural(sequences_, "sequence", "sequences"), plural(compared_, "token", "tokens"),
      v.max_rel_diff, tolerance_, flips_text(judged));
  if (v.near_ties > 0) v.text += fmt::format("; {} a near tie", plural(v.near_ties, "token differs,", "tokens differ, each"));
  if (v.follows > 0) v.text += fmt::format("; {} from a routing choice", plural(v.follows, "token follows", "tokens follow"));
  return v;
}

DecodedVerification verify_decoded(Experiment::State& s, const std::vector<std::vector<int32_t>>& ids, int64_t most,
                                   const Progress& progress) {
  constexpr int64_t kMostTokens = 16;  // the oracle reads all weights for each
  const int64_t tokens = std::min(most, kMostTokens);
  std::shared_ptr<const Graph> graph = s.model->generate_with_logits();
  if (s.dtype != s.model->dtype) graph = convert_weights(graph, s.model->weights, s.dtype).graph;
  // The oracle rounds stored weights by itself.
  const Oracle<float> oracle(*graph, *s.model->weights);
  const std::map<std::string, CellRelation> reach = router_reach(*graph);
  const std::unique_ptr<ReadyPlan> plan = s.make_plan("decoding, with its logits", graph, tokens, progress);
  DecodedJudge judge(s.tolerance, s.arithmetic(), tokens);
  const double begin = seconds_now();
  const int64_t batches = s.data->batch_count();
  int64_t b = 0;
  for (; b < batches && (b == 0 || seconds_now() - begin < s.options.verify_seconds); ++b) {
    progress.report("verifying against the oracle", b, batches);
    const Batch batch = s.data->batch(b);
    OracleOptions options;
    options.threads = s.device->info().threads;
    options.cancel = progress.cancel;
    options.keep_scores = true;
    options.round_inputs = s.arithmetic() == Arithmetic::rounds_to_bf16;
    const Bindings bindings = bindings_of(*graph, batch, tokens);
    Observed reference = observed(*graph, bindings, oracle.run(oracle_inputs(*graph, batch), bindings, options), reach);
    Observed replayed = observe(s, *plan, batch, &reference, tokens), free = observe(s, *plan, batch, nullptr, tokens);
    std::vector<int32_t> ours;
    for (const int64_t item : batch.items) {
      std::vector<int32_t> written = ids[static_cast<size_t>(item)];
      written.resize(static_cast<size_t>(tokens), -1);
      ours.insert(ours.end(), written.begin(), written.end());
    }
    judge.add(batch, std::move(reference), std::move(replayed), std::move(free), ours);
  }
  DecodedVerification v = judge.verdict();
  v.text += fmt::format(" ({} of {} batches)", b, batches);
  return v;
}

}  // namespace stormcell

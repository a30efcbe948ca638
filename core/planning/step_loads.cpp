#include "core/planning/step_loads.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <unordered_map>

#include "core/base/enum_words.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/formats/file_text.h"
#include "core/readings/lacks.h"

namespace stormcell {
namespace {

constexpr int64_t kStepsAtATime = 256;

/// Numbers of the steps, ascending.
std::vector<int64_t> steps_of(const SessionReader& session, int64_t run, std::optional<Phase> phase) {
  std::vector<int64_t> steps;
  if (!phase) {
    for (const BatchSummary& batch : session.batches(run)) steps.push_back(batch.number);
  } else {
    for (const SpaceOfBatch& s : session.batches_of_phase(run, *phase, {}))
      if (steps.empty() || steps.back() != s.batch) steps.push_back(s.batch);
  }
  return steps;
}

[[noreturn]] void refuse_no_step(const SessionReader& session, int64_t run, std::optional<Phase> phase) {
  const std::string of_phase = phase ? " of " + std::string(to_text(*phase)) : std::string();
  bad_input(session.path(), "run #" + std::to_string(run) + " has no step" + of_phase,
            phase ? "leave --phase out" : "name another run");
}

void add(const RouterLoads& loads, std::vector<double>& sum) {
  const std::vector<int64_t> real = loads.real();
  for (size_t b = 0; b < sum.size(); ++b) sum[b] += static_cast<double>(real[b]);
}

int64_t fitted_of(int64_t all, double fit_fraction) {
  return all == 1 ? 1 : std::clamp<int64_t>(std::llround(fit_fraction * static_cast<double>(all)), 1, all);
}

/// The steps of each part that are kept by themselves.
class Chosen {
 public:
  Chosen(int64_t fitted, int64_t all) : fitted_(fitted), all_(all) {}
  size_t of_part(bool held_out) const { return static_cast<size_t>(std::min(part(held_out), kMostLoadSteps)); }
  /// Its place among the kept steps of its part.
  std::optional<size_t> place(int64_t step) const {
    const bool held_out = step >= fitted_;
    const int64_t i = held_out ? step - fitted_ : step, n = part(held_out), kept = std::min(n, kMostLoadSteps);
    const int64_t at = (i * kept + n - 1) / n;  // the first kept one whose step is not before this
    return at < kept && at * n / kept == i ? std::optional(static_cast<size_t>(at)) : std::nullopt;
  }

 private:
  int64_t part(bool held_out) const { return held_out ? all_ - fitted_ : fitted_; }
  int64_t fitted_, all_;
};

}  // namespace

std::optional<Phase> parse_phase(std::string_view word) {
  if (word.empty()) return {};
  std::vector<std::string> known;
  for (const Phase phase : {Phase::prefill, Phase::decode}) {
    if (word == to_text(phase)) return phase;
    known.emplace_back(to_text(phase));
  }
  bad_input("--phase", in_quotes(word) + " is not a phase of a placement",
            advice_on_word(word, known, "") + "; place takes each of both too");
}

TokenParts part_tokens(const TokenRoutes& routes, std::span<const size_t> tokens, double first_share,
                       int64_t fewest_requests) {
  std::vector<int64_t> requests;  // in the order in which they come
  std::unordered_map<int64_t, size_t> place;
  for (const size_t t : tokens)
    if (fewest_requests > 0 && place.emplace(routes.tokens[t].item, requests.size()).second)
      requests.push_back(routes.tokens[t].item);
  TokenParts out;
  out.requests = std::ssize(requests);
  if (fewest_requests > 0 && out.requests >= fewest_requests) {
    out.requests_fit = fitted_of(out.requests, first_share);
    for (const size_t t : tokens)
      (place[routes.tokens[t].item] < static_cast<size_t>(out.requests_fit) ? out.fit : out.held_out).push_back(t);
    return out;
  }
  const auto step = [&](size_t i) { return routes.tokens[tokens[i]].step; };
  const bool one_step = tokens.empty() || step(0) == step(tokens.size() - 1);
  size_t at = one_step ? tokens.size() : static_cast<size_t>(fitted_of(std::ssize(tokens), first_share));
  // A step is priced whole, so it lies on one side; the first one is always fitted to.
  while (at > 0 && at < tokens.size() && step(at) == step(at - 1)) --at;
  if (at == 0)
    while (at < tokens.size() && step(at) == step(0)) ++at;
  const auto cut = tokens.begin() + at;
  out.fit.assign(tokens.begin(), cut), out.held_out.assign(cut, tokens.end());
  return out;
}

std::optional<SplitRoutes> read_split_routes(const SessionReader& session, const RunSummary& run,
                                             const RunLayout& layout, std::optional<Phase> phase, double fit_fraction,
                                             const Progress& progress, ChoiceOrder order) {
  const auto elsewhere = [&](const RouterInfo& r) { return r.space != layout.routers[0].space; };
  if (!session.has_decisions(run.id) || std::any_of(layout.routers.begin(), layout.routers.end(), elsewhere)) return {};
  SplitRoutes out{read_token_routes(session, run, progress, kMostTokenChoices, order), {}, {}};
  const auto is_of = [&](Phase p) { return !phase || (p == Phase::decode) == (*phase == Phase::decode); };
  std::vector<size_t> tokens;
  for (size_t t = 0; t < out.routes.size(); ++t)
    if (is_of(out.routes.tokens[t].phase)) tokens.push_back(t);
  for (const Phase p : {Phase::forward, Phase::prefill, Phase::decode})
    if (is_of(p)) out.dropped_choices += row_of(out.routes.dropped, p);
  if (tokens.empty()) refuse_no_step(session, run.id, phase);
  out.step_tokens.resize(out.routes.steps());
  for (const size_t t : tokens) ++out.step_tokens[out.routes.tokens[t].step];
  const std::vector<std::string> lacks = lacks_of_import(run);
  const bool requests_known = std::find(lacks.begin(), lacks.end(), "requests") == lacks.end();
  out.parts = part_tokens(out.routes, tokens, fit_fraction, requests_known ? kFewestRequests : 0);
  return out;
}

SplitLoads read_split_loads(const SessionReader& session, int64_t run, const RunLayout& layout,
                            std::optional<Phase> phase, double fit_fraction, const Progress& progress) {
  const std::vector<int64_t> steps = steps_of(session, run, phase);
  if (steps.empty()) refuse_no_step(session, run, phase);
  const auto all = std::ssize(steps);
  SplitLoads out;
  out.fit_units = fitted_of(all, fit_fraction);
  out.held_out_units = all - out.fit_units;
  const Chosen chosen(out.fit_units, all);
  out.fit_steps.resize(chosen.of_part(false)), out.held_out_steps.resize(chosen.of_part(true));
  const auto routers = std::ssize(layout.routers);
  for (int64_t r = 0; r < routers; ++r) {
    progress.report("reading loads", r, routers);
    const size_t branches = layout.routers[r].branches;
    std::vector<double> fit(branches), held_out(branches);
    size_t next = 0;  // of `steps`
    for (int64_t first = 0; next < steps.size(); first += kStepsAtATime) {
      const int64_t end = first + kStepsAtATime;
      if (steps[next] >= end) continue;
      const std::vector<RouterLoads> windows = session.loads(run, static_cast<int32_t>(r), 0, {first, end});
      for (; next < steps.size() && steps[next] < end; ++next) {
        const RouterLoads& loads = windows[steps[next] - first];
        const bool behind = static_cast<int64_t>(next) >= out.fit_units;
        add(loads, behind ? held_out : fit);
        if (const auto at = chosen.place(static_cast<int64_t>(next))) {
          LayerLoads& step = (behind ? out.held_out_steps : out.fit_steps)[*at];
          add(loads, step.emplace_back(branches));
        }
      }
    }
    out.fit.push_back(std::move(fit));
    out.held_out.push_back(std::move(held_out));
  }
  return out;
}

}  // namespace stormcell

#include "core/proof/plan_proof.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/counted.h"
#include "core/cost/graph_cost.h"
#include "core/proof/field_difference.h"

namespace stormcell {
namespace {

/// Multiplications and additions of a thread in the field: 0.4 to 0.5 G products were measured a second.
constexpr double kFlopsOfThread = 0.8e9;
/// To convert a stored number, and to read a byte of a weight.
constexpr double kSecondsOfWeightByte = 4e-9;

Bindings bindings_by_name(const Graph& model, const Bindings& bindings, const Graph& plan) {
  Bindings list(plan.symbols.size(), 0);
  for (size_t i = 0; i < plan.symbols.size(); ++i)
    if (const SymbolId symbol = model.find_symbol(plan.symbols[i]); symbol != kNone) list[i] = bindings[symbol];
  return list;
}

int64_t largest_weight_elements(const Graph& graph) {
  int64_t largest = 0;
  for (const Value& value : graph.values) {
    if (value.kind != ValueKind::weight) continue;
    int64_t elements = 1;
    for (const Dim& extent : value.type.content) elements *= extent.is_constant() ? extent.constant() : 1;
    largest = std::max(largest, elements);
  }
  return largest;
}

}  // namespace

ProofNeeds proof_needs(const Graph& model, const FieldExtents& extents, int threads) {
  const Cost cost = cost_of(model, {field_bindings(model, extents), {}, {}, 1}).total;
  ProofNeeds needs;
  // A residue has twice the bytes of a float. A convolution turns its weights, and holds both.
  constexpr int64_t kBytesOfWeight = 3 * static_cast<int64_t>(sizeof(Residue));
  needs.bytes = static_cast<int64_t>(2 * cost.activation_bytes) + kBytesOfWeight * largest_weight_elements(model);
  const double run = (cost.flops / kFlopsOfThread + cost.weight_bytes * kSecondsOfWeightByte) / std::max(1, threads);
  needs.seconds = 2 * kLeastDraws * run;
  return needs;
}

PlanProof::PlanProof(std::shared_ptr<const Graph> model, const WeightSource& weights, FieldExtents extents,
                     UsualBranches usual, const ProofLimits& limits, const Progress& progress)
    : model_(std::move(model)),
      weights_(weights),
      extents_(std::move(extents)),
      choices_(*model_, std::move(usual)),
      limits_(limits),
      progress_(progress) {
  for (needs_ = proof_needs(*model_, extents_, limits_.threads);
       extents_.items > 1 && (needs_.seconds > limits_.seconds || needs_.bytes > limits_.bytes);
       needs_ = proof_needs(*model_, extents_, limits_.threads))
    --extents_.items;
  longest_run_ = needs_.seconds / (2 * kLeastDraws);
}

bool PlanProof::is_time_for(int runs) const { return spent_ + runs * longest_run_ <= limits_.seconds; }

/// Draws that are made cost the plan's run alone. More are made while they may bring cells to places without.
bool PlanProof::wants_draw(int draw, PlanPlaces& places) const {
  if (draw < kLeastDraws) return true;
  if (draw < std::ssize(drawn_)) return places.unreached() > 0;
  const std::vector<Lead*> leads = places.leads();
  const bool leads_on = std::any_of(leads.begin(), leads.end(), [](const Lead* lead) { return lead->is_open(); });
  return draw < kMostDraws && (leads_on || choices_.wants_draw());
}

ProofOutcome PlanProof::prove(const Graph& plan) {
  ProofOutcome outcome;
  outcome.needs = needs_;
  if (needs_.bytes > limits_.bytes) {
    outcome.reason = "it needs more memory than a proof may take";
    return outcome;
  }
  PlanPlaces places(plan);
  for (int draw = 0; wants_draw(draw, places); ++draw) {
    if (!is_time_for(draw < std::ssize(drawn_) ? 1 : 2)) break;
    progress_.report("proving the plan", draw, std::max(draw + 1, kLeastDraws));
    std::string why = difference(plan, draw, &places);
    ++outcome.draws;
    if (!why.empty()) {
      outcome.equal = false;
      outcome.difference = std::move(why) + ", in draw " + std::to_string(draw + 1);
      differed_in_ = draw;
      break;
    }
  }
  outcome.branches_without_cells = std::max(choices_.unreached(), places.unreached());
  if (outcome.equal) return outcome;
  if (outcome.draws >= kLeastDraws) {
    outcome.equal = true;
    return outcome;
  }
  outcome.needs.seconds = std::max(outcome.needs.seconds, 2 * kLeastDraws * longest_run_);
  outcome.reason = "it needs more time than a proof may take";
  return outcome;
}

bool PlanProof::has_time_for_another() const { return spent_ + drawn_.size() * longest_run_ <= limits_.seconds / 2; }

bool PlanProof::differs_again(const Graph& plan) { return !difference(plan, differed_in_).empty(); }

const PlanProof::Drawn& PlanProof::drawn(int draw, PlanPlaces* places) {
  while (std::ssize(drawn_) <= draw) {
    const int next = static_cast<int>(drawn_.size());
    Drawn made;
    made.batch = draw_field_batch(*model_, extents_, static_cast<uint64_t>(next) + 1);
    made.force = choices_.of_draw(next, made.batch.bindings, places ? places->leads() : std::vector<Lead*>());
    made.expected = run(*model_, made.batch, made.force);
    choices_.take(next, made.expected.decisions);
    drawn_.push_back(std::move(made));
  }
  return drawn_[draw];
}

OracleResult<Residue> PlanProof::run(const Graph& graph, const DrawnBatch& batch, const ForceChoices& force) {
  const double begin = seconds_now();
  OracleOptions options;
  options.force = force;
  options.keep_scores = true;
  options.threads = limits_.threads;
  options.cancel = progress_.cancel;
  OracleResult<Residue> result =
      Oracle<Residue>(graph, weights_).run(batch.inputs, bindings_by_name(*model_, batch.bindings, graph), options);
  const double took = seconds_now() - begin;
  spent_ += took;
  // The first estimate is replaced by what was measured.
  longest_run_ = drawn_.empty() ? took : std::max(longest_run_, took);
  return result;
}

std::string PlanProof::difference(const Graph& plan, int draw, PlanPlaces* places) {
  const Drawn& beside = drawn(draw, places);
  const OracleResult<Residue> came = run(plan, beside.batch, beside.force);
  // Rows of a free draw may all be hidden, such as behind those of a later branch that take their place.
  if (places && draw > 0) places->take(came.decisions);
  return field_difference(*model_, beside.batch.inputs, beside.expected, came);
}

}  // namespace stormcell

#include "core/verification/routing_judge.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

#include "core/base/counted.h"
#include "core/cell/protocol_row.h"
#include "core/verification/make_flip.h"

namespace stormcell {
namespace {

constexpr size_t kListedFlips = 100;
// With fewer cells than this the largest error that was met says little; then rounding counts as at least a unit of the
// format.
constexpr int64_t kEnoughCells = 16;

/// Whether anything was decided: a plan may leave out a router inside a branch that its guards keep empty.
bool decides(const JudgedDecision& d) { return d.shape.cells > 0; }

bool same_cells(const JudgedDecision& a, const JudgedDecision& b) {
  return a.shape == b.shape && a.above == b.above && a.place == b.place;
}

std::string cell_text(const JudgedDecision& d, int64_t cell) { return "cell " + std::to_string(d.row(cell)); }

/// NaN if one of the scores is: -infinity marks branches that cannot be chosen.
float score_of(const JudgedDecision& d, int64_t cell) {
  if (d.scores.empty()) return 0;
  const auto first = d.scores.begin() + cell * d.score_columns;
  return std::any_of(first, first + d.score_columns, [](float s) { return std::isnan(s); }) ? NAN : 0;
}

std::string rough(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2g", value);
  return text;
}

}  // namespace

// Products sum hundreds of rounded terms in f32: 16 units in the last place. With bf16 the terms themselves are
// rounded.
double rounding_unit(Arithmetic arithmetic) { return arithmetic == Arithmetic::f32 ? 0x1p-20 : 0x1p-9; }
double score_tolerance(Arithmetic arithmetic) {
  return arithmetic == Arithmetic::f32 ? kF32Tolerance : kRoundedTolerance;
}

RoutingJudge::Router& RoutingJudge::router(const JudgedDecision& reference) {
  for (Router& r : routers_)
    if (r.name == reference.router) return r;
  Router& made = routers_.emplace_back();
  made.name = reference.router, made.nonfinite = NonFiniteValues(nonfinite_);
  made.scores_apart = scores_apart(protocol_row(reference.protocol.kind).margin);
  return made;
}

void RoutingJudge::add_flip(Flip flip, double size, Router::Found& found) {
  found.margins_and_sizes.emplace_back(flip.margin, size);
  if (found.listed.size() < kListedFlips) found.listed.push_back(std::move(flip));
}

void RoutingJudge::compare_weights(int64_t batch, const JudgedDecision& r, const JudgedDecision& plan, CellPair cells,
                                   Router& sum) {
  const int32_t k = r.shape.fan_out;
  const int32_t *chosen = r.of_cell(r.choice, cells.a), *chosen_by_plan = plan.of_cell(plan.choice, cells.b);
  for (int32_t i = 0; i < k; ++i)
    for (int32_t j = 0; j < k; ++j) {
      if (chosen[i] == kNoBranch || branch_of(chosen[i]) != branch_of(chosen_by_plan[j])) continue;
      const float weight = r.weight[cells.a * k + i], of_plan = plan.weight[cells.b * k + j];
      const auto place = [&] { return "the weight of " + cell_text(r, cells.a); };
      if (!sum.nonfinite.add(of_plan, weight, batch, place) || !std::isfinite(weight)) continue;
      sum.weight_scale = std::max(sum.weight_scale, std::fabs(static_cast<double>(weight)));
      sum.weight_error =
          std::max(sum.weight_error, std::fabs(static_cast<double>(of_plan) - static_cast<double>(weight)));
    }
}

void RoutingJudge::add_consequence(Flip flip) {
  ++consequence_count_;
  flip.follows = true;
  if (consequences_.size() < kListedFlips) consequences_.push_back(std::move(flip));
}

void RoutingJudge::wrong(const std::string& router, const std::string& what) { wrong_.try_emplace(router, what); }

Reached RoutingJudge::add(int64_t batch, const std::vector<JudgedDecision>& reference,
                          const std::vector<JudgedDecision>& replayed, const std::vector<JudgedDecision>* free) {
  std::vector<Otherwise> judged;
  for (const JudgedDecision& r : reference) {
    for (const int32_t choice : r.choice) dropped_ += is_dropped(choice);
    const JudgedDecision* p = find_decision(replayed, r);
    if (!p && decides(r)) wrong(r.router, "did not decide where the reference did");
    judged.push_back(p ? compare_replayed(batch, r, *p) : Otherwise(static_cast<size_t>(r.shape.cells)));
  }
  for (const JudgedDecision& p : replayed)
    if (!find_decision(reference, p) && decides(p)) wrong(p.router, "decided where the reference did not");
  return free ? compare_batch_freely(batch, reference, *free, judged) : Reached();
}

void RoutingJudge::add_reference_replaying(int64_t batch, const std::vector<JudgedDecision>& reference,
                                           const std::vector<JudgedDecision>& plan,
                                           const std::vector<JudgedDecision>& whole_batch) {
  for (const JudgedDecision& r : reference) {
    for (const int32_t choice : r.choice) dropped_ += is_dropped(choice);
    const JudgedDecision *p = find_decision(plan, r), *of_batch = find_decision(whole_batch, r);
    if (p && of_batch)
      compare_reference_replaying(batch, r, *p, *of_batch);
    else if (decides(r))
      wrong(r.router, "did not decide where the reference did");
  }
  for (const JudgedDecision& p : plan)
    if (!find_decision(reference, p) && decides(p)) wrong(p.router, "decided where the reference did not");
}

RoutingJudge::Otherwise RoutingJudge::compare_replayed(int64_t batch, const JudgedDecision& r,
                                                       const JudgedDecision& p) {
  if (!same_cells(r, p) || p.choice != r.choice || p.free_choice.size() != p.choice.size()) {
    wrong(r.router, "did not replay the reference's decisions");
    return Otherwise(static_cast<size_t>(r.shape.cells));
  }
  Otherwise otherwise = compare_choices(batch, r, r, p, p.free_choice);
  if (!mixes_batch(p.protocol)) router(r).wrong_drops += wrong_drops(p, p.free_choice, nullptr);
  compare_drops(batch, r, p.free_choice, otherwise);
  return otherwise;
}

void RoutingJudge::compare_reference_replaying(int64_t batch, const JudgedDecision& r, const JudgedDecision& plan,
                                               const JudgedDecision& whole_batch) {
  if (!same_cells(r, plan) || r.choice != plan.choice || r.free_choice.size() != r.choice.size())
    return wrong(r.router, "decided over other cells than the reference");
  JudgedDecision r_freely = r;
  r_freely.choice = r.free_choice;
  Otherwise otherwise = compare_choices(batch, r, r_freely, plan, plan.choice);
  JudgedDecision whole = whole_batch;
  whole.protocol = r.protocol;
  Router& sum = router(r);
  sum.wrong_drops += wrong_drops(whole, whole.choice, &whole.weight);
  // Judges the cells of the part by their confidence in the reference. The order between them and the other cells of
  // the batch is known from the plan's own weights only. If weights are renormalised it is not known: with one choice
  // each weight is 1, and a place may have gone to the wrong cell.
  for (const Misplaced& m : misplaced(r)) add_flip(drop_flip(batch, r, m), 0, sum.drops);
  // If all cells of the batch share places, the part alone tells nothing more.
  const bool shared = mixes_batch(plan.protocol) || (mixes_parent(plan.protocol) && plan.per_parent <= 0);
  if (!shared) compare_drops(batch, r_freely, plan.choice, otherwise);
}

RoutingJudge::Otherwise RoutingJudge::compare_choices(int64_t batch, const JudgedDecision& r,
                                                      const JudgedDecision& r_freely, const JudgedDecision& plan,
                                                      const std::vector<int32_t>& plan_freely) {
  Otherwise otherwise(r.shape.cells);
  Router& sum = router(r);
  std::vector<double> sizes;
  for (int64_t c = 0; c < r.shape.cells; ++c) {
    compare_weights(batch, r, plan, {c, c}, sum);
    const ChoiceDifference difference =
        difference_of(r.of_cell(r_freely.choice, c), plan.of_cell(plan_freely, c), r.shape.fan_out);
    const size_t cell = c;
    const double margin = r.margin[cell], of_plan = static_cast<double>(plan.margin[cell]);
    // A margin is infinite if no score decides. A score that is NaN has no distance; a NaN of the plan shows in its
    // margin and weights.
    if (std::isnan(margin) || std::isnan(of_plan))
      sum.nonfinite.add(plan.margin[cell], r.margin[cell], batch, [&] { return "the margin of " + cell_text(r, c); });
    else if (const float score = score_of(r, c); std::isnan(score))
      sum.nonfinite.add(score, score, batch, [&] { return "the scores of " + cell_text(r, c); });
    sizes.clear();
    const double size = margin_size(r_freely, c, sizes);
    for (const double s : sizes) sum.scores.add_size(s);
    if (!difference.none()) {
      otherwise.chosen[cell] = true;
      add_flip(choice_flip(batch, r_freely, c, difference), size, sum.flips);
    } else if (std::isfinite(margin) || std::isfinite(of_plan)) {
      // A flipped cell measures nothing: it would explain itself.
      sum.scores.add_difference(std::fabs(margin - of_plan), size);
      ++sum.measured;
    }
  }
  return otherwise;
}

/// If no cell that shares the places chose otherwise, the same cells get them.
void RoutingJudge::compare_drops(int64_t batch, const JudgedDecision& r_freely, const std::vector<int32_t>& plan_freely,
                                 Otherwise& otherwise) {
  std::set<int64_t> chosen_otherwise;
  for (int64_t c = 0; c < r_freely.shape.cells; ++c)
    if (otherwise.chosen[c]) chosen_otherwise.insert(capacity_group(r_freely, c));
  for (int64_t c = 0; c < r_freely.shape.cells; ++c) {
    const int32_t branch = dropped_otherwise(r_freely.of_cell(r_freely.choice, c), r_freely.of_cell(plan_freely, c),
                                             r_freely.shape.fan_out);
    if (branch == kNoBranch || chosen_otherwise.contains(capacity_group(r_freely, c))) continue;
    otherwise.dropped[c] = true;
    add_flip(drop_flip(batch, r_freely, c, branch), 0, router(r_freely).drops);
  }
}

Reached RoutingJudge::compare_batch_freely(int64_t batch, const std::vector<JudgedDecision>& reference,
                                           const std::vector<JudgedDecision>& free,
                                           const std::vector<Otherwise>& judged) {
  DisturbedCells disturbed, one_side_alone;
  for (size_t i = 0; i < reference.size(); ++i) {
    const JudgedDecision& r = reference[i];
    if (const JudgedDecision* f = find_decision(free, r)) {
      compare_router_freely(batch, r, *f, judged[i], disturbed);
      continue;
    }
    // A repeat that ends earlier, because its cells left.
    if (disturbed.none() && decides(r)) wrong(r.router, "did not decide where the reference did");
    for (int64_t c = 0; c < r.shape.cells; ++c) {
      one_side_alone.add(r, r.row(c));
      add_consequence(one_sided_flip(batch, r, c, &Flip::reference));
    }
  }
  for (const JudgedDecision& f : free) {
    if (find_decision(reference, f)) continue;
    if (disturbed.none() && decides(f)) wrong(f.router, "decided where the reference did not");
    for (int64_t c = 0; c < f.shape.cells; ++c) {
      one_side_alone.add(f, f.row(c));
      add_consequence(one_sided_flip(batch, f, c, &Flip::ours));
    }
  }
  Reached reached;
  reached.ran = true;
  disturbed.add_to(reached);
  one_side_alone.add_to(reached);
  return reached;
}

void RoutingJudge::compare_router_freely(int64_t batch, const JudgedDecision& r, const JudgedDecision& f,
                                         const Otherwise& judged, DisturbedCells& disturbed) {
  if (r.shape.fan_out != f.shape.fan_out || r.shape.branches != f.shape.branches || r.above != f.above) {
    wrong(r.router, "is another router than the reference's");
    return;
  }
  Router& sum = router(r);
  sum.wrong_drops += wrong_drops(f, f.choice, &f.weight);
  const DisturbedCells before = disturbed;
  const std::vector<CellPair> pairs = pair_cells(r, f);
  // Places that may go to others: another cell came or chose, or, if confidence ranks them, a cell's own confidence is
  // another.
  std::set<int64_t> places_move;
  for (const CellPair& pair : pairs) {
    const bool both = pair.a >= 0 && pair.b >= 0;
    if (!both || !difference_of(r.of_cell(r.choice, pair.a), f.of_cell(f.choice, pair.b), r.shape.fan_out).none() ||
        (mixes_batch(r.protocol) && before.reaches(r, r.row(pair.a))))
      places_move.insert(pair.a >= 0 ? capacity_group(r, pair.a) : capacity_group(f, pair.b));
  }
  for (const CellPair& pair : pairs) {
    if (pair.a < 0 || pair.b < 0) {
      const JudgedDecision& side = pair.b < 0 ? r : f;
      const int64_t cell = pair.b < 0 ? pair.a : pair.b;
      if (!before.reaches(r, side.row(cell))) wrong(r.router, "decided over other cells than the reference");
      disturbed.add(r, side.row(cell));
      add_consequence(one_sided_flip(batch, side, cell, pair.b < 0 ? &Flip::reference : &Flip::ours));
      continue;
    }
    const bool other_inputs = before.reaches(r, r.row(pair.a));
    const int32_t *chosen = r.of_cell(r.choice, pair.a), *chosen_freely = f.of_cell(f.choice, pair.b);
    const ChoiceDifference difference = difference_of(chosen, chosen_freely, r.shape.fan_out);
    if (!difference.none()) {
      disturbed.add(r, r.row(pair.a));
      if (judged.chosen[pair.a]) continue;  // already
      Flip flip = choice_flip(batch, r, pair.a, difference);
      if (other_inputs) {
        add_consequence(std::move(flip));
      } else {
        std::vector<double> sizes;
        add_flip(std::move(flip), margin_size(r, pair.a, sizes), sum.flips);
      }
    } else if (const int32_t branch = dropped_otherwise(chosen, chosen_freely, r.shape.fan_out); branch != kNoBranch) {
      disturbed.add(r, r.row(pair.a));
      Flip flip = drop_flip(batch, r, pair.a, branch);
      if (places_move.contains(capacity_group(r, pair.a))) {
        add_consequence(std::move(flip));
      } else if (!judged.dropped[pair.a]) {
        add_flip(std::move(flip), 0, sum.drops);
      }
    } else if (!other_inputs) {
      compare_weights(batch, r, f, pair, sum);
    }
  }
}

double RoutingJudge::score_error(const Router& r) const {
  return r.measured < kEnoughCells ? std::max(r.scores.largest(), rounding_unit(arithmetic_)) : r.scores.largest();
}

void RoutingJudge::judge_router(const Router& r, Verification& v, std::vector<Flip>& unexplained,
                                std::vector<Flip>& explained) const {
  const double share = score_error(r), usual = r.scores.usual_size(), error = share * usual;
  RouterDifference d{r.name, error, usual, r.weight_error, 0, 0};
  // `error_at`: of a margin, by the size of the scores there.
  const auto settle = [&](const Router::Found& found, const auto& error_at) {
    std::pair<int64_t, double> bad{0, 0};  // how many are not explained, the largest margin of them
    for (const auto& [margin, size] : found.margins_and_sizes)
      if (!(margin < kMarginFactor * error_at(size))) ++bad.first, bad.second = std::max(bad.second, margin);
    for (size_t i = 0; i < found.listed.size(); ++i) {
      Flip flip = found.listed[i];
      flip.score_error = error_at(found.margins_and_sizes[i].second);
      flip.explained = flip.margin < kMarginFactor * flip.score_error;
      (flip.explained ? explained : unexplained).push_back(std::move(flip));
    }
    const auto all = std::ssize(found.margins_and_sizes);
    d.flips += all;
    d.explained_flips += all - bad.first;
    return bad;
  };
  // If no score has a size, nothing was measured that could explain anything.
  const auto error_of_flip = [&](double size) {
    return usual > 0 || size > 0 ? share * RelativeError::scale(size, usual) : 0;
  };
  if (const auto [bad, farthest] = settle(r.flips, error_of_flip); bad > 0)
    v.reasons.push_back(counted(bad, "choice") + " of router " + r.name + " differ" + (bad == 1 ? "s" : "") +
                        " without a near tie (margin up to " + rough(farthest) + ", score error " + rough(error) + ")");
  // Confidence, which ranks drops, is computed from scores: it rounds even where those agree.
  if (const auto [bad, farthest] =
          settle(r.drops, [&](double) { return std::max(error, rounding_unit(Arithmetic::f32)); });
      bad > 0)
    v.reasons.push_back(counted(bad, "drop") + " of router " + r.name + " differ" + (bad == 1 ? "s" : "") +
                        " from the reference's, though the same cells chose the same branches");
  if (const std::string what = r.nonfinite.reason(); !what.empty()) {
    v.reasons.push_back("router " + r.name + " is not finite: " + what);
    v.what_to_do = kNonFiniteAdvice;
  }
  v.nonfinite += r.nonfinite.allowed();
  // A distance of two scores moves by twice what each of them does.
  const double tolerance = score_tolerance(arithmetic_), of_score = share / r.scores_apart;
  if (of_score > tolerance)
    v.reasons.push_back("the scores of router " + r.name + " differ by " + rough(of_score) +
                        " of their size, the tolerance is " + rough(tolerance));
  if (r.weight_error > std::max(tolerance * r.weight_scale, kMarginFactor * error))
    v.reasons.push_back("the weights of router " + r.name + " differ by " + rough(r.weight_error) +
                        ", more than its scores explain");
  if (r.wrong_drops > 0)
    v.reasons.push_back(counted(r.wrong_drops, "drop") + " of router " + r.name + " do" +
                        (r.wrong_drops == 1 ? "es" : "") + " not follow its capacity");
  v.flips += d.flips;
  v.explained_flips += d.explained_flips;
  v.routers.push_back(std::move(d));
}

void RoutingJudge::judge(Verification& v) const {
  v.dropped = dropped_;
  v.consequences = consequence_count_;
  std::vector<Flip> unexplained, explained;
  for (const Router& r : routers_) judge_router(r, v, unexplained, explained);
  for (const auto& [router, what] : wrong_) v.reasons.push_back("router " + router + " " + what);
  for (const std::vector<Flip>* flips : {&std::as_const(unexplained), &std::as_const(explained), &consequences_})
    for (const Flip& flip : *flips)
      if (v.listed.size() < kListedFlips) v.listed.push_back(flip);
}

}  // namespace stormcell

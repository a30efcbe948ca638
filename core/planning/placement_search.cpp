#include "core/planning/placement_search.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/placement/cost_search.h"
#include "core/placement/exact.h"
#include "core/placement/joint.h"
#include "core/placement/load.h"
#include "core/placement/traffic.h"
#include "core/planning/layout_figures.h"
#include "core/planning/option_word.h"
#include "core/planning/placement_solvers.h"
#include "core/planning/step_objective.h"
#include "core/readings/lacks.h"

namespace stormcell {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Shares of the time: to choose a candidate, for those not chosen, for the chosen one.
constexpr double kTrialShare = 0.4, kOtherShare = 0.2, kChosenShare = 0.4;

enum class Method { keep, eplb, load, joint, steps };

/// One way to a placement: a method with its weights.
struct Candidate {
  Method method;
  double together = 0, slack = 0;  // parameters of joint
  bool from_joint = false;         // method steps: begins at what joint found, else at the EPLB rule's
  double lambda = 1;               // method steps: weight of moving
};

// Pairs of one layer count half of those across layers: what is chosen changes little from a quarter to as much.
constexpr double kTogether = 0.5;
// Load that a rank may get beyond the mean. With the aim traffic, balance stays about the EPLB rule's; with the aim
// cost, balance is one of the means.
constexpr double kSlacks[] = {0, 0.01, 0.02, 0.04, 0.08, 0.15}, kSlacksByCost[] = {1, 0.3, 0.08, 0.02};

std::string name_of(const Candidate& c) {
  const auto short_text = [](double v) { return std::to_string(v).substr(0, 4); };
  const std::string joint = "together " + short_text(c.together) + ", slack " + short_text(c.slack);
  const std::string lambda = c.lambda == 1 ? "" : ", moves weigh " + short_text(c.lambda);
  switch (c.method) {
    case Method::keep:
      return "as before";
    case Method::eplb:
      return "eplb";
    case Method::load:
      return "load";
    case Method::joint:
      return "joint, " + joint;
    case Method::steps:
      return "steps" + (c.from_joint ? " from joint, " + joint : " from eplb") + lambda;
  }
  return {};
}

Placement eplb_of(const LayerLoads& loads, const PlaceTask& task) { return eplb_placement(loads, task.shape); }

// Work is counted by what is reached beside another program: 3 million proposals a second alone (48 layers, 128
// branches, 4 ranks).
constexpr double kJointProposals = 1.5e6;  // a second
constexpr int32_t kFewestSweeps = 20, kMostSweeps = 1000;
constexpr double kStepVisits = 20e6;  // tokens that moves touch, a second
constexpr double kEvenShare = 0.8;    // share of the time for moves, if those of the nearest replicas are slow to count
constexpr int64_t kFewestProposals = 500, kMostProposals = 4000000;

/// Makes the candidates' placements, fitted to one part of the data.
class CandidateFitter {
 public:
  CandidateFitter(const PlaceTask& task, const DataSlice& data, const CostAim& aim, bool repeatable)
      : task_(task), data_(data), aim_(aim), repeatable_(repeatable) {}

  /// The work of so many seconds, and where it need not be repeatable in about so many at most.
  Placement fit(const Candidate& c, double seconds, const Progress& progress) {
    switch (c.method) {
      case Method::keep:
        return task_.before;
      case Method::eplb:
        return eplb();
      case Method::load:
        return load_placement(data_.loads, start(), progress);
      case Method::joint:
        return joint(c, seconds, progress);
      case Method::steps:
        return steps(c, seconds, progress);
    }
    return task_.before;
  }

  Placement eplb() const { return eplb_of(data_.loads, task_); }
  /// The EPLB rule's, with its idle replicas put to use.
  Placement start() const {
    Placement p = eplb();
    spread_idle_replicas(data_.loads, p);
    return p;
  }
  /// Whether the clock hurried or ended one before its work was done.
  bool by_clock() const { return by_clock_; }

 private:
  SearchTime limit(double seconds) const { return repeatable_ ? SearchTime() : SearchTime(seconds); }

  Placement joint(const Candidate& c, double seconds, const Progress& progress) {
    const double slots = static_cast<double>(data_.loads.size()) * task_.shape.slot_count;
    const auto sweeps =
        static_cast<int32_t>(std::clamp<double>(seconds * kJointProposals / slots, kFewestSweeps, kMostSweeps));
    const SearchTime time = limit(seconds);
    const JointOptions options{.together = c.together,
                               .slack = c.slack,
                               .seed = 1,
                               .sweeps = sweeps,
                               .nodes = task_.shape.nodes,
                               .time = time};
    Placement found = joint_placement(*data_.routes, data_.tokens, start(), options, progress);
    by_clock_ |= time.decided();
    return found;
  }

  Placement steps(const Candidate& c, double seconds, const Progress& progress) {
    const double for_joint = c.from_joint ? seconds / 3 : 0;
    Placement found = c.from_joint ? joint(c, for_joint, progress) : start();
    double left = seconds - for_joint;
    // Moves without heat mend joint's placement; heat would melt it.
    double heat = c.from_joint ? 0 : 0.3;
    const StepObjective& objective = *data_.objective;
    // The nearest replicas of tokens that live anywhere are counted from every rank. So even shares, which are much
    // faster to count, get most of the time, and the rule that judges mends what they find.
    if (objective.homes_of_token() > 1) {
      const double evenly = kEvenShare * left;
      found = cheaper(ReplicaRule::even, 1, found, {c.lambda, heat, evenly}, progress);
      left -= evenly, heat = 0;
    }
    return cheaper(objective.replicas(), objective.homes_of_token(), found, {c.lambda, heat, left}, progress);
  }

  struct Moves {
    double lambda, heat, seconds;
  };
  /// Improves a placement by annealed moves, each counted from so many homes of a token.
  Placement cheaper(ReplicaRule replicas, size_t homes, const Placement& from, const Moves& moves,
                    const Progress& progress) {
    const SearchTime time = limit(moves.seconds);
    PlacedSteps placed = data_.objective->placed_by(replicas, from);
    double visits = 0;  // visits that a swap touches
    for (const std::vector<double>& layer : data_.loads)
      for (const double load : layer) visits += load / static_cast<double>(data_.loads.size() * layer.size());
    const double a_move =
        2 * std::min(visits, 16384.) * static_cast<double>(homes) + static_cast<double>(placed.steps()) + 20;
    const auto proposals = static_cast<int64_t>(
        std::clamp<double>(moves.seconds * kStepVisits / a_move, kFewestProposals, kMostProposals));
    CostAim aim = aim_;
    aim.move_s *= moves.lambda;
    make_cheaper(aim, {.seed = 1, .proposals = proposals, .heat = moves.heat, .time = time}, placed, progress);
    by_clock_ |= time.decided();
    return placed.placement();
  }

  const PlaceTask& task_;
  const DataSlice data_;
  const CostAim& aim_;
  const bool repeatable_;
  bool by_clock_ = false;
};

class PlacementSearch {
 public:
  PlacementSearch(const PlaceOptions& options, const PlaceTask& task, const Progress& progress)
      : options_(options),
        solver_(find_placement_solver(options.solver)),
        task_(task),
        progress_(progress),
        by_cost_(aims_at_cost()),
        whole_(slice_of(task, DataPart::fitted)) {
    aim_.p95 = options.step.p95, aim_.move_s = task.move_ms / 1e3;
    aim_.before = task.before;
  }

  SearchOutcome run() {
    if (solver_.kind == SolverKind::joint && task_.routes) check_room();
    CandidateFitter fitter(task_, whole_, aim_, options_.repeatable);
    out_.eplb = fitter.eplb();
    if (solver_.takes_aim) out_.aim = by_cost_ ? PlacementAim::cost : PlacementAim::traffic;
    switch (solver_.kind) {
      case SolverKind::keep:
        out_.result = task_.before;
        break;
      case SolverKind::eplb:
        out_.result = out_.eplb;
        break;
      case SolverKind::load:
        out_.result = fitter.fit({Method::load}, 0, progress_);
        break;
      case SolverKind::exact:
        out_.result = exact();
        break;
      case SolverKind::joint:
        search(fitter);
    }
    out_.evenly = solver_.searches && out_.aim != PlacementAim::cost, out_.by_clock |= fitter.by_clock();
    return std::move(out_);
  }

 private:
  /// Checks the memory that the joint search would need for a model, before it starts.
  void check_room() const {
    constexpr double kMostBytes = 4. * (1 << 30);
    const double branches = task_.branches;
    const double bytes = 2 * sizeof(float) * static_cast<double>(task_.layout.routers.size()) * branches * branches;
    if (bytes > kMostBytes)
      bad_input("--solver",
                "joint counts pairs of experts, of " + counted(task_.branches, "expert") + " in " +
                    std::to_string(task_.layout.routers.size()) + " layers more than 4 GiB",
                "--solver load");
  }

  bool aims_at_cost() const {
    if (!solver_.takes_aim) return false;
    const std::string needs = "it needs the sizes of the model and steps, and the data has " +
                              std::string(task_.sizes ? "one sum of many steps" : "no sizes");
    const PlacementAim usual = task_.objective ? PlacementAim::cost : PlacementAim::traffic;
    const bool by_cost = parse_word("--aim", options_.aim, kPlacementAims, usual) == PlacementAim::cost;
    if (by_cost && !task_.objective)
      bad_input("--aim", needs, "--model-config, or --hidden N --ffn N; --tokens-per-step N");
    if (by_cost) return true;
    if (!task_.routes)
      bad_input("--solver",
                options_.solver + " needs single choices of one kind of cells, and the data lacks them (decisions)",
                "--solver eplb or load takes loads; " + how_to_get(task_.run, "decisions", "record single choices"));
    return false;
  }

  std::vector<Candidate> candidates() const {
    std::vector<Candidate> list;
    if (by_cost_) list = {{Method::keep}, {Method::eplb}, {Method::load}};
    std::vector<double> lambdas = {1};
    if (by_cost_ && aim_.move_s > 0) lambdas.push_back(3);
    for (const double lambda : lambdas)
      if (by_cost_) list.push_back({.method = Method::steps, .lambda = lambda});
    if (!task_.routes) return list;
    for (const double slack : by_cost_ ? std::span<const double>(kSlacksByCost) : kSlacks) {
      list.push_back({.method = Method::joint, .together = kTogether, .slack = slack});
      for (const double lambda : lambdas)
        if (by_cost_)
          list.push_back(
              {.method = Method::steps, .together = kTogether, .slack = slack, .from_joint = true, .lambda = lambda});
    }
    return list;
  }

  /// Whether so much of the time has gone that no further candidate is begun: what each takes however short its search,
  /// many layers make long.
  bool is_late(double share) {
    const bool late = !options_.repeatable && time_.share() > share;
    out_.by_clock |= late;
    return late;
  }

  /// The candidate whose placement is best on the validation part. Among those about as good, within 3 %, the most even
  /// one: the best by the aim alone is the luckiest one there.
  size_t choose(const std::vector<Candidate>& list, const ValidationSplit& split) {
    constexpr double kAboutAsGood = 1.03;
    const DataSlice judge = slice_of(task_, split, DataPart::held_out);
    CandidateFitter trial(task_, slice_of(task_, split, DataPart::fitted), aim_, options_.repeatable);
    const Placement eplb = trial.eplb();
    const double seconds = kTrialShare * options_.time_limit / static_cast<double>(list.size());
    std::vector<double> value, imbalance;
    for (const Candidate& candidate : list) {
      if (!value.empty() && is_late(kTrialShare)) break;
      const Placement p = trial.fit(candidate, seconds, progress_);
      value.push_back(by_cost_ ? cost(p, judge) : traffic(p, eplb, judge));
      imbalance.push_back(mean_imbalance(p, judge));
    }
    out_.by_clock |= trial.by_clock();
    size_t best = std::min_element(value.begin(), value.end()) - value.begin();
    if (by_cost_) return best;
    const double least = value[best];
    for (size_t i = 0; i < value.size(); ++i)
      if (value[i] <= kAboutAsGood * least && imbalance[i] < imbalance[best]) best = i;
    return best;
  }

  /// Each candidate is fitted and judged on the validation part, then all are fitted to the whole; the chosen one with
  /// all the time that is left.
  void search(CandidateFitter& fitter) {
    const std::vector<Candidate> list = candidates();
    const double many = list.size();
    size_t chosen = 0;
    if (const auto split = split_for_validation(options_, task_)) {
      out_.chosen_on = ChosenOn::validation;
      chosen = choose(list, *split);
    } else {
      out_.chosen_on = ChosenOn::fitted;
    }
    for (size_t i = 0; i < list.size(); ++i)
      if (i != chosen && !is_late(kTrialShare + kOtherShare))
        out_.tried.push_back(
            {name_of(list[i]), fitter.fit(list[i], kOtherShare * options_.time_limit / many, progress_)});
    out_.tried.push_back(
        {name_of(list[chosen]), fitter.fit(list[chosen], kChosenShare * options_.time_limit, progress_)});
    take_result();
  }

  /// Takes the chosen placement, unless the data it was fitted to say that another is better by more than allowed:
  /// nothing is ever worse there than the EPLB rule.
  void take_result() {
    const bool anew = out_.chosen_on == ChosenOn::fitted;
    const auto value = [&](const Placement& p) {
      return by_cost_ ? cost(p, whole_) : anew ? traffic(p, out_.eplb, whole_) : traffic_alone(p, whole_);
    };
    const FoundPlacement* best = &out_.tried.back();
    if (anew)
      for (const FoundPlacement& f : out_.tried)
        if (value(f.placement) < value(best->placement)) best = &f;
    out_.chosen = best->name, out_.result = best->placement;
    if (value(out_.eplb) < value(out_.result)) out_.chosen = "eplb", out_.result = out_.eplb;
  }

  /// Cost of a step in ms, moves included.
  double cost(const Placement& p, const DataSlice& data) const {
    const double moved = moved_slots(aim_.before, p);
    return data.objective->mean_step(p, data.part, progress_)->objective_ms + task_.move_ms * moved;
  }

  /// Pairs apart and ranks of a token if balance is about the EPLB rule's; else a value worse than any of those.
  double traffic(const Placement& p, const Placement& eplb, const DataSlice& data) const {
    constexpr double kUneven = 1e3;
    const double over = mean_imbalance(p, data) - mean_imbalance(eplb, data) - kAboutAsEven;
    if (over > 0) return kUneven + over;
    return traffic_alone(p, data);
  }

  static double traffic_alone(const Placement& p, const DataSlice& data) {
    const Traffic t = count_traffic(*data.routes, data.tokens, p, data.way);
    return t.cross_pairs + t.ranks_per_token / data.routes->k;
  }

  Placement exact() {
    const int32_t ranks = task_.shape.ranks;
    if (options_.redundant > 0)
      bad_input("--redundant", "--solver exact places each expert once", "leave spare slots out");
    if (options_.step.p95) bad_input("--p95", "--solver exact works with means only", "leave --p95 out");
    const bool follow = by_cost_ && task_.objective->residence() == Residence::follow;
    if (follow && !come_from_the_layer_before())
      bad_input("--residence",
                "--solver exact weighs each layer after the one before it, and tokens that passed over a layer come "
                "from farther back",
                "--solver joint, or leave it out");
    const int64_t most = follow ? kMostPairedArrangements : kMostArrangements;
    if (arrangements_of(task_.branches, ranks) > most)
      bad_input("--solver",
                "exact would try more than " + std::to_string(most) + " arrangements a layer" +
                    (follow ? ", each after each of the layer before" : "") + ": " + counted(task_.branches, "expert") +
                    " on " + counted(ranks, "GPU"),
                std::string("--solver joint searches; exact takes up to ") +
                    (follow ? "8 experts on 2 GPUs with --residence follow" : "8 experts on 4 GPUs"));
    const ExactPlacement best = exact_placement(by_cost_ ? exact_cost() : exact_traffic(), whole_.loads.size(),
                                                task_.branches, ranks, progress_);
    if (by_cost_ && task_.objective->search_sees_all()) out_.bound = cost(best.placement, whole_);
    return best.placement;
  }

  /// Whether tokens that follow leave for each layer from the one before it, or from their homes.
  bool come_from_the_layer_before() const {
    const TokenRoutes& routes = *task_.objective->routes();
    for (const std::vector<size_t>& step : task_.objective->tokens(DataPart::fitted))
      for (const size_t t : step)
        for (int32_t l = 2; l < routes.layers; ++l)
          if (const int32_t from = routes.moved_at(t, l); routes.visits(t, l) && from >= 0 && from < l - 1)
            return false;
    return true;
  }

  ExactAim exact_cost() {
    exact_steps_.emplace(task_.objective->placed(aim_.before));
    const bool follow = task_.objective->residence() == Residence::follow;
    ExactAim aim;
    aim.of_layer = [this, follow](size_t l, const LayerSlots& layer) {
      const Placement one{task_.shape.ranks, task_.branches, {layer}},
          before{task_.shape.ranks, task_.branches, {aim_.before.layers[l]}};
      const double moves_s = aim_.move_s * static_cast<double>(moved_slots(before, one));
      if (follow && l > 0) return moves_s;  // the rest hangs on the layer before
      exact_steps_->set_layer(l, layer);
      return exact_steps_->layer_s(l) + moves_s;
    };
    if (follow)
      aim.of_pair = [this](size_t l, const LayerSlots& before, const LayerSlots& layer) {
        exact_steps_->set_layer(l - 1, before);
        exact_steps_->set_layer(l, layer);
        return exact_steps_->layer_s(l);
      };
    return aim;
  }

  /// Shares of pairs apart and of ranks a token, as traffic() has them, where no layer is less even than the EPLB
  /// rule's by more than it may.
  ExactAim exact_traffic() {
    const TokenRoutes& routes = *whole_.routes;
    const size_t branches = task_.branches;
    ExactAim aim;
    aim.follows.assign(whole_.loads.size(), std::vector<double>(branches * branches));
    double pairs = 0, visits = 0;
    for (const size_t t : whole_.tokens)
      for (int32_t l = 0; l < routes.layers; ++l) {
        const auto here = routes.at(t, l);
        visits += std::ranges::any_of(here, [](int32_t b) { return b >= 0; });
        for (const int32_t a : l > 0 ? routes.at(t, l - 1) : std::span<const int32_t>())
          for (const int32_t b : here)
            if (a >= 0 && b >= 0) ++pairs, ++aim.follows[l][a * branches + b];
      }
    for (auto& layer : aim.follows)
      for (double& pair : layer) pair /= std::max(pairs, 1.);
    aim.of_layer = [this, visits](size_t l, const LayerSlots& layer) {
      const auto imbalance = [&](const LayerSlots& s) {
        return imbalance_of_ranks(loads_of_ranks(s, task_.shape.ranks, whole_.loads[l]));
      };
      if (imbalance(layer) > imbalance(out_.eplb.layers[l]) + kAboutAsEven) return kInfinity;
      return distinct_ranks(l, layer) / std::max(visits, 1.) / whole_.routes->k;
    };
    return aim;
  }

  double distinct_ranks(size_t l, const LayerSlots& layer) const {
    const std::vector<BranchShares> shares = shares_of(layer, task_.branches, task_.shape.ranks);
    double distinct = 0;
    std::vector<size_t> seen(task_.shape.ranks, SIZE_MAX);
    for (const size_t t : whole_.tokens)
      for (const int32_t b : whole_.routes->at(t, static_cast<int32_t>(l))) {
        if (b < 0) continue;
        size_t& last = seen[shares[b][0].rank];
        distinct += last != t, last = t;
      }
    return distinct;
  }

  const PlaceOptions& options_;
  const PlacementSolver& solver_;
  const PlaceTask& task_;
  const Progress& progress_;
  const bool by_cost_;
  const DataSlice whole_;
  CostAim aim_;
  std::optional<PlacedSteps> exact_steps_;
  const SearchTime time_{options_.time_limit};
  SearchOutcome out_;
};

}  // namespace

SearchOutcome given_outcome(const PlaceTask& task, Placement result) {
  SearchOutcome out;
  out.eplb = eplb_of(task.loads.fit, task), out.result = std::move(result);
  return out;
}

SearchOutcome search_placement(const PlaceOptions& options, const PlaceTask& task, const Progress& progress) {
  return PlacementSearch(options, task, progress).run();
}

}  // namespace stormcell

#include "core/proof/drawn_choices.h"

#include <algorithm>

#include "core/cell/decision.h"
#include "core/cell/protocol_row.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"
#include "core/proof/draw.h"

namespace stormcell {
namespace {

/// The first cells of each space may be led, every second one before the others. Cells that are not led choose any.
constexpr int64_t kLeadingCells = 64;

uint64_t seed_of(const std::string& router, int draw) {
  uint64_t seed = static_cast<uint64_t>(draw);
  for (const char c : router) seed = seed * 1099511628211ull + static_cast<unsigned char>(c);
  return seed;
}

}  // namespace

DrawnChoices::DrawnChoices(const Graph& model, UsualBranches usual) : model_(model), usual_(std::move(usual)) {
  model.for_each_node([&](NodeId id, int) {
    if (is_route(model.node(id))) add(model, model.node(id));
  });
}

void DrawnChoices::add(const Graph& model, const Node& node) {
  const Value& decision = model.value(node.outputs[0]);
  const ProtocolRow& row = protocol_row(protocol_of(node.attributes).kind);
  Router router;
  router.dense = model.dense_ancestor(decision.type.space);
  router.branches = decision.branches, router.fan_out = decision.fan_out;
  router.may_use_all = row.fan_out == FanOut::all;
  router.drops = row.places != Places::unlimited;
  for (int32_t branch = 0; branch < decision.branches; ++branch) {
    Lead lead;
    lead.cells.push_back(choices_above(model, decision.type.space, kAllBranches));
    lead.cells.back().emplace_back(node.name, branch);
    unreached_.emplace(RouterBranch(node.name, branch), std::move(lead));
  }
  routers_.emplace(node.name, router);  // a router of two phases is described by the first
}

bool DrawnChoices::wants_draw() const {
  return std::any_of(unreached_.begin(), unreached_.end(), [](const auto& branch) { return branch.second.is_open(); });
}

ForceChoices DrawnChoices::of_draw(int draw, const Bindings& bindings, std::vector<Lead*> leads) {
  if (draw == 0) return {};
  if (draw == 1) return [this](const OracleDecision& made) { return usual_choices(made); };
  for (auto& [branch, lead] : unreached_) leads.push_back(&lead);
  std::stable_sort(leads.begin(), leads.end(), [](const Lead* a, const Lead* b) { return a->tries < b->tries; });
  Directions directions;
  for (Lead* lead : leads) {
    if (!lead->is_open()) continue;
    Directions alone;
    if (follow(*lead, bindings, directions) == Followed::yes)
      ++lead->tries;
    else if (const Followed by_itself = follow(*lead, bindings, alone); by_itself != Followed::yes)
      lead->tries = Lead::kMostTries, lead->contradicts_itself = by_itself == Followed::contradicts;
  }
  return [this, draw, directions](const OracleDecision& made) { return any_choices(made, draw, directions); };
}

/// The same cells with the same scores, and therefore the same choices.
void DrawnChoices::join_alike(const std::vector<OracleDecision>& decisions) {
  const auto alike = [](const OracleDecision& a, const OracleDecision& b) {
    return a.shape == b.shape && a.shape.cells > 0 && a.execution == b.execution && a.dense_space == b.dense_space &&
           a.ancestor == b.ancestor && a.choice == b.choice && a.scores == b.scores;
  };
  for (auto d = decisions.begin(); d != decisions.end(); ++d) {
    const auto first = std::find_if(decisions.begin(), d, [&](const OracleDecision& e) { return alike(e, *d); });
    if (first != d && first->router != d->router) first_alike_.emplace(d->router, first->router);
  }
}

const std::string& DrawnChoices::first_alike(const std::string& router) const {
  const auto at = first_alike_.find(router);
  return at == first_alike_.end() ? router : at->second;
}

void DrawnChoices::take(int draw, const std::vector<OracleDecision>& decisions) {
  if (draw == 0) join_alike(decisions);
  for (const OracleDecision& d : decisions)
    for (const int32_t choice : d.choice)
      if (is_kept(choice)) unreached_.erase({d.router, choice});
}

/// Whether a router can do all that is asked of it.
bool DrawnChoices::can_do(const std::string& name, const Needs& needs) const {
  const auto at = routers_.find(name);
  if (at == routers_.end()) return false;
  const Router& router = at->second;
  const std::set<int32_t>&empty = needs.empty, &full = needs.full;
  if (std::any_of(full.begin(), full.end(), [&](int32_t branch) { return empty.contains(branch); })) return false;
  const bool any = router.may_use_all || std::ssize(full) < router.fan_out;
  if (!router.may_use_all &&
      (std::ssize(full) > router.fan_out || router.branches - std::ssize(empty) < router.fan_out))
    return false;
  return std::all_of(needs.led.begin(), needs.led.end(), [&](const auto& cell) {
    const int32_t branch = cell.second;
    if (!is_kept(branch)) return router.may_use_all ? !full.contains(dropped_from(branch)) : full.empty();
    return !empty.contains(branch) && (any || full.contains(branch));
  });
}

/// Adds a lead to those that a draw follows, if it goes together with them.
DrawnChoices::Followed DrawnChoices::follow(const Lead& lead, const Bindings& bindings, Directions& directions) const {
  Directions changed;
  const auto needs = [&](const std::string& router) -> Needs& {
    const std::string& name = first_alike(router);
    const auto known = directions.find(name);
    return changed.emplace(name, known == directions.end() ? Needs() : known->second).first->second;
  };
  for (const auto& [router, branches] : lead.empty) needs(router).empty.insert(branches.begin(), branches.end());
  for (const auto& [router, branches] : lead.full) needs(router).full.insert(branches.begin(), branches.end());
  for (const std::vector<RouterBranch>& choices : lead.cells) {
    const auto is_free = [&](int64_t cell) {
      return std::all_of(choices.begin(), choices.end(), [&](const RouterBranch& choice) {
        const std::map<int64_t, int32_t>& led = needs(choice.first).led;
        const auto at = led.find(cell);
        return at == led.end() || at->second == choice.second;
      });
    };
    const auto router = routers_.find(choices.front().first);
    if (router == routers_.end()) return Followed::contradicts;
    const int64_t cells = std::min(kLeadingCells, model_.space(router->second.dense).count.evaluate(bindings));
    const int64_t even = (cells + 1) / 2;
    const auto nth_cell = [&](int64_t n) { return n < even ? 2 * n : 2 * (n - even) + 1; };
    int64_t n = 0;
    while (n < cells && !is_free(nth_cell(n))) ++n;
    if (n == cells) return Followed::no_cell_is_left;
    for (const auto& [name, branch] : choices) needs(name).led[nth_cell(n)] = branch;
  }
  for (const auto& [router, all] : changed)
    if (!can_do(router, all)) return Followed::contradicts;
  for (auto& [router, all] : changed) directions[router] = std::move(all);
  return Followed::yes;
}

std::vector<int32_t> DrawnChoices::usual_choices(const OracleDecision& made) const {
  const int32_t branches = made.shape.branches, fan_out = made.shape.fan_out;
  const std::string& name = first_alike(made.router);
  const auto router = routers_.find(name);
  const bool all = router != routers_.end() && router->second.may_use_all;
  std::vector<int32_t> used, choices;
  if (const auto known = usual_.find(name); known != usual_.end()) used = known->second;
  if (used.empty() && !(all && usual_.contains(name)))
    for (int32_t branch = 0; branch < branches; ++branch) used.push_back(branch);
  const size_t of_usual = used.size();
  // A cell that has to have more branches than are usual takes others.
  for (int32_t branch = 0; !all && branch < branches; ++branch)
    if (std::find(used.begin(), used.end(), branch) == used.end()) used.push_back(branch);
  for (int64_t cell = 0; cell < made.dense_cells; ++cell) {
    const size_t count = all ? of_usual : std::min<size_t>(fan_out, used.size());
    for (size_t i = 0; i < count; ++i) choices.push_back(i < of_usual && !all ? used[(cell + i) % of_usual] : used[i]);
    choices.resize((cell + 1) * fan_out, kNoBranch);
  }
  return choices;
}

std::vector<int32_t> DrawnChoices::any_choices(const OracleDecision& made, int draw,
                                               const Directions& directions) const {
  const int32_t branches = made.shape.branches, fan_out = made.shape.fan_out;
  const std::string& name = first_alike(made.router);
  const auto router = routers_.find(name);
  const bool all = router != routers_.end() && router->second.may_use_all;
  const bool drops = router != routers_.end() && router->second.drops;
  const auto directed = directions.find(name);
  const Needs needs = directed == directions.end() ? Needs() : directed->second;
  Draw random(seed_of(name, draw));
  const int64_t first = random.below(branches);
  std::vector<int32_t> choices;
  for (int64_t cell = 0; cell < made.dense_cells; ++cell) {
    const auto led = needs.led.find(cell);
    const int32_t target = led == needs.led.end() ? kNoBranch : led->second;
    const bool dropped =
        !all && (target == kNoBranch ? drops && needs.full.empty() && random.below(5) == 0 : is_dropped(target));
    const int64_t begin = target == kNoBranch ? first + cell : is_dropped(target) ? dropped_from(target) : target;
    // Where rows take the place of each other, that of the last branch stays: a cell that is led has others before it.
    const int64_t step = target == kNoBranch && random.below(2) == 0 ? 1 : branches - 1;
    std::vector<int32_t> chosen, others;
    for (int64_t i = 0; i < branches; ++i) {
      const auto branch = static_cast<int32_t>((begin + i * step) % branches);
      const bool asked = branch == target || needs.full.contains(branch);
      if (needs.empty.contains(branch))
        others.push_back(branch);
      else if (!all || asked || (branch != dropped_from(target) && random.below(4) != 0))
        chosen.push_back(branch);
    }
    if (!all) {
      std::stable_partition(chosen.begin(), chosen.end(),
                            [&](int32_t b) { return b == target || needs.full.contains(b); });
      chosen.insert(chosen.end(), others.begin(), others.end());
      chosen.resize(fan_out);
    }
    for (const int32_t branch : chosen) choices.push_back(dropped ? dropped_from(branch) : branch);
    choices.resize((cell + 1) * fan_out, kNoBranch);
  }
  return choices;
}

}  // namespace stormcell

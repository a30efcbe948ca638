#include "core/proof/drawn_choices.h"

#include <algorithm>

#include "core/cell/decision.h"
#include "core/cell/protocol_row.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"
#include "core/proof/draw.h"

namespace stormcell {
namespace {

/// Every second one of the first cells of each space leads to a branch which had none. The others choose any, so that
/// branches which no cell can reach do not take all cells from the rest.
constexpr int64_t kLeadingCells = 64;

uint64_t seed_of(const std::string& router, int draw) {
  uint64_t seed = static_cast<uint64_t>(draw);
  for (const char c : router) seed = seed * 1099511628211ull + static_cast<unsigned char>(c);
  return seed;
}

}  // namespace

DrawnChoices::DrawnChoices(const Graph& model, UsualBranches usual) : usual_(std::move(usual)) {
  model.for_each_node([&](NodeId id, int) {
    if (is_route(model.node(id))) add(model, model.node(id));
  });
}

void DrawnChoices::add(const Graph& model, const Node& node) {
  const Value& decision = model.value(node.outputs[0]);
  for (int32_t branch = 0; branch < decision.branches; ++branch) unreached_.insert({node.name, branch});
  const ProtocolRow& row = protocol_row(protocol_of(node.attributes).kind);
  Router router;
  router.dense = model.dense_ancestor(decision.type.space);
  router.may_use_all = row.fan_out == FanOut::all;
  router.drops = row.places != Places::unlimited;
  for (SpaceId s = decision.type.space; s != router.dense && s != kNone; s = model.origin(s)) {
    const CellSpace& space = model.space(s);
    if (space.kind != SpaceKind::routed || space.branch == kAllBranches) continue;
    const NodeId producer = model.value(space.decision).producer;
    if (producer != kNone && is_route(model.node(producer)))
      router.above.emplace_back(model.node(producer).name, space.branch);
  }
  routers_.emplace(node.name, std::move(router));  // a router of two phases is described by the first
}

ForceChoices DrawnChoices::of_draw(int draw) const {
  if (draw == 0) return {};
  if (draw == 1) return [this](const OracleDecision& made) { return usual_choices(made); };
  return [this, draw, targets = wanted(draw)](const OracleDecision& made) { return any_choices(made, draw, targets); };
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

DrawnChoices::Wanted DrawnChoices::wanted(int draw) const {
  std::map<SpaceId, std::vector<Branch>> left;
  for (const Branch& branch : unreached_)
    if (const auto router = routers_.find(branch.first); router != routers_.end())
      left[router->second.dense].push_back(branch);
  Wanted wanted;
  for (const auto& [space, branches] : left)
    for (int64_t cell = 0; cell < kLeadingCells; cell += 2) {
      const Branch& target = branches[(cell / 2 + draw) % branches.size()];
      wanted[first_alike(target.first)][cell] = target.second;
      for (const auto& [router, branch] : routers_.find(target.first)->second.above)
        wanted[first_alike(router)][cell] = branch;
    }
  return wanted;
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

std::vector<int32_t> DrawnChoices::any_choices(const OracleDecision& made, int draw, const Wanted& wanted) const {
  const int32_t branches = made.shape.branches, fan_out = made.shape.fan_out;
  const std::string& name = first_alike(made.router);
  const auto router = routers_.find(name);
  const bool all = router != routers_.end() && router->second.may_use_all;
  const bool drops = router != routers_.end() && router->second.drops;
  const auto targets = wanted.find(name);
  Draw random(seed_of(name, draw));
  const int64_t first = random.below(branches);
  std::vector<int32_t> choices;
  for (int64_t cell = 0; cell < made.dense_cells; ++cell) {
    int32_t target = kNoBranch;
    if (targets != wanted.end())
      if (const auto at = targets->second.find(cell); at != targets->second.end()) target = at->second;
    const bool dropped = drops && target == kNoBranch && random.below(5) == 0;
    const int64_t begin = target == kNoBranch ? first + cell : target;
    for (int64_t i = 0; i < (all ? branches : fan_out); ++i) {
      const auto branch = static_cast<int32_t>((begin + i) % branches);
      if (all && branch != target && random.below(4) == 0) continue;
      choices.push_back(dropped ? dropped_from(branch) : branch);
    }
    choices.resize((cell + 1) * fan_out, kNoBranch);
  }
  return choices;
}

}  // namespace stormcell

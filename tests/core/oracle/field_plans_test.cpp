// Plans of the trained demos, computed in a field beside their models: without rounding they must be equal, whatever
// order they sum in. Decisions are forced, so that every branch of every router gets cells and guards both hold and
// miss. What this proves and what it does not: docs/decisions/064-proof-in-a-field.md.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/listed_words.h"
#include "core/cell/protocol_row.h"
#include "core/graph/protocol_attributes.h"
#include "core/graph/roles.h"
#include "core/models/model.h"
#include "core/passes/pipeline.h"
#include "tests/testing/graph_case.h"
#include "core/oracle/residue_oracle.h"
#include "tests/testing/testing.h"
#include "tests/testing/wrong_plans.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

struct Demo {
  const char* name;
  int64_t items;             ///< pictures, or sequences
  PictureSize picture = {};  ///< as small as the network takes; 0 x 0: the size that it is for
};
constexpr Demo kDemos[] = {{"switch-names", 3},
                           {"msdnet-digits", 4},
                           {"swinv2-moe-digits", 2},
                           {"livesr-street", 4, {32, 32}},
                           {"dynamic-routing-street", 6, {32, 32}}};
constexpr int64_t kTokens = 8, kDecoderTokens = 7;
/// Draws of decisions after which every branch must have had cells. All demos need fewer.
constexpr int kMostForcedDraws = 24;

/// A demo's model and one small batch for it, drawn from the whole field.
struct FieldBatch {
  std::shared_ptr<const Model> model;
  std::shared_ptr<const Graph> graph;
  Bindings bindings;
  OracleInputs<Residue> inputs;
  std::map<std::string, MaskFacts, std::less<>> masks;
};

/// Ones, and zeros at the end of all sequences but the first.
std::vector<int32_t> padded_mask(int64_t cells, int64_t of_sequence, MaskFacts& facts) {
  std::vector<int32_t> mask;
  for (int64_t i = 0; i < cells; ++i) mask.push_back(i % of_sequence < of_sequence - 2 * (i / of_sequence) ? 1 : 0);
  facts.cells = cells;
  facts.real = std::count(mask.begin(), mask.end(), 1);
  return mask;
}

FieldBatch draw_batch(const Demo& demo) {
  FieldBatch batch;
  batch.model = open_model(source_folder() + "/resources/demos/" + demo.name);
  batch.graph = batch.model->forward_for(demo.picture);
  const Graph& graph = *batch.graph;
  batch.bindings.assign(graph.symbols.size(), 0);
  const auto bind = [&](std::string_view symbol, int64_t value) {
    if (const SymbolId id = graph.find_symbol(symbol); id != kNone) batch.bindings[static_cast<size_t>(id)] = value;
  };
  bind(kSequences, demo.items), bind(kLength, kTokens), bind(kDecoderLength, kDecoderTokens);
  Random random(1);
  for (const Value& input : graph.values) {
    if (input.kind != ValueKind::input) continue;
    const CellSpace& space = graph.space(input.type.space);
    int64_t elements = space.count.evaluate(batch.bindings);
    for (const Dim& extent : input.type.content) elements *= extent.evaluate(batch.bindings);
    OracleTensor<Residue>& tensor = batch.inputs[input.name];
    if (input.role == InputRole::mask) {
      tensor.integers = padded_mask(elements, space.per_parent.evaluate(batch.bindings), batch.masks[input.name]);
    } else if (input.type.dtype == DType::i32) {
      for (int64_t i = 0; i < elements; ++i)
        tensor.integers.push_back(static_cast<int32_t>(random.below(batch.model->vocabulary)));
    } else {
      for (int64_t i = 0; i < elements; ++i) tensor.reals.push_back(Residue::of_bits(random.next()));
    }
  }
  return batch;
}

/// Which branches the cells of a router choose.
enum class ForcedChoices : uint8_t {
  any,   ///< each of them by some cell, if enough come; some choices dropped where places are limited
  same,  ///< every cell the same one, or all of them where a cell may have all
  half,  ///< half of them
};

/// By router the choices of all cells of its dense space.
using Forced = std::map<std::string, std::vector<int32_t>, std::less<>>;

Forced force(const FieldBatch& batch, ForcedChoices like, uint64_t seed) {
  Forced forced;
  Random random(seed);
  batch.graph->for_each_node([&](NodeId id, int) {
    const Node& node = batch.graph->node(id);
    if (!is_route(node)) return;
    const Value& decision = batch.graph->value(node.outputs[0]);
    const ProtocolRow& rule = protocol_row(protocol_of(node.attributes).kind);
    const int64_t cells =
        batch.graph->space(batch.graph->dense_ancestor(decision.type.space)).count.evaluate(batch.bindings);
    const int64_t branches = decision.branches, fan_out = decision.fan_out, first = random.below(branches);
    const bool all = rule.fan_out == FanOut::all;
    const int64_t used = like == ForcedChoices::any    ? branches
                         : like == ForcedChoices::half ? (branches + 1) / 2
                         : all                         ? branches
                                                       : 1;
    std::vector<int32_t>& choices = forced[node.name];
    for (int64_t cell = 0; cell < cells; ++cell) {
      const bool dropped = like == ForcedChoices::any && rule.places != Places::unlimited && random.below(5) == 0;
      for (int64_t i = 0; i < (all ? used : fan_out); ++i) {
        const auto branch = static_cast<int32_t>((first + (all ? i : cell + i) % used) % branches);
        if (all && like == ForcedChoices::any && random.below(4) == 0) continue;
        choices.push_back(dropped ? dropped_from(branch) : branch);
      }
      choices.resize(static_cast<size_t>((cell + 1) * fan_out), kNoBranch);
    }
  });
  return forced;
}

OracleResult<Residue> compute(const Graph& graph, const FieldBatch& batch, const Forced& forced) {
  OracleOptions options;
  options.forced = forced;
  options.keep_scores = true;
  return Oracle<Residue>(graph, *batch.model->weights).run(batch.inputs, batch.bindings, options);
}

/// The first difference in the cells of an output that are no padding; empty: none.
std::string difference_of_output(const FieldBatch& batch, const NamedValue& output, const OracleTensor<Residue>& model,
                                 const OracleTensor<Residue>& plan) {
  if (plan.reals.size() != model.reals.size() || plan.integers.size() != model.integers.size())
    return output.name + " has another size";
  std::vector<int32_t> real{1};
  if (output.real != kNone) real = batch.inputs.at(batch.graph->value(output.real).name).integers;
  const auto differ = [&](const auto& a, const auto& b) {
    int64_t count = 0;
    for (size_t i = 0; i < a.size(); ++i) count += real[i * real.size() / a.size()] != 0 && a[i] != b[i];
    return count;
  };
  const int64_t count = differ(model.reals, plan.reals) + differ(model.integers, plan.integers);
  return count == 0 ? std::string() : std::to_string(count) + " elements of " + output.name + " differ";
}

/// The row of each cell of the dense space that a router decided about.
std::map<int64_t, size_t> rows_by_cell(const OracleDecision& decision) {
  std::map<int64_t, size_t> rows;
  for (size_t row = 0; row < static_cast<size_t>(decision.shape.cells); ++row)
    rows[decision.ancestor.empty() ? static_cast<int64_t>(row) : decision.ancestor[row]] = row;
  return rows;
}

/// The first difference between the scores of both, in the cells that both decided about; empty: none. A plan may leave
/// out padding, and decides about more cells behind a router that it takes for constant. Decisions are forced, so many
/// scores show nowhere else.
std::string difference_of_scores(const OracleDecision& model, const OracleDecision& plan) {
  if (model.shape.cells == 0 || plan.shape.cells == 0) return {};
  if (model.score_columns != plan.score_columns) return "numbers of scores of " + plan.router + " differ";
  const std::map<int64_t, size_t> rows = rows_by_cell(model);
  const auto columns = static_cast<size_t>(model.score_columns);
  bool compared = false;
  for (const auto& [cell, row] : rows_by_cell(plan)) {
    const auto at = rows.find(cell);
    if (at == rows.end()) continue;
    compared = true;
    for (size_t i = 0; i < columns; ++i)
      if (model.scores[at->second * columns + i] != plan.scores[row * columns + i])
        return "scores of " + plan.router + " differ";
  }
  return compared ? std::string() : plan.router + " decided about no cell that the model decided about";
}

/// The first difference between a plan and its model; empty: there is none.
std::string first_difference(const FieldBatch& batch, const OracleResult<Residue>& model,
                             const OracleResult<Residue>& plan) {
  for (const NamedValue& output : batch.graph->outputs) {
    std::string why = difference_of_output(batch, output, model.output(output.name), plan.output(output.name));
    if (!why.empty()) return why;
  }
  for (const OracleDecision& ours : plan.decisions) {
    const auto its = std::find_if(model.decisions.begin(), model.decisions.end(), [&](const OracleDecision& d) {
      return d.router == ours.router && d.execution == ours.execution;
    });
    if (its == model.decisions.end()) return "the model has no router " + ours.router;
    if (std::string why = difference_of_scores(*its, ours); !why.empty()) return why;
  }
  return {};
}

LoadProfile profile_of_run(const OracleResult<Residue>& result) {
  LoadProfile profile;
  for (const OracleDecision& d : result.decisions) {
    RouterLoad& load = profile.routers[d.router];
    load.load.resize(static_cast<size_t>(d.shape.branches));
    load.cells += d.shape.cells;
    ++load.batches;
    for (const int32_t choice : d.choice)
      if (is_kept(choice)) ++load.load[static_cast<size_t>(choice)];
  }
  return profile;
}

/// The plan that the passes make of the model, as `optimize` does.
Graph plan_of(const FieldBatch& batch, const LoadProfile& profile, PassSelection selection = {}) {
  // It rounds what it stores, and a field has no rounding. AnnotationsInPassesTest compares its bits.
  selection.disable.push_back("bf16-storage");
  const PassInput input{*batch.graph, profile, nullptr, {}, batch.masks};
  return run_passes(input, select_passes(selection), OnTheirOwn::no).graph;
}
/// Routers are taken for constant after a few cells. `late`: also by guards that are judged behind what they guard.
PassSelection with_guards(bool late) {
  PassSelection selection;
  selection.options["constant-decision"]["min-cells"] = "1";
  if (!late) return selection;
  selection.enable = {"permanent-path"};
  selection.options["permanent-path"]["min-cells"] = "1";
  return selection;
}

/// Branches that have had no cell yet, by router.
class Unreached {
 public:
  explicit Unreached(const Graph& graph) {
    graph.for_each_node([&](NodeId id, int) {
      if (!is_route(graph.node(id))) return;
      for (int32_t b = 0; b < graph.value(graph.node(id).outputs[0]).branches; ++b)
        branches_.insert({graph.node(id).name, b});
    });
  }
  void take_out(const OracleResult<Residue>& result) {
    for (const OracleDecision& d : result.decisions)
      for (const int32_t choice : d.choice)
        if (is_kept(choice)) branches_.erase({d.router, choice});
  }
  bool empty() const { return branches_.empty(); }
  std::string text() const {
    std::string list;
    for (const auto& [router, branch] : branches_) add_to_list(list, router + " " + std::to_string(branch));
    return list;
  }

 private:
  std::set<std::pair<std::string, int32_t>> branches_;
};

void add_demos() {
  QTest::addColumn<int>("demo");
  for (size_t i = 0; i < std::size(kDemos); ++i) QTest::newRow(kDemos[i].name) << static_cast<int>(i);
}

}  // namespace

class FieldPlansTest : public QObject {
  Q_OBJECT
 private slots:
  void plans_equal_their_models_data() { add_demos(); }
  void plans_equal_their_models() {
    QFETCH(int, demo);
    const FieldBatch batch = draw_batch(kDemos[demo]);
    int64_t held = 0, missed = 0;
    std::vector<Graph> guarded;
    for (const auto& [like, late] :
         {std::pair{ForcedChoices::same, false}, {ForcedChoices::same, true}, {ForcedChoices::half, false}}) {
      const Forced usual = force(batch, like, 1);
      const OracleResult<Residue> expected = compute(*batch.graph, batch, usual);
      guarded.push_back(plan_of(batch, profile_of_run(expected), with_guards(late)));
      const OracleResult<Residue> came = compute(guarded.back(), batch, usual);
      const std::string why = first_difference(batch, expected, came);
      QVERIFY2(why.empty(), ("guards hold: " + why).c_str());
      QCOMPARE(came.guard_fallbacks, int64_t{0});
      held += came.guards_taken;
    }
    const Graph fused = plan_of(batch, LoadProfile());
    QVERIFY(fused.nodes.size() < batch.graph->nodes.size());
    Unreached unreached(*batch.graph);
    int draws = 0;
    for (; !unreached.empty() && draws < kMostForcedDraws; ++draws) {
      const Forced forced = force(batch, ForcedChoices::any, 2 + static_cast<uint64_t>(draws));
      const OracleResult<Residue> expected = compute(*batch.graph, batch, forced);
      unreached.take_out(expected);
      const std::string why = first_difference(batch, expected, compute(fused, batch, forced));
      QVERIFY2(why.empty(), ("fused: " + why).c_str());
      for (size_t i = 0; draws == 0 && i < guarded.size(); ++i) {
        const OracleResult<Residue> came = compute(guarded[i], batch, forced);
        const std::string of_guarded = first_difference(batch, expected, came);
        QVERIFY2(of_guarded.empty(), ("guards miss: " + of_guarded).c_str());
        missed += came.guard_fallbacks;
      }
    }
    QVERIFY2(unreached.empty(), ("branches without cells: " + unreached.text()).c_str());
    QVERIFY(held > 0 && missed > 0);
    qInfo("every branch after %d draws of decisions; guards held %d times and missed %d times", draws,
          static_cast<int>(held), static_cast<int>(missed));
  }

  void a_wrong_plan_is_found_data() { add_demos(); }
  void a_wrong_plan_is_found() {
    QFETCH(int, demo);
    const FieldBatch batch = draw_batch(kDemos[demo]);
    std::vector<WrongPlan> unfound = wrong_plans(plan_of(batch, LoadProfile()));
    QVERIFY(unfound.size() > 1);
    for (int draws = 0; !unfound.empty() && draws < kMostForcedDraws; ++draws) {
      const Forced forced = force(batch, ForcedChoices::any, 2 + static_cast<uint64_t>(draws));
      const OracleResult<Residue> expected = compute(*batch.graph, batch, forced);
      std::erase_if(unfound, [&](const WrongPlan& wrong) {
        return !first_difference(batch, expected, compute(wrong.graph, batch, forced)).empty();
      });
    }
    std::string list;
    for (const WrongPlan& wrong : unfound) add_to_list(list, wrong.mistake);
    QVERIFY2(unfound.empty(), list.c_str());
  }
};
STORMCELL_TEST(FieldPlansTest)
#include "field_plans_test.moc"

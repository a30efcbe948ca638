// States of sequences under a plan and under the same plan as passes rewrote it: what one has written goes on under the
// other, bit for bit.
#include <algorithm>
#include <map>

#include "core/base/error.h"
#include "core/cpu/cpu_device.h"
#include "core/passes/pipeline.h"
#include "core/runtime/lower.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

/// A random decode graph with room for two executions of its sequences, one behind the other: more cells a prompt, all
/// of them padding.
RandomCase with_room(uint64_t seed) {
  RandomOptions options;
  options.states = true;
  RandomCase from = make_random_case(seed, options);
  const Graph& g = from.graph;
  const Value* ids = nullptr;
  for (const Value& v : g.values)
    if (v.kind == ValueKind::input && v.name == "ids") ids = &v;
  const Bindings before = from.bindings;
  from.bindings[static_cast<size_t>(g.space(ids->type.space).per_parent.only_symbol())] += 200;
  for (const Value& v : g.values) {
    if (v.kind != ValueKind::input || v.type.space == kNone) continue;
    const auto was = static_cast<size_t>(g.space(v.type.space).per_parent.evaluate(before)),
               is = static_cast<size_t>(g.space(v.type.space).per_parent.evaluate(from.bindings));
    std::visit(
        [&](auto& values) {
          std::decay_t<decltype(values)> wider;
          const size_t parents = was == is ? 0 : values.size() / was;
          for (size_t p = 0; p < parents; ++p) {
            wider.insert(wider.end(), values.begin() + static_cast<std::ptrdiff_t>(p * was),
                         values.begin() + static_cast<std::ptrdiff_t>((p + 1) * was));
            wider.resize((p + 1) * is);
          }
          if (parents > 0) values = std::move(wider);
        },
        from.inputs.at(v.name));
  }
  return from;
}

/// A plan whose sequences live in a store that outlives it.
class Continued {
 public:
  Continued(Device& device, const Graph& graph, const RandomCase& from, std::shared_ptr<StateStore> states)
      : bindings_(from.bindings),
        store_(device, from.weights),
        executor_(device, store_, std::make_shared<Program>(lower(std::make_shared<Graph>(graph))),
                  options(std::move(states))) {}
  std::vector<OutputValue> run(const CaseInputs& inputs, std::span<const SequenceId> sequences) {
    ExecuteOptions execute;
    execute.outputs = true;
    execute.sequences = sequences;
    executor_.run(input_values(inputs), bindings_, execute, result_);
    for (const int32_t missed : result_.guard_misses) misses += missed;
    return result_.outputs;
  }
  const StateKey& key() const { return executor_.states_key(); }
  int64_t misses = 0;

 private:
  CompileOptions options(std::shared_ptr<StateStore> states) const {
    CompileOptions o{bindings_};
    o.states = std::move(states);
    return o;
  }
  Bindings bindings_;
  WeightStore store_;
  Executor executor_;
  ExecutionResult result_;
};

std::vector<SequenceId> opened(StateStore& states, const RandomCase& from) {
  int64_t sequences = 0;
  for (const CellSpace& space : from.graph.spaces)
    if (space.kind == SpaceKind::root) sequences = space.count.evaluate(from.bindings);
  std::vector<SequenceId> list;
  for (int64_t s = 0; s < sequences; ++s) list.push_back(states.open());
  return list;
}

std::vector<int32_t> places_of(const StateStore& states, const std::vector<SequenceId>& sequences) {
  std::vector<int32_t> places;
  for (const SequenceId s : sequences) places.push_back(states.place(s));
  return places;
}

/// Holds what two executions one behind the other gave.
struct Answer {
  std::vector<OutputValue> first, then;
  std::vector<int32_t> places;
};
Answer answer_of(Device& device, const RandomCase& from, const Graph& one, const Graph& other, const CaseInputs& inputs,
                 const CaseInputs& more, int64_t* misses = nullptr) {
  const auto states = std::make_shared<StateStore>(device);
  const std::vector<SequenceId> sequences = opened(*states, from);
  Continued begins(device, one, from, states), goes_on(device, other, from, states);
  Answer answer;
  answer.first = begins.run(inputs, sequences);
  answer.then = goes_on.run(more, sequences);
  answer.places = places_of(*states, sequences);
  if (misses) *misses += begins.misses + goes_on.misses;
  return answer;
}

}  // namespace

class StatesTest : public QObject {
  Q_OBJECT
 private slots:
  void sequences_go_on_under_plans_that_passes_rewrote() {
    std::map<std::string, int> applied;
    int64_t misses = 0;
    int moved = 0, bf16 = 0;
    for (uint64_t seed = 0; seed < drawn(40); ++seed) {
      const RandomCase from = with_room(seed);
      const CaseInputs more = drawn_anew(from, seed);
      const LoadProfile profile = profile_of(from, {from.inputs});
      const PipelineResult passed = run_passes(pass_input(from.graph, profile), select_passes({}));
      std::vector<std::pair<std::string, const Graph*>> plans{{"all passes", &passed.graph}};
      for (const PassOutcome& outcome : passed.outcomes)
        if (outcome.alone.applied) {
          ++applied[std::string(outcome.pass->id)];
          plans.emplace_back(outcome.pass->id, &outcome.alone.graph);
        }
      cpu::CpuDevice cpu(2);
      EmulatedDevice emulated(1);
      const Answer expected = answer_of(cpu, from, from.graph, from.graph, from.inputs, more);
      // The second execution reads what the first has left: else this shows nothing.
      const Answer alone = answer_of(cpu, from, from.graph, from.graph, more, more);
      moved += !difference(alone.first, expected.then).empty();
      bf16 += from.weight_dtype == DType::bf16;
      for (const auto& [name, graph] : plans) {
        const auto check = [&, &name = name](Device& device, const Graph& one, const Graph& other, const char* order) {
          const Answer came = answer_of(device, from, one, other, from.inputs, more, &misses);
          const std::string what = from.name + ", " + name + ", " + order + ": ";
          const std::string first = difference(expected.first, came.first), then = difference(expected.then, came.then);
          QVERIFY2(first.empty() && then.empty(), (what + first + then).c_str());
          QVERIFY2(came.places == expected.places, what.c_str());
        };
        check(cpu, from.graph, *graph, "the baseline begins");
        check(cpu, *graph, from.graph, "the rewritten plan begins");
        if (graph == &passed.graph) check(emulated, from.graph, *graph, "emulated");
      }
    }
    // Not by exercising nothing. (Branches of these graphs are unlike, so that none are fused to one product.)
    const QString what = QString("%1 moved, %2 misses, %3 bf16, dead-path %4, vertical-fusion %5, bf16-storage %6")
                             .arg(moved)
                             .arg(misses)
                             .arg(bf16)
                             .arg(applied["dead-path"])
                             .arg(applied["vertical-fusion"])
                             .arg(applied["bf16-storage"]);
    qInfo("%s", qPrintable(what));
    QVERIFY2(moved > drawn(15) && misses > drawn(50) && bf16 > 0, qPrintable(what));
    QVERIFY2(applied["dead-path"] > drawn(15) && applied["vertical-fusion"] > drawn(30), qPrintable(what));
    if (cpu::CpuDevice(1).info().rounds_bf16_inputs) QVERIFY2(applied["bf16-storage"] > 0, qPrintable(what));
  }

  /// Caches of another width, as a model of another shape would have, and of another format: said with both.
  void a_plan_of_another_layout_is_refused_and_nothing_is_lost() {
    int refused = 0;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      const RandomCase from = with_room(seed), other = with_room(seed + 1000);
      cpu::CpuDevice device(1);
      const auto states = std::make_shared<StateStore>(device);
      Continued one(device, from.graph, from, states), two(device, other.graph, other, states);
      std::string why;
      if (one.key().fits(two.key(), &why)) continue;
      const std::vector<SequenceId> sequences = opened(*states, from), theirs = opened(*states, other);
      if (theirs.size() != sequences.size()) continue;
      one.run(from.inputs, sequences);
      const std::vector<int32_t> places = places_of(*states, sequences);
      if (std::count(places.begin(), places.end(), 0) > 0) continue;  // of a sequence without rows nothing is held
      std::string said;
      try {
        two.run(other.inputs, sequences);
      } catch (const Error& e) {
        QVERIFY(e.kind() == ErrorKind::bad_input);
        said = e.what();
      }
      QVERIFY2(said.starts_with("states of a sequence: are those of another plan: cache."), said.c_str());
      // The content of the sequences, and that of this plan.
      for (const StateKey* key : {&one.key(), &two.key()}) {
        const SequenceState& k = key->states.at(0);
        const std::string layout = std::string(to_text(k.dtype)) + " [" + std::to_string(k.width) + "], 64 rows a page";
        QVERIFY2(said.find(layout) != std::string::npos, (layout + " in: " + said).c_str());
      }
      QCOMPARE(places_of(*states, sequences), places);
      one.run(drawn_anew(from, seed), sequences);
      ++refused;
    }
    QVERIFY2(refused >= 3, qPrintable(QString::number(refused)));
  }
};
STORMCELL_TEST(StatesTest)
#include "states_test.moc"

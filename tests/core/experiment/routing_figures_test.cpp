// Figures of routing against a count of their own: cell by cell from what was executed, without records, profiles or
// keys.
#include "core/experiment/routing_figures.h"

#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "core/bench/batch_inputs.h"
#include "core/bench/record_plan.h"
#include "core/cpu/cpu_device.h"
#include "core/experiment/experiment.h"
#include "core/passes/pipeline.h"
#include "core/profile/statistics.h"
#include "core/runtime/lower.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/counts.h"
#include "tests/testing/random_graph.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing::routing_figures_test {
namespace {

/// The counts of one router.
struct Count {
  int64_t cells = 0, real = 0, dropped = 0;
  std::vector<int64_t> load, load_real;
  std::map<std::string, std::vector<int64_t>> by_label;
};
struct Counts {
  std::map<std::string, Count> routers;
  int64_t batches = 0;
};

/// The cells of a dense space: which are real (empty: all), how many belong to an item.
struct Cells {
  std::vector<int32_t> real;
  int64_t per_item = 0;
};
using CellsOf = std::function<Cells(const ProgramRouter& router, int32_t turn)>;

void count(const Program& program, const ExecutionResult& result, const CellsOf& cells_of,
           const std::vector<std::string>& labels, Counts& counts) {
  // If a guard missed after its first body had decided, the fallback's decision stands.
  std::map<std::tuple<std::string, RepeatId, int32_t>, const ExecutedDecision*> standing;
  for (const ExecutedDecision& d : result.decisions) {
    const ProgramRouter& router = program.routers[d.router];
    standing[{router.name, router.repeat, d.turn}] = &d;
  }
  for (const auto& [key, d] : standing) {
    Count& c = counts.routers[std::get<0>(key)];
    c.load.resize(static_cast<size_t>(d->shape.branches)), c.load_real.resize(c.load.size());
    const Cells cells = cells_of(program.routers[d->router], d->turn);
    for (int64_t cell = 0; cell < d->shape.cells; ++cell) {
      const int32_t row = d->ancestor[static_cast<size_t>(cell)];
      const bool real = cells.real.empty() || cells.real.at(static_cast<size_t>(row)) != 0;
      ++c.cells, c.real += real;
      for (int32_t k = 0; k < d->shape.fan_out; ++k) {
        const int32_t choice = d->choice[static_cast<size_t>(cell * d->shape.fan_out + k)];
        c.dropped += is_dropped(choice);
        if (!is_kept(choice)) continue;
        ++c.load[static_cast<size_t>(choice)];
        if (!real) continue;
        ++c.load_real[static_cast<size_t>(choice)];
        if (labels.empty()) continue;
        std::vector<int64_t>& of_label = c.by_label[labels.at(static_cast<size_t>(row / cells.per_item))];
        of_label.resize(c.load.size());
        ++of_label[static_cast<size_t>(choice)];
      }
    }
  }
  ++counts.batches;
}

/// Holds what was met on the way, so that no case stays untried.
struct Met {
  int64_t routers = 0, padding = 0, dropped = 0, labels = 0, nested = 0, turns = 0;
};

void compare(const ProfileAccumulator& counted, const Counts& all, const Counts& profiled, const std::string& what,
             Met& met) {
  const std::vector<RouterFigures> figures = router_figures(counted);
  const LoadProfile profile = load_profile(counted), held_out = held_out_loads(counted);
  QVERIFY2(figures.size() == counted.layout().routers.size() && profile.routers.size() == figures.size(), what.c_str());
  std::set<std::string> labels;
  for (size_t r = 0; r < figures.size(); ++r) {
    const RouterFigures& f = figures[r];
    const std::string where = what + ", " + f.router;
    const auto at = all.routers.find(f.router);
    const Count none{0, 0, 0, std::vector<int64_t>(f.load.size()), std::vector<int64_t>(f.load.size()), {}};
    const Count& c = at == all.routers.end() ? none : at->second;
    QVERIFY2(f.cells == c.cells && f.cells_real == c.real && f.dropped == c.dropped, where.c_str());
    QVERIFY2(f.load == c.load && f.load_real == c.load_real, where.c_str());
    QVERIFY2(f.imbalance == imbalance(c.load) && f.imbalance_real == imbalance(c.load_real), where.c_str());
    QVERIFY2(f.entropy == entropy_bits(c.load) && f.entropy_real == entropy_bits(c.load_real), where.c_str());
    std::vector<int64_t> table;
    for (const auto& [label, loads] : c.by_label)
      table.insert(table.end(), loads.begin(), loads.end()), labels.insert(label);
    QVERIFY2(f.label_information.has_value() == !table.empty(), where.c_str());
    if (!table.empty())
      QVERIFY2(
          *f.label_information == mutual_information_bits(table, static_cast<int64_t>(c.by_label.size()), f.branches),
          where.c_str());

    const RouterLoad& load = profile.routers.at(f.router);
    const auto part = profiled.routers.find(f.router);
    const Count& p = part == profiled.routers.end() ? none : part->second;
    QVERIFY2(load.load == p.load && load.load_real == p.load_real, where.c_str());
    QVERIFY2(load.cells == p.cells && load.cells_real == p.real && load.batches == profiled.batches, where.c_str());
    const RouterLoad& rest = held_out.routers.at(f.router);
    QVERIFY2(rest.cells == c.cells - p.cells && rest.cells_real == c.real - p.real &&
                 rest.batches == counted.batches() - profiled.batches,
             where.c_str());
    for (size_t b = 0; b < rest.load.size(); ++b)
      QVERIFY2(rest.load[b] == c.load[b] - p.load[b] && rest.load_real[b] == c.load_real[b] - p.load_real[b],
               where.c_str());
    ++met.routers, met.padding += c.cells > c.real, met.dropped += c.dropped > 0, met.labels += !table.empty();
    met.nested += counted.layout().routers[r].parent >= 0;
  }
  const std::vector<std::string> listed = routed_labels(counted);
  QVERIFY2(std::set<std::string>(listed.begin(), listed.end()) == labels && listed.size() == labels.size(),
           what.c_str());
}

/// Items with labels, masks with holes over all spaces in which something is decided.
Batch made_up_batch(const Graph& graph, const RecordPlan& plan, const Bindings& bindings, Random& random) {
  Batch batch;
  for (size_t s = 0; s < plan.spaces.size(); ++s) {
    const SpaceId recorded = plan.spaces[s].space;
    if (recorded == kNone) continue;
    SpaceId root = recorded;
    while (graph.space(root).parent != kNone) root = graph.space(root).parent;
    const int64_t items = graph.space(root).count.evaluate(bindings),
                  cells = graph.space(recorded).count.evaluate(bindings);
    batch.items.resize(static_cast<size_t>(items));
    BatchCells& space = batch.spaces.emplace_back();
    space.name = graph.space(recorded).name;
    space.per_item = static_cast<int32_t>(cells / items);
    for (int64_t c = 0; c < cells; ++c) space.real.push_back(random.chance(0.8));
  }
  for (size_t i = 0; i < batch.items.size(); ++i) {
    batch.items[i] = static_cast<int64_t>(3 * i + 1);
    batch.labels.emplace_back(1, static_cast<char>('a' + random.below(3)));
  }
  return batch;
}

/// Executes the case once and counts it as five batches, whose masks and labels differ; two of them are profiled.
void count_case(const RandomCase& made, uint64_t seed, Met& met) {
  cpu::CpuDevice device(2);
  const auto program = std::make_shared<Program>(lower(std::make_shared<Graph>(made.graph)));
  ExecuteOptions execute;
  execute.record = true;
  const ExecutionResult result = execute_once(device, made, execute, program);
  const RecordPlan plan = record_plan(*program);
  ProfileAccumulator counted(plan.layout, nullptr, Counted::loads);
  Counts all, profiled;
  Random random(seed);
  int64_t number = 0;
  for (int64_t round = 0; round < 5; ++round) {
    const Batch batch = made_up_batch(made.graph, plan, made.bindings, random);
    BatchRecord record;
    record.number = number++;
    record.part = round % 2 ? kProfiled : kMeasured;
    fill_record({plan, *program, batch, made.bindings, result}, {}, record);
    counted.batch(record);
    const auto cells_of = [&](const ProgramRouter& router, int32_t) {
      const BatchCells* space = batch.find_space(made.graph.space(router.dense_space).name);
      return space ? Cells{space->real, space->per_item} : Cells{};
    };
    // A decision in turns belongs to records of their own; no data say which of those cells are real.
    ExecutionResult outside = result;
    std::erase_if(outside.decisions,
                  [&](const ExecutedDecision& d) { return program->routers[d.router].repeat != kNone; });
    count(*program, outside, cells_of, batch.labels, all);
    if (record.part & kProfiled) count(*program, outside, cells_of, batch.labels, profiled);
  }
  compare(counted, all, profiled, made.name, met);
}

enum class Plan { forward, unpadded, generated };

/// All batches of data through a model; every third is profiled.
void count_model(const std::string& spec, const std::string& file, DataOptions options, Plan kind, Met& met) {
  const auto model = open_model(spec);
  options.vocabulary = model->vocabulary, options.inputs = model->inputs, options.classes = model->classes;
  options.pad_id = model->tokens.pad, options.decoder_start_id = model->tokens.decoder_start;
  const auto data = Dataset::open(file, model->tokenizer, options);
  const int64_t most = kind == Plan::generated ? 5 : 0;
  std::shared_ptr<const Graph> graph = kind == Plan::generated ? model->generate() : model->forward;
  if (kind == Plan::unpadded) {
    PassSelection only;
    only.only = {"unpad"};
    const PipelineResult passed =
        run_passes({*graph, {}, nullptr, {}, mask_facts(*graph, *data)}, select_passes(only), OnTheirOwn::no);
    QVERIFY2(passed.outcomes[0].cumulative.applied, passed.outcomes[0].cumulative.reason.c_str());
    graph = std::make_shared<Graph>(passed.graph);
  }
  cpu::CpuDevice device(2);
  WeightStore store(device, model->weights);
  const auto program = std::make_shared<Program>(lower(graph));
  Executor executor(device, store, program, bounds_of(*graph, *data, most));
  const RecordPlan plan = record_plan(*program);
  ProfileAccumulator counted(plan.layout, nullptr, Counted::loads);
  Counts all, profiled;
  int64_t number = 0;
  ExecutionResult result;
  for (int64_t b = 0; b < data->batch_count(); ++b) {
    const Batch batch = data->batch(b);
    const Bindings bindings = bindings_of(*graph, batch, most);
    ExecuteOptions execute;
    execute.record = execute.outputs = true;
    executor.run(inputs_of(batch), bindings, execute, result);
    const Executed executed{plan, *program, batch, bindings, result};
    std::vector<DecodedTurn> turns;
    for (const OutputValue& out : result.outputs)
      if (out.name == kGenerated) turns = decoded_turns(*model, executed, out.integers, most);
    BatchRecord record;
    const bool is_profiled = b % 3 == 0;
    const auto add = [&](const DecodedTurn* turn) {
      record.clear();
      record.number = number++;
      record.part = is_profiled ? kProfiled : kNoPart;
      turn ? fill_turn(executed, *turn, {}, record) : fill_record(executed, {}, record);
      counted.batch(record);
    };
    add(nullptr);
    for (const DecodedTurn& turn : turns) add(&turn);
    const auto cells_of = [&](const ProgramRouter& router, int32_t turn) {
      if (router.repeat != kNone) return Cells{turns.at(static_cast<size_t>(turn)).is_going, 1};
      const BatchCells* space = batch.find_space(graph->space(router.dense_space).name);
      return Cells{space->real, space->per_item};
    };
    count(*program, result, cells_of, batch.labels, all);
    if (!is_profiled) continue;
    count(*program, result, cells_of, batch.labels, profiled);
    profiled.batches += static_cast<int64_t>(turns.size());  // each turn is a record
    met.turns += static_cast<int64_t>(turns.size());
  }
  compare(counted, all, profiled, spec + " on " + file, met);
}

std::string fixture(const std::string& name) { return reference_path(name); }

}  // namespace

class RoutingFiguresTest : public QObject {
  Q_OBJECT
 private slots:
  void random_graphs_are_counted_cell_by_cell() {
    Met met;
    for (uint64_t seed = 0; seed < 40; ++seed) {
      RandomOptions options;
      options.maps = seed % 4 == 1, options.ragged = seed % 4 == 2;
      count_case(make_random_case(seed, options), seed, met);
      if (QTest::currentTestFailed()) return;
    }
    QVERIFY2(met.routers > 60 && met.padding > 30 && met.dropped > 5 && met.labels > 30 && met.nested > 5,
             qPrintable(QString("%1 routers, %2 with padding, %3 with drops, %4 with labels, %5 nested")
                            .arg(met.routers)
                            .arg(met.padding)
                            .arg(met.dropped)
                            .arg(met.labels)
                            .arg(met.nested)));
  }

  void toys_are_counted_cell_by_cell() {
    Met met;
    for (const Toy& toy : toys()) count_case(toy.make(1), 1, met);
    QVERIFY(met.routers > 10 && met.nested > 0 && met.labels > 10);
  }

  void the_demo_is_counted_with_its_labels() {
    Met met;
    DataOptions options;
    options.batch = 9, options.batches = 7, options.label_field = "language";
    const std::string names = source_folder() + "/resources/sample/names.jsonl";
    count_model("demo:switch-names", names, options, Plan::forward, met);
    count_model("demo:switch-names", names, options, Plan::unpadded, met);
    QVERIFY(met.padding > 0 && met.labels == met.routers);
  }

  void models_are_counted_in_their_forward_pass() {
    Met met;
    for (const char* name :
         {"switch/capacity-drops-tokens", "switch/two-experts-left-padding", "switch/wholly-masked-sequence",
          "mixtral/top-2-of-4-left-padding", "mixtral/top-3-of-8-sliding-window"}) {
      DataOptions options;
      options.batch = 2;
      count_model(fixture(name), fixture(name) + "/input.safetensors", options, Plan::forward, met);
    }
    QVERIFY(met.padding > 0 && met.dropped > 0 && met.labels == 0);
  }

  void decoding_is_counted_turn_by_turn() {
    Met met;
    DataOptions options;
    options.batch = 3;
    for (const char* name :
         {"switch/encoder-decoder-8-experts", "mixtral/top-2-of-4-left-padding", "mixtral/all-of-2-one-token"})
      count_model(fixture(name), fixture(name) + "/input.safetensors", options, Plan::generated, met);
    options.label_field = "language", options.batches = 3;
    count_model("demo:switch-names", source_folder() + "/resources/sample/names.jsonl", options, Plan::generated, met);
    QVERIFY(met.turns > 5 && met.padding > 0 && met.labels > 0);
  }

  void an_item_without_a_label_has_none() {
    const RandomCase made = exit_chain_toy();
    const auto program = lower(std::make_shared<Graph>(made.graph));
    const RecordPlan plan = record_plan(program);
    ProfileAccumulator counted(plan.layout);
    BatchRecord record;
    record.add_space(0, {0, 2, 1});
    const std::vector<int32_t> choice{0, 1};
    DecisionRecord decision;
    decision.choice = choice;
    record.add_decision(decision);
    record.add_sequence("");
    record.add_sequence("named");
    counted.batch(record);
    QCOMPARE(routed_labels(counted), std::vector<std::string>{"named"});
  }

  // The writer of a session counts where there is one, the run itself where there is none.
  void a_session_changes_no_figure() {
    const Scratch scratch;
    ExperimentOptions options;
    options.model = "demo:switch-names", options.data = source_folder() + "/resources/sample/names.jsonl";
    options.label_field = "language", options.batch = 8, options.batches = 6, options.threads = 2,
    options.verify_seconds = 0;
    options.most_new_tokens = 4;
    const auto experiment = Experiment::open(options);
    std::vector<std::vector<RouterFigures>> forward, decoded;
    std::vector<std::vector<std::string>> labels;
    for (const bool session : {false, true}) {
      RunOptions run;
      run.decisions = true, run.measure_seconds = 0;
      if (session) run.session = scratch.path("run.storm");
      const auto result = experiment->run(run);
      forward.push_back(result->routing), labels.push_back(result->labels);
      decoded.push_back(experiment->generate(session ? scratch.path("run.storm") : "")->routing);
    }
    QVERIFY(labels[0].size() > 3);
    QCOMPARE(labels[0], labels[1]);
    for (const auto* runs : {&forward, &decoded})
      for (size_t r = 0; r < (*runs)[0].size(); ++r) {
        const RouterFigures &a = (*runs)[0][r], &b = (*runs)[1].at(r);
        QVERIFY(a.cells > 0 && a.label_information);
        QCOMPARE(a.router, b.router);
        QVERIFY(a.cells == b.cells && a.cells_real == b.cells_real && a.dropped == b.dropped && a.load == b.load &&
                a.load_real == b.load_real && a.label_information == b.label_information);
      }
  }
};
STORMCELL_TEST(RoutingFiguresTest)

}  // namespace stormcell::testing::routing_figures_test

#include "routing_figures_test.moc"

// Pictures of several sizes through one experiment: a plan for each size, at most four held, and everything as if each
// size had come alone.
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "core/base/error.h"
#include "core/bench/memory_check.h"
#include "core/bench/plan_graphs.h"
#include "core/bench/profile_split.h"
#include "core/cpu/cpu_device.h"
#include "core/experiment/experiment.h"
#include "core/formats/safetensors.h"
#include "core/measuring/candidates.h"
#include "core/models/model.h"
#include "core/session/session_reader.h"
#include "core/summary/parse.h"
#include "core/verification/verify.h"
#include "tests/core/bench/memory_sums.h"
#include "tests/core/formats/scratch.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/graph_case.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

constexpr std::array<PictureSize, 6> kSizes{PictureSize{16, 16}, {20, 33}, {33, 20}, {30, 30}, {24, 50}, {40, 40}};
constexpr int kRounds = 4;  // pictures of each size

std::string file_name(int number) {
  char text[16];
  std::snprintf(text, sizeof text, "%03d.npy", number);
  return text;
}

/// A picture whose halves are unlike, so that its patches go to several branches.
void write_picture(const Scratch& scratch, const std::string& name, PictureSize size, uint64_t seed) {
  Random random(seed);
  std::vector<float> pixels;
  const auto a = static_cast<float>(random.uniform()), b = static_cast<float>(random.uniform());
  for (int64_t i = 0; i < size.pixels() * 3; ++i)
    pixels.push_back((i % (size.width * 3) < size.width ? a
                      : i % 3 == 1                      ? b
                                                        : 1 - b) *
                         0.8F +
                     0.2F * static_cast<float>(random.uniform()));
  scratch.write(name,
                npy_of("(" + std::to_string(size.height) + ", " + std::to_string(size.width) + ", 3)", "<f4", pixels));
}

/// All sizes in turns in the folder "all", each size alone in the folder "0", "1", ...
struct Pictures {
  Scratch scratch;
  explicit Pictures(size_t sizes = kSizes.size()) {
    int number = 0;
    for (int round = 0; round < kRounds; ++round)
      for (size_t s = 0; s < sizes; ++s, ++number)
        for (const std::string& folder : {std::string("all"), std::to_string(s)})
          write_picture(scratch, folder + "/" + file_name(number), kSizes[s], static_cast<uint64_t>(number));
  }
  std::string all() const { return scratch.path("all"); }
  std::string of(size_t size) const { return scratch.path(std::to_string(size)); }
};

ExperimentOptions options_for(const std::string& data) {
  ExperimentOptions options;
  options.model = "preset:patch-mixture";
  options.data = data;
  options.batch = 2;
  options.threads = 2;
  options.probe_seconds = 0;
  return options;
}

/// An open state as Experiment::open() makes it, without what measures the machine.
void open_state(ExperimentState& s, const std::string& data, int64_t batch = 2) {
  s.options = options_for(data);
  s.options.batch = batch;
  s.model = open_model(s.options.model);
  DataOptions options;
  options.inputs = s.model->inputs;
  options.batch = s.options.batch;
  s.data = Dataset::open(data, nullptr, options);
  s.device = std::make_unique<cpu::CpuDevice>(2);
  s.picture = s.data->sizes().back().size;
  s.graph = s.model->forward_for(s.picture);
  s.dtype = s.model->dtype;
  s.store = std::make_unique<WeightStore>(*s.device, s.model->weights);
  s.memory = std::make_shared<SharedMemory>(*s.device);
}

}  // namespace

class PictureSizesTest : public QObject {
  Q_OBJECT
 private slots:
  void what_was_asked_for_last_is_held() {
    BySize<int> squares;
    std::vector<int64_t> built;
    const auto ask = [&](int64_t side) {
      return squares.at({side, side}, [&](PictureSize size) {
        built.push_back(size.height);
        return static_cast<int>(size.height);
      });
    };
    for (const int64_t side : {1, 2, 3, 4, 1, 2, 4}) QCOMPARE(ask(side), static_cast<int>(side));
    QCOMPARE(built, (std::vector<int64_t>{1, 2, 3, 4}));
    ask(5);  // 3 goes
    for (const int64_t side : {1, 2, 4, 5}) ask(side);
    QCOMPARE(built.size(), size_t{5});
    ask(3);  // 1 goes
    ask(2), ask(4), ask(5), ask(1);
    QCOMPARE(built, (std::vector<int64_t>{1, 2, 3, 4, 5, 3, 1}));
    QCOMPARE(squares.builds(), int64_t{7});
  }

  void a_plan_holds_four_sizes_and_builds_on_demand() {
    const Pictures pictures;
    ExperimentState s;
    open_state(s, pictures.all());
    QCOMPARE(s.data->sizes().size(), kSizes.size());
    QCOMPARE(to_text(s.picture), std::string("40x40"));
    const auto plan = s.make_plan("baseline", plan_graphs(s, s.graph, {}), 0, {});
    QCOMPARE(plan->builds(), int64_t{1});
    const int64_t memory = s.memory->bytes(SharedPart::activations);
    std::map<PictureSize, Batch> batch_of;
    for (int64_t b = 0; b < s.data->batch_count(); ++b) {
      Batch batch = s.data->batch(b);
      batch_of[batch.picture] = batch;
    }
    const auto run = [&](size_t size) { s.run_batch(*plan, batch_of.at(kSizes[size]), {}); };
    // The largest was built first; three more fit beside it, however often they come.
    for (int turn = 0; turn < 5; ++turn)
      for (const size_t size : {0, 5, 1, 2}) run(size);
    QCOMPARE(plan->builds(), int64_t{4});
    run(3);  // the first one goes: it was not asked for the longest time
    QCOMPARE(plan->builds(), int64_t{5});
    run(5), run(1), run(2), run(3);
    QCOMPARE(plan->builds(), int64_t{5});
    run(0);
    QCOMPARE(plan->builds(), int64_t{6});
    // All share the memory of the one that needs most, and the weights are those of one.
    QCOMPARE(s.memory->bytes(SharedPart::activations), memory);
    QVERIFY(plan->activation_bytes() <= memory);
    const auto alone = s.make_plan("alone", plan_graphs(s, s.graph, {}), 0, {});
    QCOMPARE(plan->weight_bytes(), alone->weight_bytes());
    QCOMPARE(plan->activation_bytes(), alone->activation_bytes());
  }

  void a_graph_of_one_size_is_no_plan_of_another() {
    const Pictures pictures(2);
    ExperimentState s;
    open_state(s, pictures.all());
    const auto plan = s.make_plan("one size", s.graph, 0, {});
    try {
      plan->use(kSizes[0]);
      QFAIL("it was used");
    } catch (const Error& e) {
      QVERIFY2(std::string(e.what()).find("one size") != std::string::npos, e.what());
    }
  }

  void a_run_over_all_sizes_gives_what_each_size_gives_alone() {
    const Pictures pictures;
    RunOptions run;
    run.measure_seconds = 0;
    run.outputs = pictures.scratch.path("all.safetensors");
    const auto all = Experiment::open(options_for(pictures.all()))->run(run);
    QVERIFY2(all->verified->passed && all->verified->batches == 12, all->verified->text.c_str());
    QCOMPARE(all->dataset.sizes.size(), kSizes.size());
    const auto together = SafetensorsFile::open(run.outputs);
    // The batch of the whole in which each picture lies.
    std::map<int64_t, std::string> batch_of;
    for (const StoredTensor& t : together->tensors())
      if (t.name.ends_with(".items")) {
        const auto* items = reinterpret_cast<const int64_t*>(t.bytes.data());
        for (int64_t i = 0; i < t.elements(); ++i) batch_of[items[i]] = t.name.substr(0, t.name.find('.'));
      }
    QCOMPARE(batch_of.size(), kSizes.size() * kRounds);
    int64_t most = 0;
    for (size_t size = 0; size < kSizes.size(); ++size) {
      run.outputs = pictures.scratch.path("one.safetensors");
      const auto one = Experiment::open(options_for(pictures.of(size)))->run(run);
      QVERIFY(one->verified->passed);
      QCOMPARE(one->baseline->peak_weight_bytes, all->baseline->peak_weight_bytes);
      most = std::max(most, one->baseline->peak_activation_bytes);
      const auto alone = SafetensorsFile::open(run.outputs);
      for (int64_t b = 0; b < kRounds / 2; ++b)
        for (const char* part : {".picture", ".router.branch", ".router.weight"}) {
          const StoredTensor* expected = alone->find("b" + std::to_string(b) + part);
          const StoredTensor* came = together->find(
              batch_of.at(2 * b * static_cast<int64_t>(kSizes.size()) + static_cast<int64_t>(size)) + part);
          QVERIFY(expected && came);
          QCOMPARE(came->shape, expected->shape);
          QVERIFY2(std::equal(came->bytes.begin(), came->bytes.end(), expected->bytes.begin()), part);
        }
    }
    QCOMPARE(all->baseline->peak_activation_bytes, most);
    const StoredTensor* picture = together->find(batch_of.at(0) + ".picture");
    QCOMPARE(picture->shape, (std::vector<int64_t>{2, 32, 32, 3}));
  }

  void passes_do_at_every_size_what_they_did_at_the_largest() {
    const Pictures pictures;
    ExperimentState s;
    open_state(s, pictures.all());
    // A branch that the profile has not seen: dead-path leaves it out, and its guard misses where patches go there.
    LoadProfile profile;
    profile.routers["router"] = {{0, 60, 40}, 100, 10};
    const auto baseline = s.make_plan("baseline", plan_graphs(s, s.graph, {}), 0, {});
    ForwardPass work(s);
    Candidates c = make_candidates(work, profile, select_passes({}), OnTheirOwn::yes, {});
    QVERIFY(c.final_plan != kNoPlan && c.plans.size() >= 3);
    ReadyPlan& all = *c.plans[c.final_plan];
    const int64_t spared = all.unloaded_weight_bytes(), needed = all.weight_bytes();
    QVERIFY(spared > 0);
    int64_t runs = 0, to_dead = 0;
    for (int64_t b = 0; b < s.data->batch_count(); ++b) {
      // Outputs and decisions of every plan are the baseline's; each runs once or twice.
      QCOMPARE(differences_from(work, *baseline, c.plans, b, {}), std::vector<std::string>(c.plans.size()));
      all.guards.clear();
      const Batch batch = s.data->batch(b);
      ExecuteOptions record;
      record.record = true;
      s.run_batch(all, batch, record);
      const GuardCounts counts = all.guards["dead-path"];
      QCOMPARE(counts.hits + counts.misses, int64_t{1});
      const std::vector<int32_t>& choice = all.result.decisions.at(0).choice;
      const bool goes_there = std::find(choice.begin(), choice.end(), 0) != choice.end();
      QCOMPARE(counts.misses > 0, goes_there);
      ++runs, to_dead += goes_there;
    }
    QCOMPARE(runs, int64_t{12});
    // Weights that any size had to load count, though its plan may be gone by now.
    QCOMPARE(all.weight_bytes(), needed + (to_dead > 0 ? spared : 0));
    QCOMPARE(all.unloaded_weight_bytes(), to_dead > 0 ? int64_t{0} : spared);
    QVERIFY(all.builds() > static_cast<int64_t>(kSizes.size()));
  }

  void optimising_over_many_sizes_is_verified_and_recorded_and_replayed() {
    const Pictures pictures;
    OptimizeOptions optimize;
    optimize.measure_seconds = 0.01;
    optimize.session = pictures.scratch.path("x.storm");
    ExperimentOptions options = options_for(pictures.all());
    options.keep_all = true;
    const auto result = Experiment::open(options)->optimize(optimize);
    QVERIFY2(result->verified && result->verified->passed, result->verified->text.c_str());
    QVERIFY(result->optimized && (result->speedup || result->withheld));
    std::set<std::string> applied;
    for (const PassReport& pass : result->passes)
      if (pass.applied) applied.insert(pass.name);
    QVERIFY(applied.contains("vertical-fusion"));
    int64_t cells = 0;
    for (const RouterFigures& r : result->routing) cells += r.cells;

    // The session knows each batch's own grid of patches.
    const SessionReader session(optimize.session);
    int64_t recorded = 0;
    std::set<int32_t> columns;
    const auto data = session.runs();
    QCOMPARE(data.size(), size_t{2});
    for (const RunSummary& summary : data) {
      recorded = 0;
      for (int64_t b = 0; b < 12; ++b)
        for (const BatchSpace& space : session.spaces(summary.id, b)) {
          const PictureSize size =
              kSizes[static_cast<size_t>(space.items ? space.items->front() : space.cells.first_sequence) %
                     kSizes.size()];
          const auto patches = [](int64_t side) { return (side - 16 + 11) / 12 + 1; };
          QCOMPARE(space.cells.columns, static_cast<int32_t>(patches(size.width)));
          QCOMPARE(space.cells.per_sequence, static_cast<int32_t>(patches(size.height) * patches(size.width)));
          columns.insert(space.cells.columns);
          recorded += space.cells.cells();
        }
      QCOMPARE(recorded, cells);
      QCOMPARE(nlohmann::json::parse(summary.dataset).value("pictures", false), true);
    }
    QVERIFY(columns.size() >= 3);

    RunOptions run;
    run.measure_seconds = 0;
    run.config = result->config;
    const auto replayed = Experiment::open(options)->run(run);
    QVERIFY2(replayed->verified->passed, replayed->verified->text.c_str());
    std::set<std::string> taken_over;
    for (const PassReport& pass : replayed->passes)
      if (pass.applied) taken_over.insert(pass.name);
    QVERIFY(taken_over == applied);
    QCOMPARE(replayed->optimized->peak_activation_bytes, result->optimized->peak_activation_bytes);
  }

  void every_size_is_compared_however_little_time_there_is() {
    const Pictures pictures;
    ExperimentOptions options = options_for(pictures.all());
    options.verify_seconds = 0;
    RunOptions run;
    run.measure_seconds = 0;
    const auto result = Experiment::open(options)->run(run);
    QCOMPARE(result->verified->batches, int64_t{6});
    QVERIFY2(QString::fromStdString(result->verified->text).contains("at least one of each of the 6 sizes"),
             result->verified->text.c_str());

    ExperimentState s;
    open_state(s, pictures.all());
    std::vector<int64_t> all, some;
    for (int64_t b = 0; b < s.data->batch_count(); ++b) all.push_back(b);
    std::set<PictureSize> sizes;
    for (const int64_t b : one_of_each_size(*s.data, all)) {
      QCOMPARE(s.data->picture_size(b), s.data->batch(b).picture);
      QVERIFY(sizes.insert(s.data->picture_size(b)).second);
    }
    QCOMPARE(sizes.size(), kSizes.size());
    QCOMPARE(one_of_each_size(*s.data, {7}), std::vector<int64_t>{7});
  }

  void a_plan_that_is_wrong_at_one_size_is_found() {
    const Pictures pictures;
    ExperimentState s;
    open_state(s, pictures.all());
    s.options.verify_seconds = 0;
    // The size of the last batch that a comparison of the first ones would come to.
    const PictureSize wrong_size = s.data->batch(0).picture == kSizes[0] ? kSizes[1] : kSizes[0];
    const GraphOfSize right = plan_graphs(s, s.graph, {});
    const auto plan = s.make_plan("wrong at one size", GraphOfSize([&](PictureSize size) {
                                    const std::shared_ptr<const Graph> graph = right(size);
                                    if (size != wrong_size) return graph;
                                    auto wrong = std::make_shared<Graph>(*graph);
                                    for (NamedValue& output : wrong->outputs)
                                      for (const Node& n : wrong->nodes)
                                        if (!n.outputs.empty() && n.outputs[0] == output.value && n.inputs.size() > 1 &&
                                            wrong->value(n.inputs[0]).type == wrong->value(output.value).type) {
                                          output.value = n.inputs[0];
                                          return std::shared_ptr<const Graph>(wrong);
                                        }
                                    return std::shared_ptr<const Graph>();
                                  }),
                                  0, {});
    ForwardPass work(s);
    const Verification v = verify(work, *plan, nullptr, verify_options(s), {});
    QVERIFY2(!v.passed, v.text.c_str());
  }

  void bf16_is_judged_twice_at_every_size() {
    const Pictures pictures;
    ExperimentOptions options = options_for(pictures.all());
    options.dtype = "bf16";
    RunOptions run;
    run.measure_seconds = 0;
    const auto result = Experiment::open(options)->run(run);
    QVERIFY2(result->verified->passed && result->verified->batches == 12,
             (result->verified->reasons.empty() ? result->verified->text : result->verified->reasons[0]).c_str());
    QVERIFY(result->verified->format && result->verified->format->max_rel_diff > 0);
    QVERIFY(result->verified->format->choices > 0 && result->verified->format->free_max_rel_diff > 0);
  }

  void graphs_held_together_need_the_memory_of_the_largest() {
    const Pictures pictures(1);
    ExperimentState s;
    open_state(s, pictures.all());
    const auto small = s.model->forward_for({16, 16}), large = s.model->forward_for({128, 128});
    const CompileOptions options{Bindings(small->symbols.size(), 2)};
    const int64_t of_small = memory_needed(*s.device, *s.store, small, options),
                  of_large = memory_needed(*s.device, *s.store, large, options);
    QVERIFY(of_large > 2 * of_small);
    QCOMPARE(memory_needed(*s.device, *s.store, {{small, options}, {large, options}, {small, options}}), of_large);
    VERIFY_BAD_INPUT(check_memory(*s.device, *s.store, {{large, options}, {small, options}}, of_small, "MODEL"),
                     "MODEL", "pictures");
  }

  void one_large_picture_is_planned_for_as_one() {
    // Seven small pictures and one of 9 times their pixels, in batches of up to eight.
    const Scratch scratch;
    for (int i = 0; i < 8; ++i) {
      const int64_t side = i < 7 ? 32 : 96;
      scratch.write("p/" + std::to_string(i) + ".npy",
                    npy_of("(" + std::to_string(side) + ", " + std::to_string(side) + ", 3)", "<f4",
                           std::vector<float>(static_cast<size_t>(side * side * 3), 0.5F)));
    }
    ExperimentState s;
    open_state(s, scratch.path("p"), 8);
    QCOMPARE(s.data->max_items({96, 96}), int64_t{1});
    QCOMPARE(s.data->max_items({32, 32}), int64_t{7});
    const auto need = [&](PictureSize size, int64_t items) {
      const auto graph = s.model->forward_for(size);
      Bindings bounds = bounds_of(*graph, *s.data, 0, size);
      for (int64_t& b : bounds)
        if (b == s.data->max_items(size)) b = items;
      return memory_needed(*s.device, *s.store, graph, CompileOptions{bounds});
    };
    const int64_t as_one = std::max(need({96, 96}, 1), need({32, 32}, 7)), as_eight = need({96, 96}, 8);
    QVERIFY(as_eight > 2 * as_one);
    std::vector<std::string> warnings;
    s.check_fits(plan_graphs(s, s.graph, {}), as_one + (64 << 10), warnings);
    QVERIFY(warnings.empty());
    // Planned, and run.
    const auto plan = s.make_plan("baseline", plan_graphs(s, s.graph, {}), 0, {});
    for (int64_t b = 0; b < s.data->batch_count(); ++b) s.run_batch(*plan, s.data->batch(b), {});
    QVERIFY2(s.memory->bytes() < as_eight / 2, std::to_string(s.memory->bytes()).c_str());
  }
};

STORMCELL_TEST(PictureSizesTest)

}  // namespace stormcell::testing

#include "picture_sizes_test.moc"

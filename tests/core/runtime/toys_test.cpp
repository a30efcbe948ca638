// The purpose of the toys: cells of patches keep their names, labels decide, weights of several routers meet.
#include <cmath>

#include "core/oracle/oracle.h"
#include "core/runtime/executor.h"
#include "core/runtime/lower.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"
#include "tests/testing/testing.h"
#include "tests/testing/toys.h"

namespace stormcell::testing {
namespace {

/// The decisions of a free run, by the routers' names.
std::map<std::string, ExecutedDecision> decisions_of(Device& device, const RandomCase& c) {
  const auto program = std::make_shared<const Program>(lower(std::make_shared<Graph>(c.graph)));
  ExecuteOptions options;
  options.record = true;
  const ExecutionResult result = execute_once(device, c, options, program);
  std::map<std::string, ExecutedDecision> decisions;
  for (const ExecutedDecision& d : result.decisions) decisions[program->routers[d.router].name] = d;
  return decisions;
}

/// Maps that are large enough to be joined by several threads, from branches of two routers, in every way that a gather
/// knows.
RandomCase large_sums() {
  CaseBuilder b(3);
  const SpaceId images = b.root_space("images", b.bound_symbol("N", 5));
  const ValueId maps = b.floats("maps", images, {12, 10, 51});
  Protocol gates, scarce;
  gates.kind = ProtocolKind::threshold;
  gates.threshold = 0.2f;
  scarce.kind = ProtocolKind::switch_top1;  // five images, two places for each branch: one is dropped at least
  scarce.capacity = 2;
  std::vector<ValueId> all, weights;
  for (const char* name : {"left", "right"}) {
    const ValueId decision = b.route(b.floats(std::string(name) + ".scores", images, {2}),
                                     std::string(name) == "left" ? scarce : gates, name);
    for (const ValueId part : b.scatter(maps, decision, {0, 1})) {
      all.push_back(b.value("scale", {part}, {{"factor", b.random.normal()}}));
      weights.push_back(b.value("choice_weight", {decision}, {{"space", int64_t{b.space_of(part)}}}));
    }
  }
  for (const char* mode : {"sum", "weighted", "place"}) {
    const std::string name = mode;
    b.output(name, b.gather(all, images, mode, kNone, name));
    b.output(name + ".otherwise", b.gather(all, images, mode, maps, name + ".otherwise"));
    std::vector<ValueId> inputs = all;
    inputs.push_back(maps);
    b.output(
        name + ".residual",
        b.value("gather", inputs, {{"space", int64_t{images}}, {"mode", name}, {"extras", std::string("residual")}}));
  }
  std::vector<ValueId> with_factors = all;
  with_factors.insert(with_factors.end(), {weights[0], weights[3], maps});
  b.output("factors", b.value("gather", with_factors,
                              {{"space", int64_t{images}},
                               {"mode", std::string("sum")},
                               {"factors", std::vector<int64_t>{0, 3}},
                               {"extras", std::string("residual")}}));
  return b.take("large sums");
}

/// A mixture of two branches inside the slots of one of four: what the inner one computed is not what the outer one
/// did.
RandomCase mixture_in_slots() {
  CaseBuilder b(5);
  const SpaceId tokens = b.root_space("tokens", b.bound_symbol("N", 24));
  const ValueId x = b.floats("x", tokens, {8});
  Protocol best;
  best.k = 1;
  const auto mixture = [&](ValueId from, int branches, const std::string& name) {
    const ValueId decision = b.route(b.linear(from, branches, name + ".scores", "none", true, 3), best, name);
    const SpaceId all = b.routed_space(decision, kAllBranches);
    std::vector<ValueId> inputs = {from, decision};
    std::vector<int64_t> computed;
    for (int i = 0; i < branches; ++i) {
      computed.push_back(i);
      inputs.push_back(b.drawn(name + "." + std::to_string(i), {8, 8}, 0.5));
    }
    return std::pair{decision,
                     b.value("grouped_linear", inputs,
                             {{"slots", int64_t{all}}, {"branches", computed}, {"activation", std::string("none")}},
                             name + ".experts")};
  };
  const auto [outer, rows] = mixture(x, 4, "outer");
  const auto [inner, results] = mixture(rows, 2, "inner");
  const ValueId joined = b.gather({results}, b.space_of(rows), "weighted", kNone, "inner.joined");
  b.output("y", b.gather({joined}, tokens, "weighted", kNone, "outer.joined"));
  return b.take("a mixture in slots");
}

const std::vector<int32_t>& labels_of(const RandomCase& c) {
  return std::get<std::vector<int32_t>>(c.inputs.at("class"));
}

}  // namespace

class ToysTest : public QObject {
  Q_OBJECT
 private slots:
  void patches_go_where_their_labels_say() {
    const RandomCase c = labelled_patches_toy();
    cpu::CpuDevice cpu(2);
    EmulatedDevice emulated(2);
    for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)})
      QCOMPARE(decisions_of(*device, c).at("class.router").choice, labels_of(c));
  }

  void patches_of_routed_pictures_are_named_by_picture_and_place() {
    constexpr int32_t kPatches = 6;
    bool some = false;
    for (uint64_t seed = 1; seed < 9; ++seed) {
      const RandomCase c = patches_of_routed_pictures_toy(seed);
      cpu::CpuDevice cpu(2);
      EmulatedDevice emulated(2);
      for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
        const auto decisions = decisions_of(*device, c);
        std::vector<int32_t> rows, labels;
        const std::vector<int32_t>& went = decisions.at("whole.router").choice;
        for (int32_t picture = 0; picture < static_cast<int32_t>(went.size()); ++picture)
          for (int32_t place = 0; went[static_cast<size_t>(picture)] == 1 && place < kPatches; ++place) {
            rows.push_back(picture * kPatches + place);
            labels.push_back(labels_of(c)[static_cast<size_t>(rows.back())]);
          }
        QCOMPARE(decisions.at("class.router").ancestor, rows);
        QCOMPARE(decisions.at("class.router").choice, labels);
        some = some || (!rows.empty() && rows.size() < labels_of(c).size() && rows[0] > 0);
      }
    }
    QVERIFY(some);  // a picture before one that is cut went elsewhere
  }

  void a_mixture_within_slots_does_not_say_which_slots_there_are() {
    const RandomCase c = mixture_in_slots();
    const OracleResult<float> expected = Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings);
    cpu::CpuDevice cpu(2);
    const std::vector<int32_t> went = decisions_of(cpu, c).at("outer").choice;
    QVERIFY(std::count_if(went.begin(), went.end(), [](int32_t b) { return b >= 2; }) > 0);
    const ExecutionResult result = execute_once(cpu, c);
    const std::vector<float>& y = result.outputs.at(0).reals;
    const std::vector<float>& wanted = expected.output("y").reals;
    QCOMPARE(y.size(), wanted.size());
    for (size_t i = 0; i < y.size(); ++i)
      QVERIFY2(std::fabs(y[i] - wanted[i]) <= 1e-5f * (1 + std::fabs(wanted[i])), std::to_string(i).c_str());
  }

  void large_maps_of_several_routers_are_joined_to_the_same_bits_by_any_number_of_threads() {
    const RandomCase c = large_sums();
    const OracleResult<float> expected = Oracle<float>(c.graph, *c.weights).run(oracle_inputs(c), c.bindings);
    std::vector<OutputValue> alone;
    for (const int threads : {1, 2, 3}) {
      cpu::CpuDevice device(threads);
      const ExecutionResult result = execute_once(device, c);
      if (threads == 1) alone = result.outputs;
      QCOMPARE(result.outputs.size(), size_t{10});
      for (size_t i = 0; i < alone.size(); ++i) {
        QVERIFY2(result.outputs[i].reals == alone[i].reals, alone[i].name.c_str());
        const std::vector<float>& reference = expected.output(alone[i].name).reals;
        QCOMPARE(alone[i].reals.size(), reference.size());
        for (size_t x = 0; x < reference.size(); ++x)
          QVERIFY2(std::fabs(alone[i].reals[x] - reference[x]) <= 1e-5f * (1 + std::fabs(reference[x])),
                   alone[i].name.c_str());
      }
    }
  }

  void ways_of_a_path_network_open_alone_together_and_not_at_all() {
    std::array<int, 4> open{};
    for (uint64_t seed = 1; seed < 4; ++seed) {
      cpu::CpuDevice cpu(2);
      for (const auto& [router, d] : decisions_of(cpu, path_network_toy(seed)))
        for (int64_t cell = 0; cell < d.shape.cells; ++cell) {
          const auto* begin = d.choice.data() + cell * d.shape.fan_out;
          ++open.at(static_cast<size_t>(
              std::count_if(begin, begin + d.shape.fan_out, [](int32_t choice) { return is_kept(choice); })));
        }
    }
    for (const int times : open)
      QVERIFY2(times > 2, qPrintable(QString("%1 %2 %3 %4").arg(open[0]).arg(open[1]).arg(open[2]).arg(open[3])));
  }
};
STORMCELL_TEST(ToysTest)

}  // namespace stormcell::testing
#include "toys_test.moc"

// Attention in windows, norms of all branches at once and distances to centres on the host device, in several orders
// against the oracle. And faults in their plans.
#include "core/graph/operator.h"
#include "tests/gpu/map_cases.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

struct Windows {
  int64_t grids = 2, height = 4, width = 6, window_height = 2, window_width = 3, shift_height = 0, shift_width = 0;
  int64_t heads = 2, dim = 5, value_dim = 3;
  bool bias = true, cosine = false;
};

RandomCase windows(const Windows& w) {
  MixtureBuilder b(61);
  const SpaceId pictures = b.root_space("pictures", b.bound_symbol("N", w.grids)),
                cells = b.dense_space("cells", pictures, Dim(w.height * w.width));
  std::vector<ValueId> inputs{b.floats("q", cells, {w.heads * w.dim}), b.floats("k", cells, {w.heads * w.dim}),
                              b.floats("v", cells, {w.heads * w.value_dim})};
  Attributes attributes{{"heads", w.heads},
                        {"height", w.height},
                        {"width", w.width},
                        {"window_height", w.window_height},
                        {"window_width", w.window_width},
                        {"shift_height", w.shift_height},
                        {"shift_width", w.shift_width},
                        {"scale", 0.4},
                        {"cosine", int64_t{w.cosine}}};
  std::string extras;
  const auto add = [&](const char* name, ValueId value) {
    inputs.push_back(value);
    extras += (extras.empty() ? "" : "+") + std::string(name);
  };
  if (w.bias) add("bias", b.drawn("bias", {(2 * w.window_height - 1) * (2 * w.window_width - 1), w.heads}, 1));
  // Some of them above ln 100, where the scale stops.
  if (w.cosine) add("scales", b.drawn("scales", {w.heads}, 2, 4));
  if (!extras.empty()) attributes.set("extras", extras);
  b.output("y", b.value("window_attention", std::move(inputs), std::move(attributes), "windows"));
  return b.take("windows of " + std::to_string(w.window_height) + " x " + std::to_string(w.window_width));
}

RandomCase distances(int64_t rows, int64_t width, int64_t centres, bool reciprocal) {
  MixtureBuilder b(62);
  const ValueId x = b.floats("x", b.root_space("cells", b.bound_symbol("N", rows)), {width});
  b.output("y", b.value("squared_distance", {x, b.drawn("centres", {centres, width}, 1)},
                        {{"reciprocal", int64_t{reciprocal}}}, "apart"));
  return b.take("distances to " + std::to_string(centres) + " centres");
}

/// A norm over the slots of a decision: of rows of its cells, then of rows of its slots.
RandomCase norms(const std::vector<int32_t>& labels, int32_t branches, const std::vector<int64_t>& computed,
                 int64_t width) {
  MixtureBuilder b(63);
  const SpaceId cells = b.root_space("cells", b.bound_symbol("N", std::ssize(labels)));
  ValueId x = b.floats("x", cells, {width});
  const ValueId decision = b.labelled(cells, branches, "moe");
  const SpaceId all_slots = b.routed_space(decision, kAllBranches);
  for (const char* name : {"first", "second"}) {
    std::vector<ValueId> inputs{x, decision};
    for (const int64_t branch : computed)
      inputs.push_back(b.drawn(name + (".gain." + std::to_string(branch)), {width}, 0.3, 1));
    for (const int64_t branch : computed)
      inputs.push_back(b.drawn(name + (".shift." + std::to_string(branch)), {width}, 0.3));
    x = b.value("grouped_layer_norm", std::move(inputs),
                {{"branches", computed}, {"slots", int64_t{all_slots}}, {"eps", 1e-5}}, name);
  }
  b.output("y", b.gather({x}, cells, "sum", kNone, "joined"));
  RandomCase c = b.take("norms of " + std::to_string(branches) + " branches");
  c.inputs["moe.labels"] = labels;
  return c;
}

}  // namespace

class HostWindowsTest : public QObject {
  Q_OBJECT
 private slots:
  void windows_give_the_oracle_s_answers() {
    for (const bool bias : {false, true})
      for (const bool cosine : {false, true})
        for (const auto& [down, right] : std::vector<std::pair<int64_t, int64_t>>{{0, 0}, {1, 1}, {0, 2}, {1, 0}})
          agrees(windows({.shift_height = down, .shift_width = right, .bias = bias, .cosine = cosine}));
    // One cell, one window, more keys than a warp has lanes, and heads as wide as they may be.
    agrees(windows({.grids = 1, .height = 1, .width = 1, .window_height = 1, .window_width = 1, .heads = 1}));
    agrees(windows({.height = 7,
                    .width = 7,
                    .window_height = 7,
                    .window_width = 7,
                    .shift_height = 3,
                    .shift_width = 3,
                    .cosine = true}));
    agrees(windows({.grids = 1, .heads = 1, .dim = 1, .value_dim = 128}));
  }

  void wider_heads_are_refused() {
    HostDevice device;
    const RandomCase c = windows({.heads = 1, .value_dim = 129});
    QCOMPARE(device.refusal_of(c.graph, c.weights, c.bindings),
             std::string("window_attention \"windows\": no CUDA kernel"));
  }

  void distances_give_the_oracle_s_answers() {
    for (const bool reciprocal : {false, true})
      for (const int64_t width : {1, 31, 32, 70})
        for (const int64_t centres : {1, 7}) agrees(distances(5, width, centres, reciprocal));
    agrees(distances(1, 3, 300, true));
  }

  void a_row_in_a_centre_has_a_finite_score() {
    RandomCase c = distances(2, 3, 2, true);
    std::vector<float> centres(6);
    to_f32(c.weights->bytes("centres").get(), DType::f32, centres.data(), centres.size());
    c.inputs["x"] = centres;
    HostDevice device;
    HostRun run(device, c);
    const ExecutionResult came = run.run();
    QCOMPARE(came.outputs.at(0).reals.at(0), 1e30F);
    QCOMPARE(difference(c, run.program(), came), std::string());
  }

  void norms_of_all_branches_give_the_oracle_s_answers() {
    for (const int64_t width : {1, 31, 70}) {
      agrees(norms({0, 1, 2, 1}, 3, {0, 1, 2}, width));
      agrees(norms({2, 2}, 3, {0, 1, 2}, width));
      agrees(norms({1}, 3, {0, 1, 2}, width));
      agrees(norms({2, 0, 2}, 3, {2, 0}, width));
    }
    std::vector<int64_t> all(1024);
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    agrees(norms({1023, 5, 5, 0}, 1024, all, 3));
  }

  /// As the passes make them of experts that take whole sequences: over members, too.
  void optimised_experts_of_sequences_give_the_oracle_s_answers() {
    int norms = 0;
    const uint64_t seeds = kSanitized ? 8 : 40;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      HostDevice device;
      device.order_seed = seed;
      RandomCase c = random_sequence_experts(seed);
      c.graph = optimised_for(device, c.graph);
      for (const Node& node : c.graph.nodes) norms += node.op->name == std::string_view("grouped_layer_norm");
      if (!device.refusal_of(c.graph, c.weights, c.bindings).empty()) continue;
      const std::string wrong = difference_in_orders(device, c, 1);
      QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
    }
    QVERIFY(norms > 0);
    std::printf("%d grouped norms\n", norms);
  }

  void a_fault_in_windows_norms_and_distances_is_found() {
    using gpu::WindowAttentionArgs, gpu::WindowAttentionKernel, gpu::ReduceArgs, gpu::ReduceKernel;
    const RandomCase shifted = windows({.shift_height = 1, .shift_width = 2, .cosine = true});
    const RandomCase normed = norms({2, 0, 2, 1}, 3, {0, 1, 2}, 31);
    const RandomCase apart = distances(5, 31, 7, true);
    const ArgumentFault faults[] = {
        argument_fault<WindowAttentionKernel>("no shift", shifted,
                                              [](WindowAttentionArgs& a) { a.shift_height = a.shift_width = 0; }),
        argument_fault<WindowAttentionKernel>("products", shifted, [](WindowAttentionArgs& a) { a.scales = -1; }),
        argument_fault<WindowAttentionKernel>("no bias", shifted, [](WindowAttentionArgs& a) { a.bias = -1; }),
        argument_fault<WindowAttentionKernel>("sides of a window", shifted,
                                              [](WindowAttentionArgs& a) {
                                                std::swap(a.window_height, a.window_width);
                                                std::swap(a.height, a.width);
                                              }),
        argument_fault<ReduceKernel>("rows of slots", normed, [](ReduceArgs& a) { a.from_cells = false; }),
        argument_fault<ReduceKernel>("gains of the first branch", normed,
                                     [](ReduceArgs& a) { a.decision.branches = 1; }),
        argument_fault<ReduceKernel>("gains for shifts", normed, [](ReduceArgs& a) { a.shifts = a.gains; }),
        argument_fault<gpu::DistanceKernel>("distances themselves", apart,
                                            [](gpu::DistanceArgs& a) { a.reciprocal = false; }),
        argument_fault<gpu::DistanceKernel>("part of a row", apart, [](gpu::DistanceArgs& a) { --a.width; }),
    };
    for (const ArgumentFault& fault : faults)
      QVERIFY2(missed(fault).empty(), (std::string(fault.name) + ": " + missed(fault)).c_str());
  }

 private:
  static void agrees(const RandomCase& c) {
    HostDevice device;
    device.order_seed = 7;
    const std::string wrong = difference_in_orders(device, c, 2);
    QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
  }
};

STORMCELL_TEST(HostWindowsTest)

}  // namespace stormcell::testing
#include "host_windows_test.moc"

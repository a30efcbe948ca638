// Convolutions of all branches at once, chains of residual blocks and separable convolutions on the host device, in
// several orders against the oracle. And faults in their plans.
#include "core/graph/operator.h"
#include "tests/gpu/map_cases.h"
#include "tests/testing/sanitized.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

/// The ways that maps go: a label each, among so many branches, of which the step computes some.
struct Sent {
  std::vector<int32_t> labels;
  int32_t branches = 3;
  std::vector<int64_t> computed = {0, 1, 2};
};

/// A decision over maps, and the attributes that name its slots.
struct Branches {
  MixtureBuilder& b;
  const Sent& sent;
  ValueId maps, decision;
  SpaceId all_slots;

  Branches(MixtureBuilder& b, const Sent& sent, int64_t height, int64_t width, int64_t channels) : b(b), sent(sent) {
    maps = b.maps(std::ssize(sent.labels), height, width, channels);
    decision = b.labelled(b.space_of(maps), sent.branches, "moe");
    all_slots = b.routed_space(decision, kAllBranches);
  }
  Attributes attributes() const { return {{"branches", sent.computed}, {"slots", int64_t{all_slots}}}; }
  /// A weight of each computed branch.
  void draw(std::vector<ValueId>& inputs, const std::string& name, const std::vector<int64_t>& shape,
            double deviation) const {
    for (const int64_t branch : sent.computed)
      inputs.push_back(b.drawn(name + "." + std::to_string(branch), shape, deviation));
  }
  RandomCase take(ValueId rows, const std::string& name) {
    b.output("y", b.gather({rows}, b.space_of(maps), "sum", kNone, "joined"));
    RandomCase c = b.take(name);
    c.inputs["moe.labels"] = sent.labels;
    return c;
  }
};

struct GroupedConvolution {
  int64_t outputs = 4, size = 3, stride = 1, padding = 1, groups = 1;
  bool biases = true, residual = false, residual_first = false;
  const char* activation = "relu";
};

/// One over the maps of cells; behind it, where it has a residual, another over the maps of slots that adds the first.
ValueId grouped(Branches& of, ValueId x, const GroupedConvolution& c, ValueId residual, const std::string& name) {
  std::vector<ValueId> inputs{x, of.decision};
  of.draw(inputs, name + ".weight", {c.outputs, c.size, c.size, of.b.width_of(x) / c.groups}, 0.3);
  if (c.biases) of.draw(inputs, name + ".bias", {c.outputs}, 0.4);
  Attributes attributes = of.attributes();
  attributes.set("biases", int64_t{c.biases});
  attributes.set("stride", c.stride), attributes.set("padding", c.padding), attributes.set("groups", c.groups);
  attributes.set("activation", std::string(c.activation));
  if (residual != kNone) {
    inputs.push_back(residual);
    attributes.set("extras", std::string("residual"));
    attributes.set("residual_first", int64_t{c.residual_first});
  }
  return of.b.value("grouped_conv2d", std::move(inputs), std::move(attributes), name);
}

RandomCase grouped_convolutions(const Sent& sent, const GroupedConvolution& c, DType format = DType::f32) {
  MixtureBuilder b(51);
  b.weight_dtype = format;
  Branches of(b, sent, 5, 7, 6);
  ValueId y = grouped(of, of.maps, c, kNone, "first");
  if (c.residual) {
    GroupedConvolution second = c;
    second.stride = 1, second.padding = second.size / 2, second.groups = 1;
    y = grouped(of, y, second, y, "second");
  }
  return of.take(y, "grouped convolutions of " + std::to_string(sent.labels.size()) + " maps");
}

struct Chain {
  int64_t blocks = 2, channels = 4, size = 3, height = 5, width = 7;
};

std::vector<ValueId> weights_of_blocks(MixtureBuilder& b, const Chain& chain) {
  std::vector<ValueId> weights;
  for (int64_t i = 0; i < 2 * chain.blocks; ++i) {
    const std::string name = "block." + std::to_string(i);
    weights.push_back(b.drawn(name + ".weight", {chain.channels, chain.size, chain.size, chain.channels}, 0.2));
    weights.push_back(b.drawn(name + ".bias", {chain.channels}, 0.3));
  }
  return weights;
}

/// Chains of an input, and of a map that nobody else reads.
RandomCase chain_of_maps(int64_t maps, const Chain& chain) {
  MixtureBuilder b(52);
  const ValueId x = b.maps(maps, chain.height, chain.width, chain.channels);
  std::vector<ValueId> inputs = weights_of_blocks(b, chain);
  inputs.insert(inputs.begin(), x);
  b.output("given", b.value("residual_blocks", inputs, {}, "of.given"));
  inputs[0] = b.value("scale", {x}, {{"factor", 2.0}}, "made");
  b.output("made", b.value("residual_blocks", inputs, {}, "of.made"));
  return b.take("chain of " + std::to_string(chain.blocks) + " blocks");
}

/// One chain over the maps of cells; with `twice` another over the slots that it leaves.
RandomCase chains_of_branches(const Sent& sent, const Chain& chain, bool twice) {
  MixtureBuilder b(53);
  Branches of(b, sent, chain.height, chain.width, chain.channels);
  ValueId x = of.maps;
  for (int time = 0; time < (twice ? 2 : 1); ++time) {
    std::vector<ValueId> inputs{x, of.decision};
    for (int64_t i = 0; i < 2 * chain.blocks; ++i) {
      const std::string name = "chain." + std::to_string(time) + "." + std::to_string(i);
      of.draw(inputs, name + ".weight", {chain.channels, chain.size, chain.size, chain.channels}, 0.2);
      of.draw(inputs, name + ".bias", {chain.channels}, 0.3);
    }
    x = b.value("grouped_residual_blocks", std::move(inputs), of.attributes(), "chain." + std::to_string(time));
  }
  return of.take(x, "chains of " + std::to_string(sent.labels.size()) + " maps");
}

struct Separable {
  int64_t outputs = 5, stride = 1, padding = 1;
  bool bias = true, residual = false, residual_first = false;
  const char* activation = "relu";
};

RandomCase separable(int64_t maps, const Separable& c, DType pointwise = DType::f32) {
  MixtureBuilder b(54);
  const ValueId x = b.maps(maps, 7, 5, 6);
  const auto of = [&](const Separable& s, const std::string& name, ValueId residual) {
    std::vector<ValueId> inputs{x, b.drawn(name + ".depthwise", {6, 3, 3, 1}, 0.3)};
    b.weight_dtype = pointwise;
    inputs.push_back(b.drawn(name + ".pointwise", {s.outputs, 1, 1, 6}, 0.3));
    b.weight_dtype = DType::f32;
    Attributes attributes{{"stride", s.stride}, {"padding", s.padding}, {"activation", std::string(s.activation)}};
    std::string extras;
    if (s.bias) inputs.push_back(b.drawn(name + ".bias", {s.outputs}, 0.4)), extras = "bias";
    if (residual != kNone) {
      inputs.push_back(residual), extras += extras.empty() ? "residual" : "+residual";
      attributes.set("residual_first", int64_t{s.residual_first});
    }
    if (!extras.empty()) attributes.set("extras", extras);
    return b.value("separable_conv2d", std::move(inputs), std::move(attributes), name);
  };
  Separable plain = c;
  plain.activation = "none";
  b.output("y", of(c, "separable", c.residual ? of(plain, "residual", kNone) : ValueId(kNone)));
  RandomCase made = b.take("separable convolution");
  made.weight_dtype = pointwise;
  return made;
}

/// Branches 0 to 299, a few of which get a map.
Sent many_branches_of_maps(int32_t branches) {
  Sent sent{{17, 3, branches - 1, 3, 250}, branches, {}};
  for (int64_t branch = 0; branch < branches; ++branch) sent.computed.push_back(branch);
  return sent;
}

}  // namespace

class HostGroupedMapsTest : public QObject {
  Q_OBJECT
 private slots:
  void convolutions_of_all_branches_give_the_oracle_s_answers() {
    for (const Sent& sent : {Sent{{0, 1, 2, 1}}, Sent{{2, 2}}, Sent{{1}}, Sent{{2, 0, 2}, 3, {2, 0}}}) {
      agrees(grouped_convolutions(sent, {}));
      agrees(grouped_convolutions(sent, {.outputs = 70, .size = 1, .padding = 0, .biases = false}));
      agrees(grouped_convolutions(sent, {.stride = 2, .residual = true, .activation = "silu"}));
      agrees(grouped_convolutions(sent, {.residual = true, .residual_first = true}));
      agrees(grouped_convolutions(sent, {.outputs = 6, .groups = 6, .residual = true}));
      agrees(grouped_convolutions(sent, {.outputs = 9, .stride = 2, .groups = 3}));
      agrees(grouped_convolutions(sent, {.size = 5, .padding = 0}));
    }
    for (const int64_t groups : {1, 3}) {
      agrees(grouped_convolutions(many_branches_of_maps(300), {.outputs = 3, .groups = groups}));
      agrees(grouped_convolutions({{0, 1, 2, 1}}, {.outputs = 6, .groups = groups}, DType::bf16));
    }
  }

  void convolutions_of_1024_branches_give_the_oracle_s_answers() {
    agrees(grouped_convolutions(many_branches_of_maps(1024), {.outputs = 2, .size = 1, .padding = 0}));
  }

  void chains_of_residual_blocks_give_the_oracle_s_answers() {
    for (const int64_t blocks : {1, 2, 3}) {
      agrees(chain_of_maps(2, {.blocks = blocks}));
      for (const bool twice : {false, true})
        for (const Sent& sent : {Sent{{0, 1, 2, 1}}, Sent{{2, 2}}, Sent{{1}}, Sent{{2, 0, 2}, 3, {2, 0}}})
          agrees(chains_of_branches(sent, {.blocks = blocks}, twice));
    }
    agrees(chain_of_maps(1, {.blocks = 2, .channels = 1, .size = 1, .height = 1, .width = 1}));
    // Weights that the threads of a block do not share.
    for (const int64_t blocks : {1, 2}) {
      agrees(chain_of_maps(2, {.blocks = blocks, .channels = 36}));
      agrees(chains_of_branches({{2, 0, 2}}, {.blocks = blocks, .channels = 36}, true));
    }
    agrees(chain_of_maps(1, {.blocks = 1, .channels = 32}));
    agrees(chains_of_branches(many_branches_of_maps(300), {.blocks = 1, .channels = 2}, false));
  }

  void separable_convolutions_give_the_oracle_s_answers() {
    for (const int64_t maps : {1, 3}) {
      for (const int64_t stride : {1, 2, 3})
        for (const int64_t padding : {0, 1}) agrees(separable(maps, {.stride = stride, .padding = padding}));
      agrees(separable(maps, {.outputs = 67, .bias = false, .activation = "none"}));
      agrees(separable(maps, {.residual = true, .activation = "silu"}));
      agrees(separable(maps, {.bias = false, .residual = true, .residual_first = true}));
      agrees(separable(maps, {}, DType::bf16));
    }
  }

  /// As the passes make them of branches that do alike.
  void optimised_maps_give_the_oracle_s_answers() {
    std::map<std::string_view, int> nodes;
    const uint64_t seeds = kSanitized ? 8 : 40;
    for (uint64_t seed = 1; seed <= seeds; ++seed) {
      HostDevice device;
      device.order_seed = seed;
      RandomCase c = random_subnets(seed);
      c.graph = optimised_for(device, c.graph);
      for (const Node& node : c.graph.nodes) ++nodes[node.op->name];
      const std::string wrong = difference_in_orders(device, c, 1);
      QVERIFY2(wrong.empty(), (c.name + ": " + wrong).c_str());
    }
    for (const char* op : {"grouped_conv2d", "grouped_residual_blocks"}) QVERIFY2(nodes[op] > 0, op);
    std::printf("%d grouped convolutions, %d grouped chains\n", nodes["grouped_conv2d"],
                nodes["grouped_residual_blocks"]);
  }

  void a_fault_in_maps_of_branches_is_found() {
    using gpu::ChainArgs, gpu::ChainKernel, gpu::ConvArgs, gpu::ConvKernel, gpu::GroupedConvKernel;
    const Sent sent{{2, 0, 2, 1}};
    const RandomCase dense = grouped_convolutions(sent, {.residual = true});
    const RandomCase depthwise = grouped_convolutions(sent, {.outputs = 6, .groups = 6, .residual = true});
    const Chain wide{.blocks = 2, .channels = 36};
    const RandomCase chain = chain_of_maps(2, wide), chains = chains_of_branches(sent, wide, false);
    const RandomCase small = chains_of_branches(sent, {}, false);
    const RandomCase apart = separable(2, {.stride = 2});
    const ArgumentFault faults[] = {
        argument_fault<ConvKernel>("maps of slots", dense, [](ConvArgs& a) { a.from_cells = false; }),
        argument_fault<ConvKernel>("no bias", dense, [](ConvArgs& a) { a.has_bias = false; }),
        argument_fault<gpu::PlannedMapKernel>("offsets of slots", dense, [](gpu::PlannedMapArgs& a) { a.times = 1; }),
        argument_fault<GroupedConvKernel>("maps of slots, in groups", depthwise,
                                          [](ConvArgs& a) { a.from_cells = false; }),
        argument_fault<GroupedConvKernel>("one branch", depthwise, [](ConvArgs& a) { a.decision.branches = 1; }),
        argument_fault<ConvKernel>("no residual", chain,
                                   [](ConvArgs& a) { a.ref[ConvArgs::kResidual].access = gpu::Access::none; }),
        argument_fault<ConvKernel>("no padding", chain, [](ConvArgs& a) { a.padding = 0; }),
        argument_fault<ConvKernel>("relu behind each convolution", chain,
                                   [](ConvArgs& a) { a.activation = gpu::PointwiseOp::relu; }),
        argument_fault<ConvKernel>("the residual of a slot", chains,
                                   [](ConvArgs& a) { a.residual_from_cells = false; }),
        argument_fault<ChainKernel>("one block less", small, [](ChainArgs& a) { a.convolutions -= 2; }),
        argument_fault<ChainKernel>("a chain of slots", small, [](ChainArgs& a) { a.from_cells = false; }),
        argument_fault<ChainKernel>("height and width", small, [](ChainArgs& a) { std::swap(a.height, a.width); }),
        argument_fault<ChainKernel>("biases of another convolution", small,
                                    [](ChainArgs& a) { a.biases += 4 * int64_t{a.branches}; }),
        argument_fault<gpu::SeparableKernel>("another stride", apart, [](ConvArgs& a) { a.stride = 1; }),
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

STORMCELL_TEST(HostGroupedMapsTest)

}  // namespace stormcell::testing
#include "host_grouped_maps_test.moc"

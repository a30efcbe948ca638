// Vertical fusion: what is folded into what, what is left alone, and that no bit changes.
#include "core/graph/annotations.h"
#include "core/graph/text.h"
#include "tests/core/passes/same_by_the_oracle.h"
#include "tests/core/passes/vertically_fused.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

namespace {

const Node& node_named(const Graph& graph, std::string_view name) {
  for (const Node& node : graph.nodes)
    if (node.name == name) return node;
  qFatal("no such node");
}
std::string extras(const Graph& graph, std::string_view name) {
  return node_named(graph, name).attributes.word("extras", "");
}

ValueId scaled(MixtureBuilder& b, ValueId x, double factor, std::string_view name = "scaled") {
  return b.value("scale", {x}, {{"factor", factor}}, name);
}
ValueId active(MixtureBuilder& b, ValueId x, const std::string& kind, std::string_view name = "active") {
  return b.value("activation", {x}, {{"kind", kind}}, name);
}

/// Rows of the branches of a router that sends cells to several of them or to none, times the weights of their choices.
std::vector<ValueId> weighed_ways(MixtureBuilder& b, ValueId x, int32_t branches, const std::string& name) {
  Protocol rule;
  rule.kind = ProtocolKind::threshold;
  rule.threshold = 0.1f;
  const ValueId decision = b.route(b.floats(name + ".scores", b.space_of(x), {branches}), rule, name);
  std::vector<ValueId> rows;
  for (int32_t i = 0; i < branches; ++i) {
    const std::string way = name + "." + std::to_string(i);
    const ValueId part = b.scatter(x, decision, {i})[0];
    const ValueId weight =
        b.value("choice_weight", {decision}, {{"space", int64_t{b.space_of(part)}}}, way + ".weight");
    rows.push_back(b.value("multiply", {part, weight}, {}, way + ".weighed"));
  }
  return rows;
}

constexpr const char* kKinds[] = {"relu", "gelu", "gelu_tanh", "silu", "tanh", "sigmoid"};

/// The node that makes `y` is run by `kernel`.
void run_by(MixtureBuilder& b, ValueId y, const char* kernel) {
  b.graph().node(b.graph().value(y).producer).annotations.set(kKernel, kernel);
}

/// A product takes its residual and the activation of both, and the graph says so in its text too.
void takes_the_sum_s_activation(const RandomCase& from, std::string_view product) {
  const PassResult result = vertically_fused(from);
  QCOMPARE(result.reason, std::string("1 activation, 1 residual folded into products"));
  QCOMPARE(node_named(result.graph, product).attributes.integer("residual_first"), int64_t{1});
  same_by_the_oracle(from, result.graph);
  const std::string text = to_text(result.graph);
  QCOMPARE(to_text(parse_graph(text, "again")), text);
}

}  // namespace

class VerticalFusionTest : public QObject {
  Q_OBJECT
 private slots:
  void a_norm_an_activation_and_a_residual_become_part_of_two_products() {
    for (const char* kind : {"relu", "gelu", "gelu_tanh", "silu"})
      for (const DType dtype : {DType::f32, DType::bf16})
        for (const int64_t width : {int64_t{5}, int64_t{64}, int64_t{77}}) {
          MixtureBuilder b(static_cast<uint64_t>(width));
          b.weight_dtype = dtype;
          const ValueId x = b.tokens(3, 7, 33);
          const ValueId up = active(b, b.linear(b.norm(x, "norm"), width, "up"), kind);
          b.output("y", b.add(x, b.linear(up, 33, "down")));
          const PassResult result = vertically_fused(b.take(std::string(kind) + " " + std::to_string(width)));
          QCOMPARE(result.reason, std::string("1 norm, 1 activation, 1 residual folded into products"));
          QCOMPARE(result.graph.nodes.size(), size_t{3});
          QCOMPARE(extras(result.graph, "up"), std::string("bias+gain"));
          QCOMPARE(node_named(result.graph, "up").attributes.word("activation"), std::string(kind));
          QCOMPARE(extras(result.graph, "down"), std::string("bias+residual"));
        }
  }

  void of_a_gated_unit_one_product_takes_the_gate() {
    for (const bool gate_first : {false, true}) {
      MixtureBuilder b(2);
      const ValueId x = b.tokens(2, 5, 16);
      ValueId gate = kNone, up = kNone;
      if (gate_first) gate = active(b, b.product(x, 40, "gate"), "silu");
      up = b.product(x, 40, "up");
      if (!gate_first) gate = active(b, b.product(x, 40, "gate"), "silu");
      b.output("y", b.product(b.value("multiply", {gate, up}, {}, "gated"), 16, "down"));
      const PassResult result = vertically_fused(b.take("gated"));
      QCOMPARE(result.reason, std::string("1 activation, 1 gate folded into products"));
      QCOMPARE(extras(result.graph, gate_first ? "gate" : "up"), std::string("multiply"));
      QCOMPARE(count_nodes(result.graph, "linear"), size_t{3});
    }
  }

  void a_scale_goes_where_nothing_stands_between() {
    MixtureBuilder b(3);
    const ValueId x = b.tokens(2, 3, 8);
    b.output("plain", scaled(b, b.product(x, 9, "plain"), 0.3));
    b.output("biased", scaled(b, b.linear(x, 9, "biased"), 0.3));
    b.output("twice", scaled(b, scaled(b, b.product(x, 9, "twice"), 0.3), 0.7));
    const PassResult result = vertically_fused(b.take("scales"));
    QCOMPARE(result.reason, std::string("2 scales folded into products"));
    QCOMPARE(node_named(result.graph, "plain").attributes.real("scale"), 0.3);
    QVERIFY(!node_named(result.graph, "biased").attributes.has("scale"));
    QCOMPARE(count_nodes(result.graph, "scale"), size_t{2});
  }

  void a_residual_stays_behind_a_factor() {
    // A processor that multiplies and adds at once would round once instead of twice.
    MixtureBuilder b(4);
    const ValueId x = b.tokens(2, 3, 8);
    b.output("scaled", b.add(x, scaled(b, b.product(x, 8, "scaled"), 0.3)));
    b.output("gated", b.add(x, b.value("multiply", {b.product(x, 8, "gated"), x}, {}, "gate")));
    b.output("active", b.add(x, active(b, b.product(x, 8, "active"), "gelu")));
    b.output("relu", b.add(x, active(b, b.product(x, 8, "relu"), "relu")));
    const PassResult result = vertically_fused(b.take("factors"));
    QCOMPARE(result.reason, std::string("1 scale, 2 activations, 1 gate, 1 residual folded into products"));
    QCOMPARE(count_nodes(result.graph, "add"), size_t{3});
    QCOMPARE(extras(result.graph, "relu"), std::string("residual"));
  }

  void what_has_several_users_or_is_an_output_stays() {
    MixtureBuilder b(5);
    const ValueId x = b.tokens(2, 3, 8);
    const ValueId normed = b.norm(x, "norm");
    const ValueId y = b.product(normed, 8, "y");
    b.output("a", active(b, y, "relu"));
    b.output("b", b.product(normed, 8, "z"));
    b.output("y", y);
    const PassResult result = vertically_fused(b.take("several users"));
    QVERIFY(!result.applied);
    QCOMPARE(result.graph.nodes.size(), size_t{5});
    QVERIFY(!result.reason.empty());
  }

  void a_value_that_only_a_body_uses_stays() {
    MixtureBuilder b(6);
    const ValueId x = b.tokens(2, 3, 8);
    const ValueId decision = b.labelled(b.space_of(x), 2, "moe");
    const ValueId y = b.product(x, 8, "y");
    const ValueId empty = b.value("branches_empty", {decision}, {{"branches", std::vector<int64_t>{1}}}, "empty");
    b.begin_body();
    b.end_body({active(b, y, "relu")});
    b.begin_body();
    b.end_body({active(b, b.product(x, 8, "other"), "relu")});
    b.output("z", b.graph().node(b.add_region("guard", {empty}, {}, "guard")).outputs[0]);
    const PassResult result = vertically_fused(b.take("bodies"));
    QCOMPARE(result.reason, std::string("1 activation folded into products (fallbacks included)"));
    QCOMPARE(node_named(result.graph, "other").attributes.word("activation"), std::string("relu"));
  }

  void a_read_of_a_state_does_not_move_over_its_change() {
    for (const bool changes : {false, true}) {
      MixtureBuilder b(7);
      const ValueId x = b.tokens(2, 3, 8);
      const ValueId state = b.state("memory", DType::f32, b.space_of(x), {8});
      b.GraphBuilder::add("state_write", {state, x}, {}, "begin");
      const ValueId normed = b.norm(state, "norm");
      if (changes) b.GraphBuilder::add("state_write", {state, scaled(b, x, 2)}, {}, "change");
      const ValueId y = b.product(normed, 8, "y"), z = b.product(state, 8, "z");
      if (changes) b.GraphBuilder::add("state_write", {state, scaled(b, x, 3)}, {}, "change.again");
      b.output("y", active(b, y, "relu"));
      b.output("z", b.add(z, x));
      const PassResult result = vertically_fused(b.take("states"));
      QCOMPARE(result.reason, std::string(changes ? "1 activation folded into products"
                                                  : "1 norm, 1 activation, 1 residual folded into products"));
    }
  }

  void a_residual_after_a_gather_becomes_part_of_it() {
    for (const char* mode : {"sum", "weighted", "place"})
      for (const bool otherwise : {false, true}) {
        MixtureBuilder b(8);
        const ValueId x = b.tokens(3, 5, 20);
        Protocol rule;
        rule.kind = ProtocolKind::switch_top1;
        rule.capacity = 1;
        if (otherwise && std::string(mode) == "weighted") rule.dropped = DroppedCells::scaled_input;
        Mixture shape;
        shape.mode = mode;
        shape.otherwise = otherwise;
        b.output("y", b.mixture(x, b.scored(x, rule, 4, "moe"), shape, "moe"));
        const PassResult result = vertically_fused(b.take(std::string("gather ") + mode));
        QCOMPARE(result.reason, std::string("4 activations folded into products; 1 residual folded into gathers"));
        QCOMPARE(extras(result.graph, "moe.joined"), std::string(otherwise ? "otherwise+residual" : "residual"));
      }
  }

  void a_residual_after_a_guard_becomes_part_of_the_gathers_in_it() {
    for (const bool made_behind : {false, true}) {
      MixtureBuilder b(13);
      const ValueId x = b.tokens(3, 5, 20);
      Mixture shape;
      shape.residual = false;
      const ValueId joined = b.mixture(x, b.labelled(b.space_of(x), 4, "moe"), shape, "moe");
      const ValueId other = made_behind ? scaled(b, joined, 2) : x;
      b.output("y", b.add(joined, other));
      RandomCase from = b.take("guarded");
      LoadProfile profile;
      profile.routers["moe"] = {{8, 7, 0, 0}, 15, 1};
      from.graph = find_pass("dead-path")->run(pass_input(from.graph, profile)).graph;
      QCOMPARE(count_nodes(from.graph, "guard"), size_t{1});
      const PassResult result = vertically_fused(from);
      QCOMPARE(
          result.reason,
          std::string(made_behind
                          ? "6 activations folded into products (fallbacks included)"
                          : "6 activations folded into products; 1 residual folded into gathers (fallbacks included)"));
      QCOMPARE(count_nodes(result.graph, "add"), size_t{made_behind});
    }
  }

  void numbers_of_rows_become_factors_of_the_gather_that_sums_them() {
    for (const bool one_router : {true, false})
      for (const bool extras_beside : {false, true})
        for (const int64_t width : {int64_t{8}, int64_t{20000}}) {
          MixtureBuilder b(14);
          const SpaceId cells = b.root_space("cells", b.bound_symbol("N", 7));
          const ValueId x = b.floats("x", cells, {width});
          std::vector<ValueId> rows = weighed_ways(b, x, one_router ? 3 : 2, "left");
          if (!one_router)
            for (const ValueId more : weighed_ways(b, x, 2, "right")) rows.push_back(more);
          rows[1] = scaled(b, rows[1], 0.7);
          const ValueId joined = b.gather(rows, cells, "sum", extras_beside ? x : kNone, "joined");
          b.output("y", extras_beside ? b.add(x, joined) : joined);
          const RandomCase from =
              b.take(std::string(one_router ? "one router " : "two routers ") + std::to_string(width));
          const PassResult result = vertically_fused(from);
          QCOMPARE(result.reason, std::string(one_router ? "2 factors" : "3 factors") +
                                      (extras_beside ? ", 1 residual" : "") + " folded into gathers");
          QCOMPARE(count_nodes(result.graph, "multiply"), size_t{1});
          QCOMPARE(node_named(result.graph, "joined").attributes.list("factors"),
                   (one_router ? std::vector<int64_t>{0, 2} : std::vector<int64_t>{0, 2, 3}));
          QCOMPARE(extras(result.graph, "joined"), std::string(extras_beside ? "otherwise+residual" : ""));
          same_by_the_oracle(from, result.graph);
          // Nothing goes to the branches of a router.
          CaseInputs none = from.inputs;
          for (float& score : std::get<std::vector<float>>(none.at("left.scores"))) score = -1;
          cpu::CpuDevice cpu(2);
          Plan plain(cpu, from.graph, from), fused(cpu, result.graph, from);
          QCOMPARE(difference(plain.run(none).outputs, fused.run(none).outputs), std::string());
        }
  }

  void factors_of_both_bodies_of_a_guard_are_folded() {
    MixtureBuilder b(15);
    const ValueId x = b.tokens(3, 5, 20);
    const ValueId decision = b.labelled(b.space_of(x), 4, "moe"), factor = b.floats("factor", b.space_of(x), {});
    std::vector<ValueId> rows;
    for (int32_t i = 0; i < 4; ++i) {
      const std::string expert = "expert." + std::to_string(i);
      const ValueId y = b.product(b.scatter(x, decision, {i})[0], 20, expert);
      rows.push_back(b.value("multiply", {y, b.scatter(factor, decision, {i})[0]}, {}, expert + ".weighed"));
    }
    b.output("y", b.gather(rows, b.space_of(x), "sum", kNone, "joined"));
    RandomCase from = b.take("guarded factors");
    LoadProfile profile;
    profile.routers["moe"] = {{8, 7, 0, 0}, 15, 1};
    from.graph = find_pass("dead-path")->run(pass_input(from.graph, profile)).graph;
    QCOMPARE(count_nodes(from.graph, "guard"), size_t{1});
    const PassResult result = vertically_fused(from);
    QCOMPARE(result.reason, std::string("6 factors folded into gathers (fallbacks included)"));
    same_by_the_oracle(from, result.graph);
  }

  void products_of_rows_stay_where_more_is_asked_of_them() {
    const auto fold = [](const RandomCase& from, const PassParameters& options) {
      const LoadProfile none;
      return find_pass("vertical-fusion")->run({from.graph, none, nullptr, options});
    };
    const auto summed = [](const char* mode, bool twice) {
      MixtureBuilder b(16);
      const SpaceId cells = b.root_space("cells", b.bound_symbol("N", 5));
      const std::vector<ValueId> rows = weighed_ways(b, b.floats("x", cells, {8}), 2, "ways");
      b.output("y", b.gather(rows, cells, mode));
      if (twice) b.output("z", b.gather(rows, cells, mode));
      return b.take("kept apart");
    };
    QVERIFY(fold(summed("sum", false), {}).applied);
    QVERIFY(!fold(summed("sum", false), {{"factors", "off"}}).applied);
    QVERIFY(!fold(summed("sum", true), {}).applied);
    QVERIFY(!fold(summed("place", false), {}).applied);

    RandomCase annotated = summed("sum", false);
    annotated.graph.value(annotated.graph.find_value("ways.0.weighed")).annotations.set(kStorage, "f32");
    QCOMPARE(fold(annotated, {}).reason,
             std::string("1 factor folded into gathers; not folded, because of their annotations: %ways.0.weighed"));

    // Products element by element, and a sum that only copies.
    MixtureBuilder b(17);
    const SpaceId cells = b.root_space("cells", b.bound_symbol("N", 5));
    const ValueId x = b.floats("x", cells, {8});
    const ValueId squared = b.value("multiply", {x, x}, {}, "squared");
    b.output("squares", b.gather({squared, x}, cells, "sum"));
    b.output("copy", b.gather({b.value("multiply", {x, b.floats("factor", cells, {})}, {}, "rows")}, cells, "sum"));
    QVERIFY(!vertically_fused(b.take("no factors")).applied);
  }

  void grouped_products_and_convolutions_take_what_follows_them() {
    MixtureBuilder b(9);
    const ValueId x = b.tokens(2, 5, 8);
    Protocol rule;
    rule.k = 2;
    Mixture shape;
    shape.expert = Expert::gated;
    shape.mode = "weighted";
    shape.skip = true;
    b.output("y", b.mixture(x, b.scored(x, rule, 5, "moe"), shape, "moe"));
    RandomCase grouped = b.take("grouped");
    const LoadProfile none;
    grouped.graph = find_pass("horizontal-fusion")->run(pass_input(grouped.graph, none)).graph;
    QCOMPARE(vertically_fused(grouped).reason,
             std::string("1 activation, 1 gate, 1 residual folded into products; 1 residual folded into gathers"));

    MixtureBuilder c(10);
    const SpaceId images = c.root_space("images", c.bound_symbol("N", 2));
    const ValueId maps = c.conv(c.floats("pixels", images, {6, 6, 3}), 5, 3, 1, "conv");
    c.output("maps", active(c, maps, "silu"));
    QCOMPARE(vertically_fused(c.take("convolution")).reason, std::string("1 activation folded into products"));
  }

  void convolutions_take_a_residual_where_no_bit_changes() {
    for (const DType dtype : {DType::f32, DType::bf16})
      for (const int64_t channels : {3, 8, 64, 77})
        for (const bool depthwise : {false, true})
          for (const char* kind : {"none", "relu", "silu"}) {
            MixtureBuilder b(11);
            b.weight_dtype = dtype;
            const SpaceId images = b.root_space("images", b.bound_symbol("N", 3));
            const ValueId maps = b.floats("maps", images, {7, 6, channels});
            const std::vector<int64_t> shape{channels, 3, 3, depthwise ? 1 : channels};
            ValueId y = b.value(
                "conv2d", {maps, b.drawn("weight", shape, 0.2), b.drawn("bias", {channels}, 0.2)},
                {{"groups", depthwise ? channels : 1}, {"padding", int64_t{1}}, {"extras", std::string("bias")}},
                "conv");
            if (std::string(kind) != "none") y = active(b, y, kind);
            b.output("y", active(b, b.add(y, maps), "relu", "last"));
            const std::string name =
                std::string(kind) + " " + std::to_string(channels) + (depthwise ? " depthwise" : "");
            const PassResult result = vertically_fused(b.take(name));
            // One activation is folded, that of the product or that of the sum; the other stays behind the sum.
            QCOMPARE(result.reason,
                     std::string(std::string(kind) == "silu" ? "1 activation" : "1 activation, 1 residual") +
                         " folded into products");
            QCOMPARE(count_nodes(result.graph, "activation"), size_t{std::string(kind) != "none"});
          }
  }

  void a_product_takes_the_activation_of_its_sum() {
    for (const char* kernel : {"linear.panels", "linear.plain"})
      for (const char* kind : kKinds)
        for (const DType dtype : {DType::f32, DType::bf16})
          for (const bool biased : {false, true}) {
            if (std::string(kernel) == "linear.plain" && dtype == DType::bf16) continue;
            MixtureBuilder b(14);
            b.weight_dtype = dtype;
            const ValueId x = b.tokens(3, 7, 33), y = biased ? b.linear(x, 33, "product") : b.product(x, 33, "product");
            run_by(b, y, kernel);
            b.output("y", active(b, b.add(x, y), kind));
            takes_the_sum_s_activation(b.take(std::string(kernel) + " " + kind), "product");
          }
  }

  void a_convolution_takes_the_activation_of_its_sum() {
    struct Kind {
      const char* kernel;
      int64_t channels, size, groups;
      DType dtype;
    };
    for (const Kind& k : {Kind{"conv2d.planar", 8, 3, 1, DType::f32},
                          {"conv2d.direct", 40, 3, 1, DType::f32},
                          {"conv2d.direct", 6, 1, 1, DType::f32},
                          {"conv2d.panels", 6, 3, 2, DType::f32},
                          {"conv2d.panels", 6, 3, 6, DType::f32},
                          {"conv2d.panels", 8, 3, 1, DType::bf16}})
      for (const char* kind : kKinds)
        for (const bool biased : {false, true}) {
          if (std::string(k.kernel) == "conv2d.planar" && std::string(kind) != "relu") continue;
          MixtureBuilder b(15);
          b.weight_dtype = k.dtype;
          const ValueId x = b.maps(3, 7, 18, k.channels);
          std::vector<ValueId> inputs{x, b.drawn("weight", {k.channels, k.size, k.size, k.channels / k.groups}, 0.2)};
          Attributes attributes{{"groups", k.groups}, {"padding", k.size / 2}};
          if (biased)
            inputs.push_back(b.drawn("bias", {k.channels}, 0.2)), attributes.set("extras", std::string("bias"));
          const ValueId y = b.value("conv2d", std::move(inputs), std::move(attributes), "conv");
          run_by(b, y, k.kernel);
          b.output("y", active(b, b.add(x, y), kind));
          takes_the_sum_s_activation(b.take(std::string(k.kernel) + " " + kind), "conv");
        }
  }

  void what_works_for_all_branches_takes_the_activation_of_its_sum() {
    for (const bool of_maps : {false, true}) {
      MixtureBuilder b(16);
      const ValueId x = of_maps ? b.maps(6, 5, 17, 6) : b.tokens(2, 5, 8);
      std::vector<ValueId> parts = b.scatter(x, b.labelled(b.space_of(x), 3, "moe"), {0, 1, 2});
      for (size_t i = 0; i < parts.size(); ++i) {
        const std::string name = "branch." + std::to_string(i);
        const ValueId y = of_maps ? b.conv(parts[i], 6, 3, 1, name) : b.linear(parts[i], 8, name);
        parts[i] = active(b, b.add(parts[i], y, name + ".sum"), "relu", name + ".relu");
      }
      b.output("y", b.gather(std::move(parts), b.space_of(x), "sum", kNone, "joined"));
      RandomCase from = b.take(of_maps ? "maps of branches" : "rows of branches");
      const LoadProfile none;
      from.graph = find_pass("horizontal-fusion")->run(pass_input(from.graph, none)).graph;
      const Graph fused = vertically_fused(from).graph;
      same_by_the_oracle(from, fused);
      QCOMPARE(count_nodes(fused, of_maps ? "grouped_conv2d" : "grouped_linear"), size_t{1});
      QCOMPARE(count_nodes(fused, "activation") + count_nodes(fused, "add"), size_t{0});
    }
  }

  void other_activations_stay_behind_their_sum() {
    MixtureBuilder b(17);
    const ValueId x = b.tokens(2, 3, 8), read = b.add(x, b.product(x, 8, "read"));
    b.output("read", read);
    b.output("behind", active(b, read, "relu"));
    b.output("twice", active(b, b.add(x, active(b, b.product(x, 8, "twice"), "relu")), "relu"));
    b.output("scaled", active(b, b.add(x, scaled(b, b.product(x, 8, "scaled"), 0.3)), "relu"));
    const PassResult result = vertically_fused(b.take("sums"));
    QCOMPARE(result.reason, std::string("1 scale, 1 activation, 2 residuals folded into products"));
    QCOMPARE(count_nodes(result.graph, "activation"), size_t{3});
  }

  void a_row_s_number_is_no_gate() {
    MixtureBuilder b(12);
    const ValueId x = b.tokens(2, 5, 8);
    const ValueId factor = b.floats("factor", b.space_of(x), {});
    b.output("y", b.value("multiply", {b.linear(x, 8, "product"), factor}, {}, "scaled"));
    QCOMPARE(count_nodes(vertically_fused(b.take("a number for each row")).graph, "multiply"), size_t{1});
  }
};
STORMCELL_TEST(VerticalFusionTest)
#include "vertical_fusion_test.moc"

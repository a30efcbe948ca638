// Horizontal fusion of branches that are networks of convolutions.
#include <set>
#include <string>

#include "core/cpu/cpu_device.h"
#include "core/graph/roles.h"
#include "core/graph/text.h"
#include "core/passes/pipeline.h"
#include "tests/core/passes/fused_answers.h"
#include "tests/core/passes/plan.h"
#include "tests/core/passes/same_by_the_oracle.h"
#include "tests/testing/complaint.h"
#include "tests/testing/mixture_case.h"
#include "tests/testing/testing.h"

using namespace stormcell;
using namespace stormcell::testing;

class FusedConvolutionsTest : public QObject {
  Q_OBJECT
 private slots:
  void branches_of_convolutions_become_one_branch_and_then_one_chain() {
    for (const bool shuffled : {false, true})
      for (const bool head : {false, true})
        for (const int32_t k : {1, 2}) {
          MixtureBuilder b(21);
          const ValueId x = b.maps(7, 5, 18, 4);
          Protocol rule;
          rule.k = k;
          const Subnet shape{.channels = 6, .blocks = 3, .head = head, .shuffled = shuffled};
          const ValueId seen = b.value("pool", {x}, {{"kind", std::string("global_average")}}, "seen");
          b.output("y", b.subnets(x, b.scored(seen, rule, 4, "net"), shape, "weighted", "net"));
          const RandomCase from = b.take("subnets");
          const PassResult result = fuse(from);
          QVERIFY2(result.applied, result.reason.c_str());
          same_by_the_oracle(from, result.graph);
          QCOMPARE(count_nodes(result.graph, "conv2d"), size_t{0});
          QCOMPARE(count_nodes(result.graph, "grouped_conv2d"), size_t{8} + head + shuffled);
          // The blocks' first map is added to as well, so that without a head it is sent.
          QCOMPARE(count_nodes(result.graph, "scatter"), size_t{!head});
          for (const Node& node : result.graph.nodes)
            if (has_role(node, Role::grouped)) {
              QCOMPARE(owned_inputs(node), size_t{8});
              for (size_t i = 0; i < 8; ++i) QCOMPARE(*branch_of_input(node, 2 + i), static_cast<int32_t>(i % 4));
            }
          const std::string text = to_text(result.graph);
          QCOMPARE(to_text(parse_graph(text, "again")), text);

          const LoadProfile none;
          const PipelineResult all = run_passes(pass_input(from.graph, none),
                                                select_passes({.only = {"horizontal-fusion", "vertical-fusion"}}));
          QCOMPARE(count_nodes(all.graph, "grouped_residual_blocks"), size_t{1});
          QCOMPARE(count_nodes(all.graph, "grouped_conv2d"), size_t{2} + head + shuffled);
          QCOMPARE(count_nodes(all.graph, "add") + count_nodes(all.graph, "activation"), size_t{0});
          for (const Node& node : all.graph.nodes)
            if (node.op->name == "grouped_residual_blocks") QCOMPARE(owned_inputs(node), size_t{3 * 4 * 4});
          same_answers(from, all.graph);
          same_by_the_oracle(from, all.graph);
          // The other way round: chains of the branches become one of all.
          const PassResult vertical = find_pass("vertical-fusion")->run(pass_input(from.graph, none));
          QCOMPARE(count_nodes(vertical.graph, "residual_blocks"), size_t{4});
          const PassResult both = find_pass("horizontal-fusion")->run(pass_input(vertical.graph, none));
          QCOMPARE(count_nodes(both.graph, "grouped_residual_blocks"), size_t{1});
          QCOMPARE(count_nodes(both.graph, "residual_blocks"), size_t{0});
          same_answers(from, both.graph);
        }
  }

  void convolutions_of_every_kind_are_grouped() {
    struct Kind {
      const char* name;
      int64_t channels, outputs, size, stride, groups;
      DType dtype;
      const char* activation;
      const char* kernel;
    };
    for (const Kind& kind : {Kind{"in planes", 3, 6, 3, 1, 1, DType::f32, "relu", "planar"},
                             {"wide", 4, 40, 3, 1, 1, DType::f32, "silu", "direct"},
                             {"strided", 4, 8, 3, 2, 1, DType::f32, "none", "direct"},
                             {"flat", 6, 70, 1, 1, 1, DType::f32, "gelu", "direct"},
                             {"long fields", 230, 64, 3, 1, 1, DType::f32, "none", "panels"},
                             {"in groups", 6, 8, 3, 1, 2, DType::f32, "relu", "panels"},
                             {"depthwise", 6, 6, 3, 1, 6, DType::f32, "none", "panels"},
                             {"bf16", 6, 8, 3, 1, 1, DType::bf16, "relu", "panels"},
                             {"flat bf16", 6, 8, 1, 1, 1, DType::bf16, "none", "panels"}})
      for (const bool sent : {false, true})
        for (const bool biases : {false, true}) {
          MixtureBuilder b(22);
          b.weight_dtype = kind.dtype;
          const ValueId x = b.maps(6, 5, 17, kind.channels);
          const ValueId decision = b.labelled(b.space_of(x), 3, "net");
          std::vector<ValueId> parts = b.scatter(x, decision, {0, 1, 2});
          for (size_t i = 0; i < parts.size(); ++i) {
            const std::string name = "branch." + std::to_string(i);
            if (sent) parts[i] = b.value("scale", {parts[i]}, {{"factor", 0.5}}, name + ".half");
            std::vector<ValueId> inputs{
                parts[i],
                b.drawn(name + ".weight", {kind.outputs, kind.size, kind.size, kind.channels / kind.groups}, 0.3)};
            Attributes attributes{{"stride", kind.stride},
                                  {"padding", kind.size / 2},
                                  {"groups", kind.groups},
                                  {"activation", std::string(kind.activation)}};
            if (biases) {
              inputs.push_back(b.drawn(name + ".bias", {kind.outputs}, 0.3));
              attributes.set("extras", std::string("bias"));
            }
            parts[i] = b.value("conv2d", std::move(inputs), std::move(attributes), name);
          }
          b.output("y", b.gather(std::move(parts), b.space_of(x), "place", kNone, "joined"));
          const RandomCase from = b.take(std::string(kind.name) + (sent ? ", sent" : ""));
          const PassResult result = fuse(from);
          QVERIFY2(result.applied, result.reason.c_str());
          same_by_the_oracle(from, result.graph);
          QCOMPARE(count_nodes(result.graph, "grouped_conv2d"), size_t{1});
          QCOMPARE(count_nodes(result.graph, "scatter"), size_t{sent});
          // Whichever kernel runs it.
          std::set<std::string> fits;
          for (const char* kernel : {"planar", "direct", "panels"}) {
            Graph asked = result.graph;
            for (Node& node : asked.nodes)
              if (has_role(node, Role::grouped)) node.annotations.set(kKernel, std::string("grouped_conv2d.") + kernel);
            if (!complaint([&] {
                   cpu::CpuDevice cpu(1);
                   Plan(cpu, asked, from);
                 }).empty())
              continue;
            same_answers(from, asked);
            fits.insert(kernel);
          }
          QVERIFY2(fits.contains(kind.kernel) && fits.contains("panels"), kind.name);
        }
  }

  void unlike_networks_stay_apart_and_say_why() {
    const auto reason = [](const Subnet& other, size_t which) {
      MixtureBuilder b(25);
      const ValueId x = b.maps(5, 5, 6, 4);
      const ValueId decision = b.labelled(b.space_of(x), 3, "net");
      std::vector<ValueId> parts = b.scatter(x, decision, {0, 1, 2});
      for (size_t i = 0; i < parts.size(); ++i)
        parts[i] = b.subnet(parts[i], i == which ? other : Subnet{}, "subnet." + std::to_string(i));
      b.output("y", b.gather(std::move(parts), b.space_of(x), "place", kNone, "joined"));
      return fuse(b.take("unlike")).reason;
    };
    QCOMPARE(reason({.channels = 6}, 1), std::string("not applied to net: branch 1 has conv2d \"subnet.1.head\" with "
                                                     "weights f32 [6,3,3,4], branch 0 f32 [4,3,3,4]"));
    QCOMPARE(reason({.blocks = 3}, 2),
             std::string("not applied to net: branch 2 has activation \"subnet.2.body.2.relu\" where branch 0 has add "
                         "\"subnet.0.body\""));
  }
};

STORMCELL_TEST(FusedConvolutionsTest)

#include "fused_convolutions_test.moc"

#include "tests/core/passes/constant_router_cases.h"

#include <QTest>
#include <map>

#include "core/cpu/cpu_device.h"
#include "core/graph/operator.h"
#include "core/graph/text.h"
#include "core/graph/uses.h"
#include "core/oracle/oracle.h"
#include "core/runtime/named_routers.h"
#include "tests/testing/case_inputs.h"
#include "tests/testing/emulated_device.h"

namespace stormcell::testing {

RandomCase ConstantRouterCases::labelled_mixture(Mixture shape) {
  MixtureBuilder b(5);
  const ValueId x = b.tokens(4, 10, 8);
  b.output("y", b.mixture(x, b.labelled(b.space_of(x), shape.branches, "moe"), shape, "moe"));
  return b.take("labelled mixture");
}

CaseInputs ConstantRouterCases::with_labels(const RandomCase& from, const std::string& router,
                                            std::vector<int32_t> labels) {
  CaseInputs inputs = from.inputs;
  auto& all = std::get<std::vector<int32_t>>(inputs.at(router + ".labels"));
  for (size_t i = 0; i < all.size(); ++i) all[i] = labels[i % labels.size()];
  return inputs;
}

PassResult ConstantRouterCases::apply(std::string_view pass, const RandomCase& from, const LoadProfile& profile,
                                      PassParameters options) {
  const PassInput input = pass_input(from.graph, profile);
  return find_pass(pass)->run(input.on(from.graph, std::move(options), nullptr));
}

PassResult ConstantRouterCases::apply(std::string_view pass, const RandomCase& from, const CaseInputs& profiled,
                                      PassParameters options) {
  return apply(pass, from, profile_of(from, {profiled}), std::move(options));
}

int64_t ConstantRouterCases::sum(const std::vector<int32_t>& counts) {
  int64_t all = 0;
  for (const int32_t n : counts) all += n;
  return all;
}

ExecutionResult ConstantRouterCases::check_answer(Device& device, const RandomCase& from, const Graph& graph,
                                                  const CaseInputs& inputs) {
  Plan plain(device, from.graph, from), optimised(device, graph, from);
  const ExecutionResult expected = plain.run(inputs), came = optimised.run(inputs);
  if (const std::string why = difference(expected.outputs, came.outputs); !why.empty())
    QTest::qFail((from.name + ": " + why).c_str(), __FILE__, __LINE__);
  std::map<std::string, std::vector<int32_t>> decided;
  const auto each = [](const Plan& of, const ExecutionResult& result, auto&& visit) {
    const Program& program = const_cast<Plan&>(of).executor().program();
    for (const ExecutedDecision* d : standing_decisions(program, name_routers(program), result))
      if (d && d->shape.cells > 0) visit(program.routers[d->router].name, d->choice);
  };
  each(plain, expected,
       [&](const std::string& router, const std::vector<int32_t>& choice) { decided[router] = choice; });
  each(optimised, came, [&](const std::string& router, const std::vector<int32_t>& choice) {
    if (decided.contains(router) && decided.at(router) != choice)
      QTest::qFail((from.name + ": other decisions of " + router).c_str(), __FILE__, __LINE__);
  });
  return came;
}

void ConstantRouterCases::check_oracle(const RandomCase& from, const Graph& graph, const CaseInputs& inputs) {
  const auto plain = Oracle<float>(from.graph, *from.weights).run(oracle_inputs<float>(inputs), from.bindings);
  const auto straight = Oracle<float>(graph, *from.weights).run(oracle_inputs<float>(inputs), from.bindings);
  for (const auto& [name, tensor] : plain.outputs)
    if (straight.output(name).reals != tensor.reals)
      QTest::qFail((from.name + ": the oracle's " + name).c_str(), __FILE__, __LINE__);
}

CaseInputs ConstantRouterCases::with_scores(const RandomCase& from, const std::string& router,
                                            const std::vector<std::vector<float>>& scores) {
  CaseInputs inputs = from.inputs;
  auto& all = std::get<std::vector<float>>(inputs.at(router + ".scores"));
  const size_t columns = scores[0].size();
  for (size_t i = 0; i < all.size(); ++i) {
    const size_t cell = i / columns;
    // each cell its own weights
    all[i] = scores[cell % scores.size()][i % columns] + 0.001f * static_cast<float>(cell);
  }
  return inputs;
}

ValueId ConstantRouterCases::given_scores(CaseBuilder& b, SpaceId space, int64_t branches, const Protocol& rule,
                                          const std::string& name) {
  return b.route(b.floats(name + ".scores", space, {branches}), rule, name);
}

ValueId ConstantRouterCases::weighed(CaseBuilder& b, ValueId rows, ValueId decision, const std::string& name) {
  const ValueId weight = b.value("choice_weight", {decision}, {{"space", int64_t{b.space_of(rows)}}}, name + ".weight");
  return b.value("multiply", {rows, weight}, {}, name + ".weighed");
}

void ConstantRouterCases::check_hit_and_miss(const RandomCase& from, const PassResult& result, const CaseInputs& usual,
                                             const CaseInputs& other) {
  QVERIFY2(result.applied, (from.name + ": " + result.reason).c_str());
  const std::string text = to_text(result.graph);
  QCOMPARE(to_text(parse_graph(text, "again")), text);
  check_oracle(from, result.graph, usual);
  check_oracle(from, result.graph, other);
  cpu::CpuDevice cpu(2);
  EmulatedDevice emulated(1);
  for (Device* device : {static_cast<Device*>(&cpu), static_cast<Device*>(&emulated)}) {
    const ExecutionResult held = check_answer(*device, from, result.graph, usual),
                          missed = check_answer(*device, from, result.graph, other);
    QVERIFY2(sum(held.guard_hits) > 0 && sum(held.guard_misses) == 0, from.name.c_str());
    QVERIFY2(sum(missed.guard_misses) > 0, from.name.c_str());
  }
}

size_t ConstantRouterCases::count_usual(const Graph& graph, std::string_view op) {
  size_t count = 0;
  for (const BlockPlace place : blocks_of(graph, Fallbacks::left_out))
    for (const NodeId id : block_at(graph, place).nodes) count += graph.node(id).op->name == op;
  return count;
}

size_t ConstantRouterCases::count_taken(const Graph& graph, std::string_view op) {
  size_t count = 0;
  for (const NodeId id : graph.top.nodes)
    if (graph.node(id).op->name == "guard")
      for (const NodeId inner : graph.node(id).bodies[0].nodes) count += graph.node(inner).op->name == op;
  return count;
}

}  // namespace stormcell::testing

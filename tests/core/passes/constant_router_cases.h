// Parts that the tests of constant decision and permanent path share: routers that decide as the test says, and answers
// compared where the guards hold and where they miss.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "core/passes/pass.h"
#include "tests/core/passes/plan.h"
#include "tests/testing/mixture_case.h"

namespace stormcell::testing {

struct ConstantRouterCases {
  static constexpr const char* kBoth[] = {"constant-decision", "permanent-path"};
  /// 40 cells through one mixture of four experts, which go where the input "moe.labels" says.
  static RandomCase labelled_mixture(Mixture shape = {});
  static CaseInputs with_labels(const RandomCase& from, const std::string& router, std::vector<int32_t> labels);
  static PassResult apply(std::string_view pass, const RandomCase& from, const LoadProfile& profile,
                          PassParameters options = {});
  static PassResult apply(std::string_view pass, const RandomCase& from, const CaseInputs& profiled,
                          PassParameters options = {});
  static int64_t sum(const std::vector<int32_t>& counts);
  /// The plan answers as the one without passes, and each router's standing decision is the same; returns what it did.
  static ExecutionResult check_answer(Device& device, const RandomCase& from, const Graph& graph,
                                      const CaseInputs& inputs);
  static void check_oracle(const RandomCase& from, const Graph& graph, const CaseInputs& inputs);
  /// Scores of an input of its own, so that the test decides who goes where: of each cell the branches' scores, one
  /// after the other.
  static CaseInputs with_scores(const RandomCase& from, const std::string& router,
                                const std::vector<std::vector<float>>& scores);
  static ValueId given_scores(CaseBuilder& b, SpaceId space, int64_t branches, const Protocol& rule,
                              const std::string& name);
  static ValueId weighed(CaseBuilder& b, ValueId rows, ValueId decision, const std::string& name);
  /// The guards of a plan on both devices and both inputs: they hold on the usual one and miss on the other, and the
  /// answer is right on both.
  static void check_hit_and_miss(const RandomCase& from, const PassResult& result, const CaseInputs& usual,
                                 const CaseInputs& other);
  /// Nodes of an operator that run while all guards hold.
  static size_t count_usual(const Graph& graph, std::string_view op);
  /// Nodes of an operator in the body that runs while the only guard holds.
  static size_t count_taken(const Graph& graph, std::string_view op);
};

}  // namespace stormcell::testing

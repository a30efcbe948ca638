// The routed parts of random graphs: mixtures by every protocol, nested, grouped, guarded; routers side by side; chains
// of exits.
#pragma once
#include "tests/testing/random_graph.h"

namespace stormcell::testing {

class RandomRouters : public CaseBuilder {
 public:
  RandomRouters(uint64_t seed, const RandomOptions& options);

 protected:
  /// x + experts(norm(x)), over any space; nested while `depth` is small.
  ValueId mixture(ValueId x, int depth, const std::string& name);
  /// Experts that are convolutions, chosen by what a map holds on average.
  ValueId conv_mixture(ValueId maps, const std::string& name);
  /// Two routers side by side, whose branches one gather joins.
  ValueId twins(ValueId x, const std::string& name);
  /// A chain of exits: cells leave when they are sure; the last gather joins all exits.
  ValueId exits(ValueId x, int64_t stages, const std::string& name);
  ValueId dense_block(ValueId x, const std::string& name);
  ValueId residual(ValueId x, ValueId y, const std::string& name) { return add(x, y, name + ".residual"); }

  struct Rule {
    Protocol protocol;
    int64_t branches = 0;
    std::string mode = "weighted";
    bool scores = true;
  };
  Rule draw_rule(SpaceId space, int depth);
  ValueId decide(ValueId x, const Rule& rule, const std::string& name);

 private:
  ValueId expert(ValueId x, ValueId skip, int depth, const std::string& name);
  ValueId join(ValueId flow, ValueId skip, ValueId decision, const Rule& rule, const std::vector<int32_t>& branches,
               int depth, const std::string& name);
  ValueId grouped(ValueId x, ValueId decision, const Rule& rule, const std::string& name);
  ValueId guarded(ValueId flow, ValueId decision, const Rule& rule, const std::vector<int32_t>& branches,
                  const std::string& name);
  void exit_stage(ValueId x, int64_t left, int64_t width, const std::string& name, std::vector<ValueId>& results);

  RandomOptions options_;
  std::map<SpaceId, ValueId> labels_;
};

}  // namespace stormcell::testing

// Mixtures as models have them: a router, experts alike, a residual. Random stacks of them, and single ones by hand.
#pragma once
#include "tests/testing/graph_case.h"

namespace stormcell::testing {

enum class Expert : uint8_t { plain, gated, single, normed };

struct Mixture {
  int64_t branches = 4, width = 12;
  Expert expert = Expert::plain;
  std::string activation = "gelu";
  std::string mode = "sum";
  bool biases = false;     ///< each product of an expert adds one of its own
  bool skip = false;       ///< a second flow that is added in each branch
  bool otherwise = false;  ///< the gather falls back to the flow
  bool residual = true;
};

class MixtureBuilder : public CaseBuilder {
 public:
  explicit MixtureBuilder(uint64_t seed) : CaseBuilder(seed) {}
  /// Sequences x tokens, embedded with `width` columns.
  ValueId tokens(int64_t sequences, int64_t length, int64_t width);
  /// A router that sends each cell where an input of its own says: the test decides who goes where.
  ValueId labelled(SpaceId space, int64_t branches, const std::string& name);
  /// A router by scores.
  ValueId scored(ValueId x, const Protocol& protocol, int64_t branches, const std::string& name);
  /// Scatter, experts, gather, residual.
  ValueId mixture(ValueId x, ValueId decision, const Mixture& shape, const std::string& name);
  ValueId expert(ValueId x, const Mixture& shape, const std::string& name, const std::string& common);
  /// A product without bias.
  ValueId product(ValueId x, int64_t width, const std::string& name) { return linear(x, width, name, "none", false); }
};

/// Two to three mixtures on top of each other, by every protocol that fits, f32 or bf16.
RandomCase random_mixtures(uint64_t seed);

}  // namespace stormcell::testing

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

/// Names what a branch does with maps: as a network that enlarges patches, or less.
struct Subnet {
  int64_t channels = 4, blocks = 2;  ///< blocks: residual ones of two convolutions
  bool head = true;                  ///< a convolution first; without it the blocks take the map that came
  bool shuffled = true;  ///< a pixel shuffle and, behind it, a convolution of stride 2 back to the map's extents
  int64_t groups = 1;    ///< of the head's channels
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
  /// Maps of `sequences` pictures.
  ValueId maps(int64_t sequences, int64_t height, int64_t width, int64_t channels);
  /// Returns what branches have alike over maps; weights are named after `name`.
  ValueId subnet(ValueId map, const Subnet& shape, const std::string& name);
  /// Scatter, subnets, gather.
  ValueId subnets(ValueId x, ValueId decision, const Subnet& shape, const std::string& mode, const std::string& name);
  /// norm(down(act(up(x))) + x), each with weights and biases of `name`.
  ValueId normed_expert(ValueId x, int64_t width, const std::string& activation, const std::string& name);
  /// A product without bias.
  ValueId product(ValueId x, int64_t width, const std::string& name) { return linear(x, width, name, "none", false); }
};

/// One or two routers of maps whose branches do alike: convolutions, residual blocks, shuffles, norms.
RandomCase random_subnets(uint64_t seed);
/// Sequences, with all their tokens or those that a mask names, to experts that pack their members.
RandomCase random_sequence_experts(uint64_t seed);
/// Two to three mixtures on top of each other, by every protocol that fits, f32 or bf16.
RandomCase random_mixtures(uint64_t seed);

}  // namespace stormcell::testing

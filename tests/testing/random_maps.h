// Random graphs over maps: routers of images and of patches, branches that change size, sums over several routers by
// the weights of choices.
#pragma once
#include "tests/testing/random_routers.h"

namespace stormcell::testing {

class RandomMaps : public RandomRouters {
 public:
  RandomMaps(uint64_t seed, const RandomOptions& options) : RandomRouters(seed, options) {}
  RandomCase make();

 private:
  /// All keep the extents of the maps they are given.
  ValueId step(ValueId maps, int depth, const std::string& name);
  ValueId work(ValueId maps, int depth, const std::string& name);
  ValueId other_size(ValueId maps, const std::string& name);
  void windows(ValueId maps, SpaceId images);
  void grouped_branches(ValueId maps, ValueId pooled);
  ValueId router(ValueId maps, int depth, const std::string& name);
  ValueId several_routers(ValueId maps, int depth, const std::string& name);
  ValueId patches(ValueId maps, int depth, const std::string& name);
  ValueId patches_of_branches(ValueId maps, const std::string& name);

  struct Cut {
    int64_t height, width, stride, patches;
  };
  Cut draw_cut(ValueId maps);
  ValueId unfold(ValueId maps, SpaceId space, const Cut& cut, const std::string& name);
  /// Back to maps like `like`.
  ValueId fold(ValueId cells, ValueId like, const Cut& cut, const std::string& name);

  ValueId decide_by(ValueId maps, const Rule& rule, const std::string& name);
  ValueId weigh(ValueId rows, ValueId decision, const std::string& name);
  int64_t extent(ValueId maps, size_t i) const { return graph().value(maps).type.content[i].constant(); }
};

}  // namespace stormcell::testing

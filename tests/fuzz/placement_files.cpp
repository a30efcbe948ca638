#include "core/placement/placement_files.h"

#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(placement_files) {
  fuzz::refused_or_done([&] {
    const PlacementFile file = parse_placement_file({reinterpret_cast<const char*>(data), size}, "input");
    fuzz::require(!file.layers.empty() && file.ranks >= 0, "a file has layers");
    for (const auto& [layer, slots] : file.layers) {
      fuzz::require(layer >= 0 && slots.size() <= size, "slots stand in the input");
      for (const int32_t expert : slots) fuzz::require(expert >= 0, "a slot holds an expert");
    }
    // As of models and clusters of several sizes: servers count layers with and without those that have no experts.
    for (const int32_t branches : {2, 3})
      for (const int32_t ranks : {1, 2, 4})
        fuzz::refused_or_done([&] {
          const Placement placement = placement_in_file(file, {1, 2}, 0, branches, ranks, "input");
          fuzz::require(placement.layers.size() == 2 && placement.ranks == ranks,
                        "a placement has the layers that were asked for");
          fuzz::require(placement_fault(placement).empty(), "a placement fits");
        });
  });
  return 0;
}

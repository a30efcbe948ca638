#include "core/formats/weight_folder.h"
#include "tests/fuzz/fuzz.h"

using namespace stormcell;

STORMCELL_FUZZ_TARGET(weight_index) {
  fuzz::refused_or_done([&] {
    const auto shard_of = parse_weight_index({reinterpret_cast<const char*>(data), size}, "input");
    fuzz::require(!shard_of.empty(), "an index names a tensor");
    for (const auto& [tensor, shard] : shard_of)
      fuzz::require(shard.ends_with(".safetensors") && shard.find('/') == std::string::npos,
                    "a shard lies beside its index");
  });
  return 0;
}

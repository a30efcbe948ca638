// Makes dumps of SGLang's recorder in mode per_token: a made-up model with 3 layers (0 is dense), 4 experts in as many
// slots, k = 2.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/testing/torch_bytes.h"

namespace stormcell::testing {

/// A forward pass of a rank: the experts of each token in layers 1 and 2.
using DumpedPass = std::vector<std::array<std::array<int32_t, 2>, 2>>;

inline std::string per_token_dump(int32_t rank, const std::vector<DumpedPass>& passes) {
  constexpr int64_t kLayers = 3, kWidth = 4;
  constexpr int32_t kExtend = 1, kDecode = 2, kIdle = 4;
  TorchBytes torch;
  std::vector<std::string> records;
  for (size_t p = 0; p < passes.size(); ++p) {
    const DumpedPass& pass = passes[p];
    const auto tokens = static_cast<int64_t>(pass.size());
    std::vector<int32_t> ids(static_cast<size_t>(kLayers * tokens * kWidth), -1);
    std::vector<std::string> positions;
    for (int64_t t = 0; t < tokens; ++t) {
      positions.push_back(torch.whole(static_cast<int32_t>(t)));
      for (int64_t l = 1; l < kLayers; ++l)
        for (int64_t j = 0; j < 2; ++j)
          ids[static_cast<size_t>((l * tokens + t) * kWidth + j)] =
              pass[static_cast<size_t>(t)][static_cast<size_t>(l - 1)][static_cast<size_t>(j)];
    }
    records.push_back(torch.dict({{"forward_pass_id", torch.whole(static_cast<int32_t>(10 + p))},
                                  {"rank", torch.whole(rank)},
                                  {"positions", torch.list(positions)},
                                  {"forward_mode", torch.whole(pass.empty() ? kIdle
                                                               : p == 0     ? kExtend
                                                                            : kDecode)},
                                  {"topk_ids_of_layer", torch.tensor({kLayers, tokens, kWidth}, ids)}}));
  }
  const std::string map = torch.tensor({kLayers, 4}, {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  return torch.file(torch.dict({{"records", torch.list(records)}, {"last_physical_to_logical_map", map}}));
}

/// A dump in mode per_pass: counts of slots, [layers][slots] for each pass.
inline std::string per_pass_dump(int32_t rank, const std::vector<std::vector<int32_t>>& passes) {
  TorchBytes torch;
  std::vector<std::string> records;
  for (size_t p = 0; p < passes.size(); ++p)
    records.push_back(torch.dict({{"forward_pass_id", torch.whole(static_cast<int32_t>(10 + p))},
                                  {"rank", torch.whole(rank)},
                                  {"global_physical_count", torch.tensor({3, 4}, passes[p])}}));
  const std::string map = torch.tensor({3, 4}, {0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3});
  return torch.file(torch.dict({{"records", torch.list(records)}, {"last_physical_to_logical_map", map}}));
}

}  // namespace stormcell::testing

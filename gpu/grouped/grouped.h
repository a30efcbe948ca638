// Grouped expert products: y[s] = epilogue(x[s] . w[expert of s]^T) for the slots of a routing decision, all active
// experts in one launch a regime, or of two regimes. Loads are read on the device; the host never waits for them.
#pragma once
#include "gpu/base/annotations.h"
#include "gpu/base/status.h"
#include "gpu/dispatch/dispatch.h"
#include "gpu/grouped/epilogue.h"
#include "gpu/grouped/tile_map.h"

namespace stormcell::gpu {

/// Device pointers; with tensor cores x, w and y are aligned to 16 bytes, bias to 8. Meaning of x, w, y and their
/// companions: ProductArgs (epilogue.h).
struct GroupedCall {
  const int32_t* offsets = nullptr;  ///< [experts + 1], ascending from 0
  int32_t experts = 1;               ///< 1 to 1,024
  int64_t most_slots = 0;            ///< at least offsets[experts]
  int64_t most_rows = 0;  ///< at least any expert's slots; regimes for more rows are not launched (check_most_rows)
  int32_t fan_out = 1;    ///< of the decision; a scattering store needs 1
  int32_t n = 0, k = 0;
  Format format = Format::f32;  ///< of x, w and y
  bool gated = false;
  const void* x = nullptr;
  const int32_t* gather = nullptr;
  const void* w = nullptr;
  const float* bias = nullptr;
  Activation activation = Activation::none;
  void* y = nullptr;
  const int32_t* scatter = nullptr;
  const float* weight = nullptr;
};

/// The shape of a product, by which limits are chosen.
struct ProductShape {
  Format format = Format::f32;
  int32_t n = 0, k = 0;
};
/// Rows of the experts, as far as the host knows them.
struct ExpertLoads {
  int64_t most = 0;  ///< no expert gets more
  double mean = 0;   ///< slots / experts
};
/// The regimes' limits for products that share a tile map (those of a layer), on a card with or without wgmma: by
/// measured times, in grouped/choice.cpp.
RegimeLimits choose_limits(bool has_wgmma, const ProductShape* products, int count, const ExpertLoads& rows);
/// The same for the current card.
Status choose_limits(const ProductShape* products, int count, const ExpertLoads& rows, RegimeLimits& limits);
/// True if the regime may have rows, as far as the host knows.
bool may_occur(Regime regime, const RegimeLimits& limits, int64_t most_rows);
/// Kernels that a product launches.
enum class Launch : uint8_t {
  joined,   ///< tiles of swapped and of large
  swapped,  ///< if large cannot occur
  plain,
  gemv,
};
inline constexpr const char* to_text(Launch launch) {
  return launch == Launch::joined    ? "joined"
         : launch == Launch::swapped ? "swapped"
         : launch == Launch::plain   ? "plain"
                                     : "gemv";
}
struct LaunchList {
  Launch launch[3] = {};
  int count = 0;
  const Launch* begin() const { return launch; }
  const Launch* end() const { return launch + count; }
};
/// Launches of a product, in their order: one for each regime that may occur, but one for both swapped and large.
LaunchList launches(const RegimeLimits& limits, int64_t most_rows);

/// Bytes of a tile map.
inline constexpr size_t kTileMapBytes = sizeof(int32_t) * kTileMapInts;
/// A tile map in memory, with the limits that it is made with and the product is computed by.
struct TileMap {
  int32_t* at = nullptr;  ///< device memory of kTileMapBytes
  RegimeLimits limits;
};
/// Makes the tile map from the offsets, with the map's limits; queued.
Status make_tile_map(const int32_t* offsets, int32_t experts, const TileMap& map, Stream stream);

/// The reason why grouped_product() refuses the call, if it does.
Status check_grouped(const GroupedCall& call, const TileMap& map);
/// Computes the product; queues launches().
Status grouped_product(const GroupedCall& call, const TileMap& map, Stream stream);

/// Fails if an expert has more rows than the product expected: some of its rows may then be unwritten. The host cannot
/// know this and a product does not check it; the map stores the rows of its first expert.
Status check_most_rows(int32_t rows, int64_t most_rows);
/// The same for a map that was queued before. It waits for the stream, so it is for checks.
Status check_most_rows(const TileMap& map, int64_t most_rows, Stream stream);

}  // namespace stormcell::gpu

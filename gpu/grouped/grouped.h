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
  int64_t most_rows = 0;  ///< at least any expert's slots; regimes of more rows are not launched (check_most_rows)
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

/// What a product of this shape can use.
struct ProductShape {
  Format format = Format::f32;
  int32_t n = 0, k = 0;
};
/// The rows of an expert, as far as the host can tell.
struct ExpertLoads {
  int64_t most = 0;  ///< no expert gets more
  double mean = 0;   ///< slots / experts
};
/// The regimes' limits for products that share a tile map (those of a layer), on a card with or without wgmma: by
/// measured times, in grouped/choice.cpp.
RegimeLimits choose_limits(bool has_wgmma, const ProductShape* products, int count, const ExpertLoads& rows);
/// The same for the current card.
Status choose_limits(const ProductShape* products, int count, const ExpertLoads& rows, RegimeLimits& limits);
/// True where the regime may have rows, as far as the host can tell.
bool may_occur(Regime regime, const RegimeLimits& limits, int64_t most_rows);
/// What a product launches.
enum class Launch : uint8_t {
  joined,   ///< tiles of swapped and of large
  swapped,  ///< where large cannot occur
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
/// Those of a product, in their order: one a regime that may occur, but one for both swapped and large.
LaunchList launches(const RegimeLimits& limits, int64_t most_rows);

/// Bytes of a tile map.
inline constexpr size_t kTileMapBytes = sizeof(int32_t) * kTileMapInts;
/// Where a tile map lies, and the limits that it is made with and the product is computed by.
struct TileMap {
  int32_t* at = nullptr;  ///< device memory of kTileMapBytes
  RegimeLimits limits;
};
/// Makes the tile map from the offsets, with the map's limits; queued.
Status make_tile_map(const int32_t* offsets, int32_t experts, const TileMap& map, Stream stream);

/// What grouped_product() refuses.
Status check_grouped(const GroupedCall& call, const TileMap& map);
/// The product; queued, launches().
Status grouped_product(const GroupedCall& call, const TileMap& map, Stream stream);

/// What an expert of more rows than a product was told of comes to: its rows may be unwritten. The host cannot know,
/// and a product does not look; the map says how many rows its first expert has.
Status check_most_rows(int32_t rows, int64_t most_rows);
/// The same of a map that was queued before; waits for the stream, so it is for checks.
Status check_most_rows(const TileMap& map, int64_t most_rows, Stream stream);

}  // namespace stormcell::gpu

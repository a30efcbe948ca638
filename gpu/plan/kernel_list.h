// The kernels of plans, each once. A node names its kernel by the place in this list; a card has a table of launches of
// the same order, the tests run each kernel's own code on the host.
#pragma once
#include <cstdint>
#include <type_traits>

#include "gpu/attention/attention.h"
#include "gpu/attention/window_attention.h"
#include "gpu/grouped/planned_product.h"
#include "gpu/maps/chain.h"
#include "gpu/maps/conv.h"
#include "gpu/maps/pixels.h"
#include "gpu/maps/pool.h"
#include "gpu/pointwise/pointwise.h"
#include "gpu/reduce/distance.h"
#include "gpu/reduce/reduce.h"
#include "gpu/routing/planned_route.h"
#include "gpu/routing/priority.h"
#include "gpu/rows/ask.h"
#include "gpu/rows/decide.h"
#include "gpu/rows/join.h"
#include "gpu/rows/move.h"
#include "gpu/rows/places.h"
#include "gpu/rows/put.h"
#include "gpu/rows/ragged.h"
#include "gpu/rows/record.h"
#include "gpu/rows/settle.h"

namespace stormcell::gpu {

template <class... Kernels>
struct KernelTypes {
  static constexpr int32_t kCount = sizeof...(Kernels);

  /// The place of a kernel; kCount: it is not in the list.
  template <class Kernel>
  static constexpr int32_t place() {
    int32_t at = 0;
    bool found = false;
    ((found = found || std::is_same_v<Kernel, Kernels>, at += !found), ...);
    return at;
  }
  /// body.operator()<Kernel>() for the kernel at a place.
  template <class Body>
  static void with(int32_t place, Body&& body) {
    int32_t at = 0;
    ((at++ == place ? (body.template operator()<Kernels>(), 0) : 0), ...);
  }
};

template <int kLanes, int kHeld>
using OneBlockRoute = RouteKernel<RouteAndMapKernel<kLanes, kHeld>>;
template <int kLanes, int kHeld>
using ChooseRoute = RouteKernel<ChooseKernel<kLanes, kHeld>>;

/// The visible list.
using PlanKernels =
    KernelTypes<SettleKernel, MoveKernel, JoinKernel, PointwiseKernel, ReduceKernel, AttentionKernel,
                PlannedProductKernel<float>, PlannedProductKernel<Bf16>, PlannedMapKernel, RecordKernel, AbsentKernel,
                CellRuleKernel, ReplayKernel, PutKernel, DecideKernel, TurnKernel, GuardKernel, NeedKernel,
                PositionsKernel, RotaryKernel, OneBlockRoute<8, 1>, OneBlockRoute<32, 1>, OneBlockRoute<8, 8>,
                OneBlockRoute<16, 8>, OneBlockRoute<32, 8>, ChooseRoute<8, 1>, ChooseRoute<32, 1>, ChooseRoute<8, 8>,
                ChooseRoute<16, 8>, ChooseRoute<32, 8>, ChooseRoute<32, 32>, RouteKernel<IndexOneTileKernel>,
                RouteKernel<TailKernel>, RouteKernel<CarryKernel>, RouteKernel<LimitKernel>, RouteKernel<CountKernel>,
                RouteKernel<ScanKernel>, RouteKernel<PlaceKernel>, CompactKernel, MembersKernel, MemberCellsKernel,
                ConfidenceKernel, PriorityKernel, PadKernel, ConvKernel, GroupedConvKernel, PoolKernel, PixelKernel,
                WindowAttentionKernel, DistanceKernel, AskKernel, ChainKernel, SeparableKernel>;

}  // namespace stormcell::gpu

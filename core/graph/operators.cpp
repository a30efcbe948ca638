// The visible list of operators. A new one: its file in ops/, its kernels, its row here and in the test cases.
#include <array>

#include "core/graph/operator.h"

namespace stormcell {

extern const Operator kEmbedding, kLinear, kGroupedLinear, kGroupedConv2d, kSeparableConv2d, kGroupedResidualBlocks,
    kGroupedLayerNorm, kRmsNorm, kActivation, kAdd, kMultiply, kScale, kAttention, kRotary, kPositions, kRoute,
    kScatter, kGather, kConv2d, kPool, kReduce, kBroadcast, kArgmax, kSample, kExtent, kAddConstant, kEndSequences,
    kAllSet, kBranchesEmpty, kBranchesFull, kStateFill, kStateWrite, kStatePut, kCompact, kMembers, kPack, kExpand,
    kChoiceWeight, kZeros, kResize, kUnfold, kFold, kPixelShuffle, kConcat, kStandardize, kSquaredDistance,
    kResidualBlocks, kLayerNorm, kMergeCells, kWindowAttention, kGuard, kRepeat, kExchangeDecision, kExchangeRows,
    kExchangeBack;

namespace {
constexpr std::array kOperators = {
    &kEmbedding,
    &kLinear,
    &kGroupedLinear,
    &kConv2d,
    &kGroupedConv2d,
    &kSeparableConv2d,
    &kRmsNorm,
    &kActivation,
    &kAdd,
    &kMultiply,
    &kScale,
    &kAttention,
    &kRotary,
    &kPositions,
    &kPool,
    &kReduce,
    &kBroadcast,
    &kArgmax,
    &kSample,
    &kRoute,
    &kScatter,
    &kGather,
    &kChoiceWeight,
    &kZeros,
    &kResize,
    &kUnfold,
    &kFold,
    &kPixelShuffle,
    &kConcat,
    &kStandardize,
    &kSquaredDistance,
    &kResidualBlocks,
    &kGroupedResidualBlocks,
    &kLayerNorm,
    &kGroupedLayerNorm,
    &kMergeCells,
    &kWindowAttention,
    &kCompact,
    &kMembers,
    &kPack,
    &kExpand,
    &kExtent,
    &kAddConstant,
    &kEndSequences,
    &kAllSet,
    &kBranchesEmpty,
    &kBranchesFull,
    &kStateFill,
    &kStateWrite,
    &kStatePut,
    &kGuard,
    &kRepeat,
    &kExchangeDecision,
    &kExchangeRows,
    &kExchangeBack,
};
}  // namespace

std::span<const Operator* const> operators() { return kOperators; }

const Operator* find_operator(std::string_view name) {
  for (const Operator* op : kOperators)
    if (op->name == name) return op;
  return nullptr;
}

}  // namespace stormcell

#include "core/difference/causes.h"

namespace stormcell {
namespace {

constexpr std::array<std::string_view, 15> kNext = {
    "nothing; what differs lies within the rounding of the scores",
    "how each side numbers layers: dense layers first, layers that predict further tokens, pipeline stages",
    "maps of physical to logical experts, the order of ranks, the conversion of the checkpoint",
    "options that fuse shared experts with the routed ones, and the recorder's slice of columns",
    "num_experts_per_tok on both sides, and what an ablation may have left in",
    "the scoring function (softmax or sigmoid), and whether it is applied before or after the choice",
    "norm_topk_prob, or renormalize, on the side of b",
    "routed_scaling_factor on both sides, and whether it is applied to weights or to outputs",
    "e_score_correction_bias: it chooses, but weights are made from scores without it",
    "n_group and topk_group on both sides",
    "the number format of the router's product and of its softmax: it should be f32",
    "the recorder's first position: a begin-of-text token, the last token of the prompt, chunked prefill",
    "the attention mask that the recorder gets, and how each side pads a batch",
    "the order of requests in a batch when the recorder assigns rows to requests",
    "weights and inputs of both sides; then record scores, which tell more causes",
};

}  // namespace

std::string_view next_check(DiffCause cause) { return row_of(kNext, cause); }

}  // namespace stormcell

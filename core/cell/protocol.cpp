#include "core/cell/protocol.h"

#include <algorithm>
#include <array>
#include <utility>

#include "core/base/error.h"

namespace stormcell {
namespace {
using Choose = void (*)(const ScoreView&, const Protocol&, DecisionView&);
struct Row {
  ProtocolKind kind;
  std::string_view name;
  Choose choose;
};
constexpr std::array kProtocols = {
    Row{ProtocolKind::top_k, "top-k", choose_top_k},
    Row{ProtocolKind::switch_top1, "switch-top1", choose_switch_top1},
    Row{ProtocolKind::batch_prioritized, "batch-prioritized", choose_batch_prioritized},
    Row{ProtocolKind::sigmoid_groups, "sigmoid-groups", choose_sigmoid_groups},
    Row{ProtocolKind::threshold, "threshold", choose_threshold},
    Row{ProtocolKind::residual_threshold, "residual-threshold", choose_residual_threshold},
    Row{ProtocolKind::exit_threshold, "exit-threshold", choose_exit_threshold},
    Row{ProtocolKind::hash, "hash", choose_hash},
    Row{ProtocolKind::label, "label", choose_label},
};
const Row& row(ProtocolKind kind) { return kProtocols[static_cast<size_t>(kind)]; }

void finish(const Protocol& protocol, int64_t cells, DecisionView& out) {
  index_decision(out, cells);
  pad_loads(out, {protocol.supported_capacities, protocol.capacity_padding, protocol.path_wise_padding});
}
}  // namespace

std::string_view to_text(ProtocolKind kind) { return row(kind).name; }

ProtocolKind parse_protocol(std::string_view text, std::string_view where) {
  std::string known;
  for (const Row& r : kProtocols) {
    if (r.name == text) return r.kind;
    known += (known.empty() ? "" : ", ") + std::string(r.name);
  }
  bad_input(where, "unknown protocol \"" + std::string(text) + "\"", "one of " + known);
}

int32_t Protocol::fan_out(int32_t branches) const {
  switch (kind) {
    case ProtocolKind::top_k:
    case ProtocolKind::sigmoid_groups:
      return k;
    case ProtocolKind::threshold:
      return branches;
    case ProtocolKind::hash:
      return 2;
    default:
      return 1;
  }
}

void route(const ScoreView& scores, const Protocol& protocol, DecisionView& out) {
  row(protocol.kind).choose(scores, protocol, out);
  weigh_choices(scores, protocol, out);
  finish(protocol, scores.cells, out);
}

void replay(const ScoreView& scores, const Protocol& protocol, const int32_t* choices, DecisionView& out, int32_t* free_choices) {
  row(protocol.kind).choose(scores, protocol, out);  // for the margins
  for (int64_t c = 0; c < scores.cells; ++c) {
    const bool recorded = choices[c * out.fan_out] != kNotRecorded;
    for (int64_t i = c * out.fan_out; i < (c + 1) * out.fan_out; ++i) {
      const int32_t chosen = out.choice[i];
      if (recorded) out.choice[i] = choices[i];
      if (free_choices) free_choices[i] = chosen;
    }
  }
  weigh_choices(scores, protocol, out);
  finish(protocol, scores.cells, out);
}

}  // namespace stormcell

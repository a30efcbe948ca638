#include "core/cell/protocol_row.h"

#include <algorithm>
#include <array>
#include <string>

#include "core/base/enum_words.h"
#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/cell/choose.h"

namespace stormcell {
namespace {

constexpr std::array kProtocols = {
    ProtocolRow{.kind = ProtocolKind::top_k,
                .name = "top-k",
                .choose = choose_top_k,
                .fan_out = FanOut::k,
                .weighting = Weighting::selected,
                .margin = MarginOf::scores,
                .takes = "k softmax off"},
    ProtocolRow{.kind = ProtocolKind::switch_top1,
                .name = "switch-top1",
                .choose = choose_switch_top1,
                .weighting = Weighting::softmax,
                .places = Places::in_order,
                .margin = MarginOf::scores,
                .takes = "capacity dropped off"},
    ProtocolRow{.kind = ProtocolKind::batch_prioritized,
                .name = "batch-prioritized",
                .choose = choose_batch_prioritized,
                .weighting = Weighting::softmax,
                .places = Places::by_confidence,
                .margin = MarginOf::scores,
                .takes = "capacity_factor dropped off"},
    ProtocolRow{.kind = ProtocolKind::sigmoid_groups,
                .name = "sigmoid-groups",
                .choose = choose_sigmoid_groups,
                .fan_out = FanOut::k,
                .weighting = Weighting::sigmoid,
                .margin = MarginOf::groups,
                .takes = "k groups groups_kept bias off"},
    ProtocolRow{.kind = ProtocolKind::threshold,
                .name = "threshold",
                .choose = choose_threshold,
                .fan_out = FanOut::all,
                .weighting = Weighting::score,
                .margin = MarginOf::each_score,
                .takes = "threshold residual off"},
    ProtocolRow{.kind = ProtocolKind::residual_threshold,
                .name = "residual-threshold",
                .choose = choose_residual_threshold,
                .margin = MarginOf::sum,
                .branches = 2,
                .takes = "threshold residual off"},
    ProtocolRow{.kind = ProtocolKind::exit_threshold,
                .name = "exit-threshold",
                .choose = choose_exit_threshold,
                .margin = MarginOf::largest_share,
                .branches = 2,
                .takes = "threshold residual off"},
    ProtocolRow{.kind = ProtocolKind::hash,
                .name = "hash",
                .choose = choose_hash,
                .decided_by = DecidedBy::any_label,
                .fan_out = FanOut::two,
                .takes = "branches seed"},
    ProtocolRow{.kind = ProtocolKind::label,
                .name = "label",
                .choose = choose_label,
                .decided_by = DecidedBy::branch_label,
                .takes = "branches"},
};
static_assert([] {
  for (size_t i = 0; i < kProtocols.size(); ++i)
    if (static_cast<size_t>(kProtocols[i].kind) != i) return false;
  return true;
}());

bool is_among(std::string_view words, std::string_view word) {
  while (!words.empty()) {
    const size_t end = std::min(words.find(' '), words.size());
    if (words.substr(0, end) == word) return true;
    words.remove_prefix(std::min(end + 1, words.size()));
  }
  return false;
}

}  // namespace

std::span<const ProtocolRow> protocols() { return kProtocols; }
const ProtocolRow& protocol_row(ProtocolKind kind) { return row_of(kProtocols, kind); }
bool takes(const ProtocolRow& row, std::string_view parameter) {
  return is_among(row.takes, parameter) || is_among(kCommonParameters, parameter);
}

std::string_view to_text(ProtocolKind kind) { return protocol_row(kind).name; }

ProtocolKind parse_protocol(std::string_view text, std::string_view where) {
  for (const ProtocolRow& row : kProtocols)
    if (row.name == text) return row.kind;
  bad_input(where, "unknown protocol \"" + std::string(text) + "\"",
            advice_on_word(text, kProtocols, [](const ProtocolRow& r) { return r.name; }));
}

int32_t fan_out_of(const Protocol& protocol, int32_t branches) {
  switch (protocol_row(protocol.kind).fan_out) {
    case FanOut::one:
      return 1;
    case FanOut::two:
      return 2;
    case FanOut::k:
      return protocol.k;
    case FanOut::all:
      return branches;
  }
  return 1;
}

bool mixes_parent(const Protocol& protocol) {
  return protocol_row(protocol.kind).places == Places::in_order && protocol.capacity > 0;
}
bool mixes_batch(const Protocol& protocol) {
  return protocol_row(protocol.kind).places == Places::by_confidence && protocol.capacity_factor > 0;
}

SoftmaxPlace softmax_of_weights(const Protocol& protocol) {
  const Weighting weighting = protocol_row(protocol.kind).weighting;
  if (weighting == Weighting::selected) return protocol.softmax;
  return weighting == Weighting::softmax ? SoftmaxPlace::before : SoftmaxPlace::none;
}

}  // namespace stormcell

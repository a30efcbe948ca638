// A router's protocol as attributes of its route node, and back.
#pragma once
#include "core/cell/protocol.h"
#include "core/graph/attribute_rules.h"

namespace stormcell {

inline constexpr std::string_view kSoftmaxWords = "none before after";  ///< in the order of SoftmaxPlace
inline constexpr std::string_view kDroppedWords = "zero scaled_input";  ///< in the order of DroppedCells

/// The attributes of a route node: its protocol's parameters, the number of branches if one label per cell decides, the
/// stack of the model that it belongs to, and its former branches (within.h).
inline constexpr AttributeRule kRouteAttributes[] = {
    {"protocol", AttributeKind::word},  // parse_protocol names those there are
    {"k", AttributeKind::integer, Presence::optional},
    {"softmax", AttributeKind::word, Presence::optional, kSoftmaxWords},
    {"renormalize", AttributeKind::flag, Presence::optional},
    {"capacity", AttributeKind::integer, Presence::optional},
    {"dropped", AttributeKind::word, Presence::optional, kDroppedWords},
    {"capacity_factor", AttributeKind::real, Presence::optional},
    {"threshold", AttributeKind::real, Presence::optional},
    {"residual", AttributeKind::integer, Presence::optional},
    {"groups", AttributeKind::integer, Presence::optional},
    {"groups_kept", AttributeKind::integer, Presence::optional},
    {"scale", AttributeKind::real, Presence::optional},
    {"seed", AttributeKind::integer, Presence::optional},
    {"off", AttributeKind::integers, Presence::optional},
    {"supported_capacities", AttributeKind::integers, Presence::optional},
    {"capacity_padding", AttributeKind::flag, Presence::optional},
    {"path_wise_padding", AttributeKind::flag, Presence::optional},
    {"branches", AttributeKind::integer, Presence::optional},
    {"stack", AttributeKind::word, Presence::optional},
    {"within", AttributeKind::word, Presence::optional},
};

/// Only parameters that differ from their defaults are written.
Attributes to_attributes(const Protocol& protocol);
/// Throws Error(bad_input) on an unknown protocol.
Protocol protocol_of(const Attributes& attributes);

}  // namespace stormcell

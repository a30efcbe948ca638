// The keys of a JSON as a tree, each with its Figure. describe.h makes one of the fields() of a struct.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/figures/figure.h"

namespace stormcell {

enum class KeyKind : uint8_t { object, number, whole, flag, text, interval, json, nothing };

struct FigureNode {
  std::string key;
  Figure figure = {};
  KeyKind kind = KeyKind::object;
  int lists = 0;               ///< levels of lists around the value
  int names = 0;               ///< levels of objects around the value whose keys are names
  const void* type = nullptr;  ///< of a struct: identifies it
  bool again = false;          ///< a struct within itself: its members are those of the node above with the same type
  std::vector<FigureNode> members = {};

  const FigureNode* member(std::string_view name) const;
};

/// The node of a dotted path as compare writes it: "passes.dead-path.speedup_own", "routing.encoder.0.mlp.load.3". The
/// elements of a list are named by a number or by a name that may have dots of its own. Null: no row describes it.
const FigureNode* find_node(const FigureNode& root, std::string_view path);

}  // namespace stormcell

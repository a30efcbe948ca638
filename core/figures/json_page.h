// The keys of the verbs' JSON as a page: docs/reference/json.md ends with it.
#pragma once
#include <string>
#include <vector>

#include "core/figures/figure_tree.h"

namespace stormcell {

struct JsonFile {
  std::string title;  ///< the verbs that write it
  FigureNode tree;
};
/// The section "Every key" in Markdown: a table for each file, with the value, unit, better direction, origin and meaning
/// of every key. The keys of a struct are listed where it comes first.
std::string json_keys_page(const std::vector<JsonFile>& files);

}  // namespace stormcell

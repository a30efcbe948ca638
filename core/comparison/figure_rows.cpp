#include "core/comparison/figure_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "core/comparison/trace_rows.h"
#include "core/figures/describe.h"
#include "core/planning/place_fields.h"
#include "core/summary/fields.h"

namespace stormcell {
namespace {

/// The files that compare reads, in the order in which a path is looked up: a key has one meaning in all of them.
const std::array<FigureNode, 6>& compared_files() {
  // The verb with the most keys. Its `verified` is of outputs, that of generate of tokens.
  static const std::array<FigureNode, 6> files = {describe(RunSummaryFigures{.verb = "profile"}),
                                                  describe<GenerateFigures>(),
                                                  describe<ModelStructure>(),
                                                  describe<PlaceFigures>(),
                                                  describe<PhasePlacements>(),
                                                  describe<TraceRows>()};
  return files;
}

using KeysOfReasons = std::map<std::string, std::string_view, std::less<>>;

void add_reasons(const FigureNode& node, KeysOfReasons& reasons) {
  for (const FigureNode& member : node.members) {
    if (*member.figure.withheld_by != '\0') reasons.emplace(member.key, member.figure.withheld_by);
    add_reasons(member, reasons);
  }
}

KeysOfReasons keys_of_reasons() {
  KeysOfReasons reasons;
  for (const FigureNode& file : compared_files()) add_reasons(file, reasons);
  return reasons;
}

}  // namespace

const Figure& figure_of(std::string_view path) {
  static const Figure unknown;
  for (const FigureNode& file : compared_files())
    if (const FigureNode* node = find_node(file, path)) return node->figure;
  return unknown;
}

std::string_view unit_of(std::string_view path) {
  constexpr std::string_view kMilliseconds = "ms";
  if (figure_of(path).unit != Unit::milliseconds) return {};
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find_first_of("._", begin), path.size());
    if (path.substr(begin, end - begin) == kMilliseconds) return {};
    begin = end + 1;
  }
  return kMilliseconds;
}

std::string_view withheld_by(std::string_view key) {
  static const KeysOfReasons reasons = keys_of_reasons();
  const auto at = reasons.find(key.substr(0, key.find(kIntervalKey)));
  return at == reasons.end() ? std::string_view() : at->second;
}

}  // namespace stormcell

// One side of a comparison: the figures of a session's run or placement, or of a file that --json wrote, by their
// dotted paths.
#pragma once
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

#include "core/comparison/withheld_figures.h"
#include "core/readings/same_model.h"
#include "core/readings/session_view.h"

namespace stormcell {

struct SummaryFigures {
  std::string name;
  RoutedModel model;
  WithheldFigures withheld;
  std::shared_ptr<const nlohmann::ordered_json> summary;
  std::vector<std::pair<std::string, double>> values;  ///< in the order of the JSON; true is 1
  std::map<std::string, double, std::less<>> value_of;
  std::map<std::string, std::array<double, 2>, std::less<>> intervals;
  std::vector<std::string> nulls, null_intervals;
  // Facts of a session's run; a file has none of these.
  std::string session;
  int64_t run = 0;
  LoadChances chances;

  bool is_placement() const;
  /// The text `object.key` of the summary; empty: there is none.
  std::string text(const char* object, const char* key) const;
};

/// `name` is S.storm, S.storm#RUN or a file. An imported run has figures of its routing only. Throws Error(bad_input)
/// if there are no figures.
SummaryFigures summary_figures(const std::string& name);

}  // namespace stormcell

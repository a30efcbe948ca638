// Early exits in words and numbers, one way for command line, report and window.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/summary/results.h"

namespace stormcell {

/// Of the items by exit the share that leaves at one; 0 of none.
double share_at(const std::vector<int64_t>& items, size_t exit);
/// "exit 1" of the first, counted from 0 in running order: what every exit is called wherever its router's name is not
/// told.
std::string exit_name(size_t exit);
/// The same of `ends` ways out, the last of which is "the end".
std::string exit_name(size_t exit, size_t ends);
std::string exit_name(const ExitCurve& curve, size_t exit);
/// "84.4 % of 1,000 pictures answer at exit 1, 6.9 % at exit 2, 8.7 % at the end: 50.1 % of the operations of the whole
/// network as the optimised plan runs, accuracy 98.9 %; all of them through the whole network: 98.9 %". Of fewer that
/// can be judged: "accuracy 98.9 % of the 900 that can be judged".
std::string exits_sentence(const ExitCurve& curve);
/// What a network with exits is about, of a run: "msdnet-digits answers 84.4 % of the pictures at the first exit".
/// Empty: it has none.
std::string exits_headline(const RunSummaryFigures& figures);
/// Behind that: "needs 50.1 % of the operations of the whole network as the optimised plan runs".
std::string exits_needs_text(const ExitCurve& curve);
/// "baseline", "optimized": words of summaries.
std::string_view to_text(CurvePlan plan);
/// Reads a word back.
CurvePlan curve_plan(std::string_view word);
/// Whose operations costs are: "as the optimised plan runs", "in the model's own order"; empty: the summary does not
/// say it.
std::string exit_plan_text(const ExitCurve& curve);
/// What costs are a share of: "of the operations of the whole network", and of which plan, where the summary says it.
std::string exit_operations_text(const ExitCurve& curve);
/// The title of a column of costs: "operations as the optimised plan runs".
std::string exit_costs_title(const ExitCurve& curve);
/// The same below a table: in which order both are counted, and what that leaves out.
std::string exit_order_text(const ExitCurve& curve);
/// A value of the measure: "98.9 %"; "-" where nothing can be judged.
std::string exit_value_text(const ExitCurve& curve, const std::optional<double>& value);
/// As short as it can be told from every other: "0.95", "0.99996"; "all leave" and "none leaves" of those beyond which
/// there is nothing to tell.
std::string exit_threshold_text(double threshold);
/// Of a session of another program some points may have no value: those that have one.
std::vector<ExitPoint> valued_points(const ExitCurve& curve);
/// Points of the curve that are worth a line: those at which fewer items leave at some exit than at the one before, at
/// most `most` of them, evenly chosen, the first and the last among them.
std::vector<size_t> told_points(const ExitCurve& curve, size_t most);

}  // namespace stormcell

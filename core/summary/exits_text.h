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

/// The share of `items` (by exit) that leaves at one; 0 if there are none.
double share_at(const std::vector<int64_t>& items, size_t exit);
/// "exit 1" for the first; `exit` counts from 0 in running order. Every exit is called so where its router's name is
/// not given.
std::string exit_name(size_t exit);
/// The same with `ends` ways out, the last of which is "the end".
std::string exit_name(size_t exit, size_t ends);
std::string exit_name(const ExitCurve& curve, size_t exit);
/// "84.4 % of 1,000 pictures answer at exit 1, 6.9 % at exit 2, 8.7 % at the end: 50.1 % of the operations of the whole
/// network as the optimised plan runs, accuracy 98.9 %; all of them through the whole network: 98.9 %". If fewer can be
/// judged: "accuracy 98.9 % of the 900 that can be judged".
std::string exits_sentence(const ExitCurve& curve);
/// The headline of a run with exits: "msdnet-digits answers 84.4 % of the pictures at the first exit". Empty: the run
/// has no exits.
std::string exits_headline(const RunSummaryFigures& figures);
/// The text behind it: "needs 50.1 % of the operations of the whole network as the optimised plan runs".
std::string exits_needs_text(const ExitCurve& curve);
/// "baseline", "optimized": words of summaries.
std::string_view to_text(CurvePlan plan);
/// Reads a word back.
CurvePlan curve_plan(std::string_view word);
/// The plan whose operations are the costs: "as the optimised plan runs", "in the model's own order"; empty: the
/// summary does not tell.
std::string exit_plan_text(const ExitCurve& curve);
/// The base of costs: "of the operations of the whole network", and of which plan, if the summary tells.
std::string exit_operations_text(const ExitCurve& curve);
/// The title of a column of costs: "operations as the optimised plan runs".
std::string exit_costs_title(const ExitCurve& curve);
/// The same below a table: the order in which both are counted, and what that leaves out.
std::string exit_order_text(const ExitCurve& curve);
/// A value of the measure: "98.9 %"; "-" where nothing can be judged.
std::string exit_value_text(const ExitCurve& curve, const std::optional<double>& value);
/// The threshold, with as many digits as tell it from every other: "0.95", "0.99996"; "all leave" and "none leaves"
/// beyond the thresholds that make a difference.
std::string exit_threshold_text(double threshold);
/// The points that have a value; in a session of another program some may have none.
std::vector<ExitPoint> valued_points(const ExitCurve& curve);
/// Points of the curve that are worth a line: those at which fewer items leave at some exit than at the one before, at
/// most `most` of them, evenly chosen, the first and the last among them.
std::vector<size_t> told_points(const ExitCurve& curve, size_t most);

}  // namespace stormcell

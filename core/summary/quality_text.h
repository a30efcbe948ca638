// Task quality in words, one way for command line, report and window.
#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/summary/results.h"

namespace stormcell {

/// The measure as a title: "Accuracy".
std::string quality_title(const QualityFigures& quality);
/// "98.9 %", "31.2 dB": by the unit of QualityFigures.
std::string quality_value_text(std::string_view unit, double value);
/// True of the unit of shares, which are shown as percent.
bool is_share(std::string_view unit);
/// "98.9 % [98.0, 99.4]".
std::string quality_text(std::string_view unit, double value, const std::optional<std::array<double, 2>>& ci95);
/// The fewest items whose answers are a quality. A time limit can leave a single one.
inline constexpr int64_t kFewestJudged = 3;
bool is_judged(const PlanQuality& plan);
/// "1 item was judged, and 3 are needed"; nothing: enough were.
std::optional<std::string> not_judged_text(const PlanQuality& plan);
/// The same for a plan, or "not judged" if too few items were.
std::string plan_quality_text(const QualityFigures& quality, const PlanQuality& plan);
/// The same with what it was counted over: "98.9 % [98.0, 99.4], 989 of 1,000 pictures right", "not judged (1 picture)".
std::string quality_sentence(const QualityFigures& quality, const PlanQuality& plan);
/// "the optimised plan answers each of the 60 pictures as well as the baseline", "... 2 pictures better than the
/// baseline and 1 worse"; empty: one plan, or too few items.
std::string quality_change_text(const QualityFigures& quality);
/// "background 98.1 %, person 63.2 %", where there are few classes: of one plan (&GroupQuality::baseline). Empty: there
/// are more, or none.
std::string quality_classes_text(const QualityFigures& quality, std::optional<double> GroupQuality::*plan);
/// The word for the items of a class: "pictures"; for classes of pixels also those that are only answered so.
std::string quality_group_items_text(const QualityFigures& quality);
/// The source of the figures: "over all batches, each once; 95 % interval by Wilson; of 12 pictures more the data do
/// not say what is right".
std::string quality_source_text(const QualityFigures& quality);

}  // namespace stormcell

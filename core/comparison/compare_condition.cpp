// --fail-if of compare: FIGURE OPERATOR NUMBER, or FIGURE OPERATOR [NUMBER*]a.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/comparison/compare.h"
#include "core/comparison/withheld_figures.h"
#include "core/summary/withheld.h"

namespace stormcell {
namespace {

constexpr const char* kForm = "as in 'speedup<0.95' or 'optimized.latency_ms.median>1.05*a'";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

double number(std::string_view text, const std::string& whole) {
  if (text == "true" || text == "false") return text == "true";
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    bad_input("--fail-if", "\"" + whole + "\": \"" + std::string(text) + "\" is not a number, true or false", kForm);
  return value;
}

std::string short_number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return text;
}

}  // namespace

FailCondition parse_fail_condition(const std::string& text) {
  FailCondition condition;
  condition.text = text;
  const size_t at = text.find_first_of("<>=!");
  size_t end = at;
  while (end != std::string::npos && end < text.size() && end < at + 2 &&
         std::string_view("<>=!").find(text[end]) != std::string_view::npos)
    ++end;
  if (at == std::string::npos) bad_input("--fail-if", "\"" + text + "\" has no < <= > >= == !=", kForm);
  condition.figure = trimmed(std::string_view(text).substr(0, at));
  condition.compare = text.substr(at, end - at);
  if (condition.figure.empty()) bad_input("--fail-if", "\"" + text + "\" names no figure", kForm);
  if (condition.compare == "=" || condition.compare == "!" ||
      (condition.compare.size() == 2 && condition.compare[1] != '='))
    bad_input("--fail-if", "\"" + text + "\": \"" + condition.compare + "\" is none of < <= > >= == !=", kForm);
  std::string_view right = trimmed(std::string_view(text).substr(end));
  if (right == "a") {
    condition.of_a = true;
  } else if (right.ends_with("a") && trimmed(right.substr(0, right.size() - 1)).ends_with("*")) {
    condition.of_a = true;
    right = trimmed(right.substr(0, right.size() - 1));
    condition.factor = number(trimmed(right.substr(0, right.size() - 1)), text);
  } else {
    condition.factor = number(right, text);
  }
  return condition;
}

namespace {

/// Finds a row, an end of an interval, or a distance of two routings.
std::optional<ComparedFigure> find_figure(const std::string& name, const Comparison& comparison) {
  for (const ComparedFigure& row : comparison.rows)
    if (row.figure == name) return row;
  if (const auto at = comparison.interval_ends.find(name); at != comparison.interval_ends.end())
    return ComparedFigure{name, at->second[0], at->second[1]};
  for (const RoutingDistance& d : comparison.routing)
    for (const auto& [word, value] :
         {std::pair(".total_variation", d.total_variation), std::pair(".jensen_shannon_bits", d.jensen_shannon_bits)})
      if (name == "routing." + d.router + word) return ComparedFigure{name, std::nullopt, value};
  // A figure below a null is null, as "verified.passed" if nothing was verified.
  for (const ComparedFigure& row : comparison.rows)
    if (!row.b && name.starts_with(row.figure + ".")) return ComparedFigure{name};
  return std::nullopt;
}

/// Says why a side has no such figure.
std::string null_text(const std::string& figure, const Comparison& comparison, size_t side) {
  const std::string why = why_withheld(figure, comparison.withheld[side]);
  const std::string& name = side == 0 ? comparison.a : comparison.b;
  return figure +
         (why.empty() ? " is null in " + name : " was " + std::string(kNotMeasured) + " in " + name + ": " + why);
}

/// True for a figure that both runs have, but whose difference the comparison does not state. An end of an interval
/// counts as its figure.
bool is_apart(const std::string& name, const Comparison& comparison) {
  const size_t end = name.find("_ci95[");
  for (const ComparedFigure& row : comparison.rows)
    if (row.figure == name.substr(0, end)) return row.a && row.b && !row.difference;
  return false;
}

}  // namespace

FailVerdict judge(const FailCondition& condition, const Comparison& comparison) {
  const std::optional<ComparedFigure> row = find_figure(condition.figure, comparison);
  if (!row) {
    std::vector<std::string> known;
    for (const ComparedFigure& one : comparison.rows) known.push_back(one.figure);
    const bool is_near = !nearest_words(condition.figure, known).empty();
    bad_input("--fail-if", "there is no figure \"" + condition.figure + "\"",
              is_near ? advice_on_word(condition.figure, known) : "compare without --fail-if lists them");
  }
  if (condition.of_a && is_apart(condition.figure, comparison))
    bad_input("--fail-if", "\"" + condition.text + "\": " + condition.figure + " of these two runs is not comparable",
              "ask for a number instead of a, or compare runs of the same phase and of the same cells");
  if (!row->b) return {true, null_text(condition.figure, comparison, 1)};
  if (condition.of_a && !row->a) return {true, null_text(condition.figure, comparison, 0)};
  const double left = *row->b, right = condition.of_a ? condition.factor * *row->a : condition.factor;
  const std::string& op = condition.compare;
  const bool fails = op == "<"    ? left < right
                     : op == "<=" ? left <= right
                     : op == ">"  ? left > right
                     : op == ">=" ? left >= right
                     : op == "==" ? left == right
                                  : left != right;
  return {fails, condition.figure + " is " + short_number(left) + ", so that " + condition.text + " holds"};
}

}  // namespace stormcell

#include "core/comparison/timed_difference.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "core/summary/withheld.h"

namespace stormcell {
namespace {
using Json = nlohmann::ordered_json;

/// The distances to the ends of the intervals are added as squares.
std::array<double, 2> around(const FigureInterval& a, const FigureInterval& b) {
  const double below = std::hypot(b.value - b.ci95[0], a.ci95[1] - a.value),
               above = std::hypot(b.ci95[1] - b.value, a.value - a.ci95[0]);
  return {b.value - a.value - below, b.value - a.value + above};
}

FigureInterval logarithm(const FigureInterval& f) {
  return {std::log(f.value), {std::log(f.ci95[0]), std::log(f.ci95[1])}};
}

std::string text_at(const Json& summary, const char* key) {
  const auto at = summary.find(key);
  return at != summary.end() && at->is_string() ? at->get<std::string>() : std::string();
}

/// True for "passes.NAME.speedup_own" of a pass that was left out.
bool is_gain_of_left_out(const Json& summary, const std::string& figure) {
  constexpr std::string_view kPass = "passes.", kOwn = ".speedup_own";
  if (!figure.starts_with(kPass) || !figure.ends_with(kOwn)) return false;
  const std::string name = figure.substr(kPass.size(), figure.size() - kPass.size() - kOwn.size());
  const auto passes = summary.find("passes");
  if (passes == summary.end() || !passes->is_array()) return false;
  for (const Json& pass : *passes)
    if (pass.is_object() && text_at(pass, "name") == name) return pass.contains("left_out") && pass["left_out"] == true;
  return false;
}

}  // namespace

std::array<double, 2> interval_of_difference(const FigureInterval& a, const FigureInterval& b, Scale scale) {
  const auto is_positive = [](const FigureInterval& f) { return f.value > 0 && f.ci95[0] > 0; };
  if (scale == Scale::plain || !is_positive(a) || !is_positive(b)) return around(a, b);
  const std::array<double, 2> ratio = around(logarithm(a), logarithm(b));
  return {a.value * std::expm1(ratio[0]), a.value * std::expm1(ratio[1])};
}

std::string why_no_spread(const Json& summary, std::string figure) {
  constexpr std::string_view kDecode = "decode.";
  if (const auto half = summary.find("decode");
      figure.starts_with(kDecode) && half != summary.end() && half->is_object())
    return why_no_spread(*half, figure.substr(kDecode.size()));
  if (const std::string reason = text_at(summary, "speedup_withheld"); !reason.empty())
    return std::string(kNotMeasured) + ": " + reason;
  const auto spread = summary.find("between_spread");
  if (spread != summary.end() && spread->is_number())
    return is_gain_of_left_out(summary, figure) ? "a pass that was left out" : "";
  const std::string reason = text_at(summary, "measured_once");
  return "one measurement" + (reason.empty() ? std::string() : ": " + reason);
}

}  // namespace stormcell

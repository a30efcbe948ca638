#include "core/readings/same_model.h"

#include <algorithm>

#include "core/base/counted.h"
#include "core/base/error.h"
#include "core/readings/lacks.h"

namespace stormcell {
namespace {

bool is_named(const ModelSummary& model, const RunSummary& run) {
  const std::vector<std::string> lacks = lacks_of_import(run);
  return !model.name.empty() && std::find(lacks.begin(), lacks.end(), "model") == lacks.end();
}

}  // namespace

SameModel same_model(const ModelSummary& a, const RunSummary& run_a, const ModelSummary& b, const RunSummary& run_b) {
  return same_model(RoutedModel{{}, a, is_named(a, run_a), {}}, RoutedModel{{}, b, is_named(b, run_b), {}});
}

SameModel same_model(const RoutedModel& of_a, const RoutedModel& of_b) {
  const ModelSummary &a = of_a.model, &b = of_b.model;
  // A trace's fingerprint has the names that its format gives to routers in it.
  const bool by_name = (a.form == kTraceForm && b.form == kTraceForm) || a.fingerprint.empty() || b.fingerprint.empty();
  if (!by_name && a.fingerprint == b.fingerprint) return SameModel::yes;
  if (!by_name && a.form == b.form) return SameModel::no;
  if (!of_a.is_named || !of_b.is_named) return SameModel::not_known;
  // The same checkpoint is spelt as its file, as its folder and as its page.
  return a.name == b.name ? SameModel::yes : SameModel::not_known;
}

std::string other_model_text(const ModelSummary& other, const ModelSummary& ours) {
  return other.name == ours.name ? "other weights of the same name" : other.name + " and not " + ours.name;
}

RoutedModel routed_model(const std::string& named, const ModelSummary& model, const RunSummary& run,
                         const RunLayout& layout) {
  RoutedModel made{named, model, is_named(model, run), {}};
  for (const RouterInfo& r : layout.routers) made.routers.push_back({r.layer, r.branches});
  return made;
}

std::string shape_text(const RoutedModel& model) {
  int32_t most = 0;
  for (const RoutedModel::Router& r : model.routers) most = std::max(most, r.branches);
  return counted(std::ssize(model.routers), "router") +
         (most > 0 ? " of " + counted(int64_t{most}, "branch") : std::string());
}

bool have_like_routers(const RoutedModel& a, const RoutedModel& b) {
  if (a.routers.empty() || b.routers.empty()) return true;
  return std::equal(a.routers.begin(), a.routers.end(), b.routers.begin(), b.routers.end(),
                    [](const auto& x, const auto& y) {
                      return x.branches == y.branches && (x.layer < 0 || y.layer < 0 || x.layer == y.layer);
                    });
}

void check_like_models(const RoutedModel& ours, const RoutedModel& other) {
  const SameModel same = same_model(ours, other);
  const bool traces = ours.model.form == kTraceForm || other.model.form == kTraceForm;
  if (same == SameModel::yes && !traces) return;
  std::string why;
  if (!have_like_routers(ours, other)) {
    const std::string shape = shape_text(ours), other_shape = shape_text(other);
    why = other_shape +
          (shape == other_shape ? ", of which some are in other layers or have other branches" : " and not " + shape);
  } else if (same == SameModel::no) {
    why = other_model_text(other.model, ours.model);
  }
  if (!why.empty())
    bad_input(other.named, "is of another model than " + ours.named + ": " + why, "compare recordings of one model");
}

std::string model_doubt_text(const std::string& named, const ModelSummary& other, const RunSummary& run_other,
                             const ModelSummary& ours, const RunSummary& run_ours) {
  const bool both = is_named(other, run_other) && is_named(ours, run_ours);
  return "nobody knows whether " + named + " is of this model: " +
         (both ? "it is named " + other_model_text(other, ours) : "a trace did not name its own") +
         "; layers and experts agree";
}

}  // namespace stormcell

#include "core/readings/same_model.h"

#include <algorithm>
#include <vector>

#include "core/readings/lacks.h"

namespace stormcell {
namespace {

bool is_named(const ModelSummary& model, const RunSummary& run) {
  const std::vector<std::string> lacks = lacks_of_import(run);
  return !model.name.empty() && std::find(lacks.begin(), lacks.end(), "model") == lacks.end();
}

}  // namespace

SameModel same_model(const ModelSummary& a, const RunSummary& run_a, const ModelSummary& b, const RunSummary& run_b) {
  // A trace's fingerprint has the names that its format gives to routers in it.
  const bool traces = a.form == "trace" && b.form == "trace";
  if (!traces && a.fingerprint == b.fingerprint) return SameModel::yes;
  if (!traces && a.form == b.form) return SameModel::no;
  if (!is_named(a, run_a) || !is_named(b, run_b)) return SameModel::not_known;
  // The same checkpoint is spelt as its file, as its folder and as its page.
  return a.name == b.name ? SameModel::yes : SameModel::not_known;
}

std::string other_model_text(const ModelSummary& other, const ModelSummary& ours) {
  return other.name == ours.name ? "other weights of the same name" : other.name + " and not " + ours.name;
}

std::string model_doubt_text(const std::string& named, const ModelSummary& other, const RunSummary& run_other, const ModelSummary& ours,
                             const RunSummary& run_ours) {
  const bool both = is_named(other, run_other) && is_named(ours, run_ours);
  return "nobody knows whether " + named +
         " is of this model: " + (both ? "it is named " + other_model_text(other, ours) : "a trace did not name its own") +
         "; layers and experts agree";
}

}  // namespace stormcell

// Whether two sessions are of one model, as far as they say it. Not for views and commands, which see no RunSummary.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/session/session_types.h"

namespace stormcell {

enum class SameModel : uint8_t {
  yes,
  no,
  not_known,  ///< one of them does not say its model, or they spell it in two ways
};

/// Compares fingerprints; for traces, and if fingerprints were made in two ways, names, which never say that models
/// differ. A run of each: an import notes there whether its trace named a model.
SameModel same_model(const ModelSummary& a, const RunSummary& run_a, const ModelSummary& b, const RunSummary& run_b);

/// "other.gguf and not made-up.gguf", or that only the weights are others.
std::string other_model_text(const ModelSummary& other, const ModelSummary& ours);

/// A model as a recording, or the figures of a run, describe it.
struct RoutedModel {
  struct Router {
    int32_t layer = -1, branches = 0;  ///< layer -1: not known
  };
  std::string named;  ///< the file, as the user named it
  ModelSummary model;
  bool is_named = true;         ///< false: a trace that does not name its model
  std::vector<Router> routers;  ///< empty: not known
};
RoutedModel routed_model(const std::string& named, const ModelSummary& model, const RunSummary& run,
                         const RunLayout& layout);
SameModel same_model(const RoutedModel& a, const RoutedModel& b);
/// "3 routers of 16 branches"
std::string shape_text(const RoutedModel& model);
/// True if both have equally many routers with equally many branches, in the same layers as far as these are known.
/// Also true if nothing is known of one.
bool have_like_routers(const RoutedModel& a, const RoutedModel& b);
/// Every comparison of two recordings calls this first. Error(bad_input) names `other` if it is of another model than
/// `ours`. Runs of one model may have different routers, since passes remove some.
void check_like_models(const RoutedModel& ours, const RoutedModel& other);

/// The reason for doubt about two models whose layers and experts are the same. `named`: the other one, as the user
/// named it.
std::string model_doubt_text(const std::string& named, const ModelSummary& other, const RunSummary& run_other,
                             const ModelSummary& ours, const RunSummary& run_ours);

}  // namespace stormcell

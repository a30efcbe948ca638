#include "core/comparison/like_models.h"

#include "core/readings/same_model.h"
#include "core/readings/session_lookup.h"

namespace stormcell {
namespace {

RoutedModel model_of(const std::string& file, int64_t run) {
  const OpenedRun opened(file, run);
  return routed_model(file, opened.reader.summary().model, opened.summary, opened.layout);
}

}  // namespace

void check_like_models(const std::string& file, int64_t run, const std::string& other_file, int64_t other_run) {
  if (file == other_file) return;  // a session holds runs of one model
  check_like_models(model_of(file, run), model_of(other_file, other_run));
}

}  // namespace stormcell

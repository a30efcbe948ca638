// Writes and reads, as JSON, the request and the answer of a process that measures afresh.
#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/measuring/fresh_measuring.h"

namespace stormcell {
namespace {
using RequestJson = nlohmann::json;

RequestJson json_of(const Latency& l) {
  return {{"median", l.median}, {"p95", l.p95}, {"min", l.min}, {"mean", l.mean}, {"runs", l.runs}};
}
Latency latency_at(const RequestJson& j) {
  Latency l;
  l.median = real_at(j, "median"), l.p95 = real_at(j, "p95"), l.min = real_at(j, "min"), l.mean = real_at(j, "mean");
  l.runs = whole_at(j, "runs");
  return l;
}

}  // namespace

std::string to_json(const FreshRequest& request) {
  return RequestJson{{"beside_baseline", request.beside_baseline},
                     {"settings", RequestJson::parse(request.settings)},
                     {"config", RequestJson::parse(request.config)},
                     {"seconds", request.seconds},
                     {"batches", request.batches}}
      .dump();
}

FreshRequest parse_fresh_request(const std::string& text, const std::string& where) {
  const RequestJson j = parse_json_text(text, where);
  if (!value_at(j, "settings").is_object() || !value_at(j, "config").is_object())
    bad_input(where, "is not a request of a run to measure again", "optimize and run write it for themselves");
  FreshRequest request{
      flag_at(j, "beside_baseline"), j["settings"].dump(), j["config"].dump(), real_at(j, "seconds"), {}};
  for (const RequestJson& batch : list_at(j, "batches"))
    if (batch.is_number_integer()) request.batches.push_back(batch.get<int64_t>());
  if (request.batches.empty()) bad_input(where, "names no batches", "optimize and run write it for themselves");
  return request;
}

std::string to_json(const FreshFigures& figures) {
  RequestJson j = {{"plan", json_of(figures.plan)}};
  if (figures.baseline) j["baseline"] = json_of(*figures.baseline);
  if (figures.speedup) j["speedup"] = figures.speedup->value, j["speedup_ci95"] = figures.speedup->ci95;
  return j.dump();
}

FreshFigures parse_fresh_figures(const std::string& text, const std::string& where) {
  const RequestJson j = parse_json_text(text, where);
  if (!value_at(j, "plan").is_object()) bad_input(where, "holds no figures of a plan", "measure again");
  FreshFigures f;
  f.plan = latency_at(j["plan"]);
  if (value_at(j, "baseline").is_object()) f.baseline = latency_at(j["baseline"]);
  const RequestJson& ends = list_at(j, "speedup_ci95");
  if (const auto value = known_at(j, "speedup");
      value && ends.size() == 2 && ends[0].is_number() && ends[1].is_number())
    f.speedup = Measurement{*value, {ends[0].get<double>(), ends[1].get<double>()}};
  return f;
}

}  // namespace stormcell

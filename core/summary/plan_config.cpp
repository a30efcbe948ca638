#include "core/summary/plan_config.h"

#include <nlohmann/json.hpp>

#include "core/base/error.h"
#include "core/formats/json_file.h"
#include "core/passes/pass.h"

namespace stormcell {

std::string to_json(const PlanConfig& config) {
  nlohmann::ordered_json j;
  j["schema"] = "stormcell.config/1";
  j["version"] = STORMCELL_VERSION;
  j["model"] = {{"name", config.model}, {"fingerprint", config.fingerprint}};
  j["device"] = config.device;
  j["bucket_by_length"] = config.bucket_by_length;
  j["passes"] = nlohmann::ordered_json::object();
  for (const auto& [id, parameters] : config.passes) j["passes"][id] = parameters;
  j["dtypes"] = {{"products", config.dtype}};
  for (const char* later : {"capacities", "kernels", "speculation", "preload", "placement"}) j[later] = nullptr;
  return j.dump(2);
}

PlanConfig parse_plan_config(const std::string& text, const std::string& where) {
  const nlohmann::json j = parse_json_text(text, where);
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) bad_input(where, std::string("expected ") + what, "a file that optimize --config-out wrote");
  };
  // The text of a key, `otherwise` where it is absent.
  const auto text_at = [&](const nlohmann::json& object, const char* key, const char* otherwise) {
    const auto at = object.find(key);
    if (at == object.end() || at->is_null()) return std::string(otherwise);
    expect(at->is_string(), (std::string("a text as \"") + key + "\"").c_str());
    return at->get<std::string>();
  };
  expect(j.is_object() && text_at(j, "schema", "") == "stormcell.config/1", "\"schema\": \"stormcell.config/1\"");
  PlanConfig config;
  if (j.contains("model") && j["model"].is_object()) {
    config.model = text_at(j["model"], "name", "");
    config.fingerprint = text_at(j["model"], "fingerprint", "");
  }
  config.device = text_at(j, "device", "cpu");
  if (const auto at = j.find("bucket_by_length"); at != j.end() && !at->is_null()) {
    expect(at->is_boolean(), "true or false as \"bucket_by_length\"");
    config.bucket_by_length = at->get<bool>();
  }
  if (j.contains("dtypes") && j["dtypes"].is_object()) config.dtype = text_at(j["dtypes"], "products", "");
  expect(j.contains("passes") && j["passes"].is_object(), "an object \"passes\"");
  // The file's keys may stand in any order: the pipeline's order is the one that holds.
  for (const auto& [id, parameters] : j["passes"].items())
    if (!find_pass(id)) bad_input(where, "pass \"" + id + "\"" + (is_planned_pass(id) ? " is not in this version" : " is unknown"));
  for (const Pass& pass : passes()) {
    const std::string id(pass.id);
    if (!j["passes"].contains(id)) continue;
    std::map<std::string, std::string> parameters;
    expect(j["passes"][id].is_object(), "an object of parameters for each pass");
    for (const auto& [key, value] : j["passes"][id].items()) {
      expect(value.is_string(), "parameters that are strings");
      parameters[key] = value.get<std::string>();
    }
    config.passes.emplace_back(id, std::move(parameters));
  }
  return config;
}

}  // namespace stormcell

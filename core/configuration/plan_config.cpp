#include "core/configuration/plan_config.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/number_format.h"
#include "core/base/run_kind.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/json_file.h"
#include "core/passes/pass.h"

namespace stormcell {
namespace {
constexpr std::string_view kFamily = "stormcell.config/", kSchema = "stormcell.config/1";
constexpr const char* kExpectedSchema = "\"schema\": \"stormcell.config/1\"";

nlohmann::ordered_json intervention_json(const Intervention& intervention) {
  nlohmann::ordered_json j = {{"off", nlohmann::ordered_json::array()},
                              {"k", nullptr},
                              {"force", nullptr},
                              {"capacities", nlohmann::ordered_json::array()}};
  for (const BranchOff& b : intervention.off) j["off"].push_back({{"router", b.router}, {"branch", b.branch}});
  if (intervention.k > 0) j["k"] = intervention.k;
  if (!intervention.force.empty()) j["force"] = intervention.force;
  for (const CapacityChange& c : intervention.capacities)
    j["capacities"].push_back(
        {{"router", c.router.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(c.router)},
         {"capacity", to_text(c.capacity)}});
  return j;
}
}  // namespace

std::string to_json(const PlanConfig& config) {
  nlohmann::ordered_json j;
  j["schema"] = kSchema;
  j["version"] = STORMCELL_VERSION;
  j["model"] = {{"name", config.model}, {"fingerprint", config.fingerprint}};
  j["device"] = config.device;
  j["phase"] = to_text(config.phase);
  j["bucket_by_length"] = config.bucket_by_length;
  j["weight_budget"] =
      config.weight_budget > 0 ? nlohmann::ordered_json(config.weight_budget) : nlohmann::ordered_json();
  j["annotations"] = config.annotations;
  j["exits"] = nullptr;
  for (const RouterThreshold& t : config.exits)
    j["exits"].push_back({{"router", t.router}, {"threshold", t.threshold}});
  if (!config.intervention.empty()) j["intervention"] = intervention_json(config.intervention);
  j["passes"] = nlohmann::ordered_json::object();
  for (const auto& [id, parameters] : config.passes) j["passes"][id] = parameters;
  j["dtypes"] = {{"products", config.dtype}};
  for (const char* later : {"capacities", "kernels", "speculation", "preload", "placement"}) j[later] = nullptr;
  return j.dump(2);
}

namespace {

/// Thresholds of the exits that the configuration lists, in the order in which they run.
RouterThresholds parse_exits(const nlohmann::json& list, const std::string& where) {
  const auto refuse = [&](const std::string& what) {
    bad_input(where, what, "a list of {\"router\": ..., \"threshold\": ...} as optimize --config-out writes it");
  };
  RouterThresholds thresholds;
  if (!list.is_array()) refuse("expected a list as \"exits\"");
  for (const nlohmann::json& exit : list) {
    if (!exit.is_object() || !exit.contains("router") || !exit["router"].is_string() || !exit.contains("threshold") ||
        !exit["threshold"].is_number())
      refuse("expected a router and a threshold of each of \"exits\"");
    const RouterThreshold t{exit["router"].get<std::string>(), exit["threshold"].get<double>()};
    if (!is_exit_threshold(t.threshold))
      refuse("the threshold " + exit["threshold"].dump() + " of " + in_quotes(t.router) +
             " is out of range: " + kExitThresholdRange);
    thresholds.push_back(t);
  }
  return thresholds;
}

/// The changes of a run of what-if. Only the model tells whether it has such routers.
Intervention parse_intervention(const nlohmann::json& j, const std::string& where) {
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) bad_input(where, std::string("expected ") + what + " in \"intervention\"", "as what-if writes it");
  };
  const auto is_number = [](const nlohmann::json& n, int64_t least) {
    return n.is_number_integer() && n >= least && n <= std::numeric_limits<int32_t>::max();
  };
  expect(j.is_object(), "an object");
  Intervention intervention;
  if (const auto off = j.find("off"); off != j.end() && !off->is_null()) {
    expect(off->is_array(), "a list \"off\"");
    for (const nlohmann::json& b : *off) {
      expect(b.is_object() && b.contains("router") && b["router"].is_string() && b.contains("branch") &&
                 is_number(b["branch"], 0),
             "a router and a branch of each of \"off\"");
      intervention.off.push_back({b["router"].get<std::string>(), b["branch"].get<int32_t>()});
    }
  }
  if (const auto k = j.find("k"); k != j.end() && !k->is_null()) {
    expect(is_number(*k, 1), "a number of at least 1 as \"k\"");
    intervention.k = k->get<int32_t>();
  }
  if (const auto force = j.find("force"); force != j.end() && !force->is_null()) {
    expect(force->is_string(), "a file as \"force\"");
    intervention.force = force->get<std::string>();
  }
  if (const auto list = j.find("capacities"); list != j.end() && !list->is_null()) {
    expect(list->is_array(), "a list \"capacities\"");
    for (const nlohmann::json& c : *list) {
      expect(c.is_object() && c.contains("capacity") && c["capacity"].is_string() &&
                 (!c.contains("router") || c["router"].is_null() || c["router"].is_string()),
             "a router or null, and a text as capacity, of each of \"capacities\"");
      const bool named = c.contains("router") && c["router"].is_string();
      intervention.capacities.push_back({named ? c["router"].get<std::string>() : std::string(),
                                         parse_capacity(where, c["capacity"].get<std::string>())});
    }
  }
  return intervention;
}

}  // namespace

bool has_configuration(std::string_view text) { return text.find(kSchema) != std::string_view::npos; }

PlanConfig parse_plan_config(const std::string& text, const std::string& where) {
  if (const size_t first = text.find_first_not_of(" \t\r\n"); first == std::string::npos || text[first] != '{')
    refuse_other_kind(where, text, FileUse::configuration);
  const nlohmann::json j = parse_json_text(text, where);
  const auto expect = [&](bool holds, const char* what) {
    if (!holds) bad_input(where, std::string("expected ") + what, "a file that optimize --config-out wrote");
  };
  // The text of a key, `otherwise` if it is absent.
  const auto text_at = [&](const nlohmann::json& object, const char* key, const char* otherwise) {
    const auto at = object.find(key);
    if (at == object.end() || at->is_null()) return std::string(otherwise);
    expect(at->is_string(), (std::string("a text as \"") + key + "\"").c_str());
    return at->get<std::string>();
  };
  if (!j.is_object() || !j.contains("schema") || j["schema"] != kSchema)
    refuse_other_kind(where, text, FileUse::configuration);
  expect(j.is_object(), kExpectedSchema);
  const std::string schema = text_at(j, "schema", "");
  if (schema.starts_with(kFamily) && schema != kSchema)
    bad_input(where, "a configuration of schema " + in_quotes(schema) + ", this program reads " + std::string(kSchema),
              "make it again with this version: optimize --config-out FILE");
  expect(schema == kSchema, kExpectedSchema);
  PlanConfig config;
  config.version = text_at(j, "version", "");
  if (j.contains("model") && j["model"].is_object()) {
    config.model = text_at(j["model"], "name", "");
    config.fingerprint = text_at(j["model"], "fingerprint", "");
  }
  config.device = text_at(j, "device", "cpu");
  config.phase = work_phase(text_at(j, "phase", "forward"));
  expect(config.phase == WorkPhase::forward || config.phase == WorkPhase::decode, "forward or decode as \"phase\"");
  if (const auto at = j.find("bucket_by_length"); at != j.end() && !at->is_null()) {
    expect(at->is_boolean(), "true or false as \"bucket_by_length\"");
    config.bucket_by_length = at->get<bool>();
  }
  if (const auto at = j.find("weight_budget"); at != j.end() && !at->is_null()) {
    expect(at->is_number_integer() && *at > 0, "a number of bytes as \"weight_budget\"");
    config.weight_budget = at->get<int64_t>();
  }
  if (const auto at = j.find("dtypes"); at != j.end() && !at->is_null()) {
    expect(at->is_object(), "an object \"dtypes\"");
    config.dtype = text_at(*at, "products", "");
    const std::optional<DType> format = parse_dtype(config.dtype);
    expect(config.dtype.empty() || (format && !format_of(*format).is_blocks()), "a number format as \"products\"");
  }
  if (const auto at = j.find("annotations"); at != j.end() && !at->is_null()) {
    expect(at->is_array(), "a list of texts as \"annotations\"");
    for (const nlohmann::json& text : *at) {
      expect(text.is_string(), "a list of texts as \"annotations\"");
      config.annotations.push_back(text.get<std::string>());
    }
  }
  if (const auto at = j.find("exits"); at != j.end() && !at->is_null()) config.exits = parse_exits(*at, where);
  if (const auto at = j.find("intervention"); at != j.end() && !at->is_null())
    config.intervention = parse_intervention(*at, where);
  expect(j.contains("passes") && j["passes"].is_object(), "an object \"passes\"");
  // The file's keys may be in any order: the pipeline's order counts.
  for (const auto& [id, parameters] : j["passes"].items()) check_pass(id, where);
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

std::vector<std::string> differences(const PlanConfig& wanted, const PlanConfig& here) {
  std::vector<std::string> list;
  if (wanted.fingerprint.empty())
    list.push_back(
        "the configuration does not say for which model it was found" +
        (wanted.model.empty() || wanted.model == here.model ? std::string() : ", it only names " + wanted.model) +
        ": whether its passes suit this one is not known");
  if (!wanted.device.empty() && wanted.device != here.device)
    list.push_back("the configuration was found on device " + wanted.device + ", here it is used on " + here.device);
  if (!wanted.dtype.empty() && wanted.dtype != here.dtype)
    list.push_back("the configuration was found with products in " + wanted.dtype + ", here they are computed in " +
                   here.dtype + ": --dtype " + wanted.dtype + " asks for the same");
  if (wanted.weight_budget > 0 && wanted.weight_budget != here.weight_budget)
    list.push_back(
        "the configuration was found with --weight-budget " + std::to_string(wanted.weight_budget) +
        ", here it is used with " +
        (here.weight_budget > 0 ? "--weight-budget " + std::to_string(here.weight_budget) : std::string("none")) +
        ": what was faster under that budget may be slower here");
  if (wanted.version != STORMCELL_VERSION)
    list.push_back("the configuration is of " +
                   (wanted.version.empty() ? "an unknown version" : "version " + wanted.version) +
                   " of Stormcell, this is " STORMCELL_VERSION ": its passes may have changed since");
  return list;
}

}  // namespace stormcell

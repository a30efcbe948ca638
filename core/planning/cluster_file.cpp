#include "core/planning/cluster_file.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "core/base/error.h"
#include "core/base/nearest_words.h"
#include "core/formats/file_kind.h"
#include "core/formats/file_text.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/models/model.h"

namespace stormcell {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kMostRanks = 65536;
constexpr size_t kMostRanksOfCost = 1024;
constexpr double kLeastNs = 1e-9, kMostNs = 1e9;
constexpr const char* kRankCost = "rank_ns_per_byte";

fs::path preset_folder() { return fs::path(resources_folder()) / "clusters"; }

/// Reads one file; every complaint names it and the key.
class ClusterReader {
 public:
  ClusterReader(const std::string& path, nlohmann::json json) : path_(path), json_(std::move(json)) {}

  Cluster read() {
    if (text_at(json_, "schema") != "stormcell.cluster/1") refuse_other_kind(path_, FileUse::cluster);
    if (text_at(json_, "schema") != "stormcell.cluster/1") wrong("schema is not \"stormcell.cluster/1\"");
    Cluster c;
    c.name = text_at(json_, "name");
    if (c.name.empty()) c.name = fs::path(path_).stem().string();
    c.nodes = count(json_, "nodes"), c.gpus_per_node = count(json_, "gpus_per_node");
    if (int64_t{c.nodes} * c.gpus_per_node > kMostRanks) wrong("has more than " + std::to_string(kMostRanks) + " GPUs");
    const nlohmann::json& gpu = part("gpu");
    c.gpu = text_at(gpu, "name");
    c.memory_bytes = rate(gpu, "gpu.memory_bytes", "memory_bytes");
    c.memory_bytes_per_s = rate(gpu, "gpu.memory_bytes_per_s", "memory_bytes_per_s");
    c.flops_per_s = rate(gpu, "gpu.flops_per_s", "flops_per_s");
    if (!value_at(json_, kRankCost).is_null()) read_rank_cost(c);
    // Costs between ranks say it all; beside them the rates are for what they do not say, such as moving experts.
    if (c.rank_cost.empty() || !value_at(json_, "fabric").is_null()) {
      const nlohmann::json& fabric = part("fabric");
      c.fabric = text_at(fabric, "name");
      c.fabric_bytes_per_s = rate(fabric, "fabric.bytes_per_s", "bytes_per_s");
    }
    if (c.nodes > 1 && (c.rank_cost.empty() || !value_at(json_, "network").is_null())) {
      const nlohmann::json& network = part("network");
      c.network = text_at(network, "name");
      c.network_bytes_per_s = rate(network, "network.bytes_per_s", "bytes_per_s");
    }
    for (const nlohmann::json& source : list_at(json_, "sources"))
      if (source.is_string()) c.sources.push_back(source.get<std::string>());
    return c;
  }

 private:
  /// Rates that it does not say are those of the mean cost within a node, and between two.
  void read_rank_cost(Cluster& c) const {
    const nlohmann::json& rows = value_at(json_, kRankCost);
    const size_t ranks = c.ranks();
    const std::string name = kRankCost;
    if (!rows.is_array()) wrong(name + " is not a list of rows");
    if (ranks > kMostRanksOfCost) wrong(name + " is for at most " + std::to_string(kMostRanksOfCost) + " GPUs");
    if (rows.size() != ranks)
      wrong(name + " has " + std::to_string(rows.size()) + " rows, the cluster has " + std::to_string(ranks) + " GPUs");
    double within = 0, between = 0;
    for (size_t from = 0; from < ranks; ++from) {
      const std::string row = name + " " + std::to_string(from);
      if (!rows[from].is_array()) wrong(row + " is not a list");
      if (rows[from].size() != ranks)
        wrong(row + " has " + std::to_string(rows[from].size()) + " costs, the cluster has " + std::to_string(ranks) +
              " GPUs: it is not square");
      for (size_t to = 0; to < ranks; ++to) {
        const nlohmann::json& cost = rows[from][to];
        const double ns = cost.is_number() ? cost.get<double>() : -1;
        const std::string pair = row + " to " + std::to_string(to);
        if (!(ns >= 0) || ns > kMostNs) wrong(pair + " is not a cost from 0 to 10^9 ns a byte: no bandwidth is none");
        if (from == to && ns > 0) wrong(pair + " is not 0: what stays is not sent");
        if (from != to && ns < kLeastNs)
          wrong(pair + " is " + (ns > 0 ? "below 10^-9 ns a byte" : "0") + ": no link is endlessly fast");
        c.rank_cost.push_back(1e-9 * ns);
        (same_node(c, from, to) ? within : between) += 1e-9 * ns;
      }
    }
    const double gpus_per_node = c.gpus_per_node, pairs = static_cast<double>(ranks) * (gpus_per_node - 1);
    c.fabric_bytes_per_s = within > 0 ? pairs / within : 1e15;  // one GPU a node sends nothing there
    if (c.nodes > 1)
      c.network_bytes_per_s = static_cast<double>(ranks) * (static_cast<double>(ranks) - gpus_per_node) / between;
  }
  static bool same_node(const Cluster& c, size_t a, size_t b) {
    const size_t gpus_per_node = c.gpus_per_node;
    return a / gpus_per_node == b / gpus_per_node;
  }

  [[noreturn]] void wrong(const std::string& what) const {
    bad_input(path_, what, "the guide's page placement says what a cluster file holds");
  }

  const nlohmann::json& part(const char* key) const {
    const nlohmann::json& value = value_at(json_, key);
    if (!value.is_object())
      wrong(std::string(key) + " is missing" + (std::string(key) == "network" ? ", and there are several nodes" : ""));
    return value;
  }
  int32_t count(const nlohmann::json& of, const char* key) const {
    const int64_t value = whole_at(of, key);
    if (value < 1 || value > kMostRanks)
      wrong(std::string(key) + " is not a whole number from 1 to " + std::to_string(kMostRanks));
    return static_cast<int32_t>(value);
  }
  double rate(const nlohmann::json& of, const std::string& name, const char* key) const {
    const double value = real_at(of, key);
    if (!(value > 0) || !std::isfinite(value)) wrong(name + " is not a number above 0");
    return value;
  }

  std::string path_;
  nlohmann::json json_;
};

}  // namespace

std::vector<std::string> cluster_presets() {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(preset_folder(), error))
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string to_json(const Cluster& c) {
  nlohmann::ordered_json json = {
      {"schema", "stormcell.cluster/1"}, {"name", c.name}, {"nodes", c.nodes}, {"gpus_per_node", c.gpus_per_node}};
  json["gpu"] = {{"name", c.gpu},
                 {"memory_bytes", c.memory_bytes},
                 {"memory_bytes_per_s", c.memory_bytes_per_s},
                 {"flops_per_s", c.flops_per_s}};
  json["fabric"] = {{"name", c.fabric}, {"bytes_per_s", c.fabric_bytes_per_s}};
  if (c.nodes > 1) json["network"] = {{"name", c.network}, {"bytes_per_s", c.network_bytes_per_s}};
  if (!c.rank_cost.empty()) {
    const size_t ranks = c.ranks();
    json[kRankCost] = nlohmann::ordered_json::array();
    for (size_t from = 0; from < ranks; ++from) {
      std::vector<double> row;
      for (size_t to = 0; to < ranks; ++to) row.push_back(1e9 * c.rank_cost[from * ranks + to]);
      json[kRankCost].push_back(row);
    }
  }
  json["sources"] = c.sources;
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Cluster read_cluster(const std::string& spec) {
  constexpr std::string_view kPreset = "preset:";
  if (spec.empty()) bad_input("--cluster", "is missing", "preset:NAME or a JSON file");
  if (spec.starts_with('{')) return ClusterReader("the cluster", parse_json_text(spec, "the cluster")).read();
  const std::vector<std::string> known = cluster_presets();
  const auto is_known = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  const bool says_preset = spec.starts_with(kPreset);
  const std::string name = says_preset ? spec.substr(kPreset.size()) : spec;
  std::error_code none;
  if (!says_preset && fs::exists(spec, none)) return ClusterReader(spec, read_json_file(spec)).read();
  if (!is_known(name)) {
    if (says_preset && fs::exists(name, none))
      bad_input("--cluster", "there is no preset " + in_quotes(name),
                "name the file without preset: --cluster " + name);
    if (says_preset || !nearest_words(name, known).empty())
      bad_input("--cluster", "there is no preset " + std::string(says_preset ? "" : "and no file ") + in_quotes(name),
                advice_on_word(name, known));
    return ClusterReader(spec, read_json_file(spec)).read();
  }
  const std::string path = (preset_folder() / (name + ".json")).string();
  return ClusterReader(path, read_json_file(path)).read();
}

}  // namespace stormcell

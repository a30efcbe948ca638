#include "core/placement/placement_files.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/base/error.h"
#include "core/base/listed_words.h"
#include "core/formats/file_kind.h"
#include "core/formats/json_fields.h"
#include "core/formats/json_file.h"
#include "core/formats/text_encoding.h"
#include "core/formats/text_lines.h"
#include "core/placement/placement_text.h"

namespace stormcell {
namespace {

using Json = nlohmann::json;

constexpr int32_t kMostLayers = 4096, kMostSlots = 1 << 20;

/// Advice with the names of all forms, which are listed below.
std::string write_again();

[[noreturn]] void wrong(const std::string& where, const std::string& what) { bad_input(where, what, write_again()); }

/// A layer's number or a slot's expert.
int32_t number_of(std::string_view text, int32_t most, const std::string& where, const std::string& what) {
  int32_t value = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0 || value > most)
    wrong(where,
          what + " is \"" + std::string(text.substr(0, 40)) + "\", no whole number from 0 to " + std::to_string(most));
  return value;
}

LayerSlots slots_of(const Json& list, int32_t layer, const std::string& where) {
  LayerSlots out;
  if (!list.is_array() || list.empty() || list.size() > static_cast<size_t>(kMostSlots))
    wrong(where, "layer " + std::to_string(layer) + " is not a list of 1 to " + std::to_string(kMostSlots) + " slots");
  for (const Json& slot : list) {
    if (!slot.is_number_integer() || slot.get<int64_t>() < 0 || slot.get<int64_t>() > kMostSlots)
      wrong(where, "layer " + std::to_string(layer) + " has a slot of " + slot.dump().substr(0, 40));
    out.push_back(slot.get<int32_t>());
  }
  return out;
}

void add_layers(const Json& list, PlacementFile& out, const std::string& where) {
  if (!list.is_array() || list.empty() || list.size() > static_cast<size_t>(kMostLayers))
    wrong(where, "is not a list of 1 to " + std::to_string(kMostLayers) + " layers");
  for (const Json& layer : list) {
    const int32_t number = out.layers.size();
    out.layers[number] = slots_of(layer, number, where);
  }
}

// {"physical_to_logical_map": [layers of the model][slots]}
bool is_sglang(const Json& json) { return json.is_object() && json.contains("physical_to_logical_map"); }
void read_sglang(const Json& json, PlacementFile& out, const std::string& where) {
  add_layers(value_at(json, "physical_to_logical_map"), out, where);
}

// {"record_type": "eplb_initial_mapping", "initial_global_assignments": {"0": [slots], ...}}, layers with experts
// counted
bool is_vllm_mapping(const Json& json) { return text_at(json, "record_type") == "eplb_initial_mapping"; }
void read_vllm_mapping(const Json& json, PlacementFile& out, const std::string& where) {
  const Json& layers = value_at(json, "initial_global_assignments");
  if (!layers.is_object()) wrong(where, "has no initial_global_assignments");
  for (const auto& [key, list] : layers.items()) {
    const int32_t layer = number_of(key, kMostLayers, where, "a layer");
    out.layers[layer] = slots_of(list, layer, where);
  }
}

// [layers with experts][slots]
bool is_vllm_list(const Json& json) { return json.is_array() && !json.empty() && json[0].is_array(); }
void read_vllm_list(const Json& json, PlacementFile& out, const std::string& where) { add_layers(json, out, where); }

// {"layer_list": [{"layer_id", "device_list": [{"device_id", "device_expert": [...]}]}]}, layers with experts counted
bool is_ascend(const Json& json) { return json.is_object() && json.contains("layer_list"); }
void read_ascend(const Json& json, PlacementFile& out, const std::string& where) {
  for (const Json& layer : list_at(json, "layer_list")) {
    const int64_t number = whole_at(layer, "layer_id");
    if (number < 0 || number > kMostLayers) wrong(where, "has a layer_id of " + std::to_string(number));
    std::map<int64_t, LayerSlots> devices;
    const std::string of_layer = "layer " + std::to_string(number);
    for (const Json& device : list_at(layer, "device_list")) {
      const int64_t id = whole_at(device, "device_id");
      if (!devices.emplace(id, slots_of(list_at(device, "device_expert"), static_cast<int32_t>(number), where)).second)
        wrong(where, of_layer + " has device_id " + std::to_string(id) + " again");
    }
    if (devices.empty()) wrong(where, of_layer + " has no devices");
    if (const int64_t count = whole_at(layer, "device_count"); count != 0 && count != std::ssize(devices))
      wrong(where,
            of_layer + " has " + std::to_string(devices.size()) + " devices, device_count is " + std::to_string(count));
    if (out.ranks != 0 && out.ranks != static_cast<int32_t>(devices.size()))
      wrong(where, of_layer + " has another number of devices");
    out.ranks = static_cast<int32_t>(devices.size());
    if (out.layers.contains(static_cast<int32_t>(number)))
      wrong(where, "has layer_id " + std::to_string(number) + " again");
    LayerSlots& slots = out.layers[static_cast<int32_t>(number)];
    for (const auto& [device, held] : devices) {
      if (held.size() != devices.begin()->second.size())
        wrong(where, "layer " + std::to_string(number) + ": devices hold different numbers of experts");
      slots.insert(slots.end(), held.begin(), held.end());
    }
  }
}

struct JsonForm {
  std::string_view id;
  bool by_model_layer, shared_experts;
  bool (*is)(const Json& json);
  void (*read)(const Json& json, PlacementFile& out, const std::string& where);
};
constexpr std::array kJsonForms = {
    JsonForm{"sglang", true, false, is_sglang, read_sglang},
    JsonForm{"vllm-pr41141", false, false, is_vllm_mapping, read_vllm_mapping},
    JsonForm{"vllm-pr49572", false, false, is_vllm_list, read_vllm_list},
    JsonForm{"vllm-ascend", false, true, is_ascend, read_ascend},
};
constexpr std::string_view kTrtllm = "trtllm";

std::string write_again() {
  std::string ids;
  for (const JsonForm& form : kJsonForms) add_to_list(ids, form.id);
  add_to_list(ids, kTrtllm, " or ");
  return "write it again: export --format " + ids;
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

/// TensorRT-LLM's YAML, as its own script and this program write it: `num_slots: N`, and below
/// `initial_global_assignments:` a line `LAYER: [slots]`, which may go on over lines, or `LAYER:` and lines `- slot`.
class YamlReader {
 public:
  YamlReader(std::string_view text, const std::string& where) : lines_(text, where), where_(where) {}

  PlacementFile read() {
    PlacementFile out{true, false, {}, 0};
    bool in_layers = false;
    while (lines_.next()) {
      std::string_view line = lines_.line();
      line = line.substr(0, line.find('#'));
      const bool indented = line.starts_with(' ') || line.starts_with('\t');
      line = trimmed(line);
      if (line.empty() || line == "---") continue;
      if (open_ || (in_layers && layer_ && line.starts_with('-'))) {
        add(open_ ? line : line.substr(1), out);
        continue;
      }
      const size_t colon = line.find(':');
      if (colon == std::string_view::npos) wrong_line("is not KEY: VALUE");
      const std::string_view key = trimmed(line.substr(0, colon)), value = trimmed(line.substr(colon + 1));
      if (!indented) in_layers = key == "initial_global_assignments";
      if (!indented && key == "num_slots") slots_ = number_of(value, kMostSlots, lines_.place(), "num_slots");
      if (!indented && in_layers && value.starts_with('{')) wrong_line("holds all layers: a line for each is expected");
      if (!indented || !in_layers) continue;
      layer_ = number_of(key, kMostLayers, lines_.place(), "a layer");
      if (!out.layers.emplace(*layer_, LayerSlots()).second)
        wrong_line("has layer " + std::to_string(*layer_) + " again");
      if (!value.empty()) begin_list(value, out);
    }
    if (open_) wrong(where_, "ends in the middle of a list");
    for (const auto& [layer, slots] : out.layers)
      if (slots_ && static_cast<int32_t>(slots.size()) != *slots_)
        wrong(where_, "layer " + std::to_string(layer) + " has " + std::to_string(slots.size()) +
                          " slots, num_slots is " + std::to_string(*slots_));
    if (out.layers.empty()) wrong(where_, "has no layer below initial_global_assignments");
    return out;
  }

 private:
  [[noreturn]] void wrong_line(const std::string& what) const { wrong(lines_.place(), what); }

  void begin_list(std::string_view value, PlacementFile& out) {
    if (!value.starts_with('[')) wrong_line("has no list of slots");
    open_ = true;
    add(value.substr(1), out);
  }

  /// Numbers between commas, up to the end of the list.
  void add(std::string_view items, PlacementFile& out) {
    LayerSlots& slots = out.layers[*layer_];
    if (const size_t end = items.find(']'); open_ && end != std::string_view::npos) {
      if (!trimmed(items.substr(end + 1)).empty()) wrong_line("has more text after the list");
      items = items.substr(0, end), open_ = false;
    }
    while (!items.empty()) {
      const size_t comma = std::min(items.find(','), items.size());
      if (const std::string_view item = trimmed(items.substr(0, comma)); !item.empty())
        slots.push_back(number_of(item, kMostSlots, lines_.place(), "a slot"));
      items.remove_prefix(std::min(comma + 1, items.size()));
    }
    if (slots.size() > static_cast<size_t>(kMostSlots)) wrong_line("has too many slots");
  }

  TextLines lines_;
  const std::string& where_;
  std::optional<int32_t> layer_, slots_;
  bool open_ = false;
};

/// Takes out shared experts that a server places with the routed ones, as it begins: each on every rank, behind the
/// routed by its number.
void take_out_shared(LayerSlots& layer, int32_t branches, int32_t ranks, const std::string& where) {
  const int32_t most = *std::max_element(layer.begin(), layer.end());
  if (most < branches || layer.size() % static_cast<size_t>(ranks)) return;
  const auto slots_per_rank = std::ssize(layer) / ranks;
  for (int32_t shared = branches; shared <= most; ++shared)
    for (int32_t r = 0; r < ranks; ++r)
      if (const auto begin = layer.begin() + r * slots_per_rank; std::count(begin, begin + slots_per_rank, shared) != 1)
        bad_input(where,
                  "names expert " + std::to_string(shared) + ", " + std::to_string(branches) +
                      " are routed: a shared expert is read where each device holds it once, and device " +
                      std::to_string(r) + " does not",
                  "it must be of the model that was traced, and of the cluster that is named");
  std::erase_if(layer, [&](int32_t expert) { return expert >= branches; });
}

/// Layers behind those of the traced model are another model's.
void refuse_more_layers(const PlacementFile& file, const std::vector<int32_t>& numbers, int32_t model_layers,
                        const std::string& where) {
  const int32_t there = file.layers.rbegin()->first + 1;
  const int32_t most = file.by_model_layer
                           ? std::max(model_layers, *std::max_element(numbers.begin(), numbers.end()) + 1)
                           : static_cast<int32_t>(numbers.size());
  if (there > most)
    bad_input(where,
              "has " + std::to_string(there) + (file.by_model_layer ? " layers" : " layers with experts") +
                  ", the model that was traced " + std::to_string(most),
              "it must be of the model that was traced");
}

bool is_trtllm(std::string_view text) { return text.find("initial_global_assignments:") != std::string_view::npos; }

}  // namespace

PlacementFile parse_placement_file(std::string_view text, const std::string& where) {
  text = utf8_text(text, where);
  const size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
  if (!json && is_trtllm(text)) return YamlReader(text, where).read();
  if (json) {
    const Json parsed = parse_json_text(text, where);
    for (const JsonForm& form : kJsonForms) {
      if (!form.is(parsed)) continue;
      PlacementFile out{form.by_model_layer, form.shared_experts, {}, 0};
      form.read(parsed, out, where);
      if (out.layers.empty()) wrong(where, "has no layers");
      return out;
    }
  }
  refuse_file(where, text, FileUse::placement, "is not a placement of SGLang, vLLM or TensorRT-LLM", write_again());
}

Placement placement_in_file(const PlacementFile& file, const std::vector<int32_t>& numbers, int32_t model_layers,
                            int32_t branches, int32_t ranks, const std::string& where) {
  if (file.ranks != 0 && file.ranks != ranks)
    bad_input(where, "is for " + std::to_string(file.ranks) + " devices, the cluster has " + std::to_string(ranks),
              "name the cluster that it was made for");
  Placement out{ranks, branches, {}};
  const std::vector<size_t> order = order_in_model(numbers);
  std::vector<int32_t> counted(numbers.size());  // numbers counted over layers with experts alone
  for (size_t i = 0; i < order.size(); ++i) counted[order[i]] = static_cast<int32_t>(i);
  for (size_t l = 0; l < numbers.size(); ++l) {
    if (file.by_model_layer && numbers[l] < 0)
      bad_input(where, "counts the layers of the model, and it is not known which of them the trace has",
                "import the trace with --model-config config.json");
    const int32_t number = file.by_model_layer ? numbers[l] : counted[l];
    const auto found = file.layers.find(number);
    if (found == file.layers.end())
      bad_input(where, "has no layer " + std::to_string(number), "it must be of the model that was traced");
    out.layers.push_back(found->second);
    if (file.shared_experts) take_out_shared(out.layers.back(), branches, ranks, where);
  }
  refuse_more_layers(file, numbers, model_layers, where);
  if (const std::string fault = placement_fault(out); !fault.empty())
    bad_input(where, fault, "it must be of the model that was traced, and of the cluster that is named");
  return out;
}

}  // namespace stormcell

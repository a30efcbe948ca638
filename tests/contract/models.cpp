#include "tests/contract/models.h"

#include <algorithm>
#include <cstring>

#include "core/formats/safetensors.h"
#include "core/formats/safetensors_writer.h"
#include "tests/testing/counts.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

std::string reference(const std::string& path) { return reference_path(path); }

struct Parts {
  nlohmann::json header;
  std::string data;
};
Parts parts_of(const std::string& file) {
  const std::string bytes = Scratch::read(file);
  uint64_t size = 0;
  std::memcpy(&size, bytes.data(), sizeof size);
  return {nlohmann::json::parse(bytes.substr(8, size)), bytes.substr(8 + size)};
}

}  // namespace

std::string switch_model(const std::string& name) { return reference("switch/" + name); }
std::string switch_data(const std::string& name) { return reference("switch/" + name + "/input.safetensors"); }
std::string mixtral_model(const std::string& name) { return reference("mixtral/" + name); }

ModelCopy::ModelCopy(const std::string& model) {
  std::filesystem::create_directories(folder());
  for (const char* name : {"config.json", "model.safetensors"}) write(name, Scratch::read(model + "/" + name));
}

void ModelCopy::change_config(const std::function<void(nlohmann::json&)>& change) const {
  nlohmann::json config = nlohmann::json::parse(Scratch::read(file("config.json")));
  change(config);
  write("config.json", config.dump(1));
}

nlohmann::json ModelCopy::header() const { return parts_of(weights()).header; }
std::string ModelCopy::data() const { return parts_of(weights()).data; }

void ModelCopy::change_header(const std::function<void(nlohmann::json&)>& change) const {
  Parts parts = parts_of(weights());
  change(parts.header);
  write("model.safetensors", safetensors_bytes(parts.header.dump(), 0) + parts.data);
}

void ModelCopy::poison(const std::string& tensor, float value) const {
  Parts parts = parts_of(weights());
  std::memcpy(parts.data.data() + parts.header[tensor]["data_offsets"][0].get<size_t>(), &value, sizeof value);
  write("model.safetensors", safetensors_bytes(parts.header.dump(), 0) + parts.data);
}

namespace {
/// A copy of `model` as NAME of `scratch`, in which `tables`, all of one width, have `vocabulary` rows.
std::string with_vocabulary(const Scratch& scratch, const std::string& model, const std::string& name,
                            const std::vector<std::string>& tables, int64_t vocabulary) {
  const auto file = SafetensorsFile::open(model + "/model.safetensors");
  std::vector<TensorToWrite> tensors;
  std::vector<float> table;
  for (const StoredTensor& t : file->tensors()) {
    tensors.push_back({t.name, t.dtype, t.shape, t.bytes.data()});
    if (std::find(tables.begin(), tables.end(), t.name) == tables.end()) continue;
    table.resize(static_cast<size_t>(vocabulary * t.shape[1]));
    for (size_t i = 0; i < table.size(); ++i) table[i] = static_cast<float>(i * 37 % 101) / 50.0f - 1.0f;
    tensors.back().shape[0] = vocabulary;
    tensors.back().data = table.data();
  }
  nlohmann::json config = nlohmann::json::parse(Scratch::read(model + "/config.json"));
  config["vocab_size"] = vocabulary;
  scratch.write(name + "/config.json", config.dump(1));
  write_safetensors(scratch.path(name + "/model.safetensors"), tensors);
  return scratch.path(name);
}
}  // namespace

std::string mixtral_with_vocabulary(const Scratch& scratch, int64_t vocabulary) {
  return with_vocabulary(scratch, mixtral_model("top-2-of-4-left-padding"), "mixtral",
                         {"model.embed_tokens.weight", "lm_head.weight"}, vocabulary);
}

std::string model_with_tokenizer(const Scratch& scratch) {
  const std::string folder =
      with_vocabulary(scratch, switch_model("encoder-only-dense"), "reader", {"shared.weight"}, 640);
  scratch.write("reader/spiece.model", Scratch::read(reference("tokenizers/spiece.model")));
  return folder;
}

std::string file_of_tensors(const std::vector<std::string>& names, const nlohmann::json& header,
                            const std::string& data) {
  nlohmann::json chosen = nlohmann::json::object();
  std::string bytes;
  for (const std::string& name : names) {
    nlohmann::json entry = header[name];
    const auto begin = entry["data_offsets"][0].get<size_t>(), end = entry["data_offsets"][1].get<size_t>();
    entry["data_offsets"] = {bytes.size(), bytes.size() + end - begin};
    bytes += data.substr(begin, end - begin);
    chosen[name] = entry;
  }
  return safetensors_bytes(chosen.dump(), 0) + bytes;
}

ForwardRun forward_run(const Scratch& scratch, const std::string& model, const std::string& data,
                       const Arguments& more) {
  const std::string outputs = scratch.path("outputs.safetensors");
  Arguments arguments = short_run("run", model, data, {"--outputs", outputs});
  arguments.insert(arguments.end(), more.begin(), more.end());
  const nlohmann::json result = json_of(arguments);
  if (!result.is_object()) return {};
  const auto file = SafetensorsFile::open(outputs);
  const std::span<const std::byte> bytes = file->find("b0.logits")->bytes;
  auto warnings = result["warnings"].get<std::vector<std::string>>();
  // Other tests may run at the same time.
  std::erase_if(warnings, [](const std::string& warning) {
    return warning.find("measur") != std::string::npos || warning.starts_with("the machine");
  });
  return {std::move(warnings),
          {reinterpret_cast<const char*>(bytes.data()), bytes.size()},
          result["dataset"]["masked"].get<int64_t>(),
          result["model"]["unread_tensors"].get<int64_t>()};
}

bool states_or_withholds(const nlohmann::json& figures, const std::string& key) {
  const std::string why = key.starts_with("routing_") ? "routing_speedup_withheld" : "speedup_withheld";
  const bool stated = figures[key].is_number(),
             withheld = figures[why].is_string() && !figures[why].get<std::string>().empty();
  return figures[key].is_null() != stated && (stated || withheld);
}

bool must_withhold(const nlohmann::json& figures) {
  const auto moved = [&](const char* key) {
    const double x = figures["device"][key][0].get<double>(), y = figures["device"][key][1].get<double>();
    return x > 0 && y > 0 && std::max(x, y) / std::min(x, y) > 1.15;
  };
  const bool busy = figures["other_load"].is_number() && figures["other_load"].get<double>() >= 0.25;
  const auto pairs = figures["optimized"]["latency_ms"]["runs"].get<int64_t>(),
             batches = figures["optimized"]["measured_batches"].get<int64_t>();
  const bool few =
      pairs < 8 || (figures["speedup_basis"] != "pairs" && 3 * batches < figures["split"]["measured"].get<int64_t>());
  return moved("peak_gflops_before_and_after") || moved("read_gbps_before_and_after") || busy || few;
}

Arguments short_run(const std::string& verb, const std::string& model, const std::string& data, const Arguments& more) {
  Arguments all = {verb, model, "--data", data};
  if (verb != "generate") all.insert(all.end(), {"--measure-seconds", "0"});
#ifdef __SANITIZE_THREAD__
  constexpr const char* kThreads = "2";  // a race takes two
#else
  // A second one would wait for the first hundreds of times a run, each time for a turn of a core that other tests
  // want, too.
  constexpr const char* kThreads = "1";
#endif
  if (std::none_of(more.begin(), more.end(), [](const std::string& word) { return word.starts_with("--threads"); }))
    all.insert(all.end(), {"--threads", kThreads});
  // On models this small chance decides what loses: here every pass that applies stays.
  if (verb == "optimize") all.emplace_back("--keep-all");
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace stormcell::testing

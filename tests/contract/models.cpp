#include "tests/contract/models.h"

#include <algorithm>
#include <cstring>

#include "core/formats/safetensors.h"
#include "core/formats/safetensors_writer.h"
#include "tests/testing/file_bytes.h"
#include "tests/testing/testing.h"

namespace stormcell::testing {
namespace {

std::string reference(const std::string& path) { return source_folder() + "/tests/reference/" + path; }

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

std::string model_with_tokenizer(const Scratch& scratch) {
  constexpr int64_t kVocabulary = 640;
  const std::string model = switch_model("encoder-only-dense");
  const auto file = SafetensorsFile::open(model + "/model.safetensors");
  std::vector<TensorToWrite> tensors;
  std::vector<float> embedding;
  for (const StoredTensor& t : file->tensors()) {
    tensors.push_back({t.name, t.dtype, t.shape, t.bytes.data()});
    if (t.name != "shared.weight") continue;
    embedding.resize(static_cast<size_t>(kVocabulary * t.shape[1]));
    for (size_t i = 0; i < embedding.size(); ++i) embedding[i] = static_cast<float>(i * 37 % 101) / 50.0f - 1.0f;
    tensors.back().shape[0] = kVocabulary;
    tensors.back().data = embedding.data();
  }
  nlohmann::json config = nlohmann::json::parse(Scratch::read(model + "/config.json"));
  config["vocab_size"] = kVocabulary;
  scratch.write("reader/config.json", config.dump(1));
  scratch.write("reader/spiece.model", Scratch::read(reference("tokenizers/spiece.model")));
  write_safetensors(scratch.path("reader/model.safetensors"), tensors);
  return scratch.path("reader");
}

bool states_or_withholds(const nlohmann::json& figures, const std::string& key) {
  const std::string why = key.starts_with("routing_") ? "routing_speedup_withheld" : "speedup_withheld";
  const bool stated = figures[key].is_number(), withheld = figures[why].is_string() && !figures[why].get<std::string>().empty();
  return figures[key].is_null() != stated && (stated || withheld);
}

Arguments short_run(const std::string& verb, const std::string& model, const std::string& data, const Arguments& more) {
  Arguments all = {verb, model, "--data", data};
  if (verb != "generate") all.insert(all.end(), {"--measure-seconds", "0"});
#ifdef __SANITIZE_THREAD__
  constexpr const char* kThreads = "2";  // a race takes two
#else
  // A second one would wait for the first hundreds of times a run, each time for a turn of a core that other tests want, too.
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
